"""--precision mixed-bf16: bf16 parameters with f32 masters, losses near those of f32; tf32 is legal.

bf16 has 8 bits of mantissa (2^-8 = 0.4 %): losses may leave PyTorch's f32 curve by some percent but
not by more, and must fall like it. What must hold exactly: a parameter is its master, rounded.
"""
import json
import os
import struct

import numpy as np
import pytest

import training_cases as cases
from test_pytorch import CURVES, train


def tensors(path):
    """{name: (dtype, array)} of a safetensors file; bf16 comes as uint16."""
    with open(path, "rb") as f:
        raw = f.read()
    size = struct.unpack("<Q", raw[:8])[0]
    types = {"F32": np.float32, "BF16": np.uint16, "I64": np.int64}
    result = {}
    for name, entry in json.loads(raw[8:8 + size]).items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            data = np.frombuffer(raw[8 + size:][begin:end], types[entry["dtype"]])
            result[name] = (entry["dtype"], data)
    return result


def to_bf16(array):
    """Round to nearest, ties to even."""
    bits = array.view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


@pytest.mark.parametrize("name", ["mlp-adamw", "gpt2-sgd", "gpt2-adamw"])
def test_mixed_bf16(name, tmp_path):
    log = train(name, str(tmp_path), ["--precision", "mixed-bf16"])
    expected = CURVES[name]["loss"]
    for line, loss in zip(log, expected):
        assert abs(line["loss"] - loss) <= 0.06 * loss, line
    assert any(abs(line["loss"] - loss) > 1e-5 * loss for line, loss in zip(log, expected)), (
        "losses equal those of f32: nothing ran in bf16")
    state = tensors(os.path.join(str(tmp_path), "run", "state.safetensors"))
    masters = [n for n in state if n.endswith(".master")]
    assert masters, sorted(state)
    for master in masters:
        parameter = master[:-len(".master")]
        assert state[parameter][0] == "BF16" and state[master][0] == "F32"
        np.testing.assert_array_equal(state[parameter][1], to_bf16(state[master][1]), parameter)
    if name.startswith("gpt2"):  # norms stay in f32
        assert state["ln_f.weight"][0] == "F32" and "ln_f.weight.master" not in state
        assert state["wte.weight"][0] == "BF16"


def test_tf32_on_the_host_is_f32(tmp_path):
    log = train("mlp-sgd", str(tmp_path), ["--precision", "tf32"])
    for line, loss in zip(log, CURVES["mlp-sgd"]["loss"]):
        assert abs(line["loss"] - loss) <= 1e-3 * loss
