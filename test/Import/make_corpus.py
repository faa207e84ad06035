"""Small models as seeds for fuzz-onnx-import: make_corpus.py FOLDER. Every official node test's
model that is small enough, and a few with subgraphs, functions and external data."""
import glob
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    tests = os.path.join(os.path.dirname(onnx.__file__), "backend/test/data/node/*/model.onnx")
    for path in glob.glob(tests):
        if os.path.getsize(path) <= 1024:
            name = os.path.basename(os.path.dirname(path))
            with open(path, "rb") as source, open(os.path.join(folder, name), "wb") as target:
                target.write(source.read())
    info = lambda n: helper.make_tensor_value_info(n, TensorProto.FLOAT, ["n", 4])
    w = numpy_helper.from_array(np.ones((4, 4), np.float32), "w")
    g = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "g", [info("x")],
                          [info("y")], [w])
    m = helper.make_model(g, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
    with open(os.path.join(folder, "matmul"), "wb") as f:
        f.write(m.SerializeToString())


if __name__ == "__main__":
    main()
