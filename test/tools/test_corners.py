"""Corners of operators in which ONNX Runtime says what is right; on the CPU and in the executed CUDA text."""
import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

from test_edges import run

inf, nan = np.inf, np.nan


def expected(path, arrays):
    return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"]).run(None, arrays)


def compare(gpucc, tmp_path, node, arrays, target, tolerance=1e-6, opset=22):
    inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, a.shape) for n, a in arrays.items()]
    outputs = [helper.make_tensor_value_info(n, TensorProto.INT64 if n == "i" else TensorProto.FLOAT, None) for n in node.output]
    graph = helper.make_graph([node], "g", inputs, outputs)
    path = tmp_path / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), path)
    found = run(gpucc, path, arrays, tmp_path, "--target", target)
    for name, e in zip(node.output, expected(path, arrays)):
        assert found[name].shape == e.shape, name
        assert np.allclose(found[name], e, rtol=tolerance, atol=tolerance, equal_nan=True), (name, found[name], e)


def image(*values):
    """4 by 4, -inf but for the last elements."""
    x = np.full(16, -inf, np.float32)
    x[16 - len(values):] = values
    return x.reshape(1, 1, 4, 4)


TARGETS = ["host", "cuda:sm_80,simt"]
WINDOWS = {
    "padding in front": dict(kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2]),
    "dilated": dict(kernel_shape=[2, 2], dilations=[2, 2], pads=[1, 1, 1, 1]),
    "much padding": dict(kernel_shape=[3, 3], pads=[2, 2, 2, 2]),
    "column-major": dict(kernel_shape=[3, 3], pads=[1, 1, 1, 1], storage_order=1),
    "none": dict(kernel_shape=[2, 2]),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("values", [[], [1], [-inf, 2, -inf], [3, 3, 3, 3, 3, 3, 3]], ids=str)
@pytest.mark.parametrize("window", WINDOWS)
def test_index_of_the_greatest(gpucc, tmp_path, window, values, target):
    """Also where all of a window is -inf: the index of a cell of the image, not of the padding."""
    compare(gpucc, tmp_path, helper.make_node("MaxPool", ["x"], ["y", "i"], **WINDOWS[window]), {"x": image(*values)}, target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("aligned", [0, 1])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["linear", "nearest", "cubic"])
def test_positions_that_are_nowhere(gpucc, tmp_path, mode, padding, aligned, target):
    x = np.arange(1, 13, dtype=np.float32).reshape(1, 1, 3, 4)
    grid = [[inf, 0], [-inf, 0], [0, inf], [0, -inf], [inf, inf], [nan, 0], [0, nan], [1e30, 0], [-1e30, 0], [0, 3e38], [0.3, -0.2], [-1, 1]]
    node = helper.make_node("GridSample", ["x", "g"], ["y"], mode=mode, padding_mode=padding, align_corners=aligned)
    compare(gpucc, tmp_path, node, {"x": x, "g": np.array(grid, np.float32).reshape(1, -1, 1, 2)}, target, 1e-5)


CUT = [(5, [0, 0], 2, 1), (6, [0, 0], 3, 1), (7, [1, 1], 3, 1), (3, [0, 0], 2, 2), (10, [0, 0], 20, 1), (4, [0, 0], 3, 1), (3, [1, 1], 3, 1)]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("size,pads,stride,dilation", CUT)
@pytest.mark.parametrize("op,more", [("MaxPool", {}), ("AveragePool", {}), ("AveragePool", {"count_include_pad": 1}), ("LpPool", {"p": 2})],
                         ids=["max", "average", "average with pads", "lp"])
def test_window_larger_than_what_it_pools(gpucc, tmp_path, op, more, size, pads, stride, dilation, target):
    node = helper.make_node(op, ["x"], ["y"], kernel_shape=[size], pads=pads, strides=[stride], dilations=[dilation], ceil_mode=1, **more)
    compare(gpucc, tmp_path, node, {"x": np.array([[[1, -2, 3, 4.5], [-1, 0, 2, 1]]], np.float32)}, target)


def test_no_window_at_all(gpucc, tmp_path):
    node = helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[7], strides=[3], ceil_mode=1)  # 4 elements: -3 of room, none fits
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 4])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=8), tmp_path / "m.onnx")
    code, _, err = gpucc("compile", tmp_path / "m.onnx", "-o", tmp_path / "m.plan")
    assert code == 2 and "reaches over 7 elements, but the padded operand has 4" in err
