"""Numbers at the edges of types and shapes, against known answers (found by a newcomer and a review)."""
import os
import subprocess

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from onnx_model import model


def run(gpucc, path, arrays, tmp_path, *options):
    np.savez(tmp_path / "in.npz", **arrays)
    gpucc.ok("run", path, "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz", *options)
    return np.load(tmp_path / "out.npz")


@pytest.mark.parametrize("op, x, expected", [
    ("GlobalAveragePool", np.full((1, 1, 32, 32), 200, np.float16), 200),       # the sum is 204,800; f16 ends at 65,504
    ("ReduceMean", np.full((1, 2048), 40, np.float16), 40),
    ("ReduceL2", np.full((1, 128), 30, np.float16), 339.5),                       # 30 sqrt(128) = 339.41
    ("ReduceLogSum", np.full((1, 2048), 64, np.float16), np.log(2048 * 64)),
    ("ReduceMean", np.full((1, 3000), 1_000_000, np.int32), 1_000_000),         # the sum is above 2^31
    ("ReduceL2", np.full((1, 2), 60_000, np.int32), 84_852),                      # 60000 sqrt(2) = 84852.8
])
def test_what_is_on_the_way_does_not_overflow(gpucc, tmp_path, op, x, expected):
    out = [1, 1, 1, 1] if op == "GlobalAveragePool" else [1, 1]
    axes = {} if op == "GlobalAveragePool" else {"axes": [1]}
    path = model(tmp_path / "m.onnx", [helper.make_node(op, ["x"], ["y"], **axes)], [("x", x.shape, x.dtype)],
                 [("y", out, x.dtype)], opset=13)
    y = run(gpucc, path, {"x": x}, tmp_path)["y"]
    assert y.dtype == x.dtype and np.allclose(y.astype(np.float64), expected, rtol=1e-3 if x.dtype == np.float16 else 0)


def test_lp_norm_of_large_halves(gpucc, tmp_path):
    path = model(tmp_path / "m.onnx", [helper.make_node("LpNormalization", ["x"], ["y"], axis=1)],
                 [("x", (1, 75), np.float16)], [("y", [1, 75], np.float16)])
    y = run(gpucc, path, {"x": np.full((1, 75), 300, np.float16)}, tmp_path)["y"]
    assert np.allclose(y.astype(np.float64), 75 ** -0.5, rtol=1e-3)


def test_many_parts_of_a_concat(gpucc, tmp_path):
    names = [f"p{i}" for i in range(300)]
    nodes = [helper.make_node("Add", ["x", f"w{i}"], [f"p{i}"]) for i in range(300)]
    path = model(tmp_path / "m.onnx", [*nodes, helper.make_node("Concat", names, ["y"], axis=0)], [("x", (2, 3))],
                 [("y", [600, 3])], initializers=[(f"w{i}", np.full((1, 3), i, np.float32)) for i in range(300)])
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    y = run(gpucc, path, {"x": x}, tmp_path)["y"]
    assert (y == np.concatenate([x + i for i in range(300)])).all()


@pytest.mark.parametrize("op", ["Softmax", "LogSoftmax"])
def test_rows_without_elements(gpucc, tmp_path, op):
    path = model(tmp_path / "m.onnx", [helper.make_node(op, ["x"], ["y"], axis=1)], [("x", (2, 0))], [("y", [2, 0])])
    assert run(gpucc, path, {"x": np.zeros((2, 0), np.float32)}, tmp_path)["y"].shape == (2, 0)


@pytest.mark.parametrize("values, dtype, expected, counts", [
    ([3, np.nan, 1, np.nan, 2, 1], np.float32, [1, 2, 3, np.nan], [2, 1, 1, 2]),  # as numpy.unique
    ([2 ** 63 + 1, 5], np.uint64, [5, 2 ** 63 + 1], [1, 1]),
])
def test_unique_orders_as_numpy(gpucc, tmp_path, values, dtype, expected, counts):
    node = helper.make_node("Unique", ["w"], ["y", "first", "inverse", "counts"], sorted=1)
    keep = helper.make_node("Identity", ["x"], ["z"])
    path = model(tmp_path / "m.onnx", [node, keep], [("x", (1,))],
                 [("y", [len(expected)], dtype), ("counts", [len(expected)], np.int64), ("z", [1])],
                 initializers=[("w", np.array(values, dtype))])
    found = run(gpucc, path, {"x": np.zeros(1, np.float32)}, tmp_path)
    np.testing.assert_array_equal(found["y"], np.array(expected, dtype))
    assert found["counts"].tolist() == counts


def test_rounds_that_do_not_count_may_index_anywhere(gpucc, tmp_path):
    """At most 8 rounds over a table of 4; the condition stops after 3: 1 + 2 + 3."""
    value = helper.make_tensor_value_info
    body = helper.make_graph(
        [helper.make_node("Gather", ["table", "i"], ["row"]), helper.make_node("Add", ["s", "row"], ["s2"]),
         helper.make_node("Add", ["i", "one"], ["next"]), helper.make_node("Less", ["next", "n"], ["go"])], "body",
        [value("i", TensorProto.INT64, []), value("c", TensorProto.BOOL, []), value("s", TensorProto.FLOAT, [])],
        [value("go", TensorProto.BOOL, []), value("s2", TensorProto.FLOAT, [])])
    graph = helper.make_graph(
        [helper.make_node("Loop", ["most", "true", "s0"], ["y"], body=body)], "g",
        [value("n", TensorProto.INT64, []), value("s0", TensorProto.FLOAT, [])], [value("y", TensorProto.FLOAT, [])],
        [numpy_helper.from_array(np.array(a), name) for name, a in
         {"table": np.float32([1, 2, 3, 4]), "one": 1, "most": 8, "true": True}.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), tmp_path / "m.onnx")
    found = run(gpucc, tmp_path / "m.onnx", {"n": np.array(3), "s0": np.array(0, np.float32)}, tmp_path)
    assert found["y"] == 6


def test_files_that_must_not_be_replaced(gpucc, models, tmp_path):
    mine = tmp_path / "m.onnx"
    mine.write_bytes((models / "mlp.onnx").read_bytes())
    code, _, err = gpucc("compile", mine, "--compile-to=graph", "-o", mine)
    assert code == 2 and "would overwrite the model" in err
    (tmp_path / "model.plan").write_bytes(mine.read_bytes())  # the name that the plan would get
    code, _, err = gpucc("compile", tmp_path / "model.plan")
    assert code == 2 and "would overwrite the model" in err
    gpucc.ok("compile", mine, "-o", tmp_path / "m.plan")
    for option in ("--outputs", "--trace"):
        code, _, err = gpucc("run", tmp_path / "m.plan", option, tmp_path / "m.plan")
        assert code == 2 and "would be overwritten" in err
    os.mkfifo(tmp_path / "pipe")
    code, _, err = gpucc("run", tmp_path / "m.plan", "--outputs", tmp_path / "pipe")
    assert code == 2 and "not a regular file" in err
    (tmp_path / "real.npz").write_bytes(b"old")
    (tmp_path / "link.npz").symlink_to("real.npz")
    gpucc.ok("run", tmp_path / "m.plan", "--outputs", tmp_path / "link.npz")
    assert (tmp_path / "link.npz").is_symlink() and (tmp_path / "real.npz").read_bytes() != b"old"


@pytest.mark.parametrize("kilobytes, words", [(600, "cannot write the plan"), (2, "a temporary file for the linker: File too large")])
def test_a_file_that_may_not_grow_is_an_error(gpucc, models, tmp_path, kilobytes, words):
    done = subprocess.run(["bash", "-c", f'ulimit -f {kilobytes}; exec "$@"', "_", str(gpucc.program), "compile",
                           str(models / "gpt2.onnx"), "-o", str(tmp_path / "m.plan")], capture_output=True, text=True)
    assert done.returncode == 2 and words in done.stderr, done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("options", [[], ["--no-pack"], ["--external-weights", "--no-pack"]])
def test_verify_weights_sees_a_changed_byte(gpucc, gpucc_run, tmp_path, options):
    w = np.random.default_rng(1).standard_normal((64, 64)).astype(np.float32)
    path = model(tmp_path / "m.onnx", [helper.make_node("MatMul", ["x", "w"], ["y"])], [("x", (64, 64))], [("y", [64, 64])],
                 initializers=[("w", w)])
    gpucc.ok("compile", path, *options, "-o", tmp_path / "m.plan")
    gpucc_run.ok(tmp_path / "m.plan", "--verify-weights")
    changed = path if "--external-weights" in options else tmp_path / "m.plan"
    data = bytearray(changed.read_bytes())
    at = data.index(w[5].tobytes())
    data[at + 8] ^= 1
    changed.write_bytes(data)
    code, _, err = gpucc_run(tmp_path / "m.plan", "--verify-weights")
    assert code == 2 and ("hash" in err or "bytes are not those" in err), err


@pytest.mark.parametrize("op, dtype", [("ReduceMax", np.uint8), ("ReduceMin", np.uint8), ("ReduceMax", np.bool_), ("ReduceMin", np.bool_)])
def test_columns_of_bytes_and_truth_values_on_cuda(gpucc, tmp_path, op, dtype):
    """Reduced over the first dimension, in the executed CUDA text, and compiled by NVRTC."""
    x = np.random.default_rng(6).integers(0, 256, (70, 24)).astype(np.uint8)
    x = x > 3 if dtype == np.bool_ and op == "ReduceMin" else x > 250 if dtype == np.bool_ else x
    path = model(tmp_path / "m.onnx", [helper.make_node(op, ["x", "axes"], ["y"], keepdims=0)], [("x", x.shape, dtype)],
                 [("y", [24], dtype)], opset=20, initializers=[("axes", np.array([0]))])
    expected = x.max(0) if op == "ReduceMax" else x.min(0)
    for target in ("host", "cuda:sm_80,simt"):
        assert (run(gpucc, path, {"x": x}, tmp_path, "--target", target)["y"] == expected).all(), target
