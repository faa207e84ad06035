"""Kinds of fault that users of other systems have reported (docs/faults.md says which, and which test is about each): small
models whose answers are known by hand or from NumPy, compiled and run on the host with all passes."""
from typing import NamedTuple

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

F32, I64, BOOL = np.float32, np.int64, np.bool_
NAN, INF = np.nan, np.inf


class Case(NamedTuple):
    kind: int  # the row of docs/faults.md
    nodes: list
    inputs: dict
    expected: dict
    weights: dict = {}
    opset: int = 17
    ir: int = 8
    also_inputs: tuple = ()  # weights that are listed as inputs, too


def n(op, inputs, outputs="y", **attributes):
    return helper.make_node(op, inputs.split(",") if isinstance(inputs, str) else inputs,
                            outputs.split(",") if isinstance(outputs, str) else outputs, **attributes)


def f(*values):
    return np.array(values, F32)


def i(*values):
    return np.array(values, I64)


def info(name, array):
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), list(array.shape))


def graph(nodes, inputs, outputs, name="body", weights=()):
    return helper.make_graph(nodes, name, inputs, outputs, [numpy_helper.from_array(w, k) for k, w in dict(weights).items()])


def value(name, dtype=TensorProto.FLOAT, shape=None):
    return helper.make_tensor_value_info(name, dtype, shape)


def softmax(x, axis=-1):
    with np.errstate(invalid="ignore"):
        e = np.exp(x - x.max(axis, keepdims=True))
        return (e / e.sum(axis, keepdims=True)).astype(x.dtype)


def run_of(x):
    """1, 2, 3, ... in a shape."""
    return np.arange(1, np.prod(x) + 1, dtype=F32).reshape(x)


def layer_norm(x, axes, scale=1, power=2):
    c = x - x.mean(axes, keepdims=True)
    return (c / np.sqrt((c**power).mean(axes, keepdims=True) + 1e-5) * scale).astype(F32)


def norm_nodes(axes, power="two", out="y"):
    """A layer norm as exporters write it."""
    return [n("ReduceMean", "x", "m", axes=axes, keepdims=1), n("Sub", "x,m", "c"), n("Pow", f"c,{power}", "p"),
            n("ReduceMean", "p", "v", axes=axes, keepdims=1), n("Add", "v,eps", "ve"), n("Sqrt", "ve", "s"), n("Div", "c,s", "d"),
            n("Mul", "d,g", "e"), n("Add", "e,b", out)]


def norm_case(x, axes, scale, power=2, nodes=(), **more):
    weights = {"two": f(power).reshape(()), "eps": F32(1e-5).reshape(()), "g": scale, "b": np.zeros(1, F32)}
    expected = {"y": layer_norm(x, tuple(axes), scale, power)}
    return Case(8, [*norm_nodes(axes), *nodes], {"x": x}, {**expected, **more}, weights, opset=13)


R = np.random.default_rng(5)
X24, X234 = R.standard_normal((2, 4)).astype(F32), R.standard_normal((2, 3, 4)).astype(F32)
THEN = graph([n("Add", "x,x", "t")], [], [value("t")], "then")
BARE = graph([], [], [value("z")], "else")  # returns an outer value
NEXT = [value("it", TensorProto.INT64, []), value("go", TensorProto.BOOL, []), value("s", shape=[4])]


def loop(nodes, more=()):
    return graph(nodes, NEXT, [value("go2", TensorProto.BOOL, []), value("s2", shape=[4]), *more])


COUNT = loop([n("Identity", "go", "go2"), n("Add", "s,one", "s2"), n("Identity", "s", "before")], [value("before", shape=[4])])
STOP = loop([n("Less", "it,limit", "go2"), n("Add", "s,one", "s2"), n("Identity", "s2", "after")], [value("after", shape=[4])])
ONE = {"one": f(1)}
Q, KV = np.zeros((1, 1, 2, 1), F32), run_of((1, 1, 4, 1))
EDGES = f(NAN, 1), f(1, NAN)


def reshape(x, shape, to, allowzero=0):
    return Case(2, [n("Reshape", "x,s", allowzero=allowzero)], {"x": x}, {"y": x.reshape(to)}, {"s": i(*shape)})


def pad(x, pads, expected, mode="constant", axes=None, opset=19):
    inputs = ["x", "p"] + (["", "a"] if axes is not None else [])
    return Case(3, [n("Pad", inputs, mode=mode)], {"x": x}, {"y": expected},
                {"p": i(*pads), **({"a": i(*axes)} if axes is not None else {})}, opset=opset)


def cut(x, start, end, step, axes, dtype=I64):
    index = tuple(slice(None) for _ in x.shape)
    for a, (b, e, s) in zip(axes, zip(start, end, step)):
        stop = None if (s < 0 and e < -x.shape[a]) else e
        index = index[:a % x.ndim] + (slice(b, stop, s),) + index[a % x.ndim + 1:]
    weights = {k: np.array(v, dtype) for k, v in (("b", start), ("e", end), ("a", axes), ("t", step))}
    return Case(4, [n("Slice", "x,b,e,a,t")], {"x": x}, {"y": x[index]}, weights)


LEAST, MOST = -(1 << 63), (1 << 63) - 1
FLAT = {"Softmax": lambda r: softmax(r), "LogSoftmax": lambda r: np.log(softmax(r))}

CASES = {
    "resize cubic to one pixel": Case(1, [n("Resize", ["x", "", "", "s"], mode="cubic", exclude_outside=1, cubic_coeff_a=-0.5,
                                            coordinate_transformation_mode="pytorch_half_pixel")],
                                      {"x": run_of((1, 1, 4, 4))}, {"y": f(1).reshape(1, 1, 1, 1)}, {"s": i(1, 1, 1, 1)}),
    # Elements 1 and 4 of 6 lie at (1 + 0.5) * 20 / 6 - 0.5 = 4.5 and at 14.5.
    "resize nearest on a half": Case(1, [n("Resize", ["x", "", "", "s"], mode="nearest", nearest_mode="round_prefer_ceil",
                                           coordinate_transformation_mode="half_pixel")], {"x": run_of((1, 1, 1, 20))},
                                     {"y": f(2, 6, 9, 12, 16, 19).reshape(1, 1, 1, 6)}, {"s": i(1, 1, 1, 6)}),
    "resize scale rounds down": Case(1, [n("Resize", ["x", "", "s"], mode="nearest", coordinate_transformation_mode="asymmetric",
                                           nearest_mode="floor")], {"x": run_of((1, 1, 1, 5))},
                                     {"y": f(1, 1, 2, 3, 3, 4, 5).reshape(1, 1, 1, 7)}, {"s": f(1, 1, 1, 1.5)}),
    "reshape of nothing": reshape(np.zeros((0, 8, 2), F32), (4, 2, -1), (4, 2, 0)),
    "reshape to zero": reshape(np.zeros((4, 2, 0), F32), (0, 0, 4), (0, 0, 4), 1),
    "reshape allowzero and -1": reshape(run_of((2, 6)), (3, -1), (3, 4), 1),
    "reshape copies": reshape(run_of((2, 3)), (0, 3), (2, 3)),
    "pad one axis": pad(run_of((3, 4)), (1, 2), np.pad(run_of((3, 4)), ((0, 0), (1, 2))), axes=(1,)),
    "pad last axis": pad(run_of((3, 4)), (1, 2), np.pad(run_of((3, 4)), ((0, 0), (1, 2))), axes=(-1,)),
    "pad wrap": pad(run_of((3, 4)), (0, 2, 0, 1), np.pad(run_of((3, 4)), ((0, 0), (2, 1)), "wrap"), "wrap"),
    "pad cuts": pad(run_of((3, 4)), (-1, 0, 0, -2), run_of((3, 4))[1:, :2]),
    "pad reflects": pad(run_of((1, 4)), (0, 3, 0, 3), np.pad(run_of((1, 4)), ((0, 0), (3, 3)), "reflect"), "reflect"),
    "convolution cuts": Case(3, [n("Conv", "x,w", pads=[-1, -1, -1, -1])], {"x": run_of((1, 1, 4, 4))},
                             {"y": run_of((1, 1, 4, 4))[..., 1:3, 1:3]}, {"w": np.ones((1, 1, 1, 1), F32)}),
    "slice backwards of nothing": cut(run_of((10,)), [0], [5], [-1], [0]),
    "slice to the last number": cut(run_of((10,)), [2], [MOST], [3], [0]),
    "slice to the first number": cut(run_of((10,)), [8], [LEAST], [-3], [0]),
    "slice i32, unsorted axes": cut(run_of((3, 4)), [1, 0], [4, 2], [2, 1], [-1, 0], np.int32),
    **{f"{kind} of opset 11": Case(5, [n(kind, "x")], {"x": X234}, {"y": FLAT[kind](X234.reshape(2, 12)).reshape(2, 3, 4)}, opset=11)
       for kind in FLAT},
    "Hardmax of opset 11": Case(5, [n("Hardmax", "x")], {"x": X234}, opset=11, expected={
        "y": np.eye(12, dtype=F32)[X234.reshape(2, 12).argmax(1)].reshape(2, 3, 4)}),
    "Softmax of opset 12, axis 2": Case(5, [n("Softmax", "x", axis=2)], {"x": X234.reshape(1, 2, 3, 4)}, opset=12, expected={
        "y": softmax(X234.reshape(2, 12)).reshape(1, 2, 3, 4)}),
    "Softmax of opset 13": Case(5, [n("Softmax", "x")], {"x": X234}, {"y": softmax(X234)}, opset=13),
    "Squeeze, Unsqueeze, Clip, ReduceSum of opset 11": Case(5, [
        n("Unsqueeze", "x", "a", axes=[0]), n("Squeeze", "a", "b", axes=[0]), n("ReduceSum", "b", "c", axes=[1], keepdims=0),
        n("Clip", ["c", "", "top"])], {"x": X24}, {"y": np.minimum(X24.sum(1), 0.25)}, {"top": F32(0.25).reshape(())}, opset=11),
    "softmax of huge numbers": Case(6, [n("Mul", "x,k", "m"), n("Softmax", "m")], {"x": f(1, 2, 3).reshape(1, 3)},
                                    {"y": f(0, 0, 1).reshape(1, 3)}, {"k": f(1e14)}),
    "softmax of infinities": Case(6, [n("Mul", "x,k", "m"), n("Softmax", "m")], {"x": f(1, 2, 3).reshape(1, 3)},
                                  {"y": f(NAN, NAN, NAN).reshape(1, 3)}, {"k": f(INF)}),
    "softmax of -inf": Case(6, [n("Softmax", "x")], {"x": f(-INF, -INF, 0, -INF).reshape(2, 2)}, {"y": f(NAN, NAN, 1, 0).reshape(2, 2)}),
    "sum of a softmax": Case(6, [n("Softmax", "x", "p"), n("ReduceSum", "p", keepdims=0)], {"x": f(NAN, 1).reshape(1, 2)},
                             {"y": F32(NAN).reshape(())}, opset=13),
    "softmax of a negative scale": Case(6, [n("Mul", "x,k", "m"), n("Softmax", "m")], {"x": X24}, {"y": softmax(X24 * F32(-3))}, {"k": f(-3)}),
    # All keys weigh the same (queries are 0), so a row is the mean of the values that it sees.
    "causal attention": Case(7, [n("Attention", "q,k,v", is_causal=1)], {"q": Q, "k": KV, "v": KV}, {"y": f(1, 1.5).reshape(1, 1, 2, 1)}, opset=23),
    "layer norm": norm_case(X24, [-1], f(1, 2, 3, 4)),
    "scale of one number": norm_case(X24, [-1], f(2)),
    "scale makes it larger": norm_case(X24[:1, :1], [-1], f(1, 2)),
    "scale of rank 3": norm_case(X24, [-1], f(1, 2, 3, 4).reshape(1, 1, 4)),
    "norm over two axes": norm_case(X234, [1, 2], f(2)),
    "cubes are no variance": norm_case(np.exp(X24), [-1], f(1), 4),
    "variance is an output": norm_case(X24, [-1], f(1), v=(X24 - X24.mean(1, keepdims=True)).__pow__(2).mean(1, keepdims=True)),
    "difference is read again": norm_case(X24, [-1], f(1), nodes=[n("Relu", "c", "r")],
                                          r=np.maximum(X24 - X24.mean(1, keepdims=True), 0)),
    "middle of a chain is an output": Case(9, [n("Exp", "x", "a"), n("Mul", "a,x", "c"), n("Relu", "c")], {"x": X24},
                                           {"y": np.maximum(np.exp(X24) * X24, 0), "a": np.exp(X24), "c": np.exp(X24) * X24}),
    "bias of a product is an output": Case(9, [n("MatMul", "x,w", "m"), n("Add", "m,b", "c"), n("Relu", "c")], {"x": X24},
                                           {"y": np.maximum(X24 @ run_of((4, 3)) + 1, 0), "c": X24 @ run_of((4, 3)) + 1},
                                           {"w": run_of((4, 3)), "b": f(1, 1, 1)}),
    "negative weights of 8 bits": Case(10, [n("DequantizeLinear", "w,k", "d"), n("Reshape", "d,s", "r"), n("Add", "r,x")], {"x": np.zeros((2, 2), F32)},
                                       {"y": f(12, -45, 7, -3).reshape(2, 2)}, {"w": np.array([12, -45, 7, -3], np.int8), "k": F32(1).reshape(()), "s": i(2, 2)}),
    "quantize saturates": Case(10, [n("QuantizeLinear", "x,k,z")], {"x": f(-129, -128, 127, 129, 0.5, 1.5, -0.5, 2.5)},
                               {"y": np.array([-128, -128, 127, 127, 0, 2, 0, 2], np.int8)}, {"k": F32(1).reshape(()), "z": np.int8(0).reshape(())}),
    "zero point before saturation": Case(10, [n("QuantizeLinear", "x,k,z")], {"x": f(-300, 200, 100, -10)},
                                         {"y": np.array([0, 255, 228, 118], np.uint8)}, {"k": F32(1).reshape(()), "z": np.uint8(128).reshape(())}),
    "softmax of 8 bits": Case(10, [n("Softmax", "x", "p"), n("QuantizeLinear", "p,k,z")], {"x": f(-90, 90).reshape(1, 2)},
                              {"y": np.array([[-128, 127]], np.int8)}, {"k": F32(1 / 255).reshape(()), "z": np.int8(-128).reshape(())}),
    "cast, times one, divided": Case(11, [n("Cast", "x", "a", to=TensorProto.FLOAT), n("Mul", "a,one", "m"), n("Div", "m,x")], {"x": X24},
                                     {"y": np.ones((2, 4), F32)}, ONE),
    "division of large integers": Case(12, [n("Div", "a,b", "c"), n("Add", "c,x")], {"x": i(0, 0, 0)}, {"y": i((1 << 53) + 1, -3, 3)},
                                       {"a": i((1 << 53) + 1, -7, 7), "b": i(1, 2, 2)}),
    # Found by the fuzzer: no double holds this number.
    "ignored label of 63 bits": Case(12, [n("SoftmaxCrossEntropyLoss", "x,t", reduction="none", ignore_index=MOST)],
                                     {"x": np.zeros((2, 2), F32), "t": i(0, MOST)}, {"y": f(np.log(2), 0)}),
    "names out of order": Case(15, [n("Relu", "h"), n("Neg", "x", "h")], {"x": X24}, {"y": np.maximum(-X24, 0)}),
    "an outer value is a branch's result": Case(16, [n("Neg", "x", "z"), n("If", "c", then_branch=THEN, else_branch=BARE)],
                                                {"c": np.array(False), "x": X24}, {"y": -X24}),
    "the other branch": Case(16, [n("Neg", "x", "z"), n("If", "c", then_branch=THEN, else_branch=BARE)],
                             {"c": np.array(True), "x": X24}, {"y": X24 + X24}),
    "loop of no turns": Case(17, [n("Loop", "n,,s0", "last,y", body=COUNT)], {"s0": run_of((4,))}, {"last": run_of((4,)), "y": np.zeros((0, 4), F32)},
                             {"n": I64(0).reshape(()), **ONE}),
    "loop gives what came before": Case(17, [n("Loop", "n,,s0", "last,y", body=COUNT)], {"s0": run_of((4,))},
                                        {"last": run_of((4,)) + 3, "y": np.stack([run_of((4,)) + k for k in range(3)])}, {"n": I64(3).reshape(()), **ONE}),
    "loop whose condition ends it": Case(17, [n("Loop", "n,c,s0", "last,y", body=STOP)], {"s0": run_of((4,))},
                                         {"last": run_of((4,)) + 2, "y": np.stack([run_of((4,)) + k for k in (1, 2)])},
                                         {"n": I64(5).reshape(()), "c": np.array(True), "limit": I64(1).reshape(()), **ONE}),
    "loop whose condition is false": Case(17, [n("Loop", "n,c,s0", "last,y", body=COUNT)], {"s0": run_of((4,))},
                                          {"last": run_of((4,)), "y": np.zeros((0, 4), F32)}, {"n": I64(5).reshape(()), "c": np.array(False), **ONE}),
    "weights among the inputs": Case(18, [n("Add", "x,w")], {"x": X24}, {"y": X24 + f(1, 2, 3, 4)}, {"w": f(1, 2, 3, 4)}, ir=3, also_inputs=("w",)),
    "weight as an output": Case(18, [n("Add", "x,w")], {"x": X24}, {"y": X24 + f(1, 2, 3, 4), "w": f(1, 2, 3, 4)}, {"w": f(1, 2, 3, 4), "unused": f(5)}),
    "views outlive what they show": Case(19, [n("Exp", "x", "a"), n("Reshape", "a,s", "v"), n("Neg", "a", "b"), n("Exp", "b", "c"),
                                              n("Reshape", "c,s", "w"), n("Add", "v,w"), n("Concat", "v,w,v", "z", axis=0)], {"x": X24},
                                         {"y": (np.exp(X24) + np.exp(-np.exp(X24))).reshape(8),
                                          "z": np.concatenate([np.exp(X24).reshape(8), np.exp(-np.exp(X24)).reshape(8), np.exp(X24).reshape(8)])},
                                         {"s": i(8)}),
    "NaN in one operand": Case(20, [n("Relu", "x", "r"), n("Clip", "x,lo,hi", "c"), n("Max", "x,w", "m"), n("Min", "x,w", "k"), n("Sign", "x", "s"),
                                    n("Max", "x,lo", "o")], {"x": f(NAN, 1, -2), "w": f(1, NAN, 5)},
                               {"r": f(NAN, 1, 0), "c": f(NAN, 1, -1), "m": f(NAN, NAN, 5), "k": f(NAN, NAN, -2), "s": f(NAN, 1, -1),
                                "o": f(NAN, 1, -1)}, {"lo": F32(-1).reshape(()), "hi": F32(2).reshape(())}),
    **{f"NaN in a row, {k}": Case(20, [n("ReduceMax", "x", "g", axes=[0], keepdims=0), n("ReduceMin", "x", "l", axes=[0], keepdims=0),
                                       n("ArgMax", "x", "a", axis=0, keepdims=0)], {"x": row}, opset=13,
                                  expected={"g": F32(NAN).reshape(()), "l": F32(NAN).reshape(()), "a": np.array(row.argmax(), I64)})
       for k, row in enumerate(EDGES)},
}


def model_of(case):
    inputs = [info(k, v) for k, v in case.inputs.items()] + [info(k, case.weights[k]) for k in case.also_inputs]
    outputs = [info(k, v) for k, v in case.expected.items()]
    made = graph(case.nodes, inputs, outputs, "g", case.weights)
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", case.opset)], ir_version=case.ir)


def execute(gpucc, tmp_path, model, inputs):
    onnx.save(model, tmp_path / "m.onnx")
    np.savez(tmp_path / "in.npz", **inputs)
    gpucc.ok("run", tmp_path / "m.onnx", "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz")
    return dict(np.load(tmp_path / "out.npz"))


@pytest.mark.parametrize("name", CASES)
def test_right_answer(gpucc, tmp_path, name):
    case = CASES[name]
    found = execute(gpucc, tmp_path, model_of(case), case.inputs)
    assert set(found) == set(case.expected)
    for key, expected in case.expected.items():
        assert found[key].dtype == expected.dtype and found[key].shape == expected.shape, key
        np.testing.assert_allclose(found[key], expected, rtol=2e-5, atol=1e-6, err_msg=key)


# ------------------------------------------------------------------------------- payloads (13)
TYPES = {np.float16: [1.5, -2], np.float64: [1e-300, 3], np.int8: [-128, 127], np.uint8: [0, 255], np.int16: [-32768, 5],
         np.uint16: [65535, 1], np.int32: [-5, 1 << 30], np.uint32: [(1 << 32) - 1, 2], np.int64: [LEAST, MOST],
         np.uint64: [(1 << 64) - 1, 3], np.bool_: [True, False], np.float32: [1.5, NAN]}


@pytest.mark.parametrize("raw", [True, False])
@pytest.mark.parametrize("dtype", TYPES, ids=lambda t: t.__name__)
def test_payload_of_every_type_in_both_forms(gpucc, tmp_path, dtype, raw):
    data = np.array(TYPES[dtype], dtype)
    kind = helper.np_dtype_to_tensor_dtype(data.dtype)
    w = helper.make_tensor("w", kind, data.shape, data.tobytes() if raw else data.tolist(), raw=raw)
    assert w.HasField("raw_data") == raw
    made = helper.make_graph([n("Concat", "x,w", axis=0)], "g", [info("x", data)], [info("y", np.zeros(4, dtype))], [w])
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    found = execute(gpucc, tmp_path, model, {"x": data})["y"]
    assert found.tobytes() == np.concatenate([data, data]).tobytes()


def test_an_extra_output_changes_no_bit(gpucc, tmp_path):
    """Kind 9: with and without the middle value listed."""
    nodes = [n("MatMul", "x,w", "m"), n("Exp", "m", "e"), n("Softmax", "e", "p"), n("Mul", "p,m")]
    w = {"w": R.standard_normal((4, 4)).astype(F32)}
    outputs = {"y": X24, "p": X24}
    case = Case(9, nodes, {"x": X24}, outputs, w)
    both = execute(gpucc, tmp_path, model_of(case), case.inputs)["y"]
    alone = execute(gpucc, tmp_path, model_of(case._replace(expected={"y": X24})), case.inputs)["y"]
    assert both.tobytes() == alone.tobytes()


def test_a_folding_limit(gpucc, tmp_path):
    """Kind 12: a constant of 16 GiB is never made while compiling; its shape is all that is read."""
    case = Case(12, [n("ConstantOfShape", "s", "c"), n("Shape", "c", "k"), n("Add", "k,x")], {"x": i(1, 2)},
                {"y": i((1 << 20) + 1, (1 << 12) + 2)}, {"s": i(1 << 20, 1 << 12)})
    found = execute(gpucc, tmp_path, model_of(case), case.inputs)["y"]
    assert found.tolist() == case.expected["y"].tolist()


def test_an_input_as_an_output(gpucc, tmp_path):
    """Kind 18: refused with the remedy, which is then taken."""
    case = Case(18, [n("Neg", "x"), n("Identity", "x", "same")], {"x": X24}, {"y": -X24, "x": X24})
    onnx.save(model_of(case), tmp_path / "m.onnx")
    code, _, err = gpucc("compile", tmp_path / "m.onnx", "-o", tmp_path / "m.plan")
    assert code == 2 and "output 'x' is also an input" in err and "Identity node" in err, err
    found = execute(gpucc, tmp_path, model_of(case._replace(expected={"y": X24, "same": X24})), case.inputs)
    assert found["same"].tobytes() == X24.tobytes()


def test_a_long_chain(gpucc, tmp_path):
    """Kind 15: no recursion over 20,000 nodes."""
    nodes = [n("Neg", "x" if k == 0 else f"v{k - 1}", "y" if k == 19999 else f"v{k}") for k in range(20000)]
    model = model_of(Case(15, nodes, {"x": X24}, {"y": X24}))
    onnx.save(model, tmp_path / "m.onnx")
    gpucc.ok("compile", tmp_path / "m.onnx", "--compile-to", "graph", "-o", tmp_path / "m.mlir")
