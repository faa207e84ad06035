"""A model with a loss of its own: output:NAME is a mean over samples, output-sum:NAME a sum.

What a step computes must not depend on how its 8 samples are split. Expectations by hand: y = x w with one
weight w = 2, loss terms y_i^2, x_i = i: sum of squares 0 + 1 + ... + 49 = 140, so the sum is 560, the mean 70;
their derivatives by w are 2 w sum(x^2) = 560 and 70.
"""
import json
import os
import subprocess

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from test_pytorch import GPUCC


def make(folder, reduction):
    nodes = [helper.make_node("Mul", ["x", "w"], ["p"]), helper.make_node("Mul", ["p", "p"], ["s"]),
             helper.make_node(reduction, ["s"], ["y"], keepdims=0)]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 1])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [])],
        [numpy_helper.from_array(np.array([2], np.float32), "w")])
    path = os.path.join(folder, reduction + ".onnx")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


SPLITS = [(8, []), (8, ["--pin", "micro-batches=2"]), (8, ["--pin", "micro-batches=4"]),
          (4, ["--accumulate", "2"]), (4, ["--accumulate", "2", "--pin", "micro-batches=2"])]


def compile_plan(folder, model, loss, batch, options):
    plan = os.path.join(folder, "m.plan")
    run = subprocess.run([GPUCC, "compile", model, "--train", "--loss", loss, "--lr", "1e-3", "--profile",
                          f"batch={batch}", "-o", plan, *options], capture_output=True, text=True)
    return plan, run


@pytest.mark.parametrize("batch, options", SPLITS)
@pytest.mark.parametrize("reduction, loss, value", [("ReduceMean", "output:y", 70), ("ReduceSum", "output-sum:y", 560)])
def test_any_split_is_the_same_step(tmp_path, reduction, loss, value, batch, options):
    plan, run = compile_plan(tmp_path, make(tmp_path, reduction), loss, batch, options)
    assert run.returncode == 0, run.stderr
    np.savez(tmp_path / "data.npz", x=np.arange(8, dtype=np.float32).reshape(8, 1))
    subprocess.run([GPUCC, "train", plan, "--data", tmp_path / "data.npz", "--steps", "1", "--save",
                    tmp_path / "run"], check=True, capture_output=True)
    line = json.loads((tmp_path / "run" / "log.jsonl").read_text().splitlines()[0])
    assert line["loss"] == pytest.approx(value, rel=1e-6)
    assert line["grad_norm"] == pytest.approx(value, rel=1e-6)


def test_a_sum_over_many_micro_batches_is_exact(tmp_path):
    """1000 samples of (1 * 2)^2 = 4: every partial sum is a number of f32, so the loss is 4000 and not about it."""
    plan, run = compile_plan(tmp_path, make(tmp_path, "ReduceSum"), "output-sum:y", 1, ["--accumulate", "1000"])
    assert run.returncode == 0, run.stderr
    np.savez(tmp_path / "data.npz", x=np.ones((1000, 1), np.float32))
    subprocess.run([GPUCC, "train", plan, "--data", tmp_path / "data.npz", "--steps", "1", "--save",
                    tmp_path / "run"], check=True, capture_output=True)
    line = json.loads((tmp_path / "run" / "log.jsonl").read_text().splitlines()[0])
    assert line["loss"] == 4000 and line["grad_norm"] == 4000, line


def test_a_plain_sum_is_no_mean(tmp_path):
    path = make(tmp_path, "ReduceSum")
    assert compile_plan(tmp_path, path, "output:y", 8, [])[1].returncode == 0  # nothing is split
    _, run = compile_plan(tmp_path, path, "output:y", 8, ["--pin", "micro-batches=2"])
    assert run.returncode == 2
    for word in ("'y'", "sum", "2 micro-batches", "output-sum:y"):
        assert word in run.stderr, run.stderr


def test_an_output_without_a_batch_has_a_value_per_micro_batch(tmp_path):
    """y of samples 0..3 and 4..7: means (0 + 1 + 4 + 9) and (16 + 25 + 36 + 49) times w^2 / 4."""
    plan, run = compile_plan(tmp_path, make(tmp_path, "ReduceMean"), "output:y", 8, ["--pin", "micro-batches=2"])
    assert run.returncode == 0, run.stderr
    np.savez(tmp_path / "in.npz", x=np.arange(8, dtype=np.float32).reshape(8, 1))
    subprocess.run([GPUCC, "run", plan, "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz"],
                   check=True, capture_output=True)
    np.testing.assert_allclose(np.load(tmp_path / "out.npz")["y"], [14, 126], rtol=1e-6)
