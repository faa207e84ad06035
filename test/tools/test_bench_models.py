"""bench/models: the scripts make a model and judge it; a wrong result is noticed."""
import pathlib
import subprocess
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "models"))


def run(script, *arguments):
    return subprocess.run([sys.executable, str(ROOT / "bench/models" / script), *map(str, arguments)],
                          capture_output=True, text=True, timeout=600)


def test_made_and_compared(tmp_path):
    assert run("make.py", tmp_path, "--model", "magika").returncode == 0
    done = run("check.py", tmp_path, "--filter", "magika")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith("1 of 1 models agree with ONNX Runtime")


def test_the_metric():
    from check import error
    y = np.array([100.0, 1.0, 0.0], np.float32)
    assert error(y, y) == 0
    assert np.isclose(error(y + np.float32([0, 0, 1e-3]), y), 1e-3)  # against 1e-2 of the greatest
    assert np.isclose(error(y + np.float32([1, 0, 0]), y), 1e-2)
    assert error(np.array([np.nan, 1, 0], np.float32), y) == np.inf
    assert error(y[:2], y) == np.inf


def test_ops_in_clusters():
    from check import in_clusters
    text = """
    %1 = graph.contract %a, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %2:2 = graph.cluster loop (%x = %1 : tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
      %3 = graph.constant dense<1.0> : tensor<4x4xf32>
      %4 = graph.unary exp %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
      %5 = graph.binary add %4, %3 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      graph.yield %4, %5 : tensor<4x4xf32>, tensor<4x4xf32>
    }
    %6 = graph.reshape %2#0 {shape = array<i64: 16>} : (tensor<4x4xf32>) -> tensor<16xf32>
"""
    assert in_clusters(text) == (2, 3)
