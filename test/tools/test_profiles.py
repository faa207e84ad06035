"""Profiles: how dimensions are named, and that results have the size that the profile in use gives them."""
import json

import numpy as np
import pytest
from onnx import TensorProto, helper, save


def model(path, nodes, inputs, outputs, opset=17):
    value = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    graph = helper.make_graph(nodes, "g", [value(*i) for i in inputs], [value(*o) for o in outputs])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), path)
    return path


@pytest.mark.parametrize("dim", [None, "past + seq"])
def test_output_size_that_no_symbol_names(gpucc, gpucc_run, tmp_path, dim):
    path = model(tmp_path / "joined.onnx", [helper.make_node("Concat", ["a", "b"], ["y"], axis=0)],
                 [("a", ["past"]), ("b", ["seq"])], [("y", [dim])])
    plan = tmp_path / "joined.plan"
    gpucc.ok("compile", path, "--profile", "past=3,seq=2", "past=5,seq=1", "-o", plan)
    for past, seq in ((3, 2), (5, 1)):
        a, b = np.arange(past, dtype=np.float32), -np.arange(seq, dtype=np.float32)
        np.savez(tmp_path / "in.npz", a=a, b=b)
        for program in (gpucc, gpucc_run):
            arguments = ["run"] if program is gpucc else []
            program.ok(*arguments, plan, "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz")
            assert np.array_equal(np.load(tmp_path / "out.npz")["y"], np.concatenate([a, b]))


def test_question_marks_are_dimensions_of_their_own(gpucc, tmp_path):
    """Paddle's exporter calls every unknown dimension "?"; they are not equal sizes."""
    path = model(tmp_path / "marks.onnx", [helper.make_node("Relu", ["x"], ["y"])],
                 [("x", ["?", 3, "?"])], [("y", ["?", 3, "?"])])
    np.savez(tmp_path / "in.npz", x=np.full((2, 3, 5), -1, np.float32))
    gpucc.ok("run", path, "--profile", "x_dim0=2,x_dim2=5", "--inputs", tmp_path / "in.npz",
             "--outputs", tmp_path / "out.npz")
    assert np.load(tmp_path / "out.npz")["y"].shape == (2, 3, 5)


def test_memory_says_how_full_the_arena_is(gpucc, tmp_path):
    """Three products: a and b, 4 KiB each, are both read by the last."""
    nodes = [helper.make_node("MatMul", ["x", "x"], ["a"]), helper.make_node("MatMul", ["a", "x"], ["b"]),
             helper.make_node("MatMul", ["b", "a"], ["y"])]
    path = model(tmp_path / "chain.onnx", nodes, [("x", [32, 32])], [("y", [32, 32])])
    plan, table = tmp_path / "chain.plan", tmp_path / "memory.json"
    gpucc.ok("compile", path, "-o", plan)
    text = gpucc.ok("show", plan, "--memory", "--json", table)
    scratch = next(a for a in json.loads(table.read_text())["arenas"] if a["arena"] == "scratch")
    assert scratch["max_live"] == 2 * 32 * 32 * 4
    assert scratch["bytes"] >= scratch["max_live"]
    assert "most alive at once 8.00 KiB" in text
