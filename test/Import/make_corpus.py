"""Small models as seeds for fuzz-onnx-import: make_corpus.py FOLDER. Every official node test's model that is small
enough, and the example models with their weights turned into inputs, so that each is whole and a few kilobytes."""
import glob
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

MAKE_MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/models/make_models.py")
SEED_BYTES, SMALL_WEIGHT = 16384, 64


def node_tests(folder):
    tests = os.path.join(os.path.dirname(onnx.__file__), "backend/test/data/node/*/model.onnx")
    for path in glob.glob(tests):
        if os.path.getsize(path) <= 1024:
            name = os.path.basename(os.path.dirname(path))
            with open(path, "rb") as source, open(os.path.join(folder, name), "wb") as target:
                target.write(source.read())


def without_weights(model):
    """Initializers beyond a few numbers become inputs of the same name, type and shape."""
    kept = []
    for weight in model.graph.initializer:
        if numpy_helper.to_array(weight).nbytes <= SMALL_WEIGHT:
            kept.append(weight)
        elif weight.name not in {i.name for i in model.graph.input}:
            model.graph.input.append(helper.make_tensor_value_info(weight.name, weight.data_type, list(weight.dims)))
    del model.graph.initializer[:]
    model.graph.initializer.extend(kept)
    return model


def example_models(folder):
    with tempfile.TemporaryDirectory() as made:
        for name, more in [("mlp", []), ("lenet", []), ("resnet18", []), ("gpt2", ["--layers", "1"]),
                           ("llama", ["--layers", "1"])]:
            subprocess.run([sys.executable, MAKE_MODELS, made, "--model", name, *more], check=True, capture_output=True)
            data = without_weights(onnx.load(os.path.join(made, f"{name}.onnx"))).SerializeToString()
            if len(data) > SEED_BYTES:
                print(f"{name}: {len(data)} bytes, too large for a seed", file=sys.stderr)
                continue
            with open(os.path.join(folder, f"example_{name}"), "wb") as f:
                f.write(data)


def with_weight(folder):
    info = lambda n: helper.make_tensor_value_info(n, TensorProto.FLOAT, ["n", 4])
    w = numpy_helper.from_array(np.ones((4, 4), np.float32), "w")
    g = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "g", [info("x")], [info("y")], [w])
    m = helper.make_model(g, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
    with open(os.path.join(folder, "matmul"), "wb") as f:
        f.write(m.SerializeToString())


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    node_tests(folder)
    example_models(folder)
    with_weight(folder)


if __name__ == "__main__":
    main()
