"""Dropout draws by the global number of a sample: the split of a step's batch must not matter.

The same 4 samples per step as one batch of 4, as 2 accumulated batches of 2, and as 4 of 1 give the
same losses; without the offset of the micro-batch, the parts would share their random numbers.
"""
import json
import os
import subprocess
import sys

import numpy as np
import pytest

import training_cases as cases
from test_pytorch import GPUCC

STEPS = 6


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("dropout"))
    subprocess.run([sys.executable, cases.MODELS, folder, "--model", "gpt2", "--layers", "1",
                    "--dropout", "0.3"], check=True, stdout=subprocess.DEVNULL)
    random = np.random.default_rng(3)
    ids = random.integers(0, 256, (12, 8))
    np.savez(os.path.join(folder, "data.npz"), input_ids=ids, labels=np.roll(ids, -1, axis=1))
    return folder


def losses(folder, batch, accumulate, extra=()):
    name = f"{batch}-{accumulate}" + "".join(extra).replace("/", "")
    plan, run = os.path.join(folder, name + ".plan"), os.path.join(folder, name)
    subprocess.run([GPUCC, "compile", os.path.join(folder, "gpt2.onnx"), "--train", "--profile",
                    f"batch={batch},seq=8", "--accumulate", str(accumulate),
                    *(extra or ["--lr", "0.05"]),
                    "-o", plan], check=True)
    subprocess.run([GPUCC, "train", plan, "--data", os.path.join(folder, "data.npz"), "--steps",
                    str(STEPS), "--save", run], check=True, stdout=subprocess.DEVNULL)
    with open(os.path.join(run, "log.jsonl")) as f:
        return [json.loads(line)["loss"] for line in f]


def test_equal_for_any_split(model):
    whole = losses(model, 4, 1)
    for batch, accumulate in ((2, 2), (1, 4)):
        np.testing.assert_allclose(losses(model, batch, accumulate), whole, rtol=1e-5)


def test_numbers_differ_between_steps_and_samples(model):
    """With learning rate ~0 and the same samples each step, only the masks change."""
    repeated = losses(model, 12, 1, ["--freeze", "h.*", "--freeze", "w*", "--freeze", "ln_f.bias",
                                     "--lr", "1e-30"])
    assert len(set(repeated)) == STEPS
