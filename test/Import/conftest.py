"""Where the tools are, and the things that tests need and may lack."""
import os
import subprocess
import sys

import pytest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("GPUCC_BUILD", os.path.join(SOURCE, "build"))
TRANSLATE = os.path.join(BUILD, "bin", "gpucc-translate")
MAKE_MODELS = os.path.join(SOURCE, "examples", "models", "make_models.py")


@pytest.fixture(scope="session")
def translate():
    """Runs gpucc-translate; result has returncode, stdout, stderr."""
    if not os.path.exists(TRANSLATE):
        pytest.skip(f"{TRANSLATE} is not built")
    return lambda *args: subprocess.run([TRANSLATE, *map(str, args)], capture_output=True,
                                        text=True)


@pytest.fixture(scope="session")
def make_models(tmp_path_factory):
    """make_models("gpt2", "--layers", "1") -> path of the model."""
    folder = tmp_path_factory.mktemp("models")

    def make(name, *args):
        sub = folder / "_".join([name, *args]).replace("/", "")
        run = subprocess.run([sys.executable, MAKE_MODELS, sub, "--model", name, *args],
                             capture_output=True, text=True)
        if run.returncode != 0 and "not found" in run.stderr:
            pytest.skip(run.stderr.strip())
        assert run.returncode == 0, run.stderr
        return sub / f"{name}.onnx"

    return make
