"""Loss, learning rate and gradient norm of every step equal PyTorch's (pytorch.json).

The curves were recorded by record_pytorch.py; PyTorch is not needed here. GPUCC is the tool
(default: build/bin/gpucc of this checkout).
"""
import json
import os
import subprocess

import numpy as np
import pytest

import training_cases as cases

GPUCC = os.environ.get("GPUCC", os.path.join(cases.HERE, "../../../build/bin/gpucc"))
# The recorded curves are f32 themselves: where rounding alone makes two f32 runs part, the gradient
# norm parts before the loss does.
TOLERANCE = {"loss": 1e-4, "lr": 1e-6, "grad_norm": 1e-3}

with open(os.path.join(cases.HERE, "pytorch.json")) as f:
    CURVES = json.load(f)["curves"]


def train(name, folder, extra=()):
    """One training run; the lines of its log."""
    case = cases.CASES[name]
    model = cases.make_model(case["model"], folder)
    plan, data, run = (os.path.join(folder, f) for f in ("p.plan", "data.npz", "run"))
    np.savez(data, **cases.data(case))
    subprocess.run([GPUCC, "compile", model, *cases.flags(case), *extra, "-o", plan], check=True)
    subprocess.run([GPUCC, "train", plan, "--data", data, "--steps", str(cases.STEPS), "--save",
                    run], check=True, stdout=subprocess.DEVNULL)
    with open(os.path.join(run, "log.jsonl")) as log:
        return [json.loads(line) for line in log]


@pytest.mark.parametrize("name", cases.CASES)
def test_equals_pytorch(name, tmp_path):
    log = train(name, str(tmp_path))
    assert [line["step"] for line in log] == list(range(1, cases.STEPS + 1))
    for metric, tolerance in TOLERANCE.items():
        for line, expected in zip(log, CURVES[name][metric]):
            found = line[metric]
            assert abs(found - expected) <= tolerance * abs(expected), (
                f"{name} step {line['step']}: {metric} is {found}, PyTorch has {expected}")
