"""Parallel training plans compute what the unpartitioned model computes (gpucc check --train)."""
import json
import re
import subprocess
import sys

import numpy as np
import pytest

LAYOUTS = {
    "dp=2": 2, "dp=4": 4, "tp=2": 2, "tp=4": 4, "dp=4,zero=1": 4,
    "pp=2,micro-batches=4,schedule=gpipe": 2, "pp=2,micro-batches=4,schedule=1f1b": 2,
    "dp=2,tp=2": 4, "dp=2,tp=2,pp=2,micro-batches=2": 8,
}
SEQUENCE = {"gpt2", "llama"}


def check(gpucc, models, name, pins, ranks, *options):
    profile = "batch=8,seq=16" if name in SEQUENCE else "batch=8"
    loss = "mse" if name == "mlp" else "cross-entropy"
    out = gpucc.ok("check", models / f"{name}.onnx", "--train", "--loss", loss, "--optimizer",
                   "adamw", "--lr", "1e-3", "--clip-norm", "1", "--profile", profile, "--ranks",
                   ranks, "--pin", pins, *options)
    lines = [line for line in out.splitlines() if "compared" in line]
    compared, wrong = int(lines[-1].split()[0]), int(lines[-1].split()[3])
    assert wrong == 0 and compared > 20, out


@pytest.mark.parametrize("pins", LAYOUTS)
@pytest.mark.parametrize("name", ["mlp", "gpt2"])
def test_layouts(gpucc, models, name, pins):
    check(gpucc, models, name, pins, LAYOUTS[pins])


@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_sequence_parallel(gpucc, models, name):
    check(gpucc, models, name, "tp=2,sp=on", 2)


@pytest.mark.parametrize("pins", ["dp=2", "tp=2", "pp=2,micro-batches=2"])
@pytest.mark.parametrize("name", ["lenet", "llama"])
def test_other_models(gpucc, models, name, pins):
    check(gpucc, models, name, pins, 2)


@pytest.mark.parametrize("pins", ["dp=2", "tp=2", "pp=2,micro-batches=2"])
def test_cuda_source_executed_on_two_ranks(gpucc, models, pins):
    check(gpucc, models, "gpt2", pins, 2, "--target", "cuda:simt")


def test_the_plan_names_the_partition_that_was_checked(gpucc, models, tmp_path):
    """Host and CUDA plans of a layout hold the same partition, another layout holds another."""
    def partition(*options):
        gpucc.ok("compile", models / "mlp.onnx", "--train", "--loss", "mse", "--profile", "batch=8", *options,
                 "-o", tmp_path / "m.plan")
        return re.search(r"^partition ([0-9a-f]{16})$", gpucc.ok("show", tmp_path / "m.plan"), re.M)[1]
    dp = ["--ranks", "2", "--pin", "dp=2"]
    checked = gpucc.ok("check", models / "mlp.onnx", "--train", "--loss", "mse", "--profile", "batch=8", *dp)
    host, cuda = partition(*dp), partition(*dp, "--target", "cuda:sm_80")
    assert host == cuda and f"partition {host} on 2 ranks" in checked
    assert partition("--ranks", "2", "--pin", "tp=2") != host


@pytest.fixture(scope="module")
def dropout_model(tmp_path_factory):
    from conftest import ROOT
    folder = tmp_path_factory.mktemp("dropout")
    subprocess.run([sys.executable, ROOT / "examples" / "models" / "make_models.py", folder, "--model",
                    "gpt2", "--layers", "2", "--dropout", "0.2"], check=True, capture_output=True)
    return folder


@pytest.mark.parametrize("pins, ranks", [
    ("dp=2", 2), ("dp=4", 4), ("dp=4,zero=1", 4), ("tp=4", 4), ("dp=2,tp=2", 4), ("tp=2,sp=on", 2),
    ("pp=2,micro-batches=4", 2), ("dp=2,pp=2,micro-batches=2", 4), ("tp=2,pp=2,micro-batches=2", 4)])
def test_dropout_draws_the_same_mask_on_any_layout(gpucc, dropout_model, pins, ranks):
    check(gpucc, dropout_model, "gpt2", pins, ranks)


# A ReLU input within rounding of zero falls on either side of it, and all gradients before it change: one
# batch of many may differ without a fault (docs/limits.md). A fault is wrong on every batch.
def test_resnet_with_batch_norm_over_two_ranks(gpucc, tmp_path):
    from conftest import ROOT
    subprocess.run([sys.executable, ROOT / "examples" / "models" / "make_models.py", tmp_path, "--model",
                    "resnet18", "--size", "64", "--width", "8"], check=True, capture_output=True)
    for seed in range(4):
        _, out, _ = gpucc("check", tmp_path / "resnet18.onnx", "--train", "--ranks", 2, "--pin", "dp=2",
                          "--profile", "batch=8", "--inputs", f"random:{seed}")
        assert "compared" in out, out
        wrong = [line for line in out.splitlines() if line.startswith("FAIL")]
        if not wrong:
            return
        assert all("gradient" in line for line in wrong), out
    pytest.fail("wrong on every batch:\n" + out)


def gpt_data(folder):
    rng = np.random.default_rng(4)
    ids = rng.integers(0, 256, (32, 16))
    np.savez(folder / "data.npz", input_ids=ids, labels=np.roll(ids, -1, axis=1))


def losses(folder):
    return [json.loads(line)["loss"] for line in (folder / "log.jsonl").read_text().splitlines()]


# Megatron-LM (Shoeybi et al. 2019, section 3): a transformer layer under tensor parallelism needs two all-reduces
# forward and two backward, of batch x sequence x width, and nothing else. A fused projection that is not split
# would be gathered (192 columns) instead.
def test_split_projection_leaves_four_reductions_per_layer(gpucc, models, tmp_path):
    text = tmp_path / "step.mlir"
    _, out, err = gpucc("compile", models / "gpt2.onnx", "--train", "--optimizer", "adamw", "--profile",
                        "batch=8,seq=16", "--ranks", 2, "--pin", "tp=2", "--compile-to=dist", "--remarks", "-o", text)
    layers = 4
    for layer in range(layers):
        assert f'"h.{layer}.attn.c_attn.weight" is used in 3 slices only: split' in out + err
    large = [line for line in text.read_text().splitlines() if "dist.all_reduce" in line
             and elements(line) >= 8 * 16 * 64]
    assert len([line for line in large if "base.backward" not in line]) == 2 * layers
    assert len([line for line in large if "base.backward" in line]) == 2 * layers
    heads = [line for line in text.read_text().splitlines() if "dist.all_gather" in line
             and re.search(r"x(96|192|32|16x16)xf32> ->", line)]
    assert not heads, heads


def elements(line):
    shape = re.search(r"tensor<([0-9x]*)xf32>", line)
    return int(np.prod([int(d) for d in shape.group(1).split("x")])) if shape else 1


# GPT-2's c_attn is split into query, key and value under tensor parallelism; saved state knows the whole.
@pytest.mark.parametrize("optimizer", [["adamw", "--lr", "1e-3"], ["sgd", "--momentum", "0.9"]])
@pytest.mark.parametrize("first, second", [("tp=2", None), (None, "tp=2"), ("dp=4,zero=1", "tp=4"),
                                           ("tp=2,pp=2,micro-batches=2", None)])
def test_fused_projection_resumes_under_another_layout(gpucc, models, tmp_path, optimizer, first, second):
    gpt_data(tmp_path)
    common = ["--train", "--optimizer", *optimizer, "--profile", "batch=8,seq=16"]

    def train(name, pins, steps, *options):
        ranks = 1
        for axis in re.findall(r"(?:dp|tp|pp)=(\d+)", pins or ""):
            ranks *= int(axis)
        extra = ["--ranks", ranks, "--pin", pins] if pins else []
        plan = tmp_path / f"{name}.plan"
        gpucc.ok("compile", models / "gpt2.onnx", *common, *extra, "-o", plan)
        gpucc.ok("train", plan, "--data", tmp_path / "data.npz", "--steps", steps, "--save",
                 tmp_path / name, *(["--ranks", ranks] if pins else []), *options)
        return tmp_path / name

    whole = train("whole", None, 6)
    begun = train("begun", first, 3)
    resumed = train("resumed", second, 6, "--resume", begun)
    np.testing.assert_allclose(losses(resumed)[-3:], losses(whole)[-3:], rtol=1e-4)
    saved = {name for path in begun.glob("**/*.safetensors") for name in header(path)}
    moment = ".moment1"
    assert {"h.0.attn.c_attn.weight", "h.0.attn.c_attn.weight" + moment} <= saved
    assert not [name for name in saved if "@" in name]


def header(path):
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    return json.loads(data[8:8 + size])


# A weight that is wrong in rank 1's columns only: the plan is of one model, the reference of another.
def test_a_wrong_tensor_is_located_by_command_and_rank(gpucc, models, tmp_path):
    import onnx
    from onnx import numpy_helper
    other = onnx.load(models / "mlp.onnx")
    for i, tensor in enumerate(other.graph.initializer):
        if tensor.name == "fc1.weight":
            value = numpy_helper.to_array(tensor).copy()
            value[-1, -1] += 1  # [out, in] or [in, out]: the last column and row are rank 1's
            other.graph.initializer[i].CopyFrom(numpy_helper.from_array(value, tensor.name))
    onnx.save(other, tmp_path / "other.onnx")
    options = ["--train", "--loss", "mse", "--profile", "batch=8", "--lr", "1e-3"]
    gpucc.ok("compile", models / "mlp.onnx", *options, "--ranks", 2, "--pin", "tp=2", "-o", tmp_path / "m.plan")
    code, out, err = gpucc("check", tmp_path / "m.plan", "--model", tmp_path / "other.onnx", *options)
    assert code == 1, out + err
    (line,) = [line for line in out.splitlines() if line.startswith("FAIL fc1.weight ")]
    assert "state, made by 'optimizer' (Launch), in update of stage 0 on rank 1" in line, line
    assert "first wrong: y  output, made by " in out, out


# In the text after the sched phase stage 0's script is spoiled: backward before forward.
def test_misordered_communication_is_refused_before_a_plan_is_written(gpucc, models, tmp_path):
    from conftest import BUILD
    text = tmp_path / "step.mlir"
    gpucc.ok("compile", models / "mlp.onnx", "--train", "--loss", "mse", "--profile", "batch=8", "--ranks",
             2, "--pin", "pp=2,micro-batches=2,schedule=gpipe", "--compile-to=sched", "-o", text)
    command = [BUILD / "bin" / "gpucc-opt", "--gpucc-phase-plan", text, "-o", tmp_path / "plan.mlir"]
    assert subprocess.run(command, capture_output=True).returncode == 0
    good = text.read_text()
    script = re.search(r'sched.script "main" \[@forward, @forward, ([^]]*)\]', good)
    spoiled = good.replace(script.group(0), script.group(0).replace(
        "[@forward, @forward, @backward", "[@backward, @forward, @forward"), 1)
    assert spoiled != good
    text.write_text(spoiled)
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode != 0
    assert "the ranks wait for each other" in run.stderr and "rank 0 stands at its 1. comm" in run.stderr, run.stderr


def test_state_of_zero1_resumes_on_one_rank(gpucc, models, tmp_path):
    rng = np.random.default_rng(2)
    np.savez(tmp_path / "data.npz", x=rng.standard_normal((32, 16)).astype(np.float32),
             labels=rng.standard_normal((32, 4)).astype(np.float32))
    common = ["--train", "--loss", "mse", "--optimizer", "adamw", "--lr", "1e-2", "--profile", "batch=8"]
    gpucc.ok("compile", models / "mlp.onnx", *common, "--ranks", 4, "--pin", "dp=4,zero=1", "-o",
             tmp_path / "four.plan")
    gpucc.ok("compile", models / "mlp.onnx", *common, "-o", tmp_path / "one.plan")
    data = ["--data", tmp_path / "data.npz"]
    gpucc.ok("train", tmp_path / "one.plan", *data, "--steps", 10, "--save", tmp_path / "one")
    gpucc.ok("train", tmp_path / "four.plan", *data, "--steps", 5, "--save", tmp_path / "four",
             "--ranks", 4)
    gpucc.ok("train", tmp_path / "one.plan", *data, "--steps", 10, "--save", tmp_path / "resumed",
             "--resume", tmp_path / "four")
    losses = [[json.loads(line)["loss"] for line in (tmp_path / d / "log.jsonl").read_text().splitlines()]
              for d in ("one", "resumed")]
    assert len(losses[0]) == 10
    np.testing.assert_allclose(losses[1][-5:], losses[0][-5:], rtol=1e-4)
