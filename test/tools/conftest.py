"""Fixtures: where the tools are, the example models (made once per session), how to run gpucc."""
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("GPUCC_BUILD", ROOT / "build"))


class Gpucc:
    """Runs gpucc; gives the exit code and what it printed."""

    def __init__(self, program="gpucc"):
        self.program = BUILD / "bin" / program

    def __call__(self, *args, cwd=None, env=None):
        done = subprocess.run([str(self.program), *map(str, args)], capture_output=True, text=True,
                              cwd=cwd, env={**os.environ, **(env or {})}, timeout=900)
        return done.returncode, done.stdout, done.stderr

    def ok(self, *args, **kwargs):
        code, out, err = self(*args, **kwargs)
        assert code == 0, f"exit code {code}\n{out[-3000:]}\n{err[-3000:]}"
        return out


@pytest.fixture(scope="session")
def gpucc():
    return Gpucc()


@pytest.fixture(scope="session")
def gpucc_run():
    return Gpucc("gpucc-run")


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """Folder with mlp, lenet, resnet18, gpt2, llama and minilm."""
    folder = tmp_path_factory.mktemp("models")
    script = ROOT / "examples" / "models" / "make_models.py"
    subprocess.run([sys.executable, script, folder], check=True, capture_output=True)
    subprocess.run([sys.executable, script, folder, "--model", "minilm"], check=True,
                   capture_output=True)
    return folder


@pytest.fixture(scope="session")
def magika():
    import importlib.util
    spec = importlib.util.find_spec("magika")
    return pathlib.Path(spec.origin).parent / "models" / "standard_v3_3" / "model.onnx"
