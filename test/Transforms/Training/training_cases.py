"""The training runs that record_pytorch.py records and test_pytorch.py repeats.

Each case: a model of examples/models, its batch, seeded data, and the flags of `gpucc compile
--train`. Both sides start from the initializers of the same ONNX file.

LeNet: ONNX's running variance is the biased one, PyTorch's is not; only loss, rate and gradient norm
are compared, which batch statistics alone decide.
"""
import os
import subprocess
import sys

import numpy as np

STEPS = 50
HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(HERE, "../../../examples/models/make_models.py")

_SGD = dict(optimizer="sgd", lr=0.05, momentum=0.9, weight_decay=1e-3)
_ADAMW = dict(optimizer="adamw", lr=2e-3, weight_decay=0.05)
_COMMON = dict(accumulate=2, clip_norm=1.0, lr_schedule="cosine:5:50:1e-4")

CASES = {
    "mlp-sgd": dict(model="mlp", loss="mse", batch=4, **_SGD, **_COMMON),
    "mlp-adamw": dict(model="mlp", loss="mse", batch=4, **_ADAMW, **_COMMON),
    "lenet-sgd": dict(model="lenet", loss="cross-entropy", batch=8, **{**_SGD, "lr": 0.01},
                      **_COMMON),
    "lenet-adamw": dict(model="lenet", loss="cross-entropy", batch=8, **{**_ADAMW, "lr": 4e-4},
                        **_COMMON),
    "gpt2-sgd": dict(model="gpt2", loss="cross-entropy", batch=2, seq=16, **_SGD, **_COMMON),
    "gpt2-adamw": dict(model="gpt2", loss="cross-entropy", batch=2, seq=16, **_ADAMW, **_COMMON),
}


def make_model(name, folder):
    """The model's file, written anew: the same call writes the same bytes."""
    subprocess.run([sys.executable, MODELS, folder, "--model", name], check=True,
                   stdout=subprocess.DEVNULL)
    return os.path.join(folder, name + ".onnx")


def data(case):
    """Arrays by input name plus labels; 5 steps' worth of samples, which come round again."""
    random = np.random.default_rng(7)
    count = 5 * case["batch"] * case["accumulate"]
    if case["model"] == "mlp":
        x = random.standard_normal((count, 16)).astype(np.float32)
        target = np.tanh(x @ random.standard_normal((16, 4))).astype(np.float32)
        return {"x": x, "labels": target}
    if case["model"] == "lenet":
        labels = random.integers(0, 10, count)
        image = random.standard_normal((count, 1, 28, 28)) * 0.3
        image += np.sin(np.arange(28) * (labels[:, None] + 1) / 4.0)[:, None, None, :]
        return {"image": image.astype(np.float32), "labels": labels}
    ids = random.integers(0, 256, (count, case["seq"]))
    labels = np.roll(ids, -1, axis=1)
    labels[:, -1] = -100  # the last token has no successor: it does not count
    labels[::3, :5] = -100  # the number of labels differs between micro-batches
    return {"input_ids": ids, "labels": labels}


def flags(case):
    """For gpucc compile."""
    profile = f"batch={case['batch']}" + (f",seq={case['seq']}" if "seq" in case else "")
    names = {"momentum", "weight_decay", "lr", "optimizer", "loss", "accumulate", "clip_norm",
             "lr_schedule"}
    options = []
    for name in sorted(names & case.keys()):
        options += ["--" + name.replace("_", "-"), str(case[name])]
    return ["--train", "--profile", profile] + options
