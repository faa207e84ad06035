"""gpucc train killed with -9 at random moments ends with the bits of a run that was not killed."""
import os
import random
import signal
import subprocess
import time

import numpy as np
import pytest

import training_cases as cases
from test_pytorch import GPUCC

STEPS, KILLS = 3000, 20


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    """Compiled plan, data, and the folder of the run that nobody kills with its seconds."""
    folder = str(tmp_path_factory.mktemp("resume"))
    case = cases.CASES["mlp-adamw"]
    plan, data = os.path.join(folder, "p.plan"), os.path.join(folder, "data.npz")
    subprocess.run([GPUCC, "compile", cases.make_model("mlp", folder), *cases.flags(case), "-o",
                    plan], check=True)
    np.savez(data, **cases.data(case))
    whole = os.path.join(folder, "whole")
    start = time.time()
    train(plan, data, whole).wait()
    return plan, data, whole, time.time() - start


def train(plan, data, save, resume=False):
    command = [GPUCC, "train", plan, "--data", data, "--steps", str(STEPS), "--save", save,
               "--save-every", "7", "--threads", "1"]
    if resume:
        command += ["--resume", save]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL)


def read(folder, name):
    with open(os.path.join(folder, name), "rb") as f:
        return f.read()


def killed_often(plan, data, save, longest, moments):
    """Trains with kills, each up to `longest` seconds after a start; False if the run ended before all."""
    kills = 0
    while True:
        process = train(plan, data, save, resume=os.path.isdir(save))
        try:
            process.wait(timeout=moments.uniform(0, longest) if kills < KILLS else None)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
            continue
        assert process.returncode == 0
        return kills == KILLS


def test_killed_runs_resume_bit_equal(job, tmp_path):
    plan, data, whole, seconds = job
    moments = random.Random(11)
    longest, attempt = seconds / 14, 0
    # The measured run may have been slowed by other work: then the kills must come faster.
    while not killed_often(plan, data, str(tmp_path / str(attempt)), longest, moments):
        longest, attempt = longest / 2, attempt + 1
    save = str(tmp_path / str(attempt))
    assert read(save, "state.safetensors") == read(whole, "state.safetensors")
    assert read(save, "log.jsonl") == read(whole, "log.jsonl")
