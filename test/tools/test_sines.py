"""Sine, cosine and tangent of every finite f32, against the C library in f64; on the CPU and in the executed CUDA text."""
import math

import numpy as np
import pytest
from onnx import helper

from onnx_model import model
from test_edges import run

EXACT = {"Sin": math.sin, "Cos": math.cos, "Tan": math.tan}


def arguments():
    """Ordinary ones, every power of two, the floats nearest to multiples of π/2, what is hardest to reduce."""
    rng = np.random.default_rng(7)
    ordinary = rng.uniform(-10, 10, 2000)
    sizes = np.exp(rng.uniform(np.log(1e-3), np.log(3.4e38), 6000)) * rng.choice([-1, 1], 6000)
    powers = 2.0 ** np.arange(-126, 128)
    multiples = np.concatenate([np.arange(1, 2000), 2.0 ** np.arange(11, 127), rng.integers(1, 2**23, 3000)]) * (np.pi / 2)
    border = np.float32(2**20) + np.arange(-64, 64)
    hardest = [16367173 * 2.0**72, np.finfo(np.float32).max, 0.0]  # a billionth of a turn away from a multiple of π/2
    x = np.concatenate([ordinary, sizes, powers, multiples, border, hardest]).astype(np.float32)
    return np.concatenate([x, -x])


def model_of(op, count, folder):
    return model(folder / "m.onnx", [helper.make_node(op, ["x"], ["y"])], [("x", (count,))], [("y", [count])])


def error(y, exact):
    """In units of the last place of the exact result."""
    unit = np.maximum(np.spacing(np.abs(exact).astype(np.float32)).astype(np.float64), 2.0**-149)
    return np.abs(y.astype(np.float64) - exact) / unit


@pytest.mark.parametrize("target", ["host", "cuda:sm_80,simt"])
@pytest.mark.parametrize("op", EXACT)
def test_all_finite_arguments(gpucc, tmp_path, op, target):
    x = arguments()
    y = run(gpucc, model_of(op, len(x), tmp_path), {"x": x}, tmp_path, "--target", target)["y"]
    exact = np.array([EXACT[op](float(v)) for v in x])
    off = error(y, exact)
    assert off.max() <= 4, (x[off.argmax()], y[off.argmax()], exact[off.argmax()], off.max())


@pytest.mark.parametrize("target", ["host", "cuda:sm_80,simt"])
@pytest.mark.parametrize("op", EXACT)
def test_what_is_not_finite(gpucc, tmp_path, op, target):
    x = np.array([np.inf, -np.inf, np.nan, 1e30, 1] * 7, np.float32)
    y = run(gpucc, model_of(op, len(x), tmp_path), {"x": x}, tmp_path, "--target", target)["y"]
    assert (np.isnan(y) == ~np.isfinite(x)).all()


def test_both_of_one_argument(gpucc, tmp_path):
    """They share the reduction; neighbours that are near and far at once."""
    nodes = [helper.make_node("Sin", ["x"], ["s"]), helper.make_node("Cos", ["x"], ["c"]), helper.make_node("Sub", ["s", "c"], ["y"])]
    x = (np.arange(640) * np.where(np.arange(640) % 3, 1.0, 1e20)).astype(np.float32)
    y = run(gpucc, model(tmp_path / "m.onnx", nodes, [("x", (640,))], [("y", [640])]), {"x": x}, tmp_path)["y"]
    wide = x.astype(np.float64)
    assert np.abs(y - (np.sin(wide) - np.cos(wide))).max() < 4e-7
