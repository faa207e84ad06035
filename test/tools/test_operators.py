"""Operators that become several kernels, at the sizes where they change their way, against ONNX Runtime."""
import numpy as np
import onnxruntime
import pytest
from onnx import helper

from onnx_model import model


def same(gpucc, path, arrays, tmp_path, *options, tolerance=1e-4, valid=None):
    """`valid`: of results of rank 4 only so many positions of dimension 2 mean anything."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    np.savez(tmp_path / "in.npz", **arrays)
    gpucc.ok("run", path, "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz", *options)
    found = np.load(tmp_path / "out.npz")
    for output, expected in zip(session.get_outputs(), session.run(None, arrays)):
        mine = found[output.name]
        assert mine.dtype == expected.dtype and mine.shape == expected.shape
        if valid and mine.ndim == 4:
            mine, expected = mine[:, :, :valid], expected[:, :, :valid]
        assert np.allclose(mine, expected, rtol=tolerance, atol=tolerance), output.name


def top_k(path, shape, k, largest, dtype=np.float32, axis=-1):
    out = list(shape)
    out[axis] = k
    node = helper.make_node("TopK", ["x", "k"], ["v", "i"], largest=largest, axis=axis)
    return model(path, [node], [("x", shape, dtype)], [("v", out, dtype), ("i", out, np.int64)],
                 initializers=[("k", np.array([k], np.int64))])


# rank counting; the bitonic network (3000 of 4100: 2^13 positions, 91 exchanges); blocks of 512, of which the last
# has fewer elements than are wanted
@pytest.mark.parametrize("shape, k", [((3, 17), 17), ((2, 300), 5), ((4100,), 3000), ((2, 50257), 50),
                                      ((4, 1100), 100)])
@pytest.mark.parametrize("largest", [1, 0])
def test_top_k(gpucc, tmp_path, shape, k, largest):
    x = np.random.default_rng(1).integers(-99, 99, shape).astype(np.float32)  # many equal values
    same(gpucc, top_k(tmp_path / "k.onnx", shape, k, largest), {"x": x}, tmp_path)


@pytest.mark.parametrize("shape, k", [((3, 40), 7), ((600, 80), 3)])
def test_top_k_of_the_first_dimension_and_on_cuda(gpucc, tmp_path, shape, k):
    x = np.random.default_rng(2).integers(-9, 9, shape)
    path = top_k(tmp_path / "k.onnx", shape, k, 1, np.int64, axis=0 if shape[0] > k else 1)
    same(gpucc, path, {"x": x}, tmp_path)
    if x.size < 1000:
        same(gpucc, path, {"x": x}, tmp_path, "--target", "cuda:simt")


def test_top_k_puts_nan_first(gpucc, tmp_path):
    path = top_k(tmp_path / "k.onnx", (6,), 6, 0)
    np.savez(tmp_path / "in.npz", x=np.array([1, np.nan, -np.inf, np.inf, np.nan, -1], np.float32))
    gpucc.ok("run", path, "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz")
    assert np.load(tmp_path / "out.npz")["i"].tolist() == [2, 5, 0, 3, 1, 4]  # as numpy sorts


@pytest.mark.parametrize("mode", ["linear", "nearest", "cubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("aligned", [0, 1])
def test_grid_sample(gpucc, tmp_path, mode, padding, aligned):
    rng = np.random.default_rng(4)
    x = rng.standard_normal((2, 3, 7, 5)).astype(np.float32)
    grid = rng.uniform(-1.6, 1.6, (2, 4, 6, 2)).astype(np.float32)
    node = helper.make_node("GridSample", ["x", "grid"], ["y"], mode=mode, padding_mode=padding,
                            align_corners=aligned)
    path = model(tmp_path / "g.onnx", [node], [("x", x.shape), ("grid", grid.shape)], [("y", [2, 3, 4, 6])], opset=20)
    same(gpucc, path, {"x": x, "grid": grid}, tmp_path)


def test_integer_convolution_beyond_f32(gpucc, tmp_path):
    """640 products of up to 255 * 255 pass 2^24, where f32 would lose the last bits."""
    rng = np.random.default_rng(5)
    x = rng.integers(200, 256, (1, 640, 3, 3)).astype(np.uint8)
    w = rng.integers(200, 256, (2, 640, 1, 1)).astype(np.uint8)
    node = helper.make_node("ConvInteger", ["x", "w"], ["y"])
    path = model(tmp_path / "c.onnx", [node], [("x", x.shape, np.uint8)], [("y", [1, 2, 3, 3], np.int32)],
                 initializers=[("w", w)])
    np.savez(tmp_path / "in.npz", x=x)
    gpucc.ok("run", path, "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz")
    expected = np.einsum("nchw,oc->nohw", x.astype(np.int64), w[:, :, 0, 0].astype(np.int64))
    assert expected.max() > 2**24
    assert np.array_equal(np.load(tmp_path / "out.npz")["y"], expected)


def test_sequences_of_known_length_leave_nothing_behind(gpucc, tmp_path):
    nodes = [helper.make_node("SplitToSequence", ["x", "sizes"], ["pieces"], axis=1),
             helper.make_node("SequenceAt", ["pieces", "one"], ["b"]),
             helper.make_node("SequenceErase", ["pieces", "one"], ["others"]),
             helper.make_node("SequenceInsert", ["others", "b"], ["turned"]),
             helper.make_node("ConcatFromSequence", ["turned"], ["y"], axis=1),
             helper.make_node("SequenceLength", ["turned"], ["n"])]
    path = model(tmp_path / "s.onnx", nodes, [("x", [2, 6])], [("y", [2, 6]), ("n", [], np.int64)],
                 initializers=[("sizes", np.array([1, 2, 3], np.int64)), ("one", np.array(1, np.int64))])
    same(gpucc, path, {"x": np.arange(12, dtype=np.float32).reshape(2, 6)}, tmp_path)


def test_a_sequence_as_output_is_refused_by_name(gpucc, tmp_path):
    path = tmp_path / "s.onnx"
    from onnx import TensorProto, save
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 6])
    out = helper.make_tensor_sequence_value_info("pieces", TensorProto.FLOAT, None)
    graph = helper.make_graph([helper.make_node("SplitToSequence", ["x"], ["pieces"], axis=1)], "g", [x], [out])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))
    code, _, error = gpucc("compile", path, "-o", tmp_path / "s.plan")
    assert code == 3 and "'pieces'" in error and "sequence" in error


def test_a_sequence_where_a_tensor_belongs_is_refused_by_name(gpucc, tmp_path):
    nodes = [helper.make_node("SplitToSequence", ["x"], ["pieces"], axis=1),
             helper.make_node("Relu", ["pieces"], ["y"], name="wrong")]
    path = model(tmp_path / "s.onnx", nodes, [("x", [2, 6])], [("y", [2, 6])])
    code, _, error = gpucc("compile", path, "-o", tmp_path / "s.plan")
    assert code == 3 and "'wrong' (Relu, opset 17)" in error and "is a sequence" in error


def test_positions_of_a_known_mask(gpucc, tmp_path):
    mask = np.array([[True, False, True], [False, True, True]])
    nodes = [helper.make_node("NonZero", ["m"], ["at"]), helper.make_node("Transpose", ["at"], ["rows"]),
             helper.make_node("GatherND", ["x", "rows"], ["y"])]
    path = model(tmp_path / "n.onnx", nodes, [("x", [2, 3])], [("y", [4])], initializers=[("m", mask)])
    same(gpucc, path, {"x": np.arange(6, dtype=np.float32).reshape(2, 3)}, tmp_path)


# the first tokens; one more token behind a full cache; a buffer longer than what it holds; packed queries
GROUPED = {"prompt": dict(rows=5, cached=0, past=0), "decode": dict(rows=1, cached=6, past=6),
           "more": dict(rows=3, cached=6, past=6, batch=1), "buffer": dict(rows=1, cached=9, past=4),
           "window": dict(rows=1, cached=8, past=8, window=3), "packed": dict(rows=4, cached=0, past=0, packed=True)}


@pytest.mark.parametrize("case", GROUPED)
def test_group_query_attention(gpucc, tmp_path, case):
    c = GROUPED[case]
    rng = np.random.default_rng(8)
    batch, heads, groups, depth, rows = c.get("batch", 2), 4, 2, 16, c["rows"]
    total = c["past"] + rows
    normal = lambda *shape: rng.standard_normal(shape).astype(np.float32)
    arrays = {"q": normal(batch, rows, (heads + 2 * groups if c.get("packed") else heads) * depth)}
    names = ["q", "", ""]
    if not c.get("packed"):
        arrays |= {"k": normal(batch, rows, groups * depth), "v": normal(batch, rows, groups * depth)}
        names = ["q", "k", "v"]
    arrays |= {"pk": normal(batch, groups, c["cached"], depth), "pv": normal(batch, groups, c["cached"], depth)}
    arrays["lengths"] = np.full(batch, total - 1, np.int32)
    angles = np.arange(32)[:, None] / 100 ** (np.arange(depth // 2) / depth)
    weights = [("cos", np.cos(angles).astype(np.float32)), ("sin", np.sin(angles).astype(np.float32)),
               ("total", np.array([total], np.int32))]
    node = helper.make_node("GroupQueryAttention", [*names, "pk", "pv", "lengths", "total", "cos", "sin"],
                            ["y", "nk", "nv"], domain="com.microsoft", num_heads=heads, kv_num_heads=groups,
                            do_rotary=1, **({"local_window_size": c["window"]} if "window" in c else {}))
    length = max(c["cached"], total)
    path = model(tmp_path / "a.onnx", [node], [(name, a.shape, a.dtype) for name, a in arrays.items()],
                 [("y", [batch, rows, heads * depth]), ("nk", [batch, groups, length, depth]),
                  ("nv", [batch, groups, length, depth])], initializers=weights, domains=["com.microsoft"])
    same(gpucc, path, arrays, tmp_path, valid=total)


@pytest.mark.parametrize("bits, block, zero", [(4, 32, False), (4, 16, True), (8, 32, False)])
def test_matmul_of_n_bits(gpucc, tmp_path, bits, block, zero):
    rng = np.random.default_rng(9)
    k, columns = 96, 24
    blocks = k // block
    weights = [("b", rng.integers(0, 256, (columns, blocks, block * bits // 8)).astype(np.uint8)),
               ("s", rng.uniform(0.01, 0.1, columns * blocks).astype(np.float32))]
    if zero:
        weights.append(("z", rng.integers(0, 256, columns * ((blocks + 1) // 2)).astype(np.uint8)))
    node = helper.make_node("MatMulNBits", ["a", *(name for name, _ in weights)], ["y"], domain="com.microsoft", K=k,
                            N=columns, bits=bits, block_size=block)
    path = model(tmp_path / "m.onnx", [node], [("a", [2, 5, k])], [("y", [2, 5, columns])], initializers=weights,
                 domains=["com.microsoft"])
    same(gpucc, path, {"a": rng.standard_normal((2, 5, k)).astype(np.float32)}, tmp_path)


def test_quantized_operators_of_onnx_runtime(gpucc, tmp_path):
    """Rounding is the same on both sides but for ties that f32 decides: one unit is allowed."""
    rng = np.random.default_rng(10)
    scalar = lambda name, value, dtype=np.float32: (name, np.array(value, dtype))
    weights = [scalar("s", 0.03), scalar("z", 120, np.uint8), scalar("s2", 0.05), scalar("z2", 7, np.uint8)]
    q = ["s", "z"]
    nodes = [helper.make_node("QLinearAdd", ["a", *q, "b", "s2", "z2", *q], ["sum"], domain="com.microsoft"),
             helper.make_node("QLinearMul", ["sum", *q, "b", "s2", "z2", *q], ["product"], domain="com.microsoft"),
             helper.make_node("QLinearLeakyRelu", ["product", *q, *q], ["leaky"], domain="com.microsoft", alpha=0.1),
             helper.make_node("QLinearConcat", [*q, "leaky", *q, "b", "s2", "z2"], ["joined"], domain="com.microsoft",
                              axis=1),
             helper.make_node("QLinearGlobalAveragePool", ["joined", *q, *q], ["y"], domain="com.microsoft")]
    shape = (2, 3, 4, 5)
    path = model(tmp_path / "q.onnx", nodes, [("a", shape, np.uint8), ("b", shape, np.uint8)],
                 [("y", [2, 6, 1, 1], np.uint8)], initializers=weights, domains=["com.microsoft"])
    arrays = {name: rng.integers(0, 256, shape).astype(np.uint8) for name in "ab"}
    np.savez(tmp_path / "in.npz", **arrays)
    gpucc.ok("run", path, "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz")
    expected = onnxruntime.InferenceSession(str(path)).run(None, arrays)[0]
    assert np.abs(np.load(tmp_path / "out.npz")["y"].astype(int) - expected.astype(int)).max() <= 1


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("kind, gates", [("LSTM", 4), ("GRU", 3), ("RNN", 1)])
def test_sequences_of_different_lengths(gpucc, tmp_path, kind, gates, direction):
    rng = np.random.default_rng(11)
    steps, batch, inputs, hidden = 5, 3, 4, 6
    directions = 2 if direction == "bidirectional" else 1
    normal = lambda *shape: rng.standard_normal(shape).astype(np.float32)
    weights = [("w", normal(directions, gates * hidden, inputs)), ("r", normal(directions, gates * hidden, hidden))]
    node = helper.make_node(kind, ["x", "w", "r", "", "n"], ["y", "h"], hidden_size=hidden, direction=direction)
    path = model(tmp_path / "r.onnx", [node], [("x", [steps, batch, inputs]), ("n", [batch], np.int32)],
                 [("y", [steps, directions, batch, hidden]), ("h", [directions, batch, hidden])], initializers=weights)
    arrays = {"x": normal(steps, batch, inputs), "n": np.array([5, 2, 3], np.int32)}
    same(gpucc, path, arrays, tmp_path)


@pytest.mark.parametrize("limit", [2.0, 40.0, 1e9])
def test_loop_whose_condition_is_computed(gpucc, tmp_path, limit):
    """x doubles until its sum passes a limit that only the input knows, at most 8 times."""
    from onnx import TensorProto, helper as h
    info = lambda name, kind, shape: h.make_tensor_value_info(name, kind, shape)
    body = h.make_graph(
        [h.make_node("Add", ["v", "v"], ["w"]), h.make_node("ReduceSum", ["w"], ["s"], keepdims=0),
         h.make_node("Less", ["s", "limit"], ["again"])], "body",
        [info("i", TensorProto.INT64, []), info("c", TensorProto.BOOL, []), info("v", TensorProto.FLOAT, [3])],
        [info("again", TensorProto.BOOL, []), info("w", TensorProto.FLOAT, [3])])
    nodes = [h.make_node("ReduceSum", ["x"], ["s0"], keepdims=0), h.make_node("Less", ["s0", "limit"], ["first"]),
             h.make_node("Loop", ["rounds", "first", "x"], ["y"], body=body)]
    path = model(tmp_path / "l.onnx", nodes, [("x", [3]), ("limit", [])], [("y", [3])],
                 initializers=[("rounds", np.array(8, np.int64))])
    same(gpucc, path, {"x": np.array([1, 0.5, 1.5], np.float32), "limit": np.array(limit, np.float32)}, tmp_path)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.bool_])
@pytest.mark.parametrize("target", ["host", "cuda:simt"])
def test_integers_become_16_bit_floats_by_value(gpucc, tmp_path, dtype, target):
    """In CUDA text f16 is a struct of bits, which a cast would fill."""
    from onnx import TensorProto
    node = helper.make_node("Cast", ["x"], ["y"], to=TensorProto.FLOAT16)
    path = model(tmp_path / "c.onnx", [node], [("x", [5], dtype)], [("y", [5], np.float16)])
    x = np.array([0, 1, 7, 100, 2]).astype(dtype)
    np.savez(tmp_path / "in.npz", x=x)
    gpucc.ok("run", path, "--target", target, "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz")
    assert np.array_equal(np.load(tmp_path / "out.npz")["y"], x.astype(np.float16))


@pytest.mark.parametrize("bound", ["Relu", "Clip", "LeakyRelu", "HardSwish", "Gelu", "Sigmoid"])
@pytest.mark.parametrize("size, channels", [(1, 32), (3, 32), (3, 4)])
def test_activations_behind_convolutions_keep_nan(gpucc, tmp_path, bound, size, channels):
    """They are part of the library's call, whose own ReLU and clip would turn a NaN into a bound. A filter 1x1 of
    the identity shows each value; one 3x3 spreads NaN and infinities of a point over its neighbours."""
    rng = np.random.default_rng(6)
    x = rng.standard_normal((1, channels, 16, 16)).astype(np.float32)
    w = np.zeros((channels, channels, size, size), np.float32)
    if size == 1:
        w[:, :, 0, 0] = np.eye(channels)
        x[0, :, 2, 3], x[0, :, 9, 9] = np.nan, 3e38
    else:
        w = rng.standard_normal(w.shape).astype(np.float32)
        x[0, 0, 2, 3] = np.nan
    extra = ["low", "high"] if bound == "Clip" else []
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"], pads=[size // 2] * 4),
             helper.make_node(bound, ["c", *extra], ["y"])]
    path = model(tmp_path / "n.onnx", nodes, [("x", x.shape)], [("y", x.shape)], opset=20,
                 initializers=[("w", w), ("low", np.float32(-1)), ("high", np.float32(1))][:3 if extra else 1])
    np.savez(tmp_path / "in.npz", x=x)
    gpucc.ok("run", path, "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz")
    y = np.load(tmp_path / "out.npz")["y"]
    reach = size // 2  # Winograd's tiles spread a NaN a little further
    assert np.isnan(y[0, :, 2 - reach:3 + reach, 3 - reach:4 + reach]).all()
    assert not np.isnan(y[0, :, 8:, 8:]).any()


@pytest.mark.parametrize("steps, pads", [((2, 2), None), ((2, 3), None), ((1, 2), [0, 1, 0, 0])])
def test_transposed_convolution_without_overlap(gpucc, tmp_path, steps, pads):
    """A filter as wide as its steps writes each element once (the last case overlaps)."""
    rng = np.random.default_rng(7)
    x = rng.standard_normal((2, 16, 9, 7)).astype(np.float32)
    w = rng.standard_normal((16, 5, 2, 3 if steps[1] == 3 else 2)).astype(np.float32)
    node = helper.make_node("ConvTranspose", ["x", "w"], ["c"], strides=steps, **({"pads": pads} if pads else {}))
    nodes = [node, helper.make_node("Relu", ["c"], ["y"])]
    height = (9 - 1) * steps[0] + 2
    width = (7 - 1) * steps[1] + w.shape[3] - (1 if pads else 0)
    path = model(tmp_path / "t.onnx", nodes, [("x", x.shape)], [("y", [2, 5, height, width])],
                 initializers=[("w", w)])
    same(gpucc, path, {"x": x}, tmp_path)
