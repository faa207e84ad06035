#!/usr/bin/env python3
"""What the runtime adds to a model of 50 tiny ops: a session's run against a hand-written loop over the same kernels.

    build/venv/bin/python bench/overhead.py

The ops are running sums (CumSum), which are never fused: 50 launches on tensors of 8, 64 and 512 elements. One thread.
The claim: at most 1.5 times the loop.
"""
import json
import pathlib
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import frame

OPS = 50


def make(path, rows, columns):
    nodes = [helper.make_node("CumSum", [f"x{i}", "axis"], [f"x{i + 1}"], name=f"sum{i}") for i in range(OPS)]
    tensor = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [rows, columns])
    graph = helper.make_graph(nodes, "tiny", [tensor("x0")], [tensor(f"x{OPS}")],
                              [numpy_helper.from_array(np.array(1, np.int64), "axis")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def main():
    args = frame.parser(__doc__).parse_args()
    rows, data = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for shape in ((2, 4), (8, 8), (32, 16)):
            make(folder / "tiny.onnx", *shape)
            frame.gpucc("compile", folder / "tiny.onnx", "-o", folder / "tiny.plan")
            figures = json.loads(frame.gpucc(folder / "tiny.plan", program="gpucc-bench-overhead")[2])
            assert figures["launches"] == OPS, f"{figures['launches']} launches: the ops were fused"
            rows.append([f"{OPS} running sums of {shape[0]}×{shape[1]}", f"{figures['session_us']:.2f}",
                         f"{figures['loop_us']:.2f}", f"{figures['ratio']:.2f}",
                         f"{figures['low']:.2f}–{figures['high']:.2f}"])
            data.append({"shape": shape, **figures})
    text = frame.table(["model, 1 thread", "session µs", "loop µs", "ratio", "least–greatest"], rows)
    frame.finish(args, "Overhead of a run against a hand-written loop", text, data)


if __name__ == "__main__":
    main()
