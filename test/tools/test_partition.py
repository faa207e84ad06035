"""Parallel training plans compute what the unpartitioned model computes (gpucc check --train)."""
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


def test_state_of_zero1_resumes_on_one_rank(gpucc, models, tmp_path):
    import json
    import numpy as np
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
