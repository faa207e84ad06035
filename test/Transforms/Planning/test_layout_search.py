"""gpucc compile --machine: the layout is searched, obeyed, explained, and what is emitted is right."""
import json
import os
import pathlib
import re
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("GPUCC_BUILD", ROOT / "build"))
ADAMW = ["--train", "--optimizer", "adamw", "--lr", "1e-3"]
GPT = [*ADAMW, "--profile", "batch=8,seq=16"]
MLP = [*ADAMW, "--loss", "mse", "--profile", "batch=8"]


def gpucc(*args):
    done = subprocess.run([str(BUILD / "bin" / "gpucc"), *map(str, args)], capture_output=True, text=True,
                          timeout=900)
    return done.returncode, done.stdout, done.stderr


def fine(*args):
    code, out, err = gpucc(*args)
    assert code == 0, f"{args}\nexit code {code}\n{out[-2000:]}\n{err[-2000:]}"
    return out + err


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    script = ROOT / "examples" / "models" / "make_models.py"
    subprocess.run([sys.executable, script, folder, "--model", "mlp", "--model", "gpt2", "--model",
                    "gpt2_medium"], check=True, capture_output=True)
    return folder


def layout_line(out):
    found = re.search(r"layout: dp=(\d+) tp=(\d+) pp=(\d+) micro-batches=(\d+) zero=(\d).*\(of (\d+) layouts "
                      r"for (\d+) ranks of (\S+); (\d+) ops, (\d+) search steps\)", out)
    assert found, out
    names = ("dp", "tp", "pp", "micro", "zero", "layouts", "ranks", "machine", "ops", "steps")
    return {n: v if n == "machine" else int(v) for n, v in zip(names, found.groups())}


def test_gpt2_medium_on_eight_h100_within_the_step_budget(models, tmp_path):
    begin = time.monotonic()
    out = fine("compile", models / "gpt2_medium.onnx", *ADAMW, "--profile", "batch=32,seq=1024", "--machine",
               "h100", "--compile-to", "train", "-o", tmp_path / "step.mlir")
    print(f"import, training graph, search: {time.monotonic() - begin:.2f} s")  # shown, never judged
    layout = layout_line(out)
    assert layout["ranks"] == 8 and layout["machine"] == "h100"
    assert layout["dp"] * layout["tp"] * layout["pp"] == 8
    assert 32 % (layout["dp"] * layout["micro"]) == 0
    assert layout["ops"] > 1000  # 24 layers were seen
    assert layout["layouts"] > 20 and layout["steps"] < 60e6  # the deterministic budget behind "<= 5 s"
    # Not one byte of the weights was read: the file has no blocks on disk to read from.
    assert os.stat(models / "gpt2_medium.data").st_blocks * 512 < 1 << 20


@pytest.mark.parametrize("model, options, pins", [
    ("mlp", MLP, ""), ("gpt2", GPT, ""), ("gpt2", GPT, "tp=2"), ("gpt2", GPT, "pp=2,micro-batches=4"),
    ("gpt2", GPT, "tp=4,sp=on")])
def test_what_is_chosen_is_emitted_and_right(models, tmp_path, model, options, pins):
    plan = tmp_path / f"{model}.plan"
    pin = ["--pin", pins] if pins else []
    layout = layout_line(fine("compile", models / f"{model}.onnx", *options, "--machine", "h100", "--ranks", 4,
                              *pin, "-o", plan))
    for key, value in (item.split("=") for item in pins.split(",") if item):
        key = {"micro-batches": "micro"}.get(key, key)
        assert key not in layout or layout[key] == int(value)
    out = fine("explain", plan, "--json", tmp_path / "why.json")
    for words in ("predicted step", "datasheet", "memory that the search expected"):
        assert words in out
    if not pins:
        assert "alternatives" in out and "% slower" in out
    why = json.loads((tmp_path / "why.json").read_text())["reasons"]
    assert [why["layout"][k] for k in ("dp", "tp", "pp", "micro-batches", "zero")] == [
        layout[k] for k in ("dp", "tp", "pp", "micro", "zero")]
    assert 0 < why["memory"]["total"] <= why["memory"]["allowed"]
    out = fine("check", plan, "--model", models / f"{model}.onnx", *options)
    compared, wrong = map(int, re.search(r"(\d+) tensors compared, (\d+) wrong", out).groups())
    assert compared > 20 and wrong == 0


@pytest.mark.parametrize("pins, rule", [("dp=3", "rule P1"), ("dp=4,micro-batches=3", "rule P4"),
                                        ("dp=2,tp=4", "rule P1")])
def test_pins_that_cannot_be_are_refused_with_the_rule(models, tmp_path, pins, rule):
    code, _, err = gpucc("compile", models / "gpt2.onnx", *GPT, "--machine", "h100", "--ranks", 4, "--pin", pins,
                         "-o", tmp_path / "x.plan")
    assert code == 2 and rule in err and "allowed" in err
    assert not (tmp_path / "x.plan").exists()


SMALL = """name: small
device: {{kind: small, memory: {memory}, memory-bandwidth: 900 GB/s, multiprocessors: 80, launch: 3 us, context: 1 MB,
  peak: {{f32: 15 TFLOP/s}}, alu: 15 TFLOP/s, special: 2 TFLOP/s, efficiency: {{matrix: 0.7, memory: 0.75}}}}
node: {{devices: 2}}
nodes: 1
links:
  intra: {{kind: pcie, bandwidth: 12 GB/s, latency: 10 us, hop: 5 us, efficiency: 0.8}}
  inter: {{kind: eth, bandwidth: 1 GB/s, latency: 30 us, hop: 30 us, efficiency: 0.8}}
"""


def test_what_does_not_fit_is_an_error_with_the_largest_part(models, tmp_path):
    machine = tmp_path / "small.yaml"
    machine.write_text(SMALL.format(memory="2 MB"))
    code, _, err = gpucc("compile", models / "gpt2.onnx", *GPT, "--machine", machine, "-o", tmp_path / "x.plan")
    assert code == 2 and "no layout fits" in err and "largest part" in err and "more ranks" in err, err
    assert not (tmp_path / "x.plan").exists()


def test_every_emitted_plan_fits_the_machine(models, tmp_path):
    """From far too little memory upward: either an error, or arenas within the device."""
    emitted = 0
    for memory in (3, 4, 6, 8, 16):
        machine, plan = tmp_path / "small.yaml", tmp_path / f"{memory}.plan"
        machine.write_text(SMALL.format(memory=f"{memory} MB"))
        code, out, err = gpucc("compile", models / "gpt2.onnx", *GPT, "--machine", machine, "-o", plan)
        assert code in (0, 2), err
        assert plan.exists() == (code == 0)
        if code == 0:
            emitted += 1
            fine("explain", plan, "--json", tmp_path / "why.json")
            lines = json.loads((tmp_path / "why.json").read_text())["memory"]
            per_stage = {}
            for line in lines:
                per_stage[line["stage"]] = per_stage.get(line["stage"], 0) + line["bytes"]
            assert max(per_stage.values()) <= (memory - 1) * 1e6, (memory, lines)
    assert emitted > 0


def planned_bytes(plan, folder):
    """Arenas of the fullest stage, and what the search expected beside driver and libraries."""
    fine("explain", plan, "--json", folder / "why.json")
    why = json.loads((folder / "why.json").read_text())
    stages = {}
    for line in why["memory"]:
        stages[line["stage"]] = stages.get(line["stage"], 0) + line["bytes"]
    expected = why["reasons"]["memory"]
    return max(stages.values()), expected["total"] - expected["context"], why["reasons"]


def test_what_a_plan_needs_is_told_to_the_next_search(models, tmp_path):
    """A device between what the search expects of its favourite layout and what that really takes: the
    favourite is planned, found too large, and another one is emitted. Where pins allow no other, the error
    gives the numbers."""
    machine, plan = tmp_path / "small.yaml", tmp_path / "x.plan"
    command = ["compile", models / "mlp.onnx", "--profile", "batch=64", "--machine", machine, "-o", plan]
    machine.write_text(SMALL.format(memory="64 MB"))
    favourite = layout_line(fine(*command))
    needs, expected, _ = planned_bytes(plan, tmp_path)
    assert needs > expected  # outputs and rounding are not in the model
    allowed = (needs + int(expected)) // 2
    machine.write_text(SMALL.format(memory=f"{(allowed + 1e6) / 1e6:.6f} MB"))
    plan.unlink()
    other = layout_line(fine(*command))
    assert (other["dp"], other["tp"]) != (favourite["dp"], favourite["tp"])
    now, _, reasons = planned_bytes(plan, tmp_path)
    assert now <= allowed
    assert len(reasons["planned before"]) == 1 and f"needs {needs} bytes" in reasons["planned before"][0]
    assert f"needs {needs} bytes" in fine("explain", plan)
    plan.unlink()
    code, _, err = gpucc(*command, "--pin", f"dp={favourite['dp']},tp={favourite['tp']}")
    assert code == 2 and not plan.exists()
    for words in (f"it needs {needs} bytes", "a device of small", "tried: dp=", "no other layout was found"):
        assert words in err, err


def test_a_budget_in_bytes_holds_with_a_machine_too(models, tmp_path):
    """Training: the arenas of what is emitted are within the budget, or nothing is emitted."""
    plan, emitted = tmp_path / "x.plan", 0
    for budget in (1_000_000, 2_500_000, 3_500_000, 5_000_000):
        plan.unlink(missing_ok=True)
        code, _, err = gpucc("compile", models / "gpt2.onnx", *GPT, "--machine", "h100", "--ranks", 2,
                             "--memory-budget", budget, "-o", plan)
        assert code in (0, 2) and plan.exists() == (code == 0), err
        if code == 0:
            emitted += 1
            assert planned_bytes(plan, tmp_path)[0] <= budget
    assert 0 < emitted < 4


def test_same_input_same_layout(models, tmp_path):
    plans = []
    for name in ("a", "b"):
        fine("compile", models / "mlp.onnx", *MLP, "--machine", "a100-80gb", "--ranks", 4, "-o",
             tmp_path / f"{name}.plan")
        plans.append((tmp_path / f"{name}.plan").read_bytes())
    assert plans[0] == plans[1]
