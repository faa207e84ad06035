"""Outputs whose size a run computes: compiled, run and read, against ONNX Runtime."""
import os
import sys

import numpy as np
import onnxruntime
import pytest
from onnx import helper

from onnx_model import model

I64 = np.int64
TARGETS = [(), ("--target", "cuda:simt")]


def node(kind, inputs, outputs, **attributes):
    return helper.make_node(kind, inputs, outputs, name=outputs[0] + "_node", **attributes)


def ints(*values):
    return np.array(values, I64)


def same(gpucc, path, arrays, tmp_path, *options):
    """Types, shapes and values of all outputs; the run's own table shows the real shapes."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    np.savez(tmp_path / "in.npz", **arrays)
    out = gpucc.ok("run", path, "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz", *options)
    found = np.load(tmp_path / "out.npz")
    names = [o.name for o in session.get_outputs()]
    assert sorted(found.files) == sorted(names)
    for name, expected in zip(names, session.run(None, arrays)):
        assert found[name].dtype == expected.dtype and found[name].shape == expected.shape, name
        assert np.allclose(found[name], expected, rtol=1e-5, atol=1e-6, equal_nan=True), name
        assert f"[{', '.join(map(str, expected.shape))}]" in out
    return found


def sparse(seed, shape, share):
    random = np.random.default_rng(seed)
    return np.where(random.random(shape) < share, random.standard_normal(shape), 0).astype(np.float32)


@pytest.mark.parametrize("target", TARGETS, ids=["host", "cuda"])
@pytest.mark.parametrize("share", [0, 0.3, 1])
@pytest.mark.parametrize("shape", [(7,), (3, 5), (2, 3, 4)])
def test_positions(gpucc, tmp_path, shape, share, target):
    path = model(tmp_path / "m.onnx", [node("NonZero", ["x"], ["y"])], [("x", shape)],
                 [("y", [len(shape), "n"], I64)])
    same(gpucc, path, {"x": sparse(1, shape, share)}, tmp_path, *target)


def test_one_plan_gives_many_sizes(gpucc, tmp_path):
    path = model(tmp_path / "m.onnx", [node("NonZero", ["x"], ["y"])], [("x", [4, 4])], [("y", [2, "n"], I64)])
    plan = tmp_path / "m.plan"
    gpucc.ok("compile", path, "-o", plan)
    for seed in range(4):
        x = sparse(seed, (4, 4), seed / 4)
        np.savez(tmp_path / "in.npz", x=x)
        gpucc.ok("run", plan, "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz")
        assert np.array_equal(np.load(tmp_path / "out.npz")["y"], np.array(np.nonzero(x)))


def test_python_reads_the_real_shape(gpucc, tmp_path):
    path = model(tmp_path / "m.onnx", [node("NonZero", ["x"], ["y"])], [("x", [4, 4])], [("y", [2, "n"], I64)])
    gpucc.ok("compile", path, "-o", tmp_path / "m.plan")
    sys.path.insert(0, os.path.join(os.environ["GPUCC_BUILD"], "python"))
    binding = pytest.importorskip("gpucc")
    loaded = binding.load(tmp_path / "m.plan")
    with pytest.raises(ValueError, match="is computed by a step, and none was run"):
        loaded.read("y")
    for share in (0.5, 0, 1):
        x = sparse(3, (4, 4), share)
        y = loaded.run({"x": x})
        assert list(y) == ["y"] and y["y"].dtype == I64
        assert np.array_equal(y["y"], np.array(np.nonzero(x)))
        assert np.array_equal(loaded.read("y"), y["y"])


def test_check_compares_the_real_entries(gpucc, tmp_path):
    path = model(tmp_path / "m.onnx", [node("NonZero", ["x"], ["y"]), node("Transpose", ["y"], ["t"])],
                 [("x", [4, 4], np.bool_)], [("t", ["n", 2], I64)])
    assert "1 tensors compared, 0 wrong" in gpucc.ok("check", path)
    x = np.eye(4, dtype=bool)
    np.savez(tmp_path / "in.npz", x=x)
    np.savez(tmp_path / "right.npz", t=np.argwhere(x))
    np.savez(tmp_path / "short.npz", t=np.argwhere(x)[:3])
    gpucc.ok("check", path, "--inputs", tmp_path / "in.npz", "--expect", tmp_path / "right.npz")
    code, out, _ = gpucc("check", path, "--inputs", tmp_path / "in.npz", "--expect", tmp_path / "short.npz")
    assert code == 1 and "found i64 [4, 2], expected i64 [3, 2]" in out


# What comes after the positions of x [4, 6]: rows "at" [n, 2].
POSITIONS = [node("NonZero", ["x"], ["z"]), node("Transpose", ["z"], ["at"])]
AFTER = {
    "gather rows": ([node("GatherND", ["x", "at"], ["y"])], ["n"], np.float32),
    "columns": ([node("Gather", ["at", "one"], ["c"], axis=1), node("Gather", ["w", "c"], ["y"])], ["n", 3], np.float32),
    "arithmetic": ([node("Cast", ["at"], ["f"], to=1), node("Mul", ["f", "two"], ["g"]), node("Add", ["g", "f"], ["y"])],
                   ["n", 2], np.float32),
    "product": ([node("Cast", ["at"], ["f"], to=1), node("MatMul", ["f", "m"], ["y"])], ["n", 3], np.float32),
    "linear": ([node("Cast", ["at"], ["f"], to=1), node("Gemm", ["f", "m", "b"], ["y"])], ["n", 3], np.float32),
    "unsqueeze": ([node("Unsqueeze", ["at", "axes"], ["y"])], [1, "n", 2], I64),
    "reshape": ([node("Reshape", ["at", "rows"], ["y"])], ["n", 1, 2], I64),
    "flat": ([node("Reshape", ["at", "all"], ["y"])], ["m"], I64),
    "last row": ([node("Gather", ["at", "last"], ["y"], axis=0)], [2], I64),
    "first rows": ([node("Slice", ["at", "from", "to", "zero"], ["y"])], ["n", 2], I64),
    "other columns": ([node("Slice", ["at", "from", "to", "one"], ["y"])], ["n", 1], I64),
    "sum": ([node("GatherND", ["x", "at"], ["v"]), node("ReduceSum", ["v"], ["y"], keepdims=0)], [], np.float32),
    "greatest": ([node("GatherND", ["x", "at"], ["v"]), node("ReduceMax", ["v"], ["y"])], [1], np.float32),
    "least": ([node("Gather", ["at", "one"], ["v"], axis=1), node("ReduceMin", ["v"], ["y"], axes=[0])], [1], I64),
    "mean": ([node("GatherND", ["x", "at"], ["v"]), node("ReduceMean", ["v"], ["y"])], [1], np.float32),
    "sum by row": ([node("ReduceSum", ["at", "one"], ["y"], keepdims=0)], ["n"], I64),
    "where greatest": ([node("GatherND", ["x", "at"], ["v"]), node("ArgMax", ["v"], ["y"], axis=0)], [1], I64),
    "running sum": ([node("GatherND", ["x", "at"], ["v"]), node("CumSum", ["v", "zero0"], ["y"])], ["n"], np.float32),
    "softmax": ([node("GatherND", ["x", "at"], ["v"]), node("Softmax", ["v"], ["y"], axis=0)], ["n"], np.float32),
    "expanded": ([node("GatherND", ["x", "at"], ["v"]), node("Unsqueeze", ["v", "one"], ["u"]), node("Expand", ["u", "four"], ["y"])],
                 ["n", 4], np.float32),
    "expanded in front": ([node("Expand", ["at", "two11"], ["y"])], [2, "n", 2], I64),
    "repeated": ([node("Tile", ["at", "twice"], ["y"])], ["n", 4], I64),
    "padded": ([node("Pad", ["at", "column"], ["y"])], ["n", 3], I64),
    "best": ([node("GatherND", ["x", "at"], ["v"]), node("TopK", ["v", "k"], ["y", "u"])], [2], np.float32),
    "least two": ([node("GatherND", ["x", "at"], ["v"]), node("TopK", ["v", "k"], ["y", "u"], largest=0)], [2], np.float32),
    "slopes": ([node("GatherND", ["x", "at"], ["v"]), node("PRelu", ["v", "two"], ["y"])], ["n"], np.float32),
    "regions": ([node("Cast", ["at"], ["f"], to=1), node("Concat", ["f", "f"], ["r"], axis=1),
                 node("Gather", ["at", "zero1"], ["i"], axis=1), node("RoiAlign", ["image", "r", "i"], ["y"], sampling_ratio=2)],
                ["n", 2, 1, 1], np.float32),
    "shape": ([node("Shape", ["at"], ["y"])], [2], I64),
    "size": ([node("Size", ["at"], ["y"])], [], I64),
    "joined": ([node("Concat", ["at", "more", "at"], ["y"], axis=0)], ["m", 2], I64),
    "beside": ([node("Concat", ["at", "at"], ["y"], axis=1)], ["n", 4], I64),
    "halves": ([node("Split", ["at"], ["y", "u"], axis=1)], ["n", 1], I64),
    "scatter": ([node("GatherND", ["x", "at"], ["v"]), node("Neg", ["v"], ["u"]), node("ScatterND", ["ones", "at", "u"], ["y"])],
                [4, 6], np.float32),
    "select": ([node("GatherND", ["x", "at"], ["v"]), node("Greater", ["v", "two"], ["p"]), node("NonZero", ["p"], ["y"])],
               [1, "k"], I64),
    "compress": ([node("GatherND", ["x", "at"], ["v"]), node("Greater", ["v", "zerof"], ["p"]),
                  node("Compress", ["v", "p"], ["y"], axis=0)], ["k"], np.float32),
}


@pytest.mark.parametrize("target", TARGETS, ids=["host", "cuda"])
@pytest.mark.parametrize("case", AFTER)
def test_what_follows(gpucc, tmp_path, case, target):
    nodes, shape, dtype = AFTER[case]
    random = np.random.default_rng(5)
    weights = [("one", ints(1)), ("two", np.array(0.25, np.float32)), ("w", random.random((6, 3), np.float32)),
               ("m", random.random((2, 3), np.float32)), ("b", random.random(3, np.float32)), ("axes", ints(0)),
               ("rows", ints(-1, 1, 2)), ("all", ints(-1)), ("last", np.array(-1, I64)), ("from", ints(1)),
               ("to", ints(9)), ("zero", ints(0)), ("zero0", np.array(0, I64)), ("more", ints([7, 8])),
               ("four", ints(1, 4)), ("two11", ints(2, 1, 1)), ("twice", ints(1, 2)), ("column", ints(0, 1, 0, 0)), ("k", ints(2)), ("zero1", np.array(0, I64)), ("image", random.random((4, 2, 8, 8), np.float32)),
               ("ones", np.ones((4, 6), np.float32)), ("zerof", np.array(0, np.float32))]
    used = {name for n in nodes for name in n.input}
    path = model(tmp_path / "m.onnx", POSITIONS + nodes, [("x", [4, 6])], [("y", shape, dtype)],
                 initializers=[w for w in weights if w[0] in used])
    for seed in (1, 2):
        same(gpucc, path, {"x": sparse(seed, (4, 6), 0.4)}, tmp_path, *target)


def boxes_case(seed, batches, classes, count, center):
    random = np.random.default_rng(seed)
    corner, size = random.random((batches, count, 2)) * 4, random.random((batches, count, 2)) * 2 + 0.2
    if center:
        boxes = np.concatenate([corner, size], 2)
    else:
        boxes = np.concatenate([corner, corner + size], 2)
        flipped = random.random((batches, count, 1)) < 0.3
        boxes = np.where(flipped, boxes[:, :, [2, 3, 0, 1]], boxes)
    scores = random.integers(0, 40, (batches, classes, count)) / 40  # some are equal
    return boxes.astype(np.float32), scores.astype(np.float32)


def suppression(path, batches, classes, count, most, center=0, after=(), outputs=(("y", ["n", 3], I64),)):
    nodes = [node("NonMaxSuppression", ["boxes", "scores", "most", "iou", "least"], ["y"], center_point_box=center), *after]
    inputs = [("boxes", [batches, count, 4]), ("scores", [batches, classes, count]), ("iou", [1]), ("least", [1])]
    weights = [("three", ints(2))]
    if most is None:
        inputs.append(("most", [1], I64))
    else:
        weights.append(("most", ints(most)))
    return model(path, nodes, inputs, outputs, initializers=weights)


@pytest.mark.parametrize("most", [0, 3, 99, None])
@pytest.mark.parametrize("center", [0, 1])
@pytest.mark.parametrize("sizes", [(1, 1, 9), (2, 3, 12)])
def test_suppression(gpucc, tmp_path, sizes, center, most):
    path = suppression(tmp_path / "m.onnx", *sizes, most, center)
    for seed, iou, least in ((1, 0.3, 0.1), (2, 0.0, 0.5), (3, 0.7, 2.0)):
        boxes, scores = boxes_case(seed, *sizes, center)
        arrays = {"boxes": boxes, "scores": scores, "iou": np.array([iou], np.float32), "least": np.array([least], np.float32)}
        if most is None:
            arrays["most"] = ints(4)
        same(gpucc, path, arrays, tmp_path)


def test_suppression_on_cuda_then_its_boxes(gpucc, tmp_path):
    """The selected boxes: indices of column 2, gathered."""
    after = [node("Gather", ["y", "three"], ["column"], axis=1), node("Squeeze", ["column", "axis"], ["index"]),
             node("Squeeze", ["boxes", "first"], ["flat"]), node("Gather", ["flat", "index"], ["picked"])]
    nodes = [node("NonMaxSuppression", ["boxes", "scores", "most", "iou", "least"], ["y"]), *after]
    path = model(tmp_path / "m.onnx", nodes,
                 [("boxes", [1, 9, 4]), ("scores", [1, 2, 9]), ("iou", [1]), ("least", [1])],
                 [("y", ["n", 3], I64), ("picked", ["n", 4])],
                 initializers=[("most", ints(4)), ("three", ints(2)), ("axis", ints(1)), ("first", ints(0))])
    for target in TARGETS:
        for seed in (4, 5):
            boxes, scores = boxes_case(seed, 1, 2, 9, 0)
            same(gpucc, path, {"boxes": boxes, "scores": scores, "iou": np.array([0.3], np.float32),
                               "least": np.array([0.2], np.float32)}, tmp_path, *target)


@pytest.mark.parametrize("target", TARGETS, ids=["host", "cuda"])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_compress(gpucc, tmp_path, axis, target):
    attributes = {} if axis is None else {"axis": axis}
    length = {None: 15, 0: 3, 1: 4}[axis]  # one shorter than the axis, with axis 1
    shape = {None: ["n"], 0: ["n", 5], 1: [3, "n"]}[axis]
    path = model(tmp_path / "m.onnx", [node("Compress", ["x", "c"], ["y"], **attributes)],
                 [("x", [3, 5]), ("c", [length], np.bool_)], [("y", shape)])
    random = np.random.default_rng(7)
    for share in (0, 0.5, 1):
        same(gpucc, path, {"x": random.random((3, 5), np.float32), "c": random.random(length) < share}, tmp_path, *target)


@pytest.mark.parametrize("target", TARGETS, ids=["host", "cuda"])
@pytest.mark.parametrize("ordered", [0, 1])
@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_unique(gpucc, tmp_path, dtype, ordered, target):
    outputs = [("y", ["n"], dtype), ("first", ["n"], I64), ("inverse", [20], I64), ("sizes", ["n"], I64)]
    path = model(tmp_path / "m.onnx", [node("Unique", ["x"], ["y", "first", "inverse", "sizes"], sorted=ordered)],
                 [("x", [20], dtype)], outputs)
    for values in (1, 6, 100):
        x = np.random.default_rng(values).integers(0, values, 20).astype(dtype)
        same(gpucc, path, {"x": x}, tmp_path, *target)


@pytest.mark.parametrize("ordered", [0, 1])
@pytest.mark.parametrize("axis", [0, 1])
def test_unique_slices(gpucc, tmp_path, axis, ordered):
    shape = {0: ["n", 3, 2], 1: [4, "n", 2]}[axis]
    outputs = [("y", shape, I64), ("first", ["n"], I64), ("inverse", [[4, 3][axis]], I64), ("sizes", ["n"], I64)]
    path = model(tmp_path / "m.onnx", [node("Unique", ["x"], ["y", "first", "inverse", "sizes"], axis=axis, sorted=ordered)],
                 [("x", [4, 3, 2], I64)], outputs)
    for seed in range(3):
        same(gpucc, path, {"x": np.random.default_rng(seed).integers(-1, 1, (4, 3, 2)) * (seed > 0)}, tmp_path)


def test_several_ranks_and_training_are_refused(gpucc, tmp_path):
    path = model(tmp_path / "m.onnx", [node("NonZero", ["x"], ["y"])], [("x", ["b", 4])], [("y", [2, "n"], I64)])
    code, _, error = gpucc("compile", path, "--profile", "b=4", "--ranks", 2, "-o", tmp_path / "m.plan")
    assert code == 3 and "the size of output \"y\" depends on values of a run" in error
    code, _, error = gpucc("compile", path, "--profile", "b=4", "--train", "--loss", "output:y", "-o", tmp_path / "m.plan")
    assert code == 3 and "training steps have fixed sizes" in error
