"""Profiles: how dimensions are named, and that results have the size that the profile in use gives them."""
import json

import numpy as np
import pytest
from onnx import helper

from onnx_model import model


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


def test_names_with_separators(gpucc, gpucc_run, tmp_path):
    path = model(tmp_path / "names.onnx", [helper.make_node("Relu", ["x"], ["y"])],
                 [("x", ["max(1, n)", "a=b;c", " d "])], [("y", ["max(1, n)", "a=b;c", " d "])])
    plan = tmp_path / "names.plan"
    gpucc.ok("compile", path, "--profile", "max(1_ n)=2,a_b_c=3,d=4", "max(1_ n)=1,a_b_c=1,d=1", "-o", plan)
    np.savez(tmp_path / "in.npz", x=np.full((2, 3, 4), -1, np.float32))
    gpucc_run.ok(plan, "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz")
    assert np.load(tmp_path / "out.npz")["y"].shape == (2, 3, 4)


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


@pytest.fixture(scope="module")
def two_profiles(gpucc, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sum")
    path = model(folder / "sum.onnx", [helper.make_node("Add", ["x", "y"], ["z"])],
                 [("x", ["batch", 3]), ("y", ["batch", 3])], [("z", ["batch", 3])])
    gpucc.ok("compile", path, "--profile", "batch=1", "batch=4", "-o", folder / "sum.plan")
    return folder / "sum.plan"


F, I = np.float32, np.int64
WRONG = {
    "shape of one": ({"x": np.zeros((4, 3), F), "y": np.zeros((4, 2), F)},
                     ["input 'y' is f32 [4, 2], expected f32 [1, 3] (profile p0), f32 [4, 3] (profile p1)"]),
    "no common profile": ({"x": np.zeros((4, 3), F), "y": np.zeros((1, 3), F)},
                          ["input 'x' is f32 [4, 3], expected", "input 'y' is f32 [1, 3], expected"]),
    "rank": ({"x": np.zeros(3, F), "y": np.zeros((1, 3), F)}, ["input 'x' is f32 [3], expected f32 [1, 3]"]),
    "missing": ({"x": np.zeros((4, 3), F)}, ["input 'y' is not given, expected f32 [1, 3] (profile p0), f32 [4, 3]"]),
    "unknown": ({"x": np.zeros((4, 3), F), "y": np.zeros((4, 3), F), "w": np.zeros(3, F)},
                ["no tensor 'w'", "x, y, z"]),
    "type": ({"x": np.zeros((4, 3), np.complex64), "y": np.zeros((4, 3), F)}, ["x"]),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_inputs_are_explained(gpucc, gpucc_run, two_profiles, tmp_path, case):
    arrays, texts = WRONG[case]
    np.savez(tmp_path / "in.npz", **arrays)
    for program, arguments in ((gpucc, ["run"]), (gpucc_run, [])):
        code, _, error = program(*arguments, two_profiles, "--inputs", tmp_path / "in.npz")
        assert code == 2
        for text in texts:
            assert text in error, error


@pytest.mark.parametrize("declared, warned", [([2, 5], True), ([2, 3, 1], True), ([2, 3], False), (["n", 3], False)])
def test_a_wrong_declared_shape_is_a_warning(gpucc, tmp_path, declared, warned):
    path = model(tmp_path / "m.onnx", [helper.make_node("Relu", ["x"], ["y"])], [("x", [2, 3])], [("y", declared)])
    np.savez(tmp_path / "in.npz", x=np.full((2, 3), 2, np.float32))
    code, _, error = gpucc("run", path, "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz")
    assert code == 0, error
    assert ("output 'y' is declared as" in error) == warned, error
    y = np.load(tmp_path / "out.npz")["y"]
    assert y.shape == (2, 3) and y.dtype == np.float32
