"""Models whose meaning a rewrite nearly has: near misses of composites, numbers at the end of their range, empty tensors,
names that are words of C++. Compiled and run on both targets, judged by ONNX Runtime (where it follows the operator's
text) or by NumPy."""
import numpy as np
import onnxruntime
import pytest
from onnx import helper
from onnx_model import model

TARGETS = ["host", "cuda:simt,sm_80"]
node = helper.make_node
random = np.random.default_rng(7)


def scalar(name, value, dtype=np.float32):
    return name, np.array(value, dtype)


def normal(*shape):
    return random.standard_normal(shape).astype(np.float32)


IMAGE, FILTER = normal(1, 3, 8, 8), normal(4, 3, 3, 3)
ROWS = normal(4, 16)

# name: (nodes, weights, inputs)
CASES = {
    "no_root": ([node("Mul", ["x", "x"], ["q"]), node("ReduceMean", ["q"], ["m"], axes=[1]),
                 node("Add", ["m", "e"], ["v"]), node("Div", ["x", "v"], ["y"])], [scalar("e", 1e-5)], {"x": ROWS}),
    "centered_no_root": ([node("ReduceMean", ["x"], ["c"], axes=[-1]), node("Sub", ["x", "c"], ["d"]),
                          node("Mul", ["d", "d"], ["q"]), node("ReduceMean", ["q"], ["m"], axes=[-1]),
                          node("Add", ["m", "e"], ["v"]), node("Div", ["d", "v"], ["y"])],
                         [scalar("e", 1e-5)], {"x": ROWS}),
    "two_shifts_round": ([node("Conv", ["x", "w"], ["c"]), node("Add", ["c", "up"], ["u"]),
                          node("Add", ["u", "down"], ["y"])],
                         [("w", FILTER), scalar("up", 12582912), scalar("down", -12582912)], {"x": IMAGE}),
    "two_factors_overflow": ([node("Conv", ["x", "w"], ["c"]), node("Mul", ["c", "up"], ["u"]),
                              node("Mul", ["u", "up"], ["v"]), node("Mul", ["v", "down"], ["y"])],
                             [("w", FILTER), scalar("up", 1e30), scalar("down", 1e-30)], {"x": IMAGE}),
    "factor_keeps_zero's_sign": ([node("Conv", ["x", "w"], ["c"]), node("Mul", ["c", "f"], ["m"]),
                                  node("Reciprocal", ["m"], ["y"])],
                                 [("w", FILTER), scalar("f", -2)], {"x": np.zeros_like(IMAGE)}),
    "two_masks": ([node("Cast", ["m1"], ["f1"], to=1), node("Cast", ["m2"], ["f2"], to=1),
                   node("Mul", ["f1", "big"], ["g1"]), node("Mul", ["f2", "big"], ["g2"]),
                   node("Add", ["g1", "g2"], ["bias"]), node("Transpose", ["k"], ["kt"], perm=[0, 1, 3, 2]),
                   node("MatMul", ["q", "kt"], ["s"]), node("Add", ["s", "bias"], ["sm"]),
                   node("Softmax", ["sm"], ["p"], axis=-1), node("MatMul", ["p", "v"], ["y"])],
                  [scalar("big", -3.4e38)],
                  {"q": normal(1, 2, 4, 8), "k": normal(1, 2, 4, 8), "v": normal(1, 2, 4, 8),
                   "m1": np.array([0, 1, 0, 1] * 3 + [1] * 4).reshape(1, 1, 4, 4),
                   "m2": np.array([0, 0, 1, 1] * 3 + [1] * 4).reshape(1, 1, 4, 4)}),
    "slice_from_far_before": ([node("Slice", ["x", "s", "e", "a", "t"], ["y"])],
                              [("s", np.array([-20])), ("e", np.array([-2**31])), ("a", np.array([1])),
                               ("t", np.array([-1]))], {"x": ROWS}),
    "sums_of_nothing": ([node("ReduceSum", ["x", "a"], ["s"], keepdims=0), node("ReduceL1", ["x"], ["l"], axes=[1], keepdims=0),
                         node("Add", ["s", "l"], ["t"]), node("Reciprocal", ["t"], ["y"])],
                        [("a", np.array([1]))], {"x": np.zeros((2, 0), np.float32)}),
    "normalize_nothing": ([node("BatchNormalization", ["x", "g", "b", "m", "v"], ["y"])], [],
                          {"x": np.zeros((2, 3, 0), np.float32), "g": normal(3), "b": normal(3), "m": normal(3),
                           "v": np.abs(normal(3))}),
    "gather_nothing": ([node("GatherElements", ["x", "i"], ["y"], axis=1)], [],
                       {"x": np.zeros((0, 7), np.float32), "i": np.zeros((0, 2), np.int64)}),
    "transposed_convolution_result": ([node("Conv", ["x", "w"], ["c"]), node("Relu", ["c"], ["r"]),
                                       node("Transpose", ["r"], ["y"], perm=[0, 2, 3, 1])], [("w", FILTER)], {"x": IMAGE}),
    "last_dimensions_swapped": ([node("Conv", ["x", "w"], ["c"]), node("Transpose", ["c"], ["y"], perm=[0, 1, 3, 2])],
                                [("w", FILTER)], {"x": IMAGE}),
    "words_of_cpp": ([node("Add", ["while", "not"], ["default"]), node("Mul", ["default", "p1"], ["threadIdx"]),
                      node("Softmax", ["threadIdx"], ["y"])], [],
                     {"while": ROWS, "not": ROWS + 1, "p1": ROWS - 1}),
    "generated_names": ([node("Add", ["v7", "v2"], ["i3"]), node("Add", ["i3", "v7_"], ["t1"]),
                         node("Softmax", ["t1"], ["y"])], [], {"v7": ROWS, "v2": ROWS + 1, "v7_": ROWS - 1}),
}


def compare(gpucc, path, inputs, expected, target):
    given, right = path.with_suffix(".in.npz"), path.with_suffix(".out.npz")
    np.savez(given, **inputs)
    np.savez(right, **expected)
    gpucc.ok("check", path, "--inputs", given, "--expect", right, "--target", target)
    gpucc.ok("check", path, "--inputs", given, "--target", target)  # and the reference evaluator


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", CASES)
def test_like_onnx_runtime(gpucc, tmp_path, name, target):
    nodes, weights, inputs = CASES[name]
    path = model(tmp_path / "m.onnx", nodes, [(n, a.shape, a.dtype) for n, a in inputs.items()], [("y", None)],
                 initializers=weights)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    compare(gpucc, path, inputs, {"y": session.run(None, inputs)[0]}, target)


@pytest.mark.parametrize("target", TARGETS)
def test_far_indices_read_the_nearest_entry(gpucc, tmp_path, target):
    """What ONNX forbids and ONNX Runtime refuses: here the nearest entry, also beyond 32 bits."""
    data = normal(8, 3)
    indices = np.array([0, -1, 7, -8, 8, -9, 2**31, -2**31, 2**32 + 1, -2**32 - 1, 2**62, -2**62])
    path = model(tmp_path / "m.onnx", [node("Gather", ["d", "i"], ["y"])],
                 [("d", data.shape), ("i", indices.shape, np.int64)], [("y", None)])
    nearest = np.clip(np.where(indices < 0, indices + 8, indices), 0, 7)
    compare(gpucc, path, {"d": data, "i": indices}, {"y": data[nearest]}, target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("op", ["Max", "Min"])
def test_a_bound_that_is_no_number_makes_the_result_none(gpucc, tmp_path, op, target):
    path = model(tmp_path / "m.onnx", [node("Conv", ["x", "w"], ["c"]), node(op, ["c", "n"], ["y"])],
                 [("x", IMAGE.shape)], [("y", None)], initializers=[("w", FILTER), scalar("n", np.nan)])
    compare(gpucc, path, {"x": IMAGE}, {"y": np.full((1, 4, 6, 6), np.nan, np.float32)}, target)
