"""Inference on the host and through the executed CUDA source equals ONNX Runtime.

Error of an element: |y' - y| / max(|y|, 1e-2 max|Y|) <= 1e-3, and the same argmax.
"""
import numpy as np
import onnxruntime
import pytest

TOLERANCE = 1e-3


def inputs_of(session, sizes, rng):
    arrays = {}
    for value in session.get_inputs():
        shape = [sizes.get(d, d) if isinstance(d, str) else d for d in value.shape]
        if "float" in value.type:
            arrays[value.name] = rng.standard_normal(shape).astype(np.float32)
        elif "mask" in value.name:
            arrays[value.name] = np.ones(shape, np.int64)
        elif "type" in value.name:
            arrays[value.name] = np.zeros(shape, np.int64)
        else:
            dtype = np.int32 if "int32" in value.type else np.int64
            arrays[value.name] = rng.integers(0, 64, shape).astype(dtype)
    return arrays


def error(found, expected):
    scale = np.maximum(np.abs(expected), 1e-2 * np.abs(expected).max())
    return float((np.abs(found - expected) / scale).max())


def compare(gpucc, model, sizes, tmp_path, *options):
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    arrays = inputs_of(session, sizes, np.random.default_rng(5))
    names = [o.name for o in session.get_outputs()]
    expected = dict(zip(names, session.run(names, arrays)))
    np.savez(tmp_path / "in.npz", **arrays)
    profile = ",".join(f"{k}={v}" for k, v in sizes.items())
    gpucc.ok("run", model, "--profile", profile, "--inputs", tmp_path / "in.npz", "--outputs",
             tmp_path / "out.npz", *options)
    found = np.load(tmp_path / "out.npz")
    assert set(found.files) == set(names)
    for name in names:
        assert found[name].shape == expected[name].shape
        assert error(found[name], expected[name]) <= TOLERANCE, name
        assert (found[name].argmax(-1) == expected[name].argmax(-1)).all(), name


MODELS = {
    "mlp": {"batch": 64},
    "lenet": {"batch": 2},
    "resnet18": {"batch": 1},
    "minilm": {"batch": 2, "seq": 16},
    "gpt2": {"batch": 2, "seq": 16},
    "llama": {"batch": 2, "seq": 16},
}


@pytest.mark.parametrize("name", MODELS)
def test_host(gpucc, models, tmp_path, name):
    compare(gpucc, models / f"{name}.onnx", MODELS[name], tmp_path)


@pytest.mark.parametrize("name", MODELS)
def test_host_with_avx2_only(gpucc, models, tmp_path, monkeypatch, name):
    """What a machine without AVX-512 runs: kernels of that level, and the library kept to it."""
    monkeypatch.setenv("DNNL_MAX_CPU_ISA", "AVX2")
    compare(gpucc, models / f"{name}.onnx", MODELS[name], tmp_path, "--target", "host:x86-64-v3")


def test_magika_host(gpucc, magika, tmp_path):
    compare(gpucc, magika, {"unk__214": 2}, tmp_path)


@pytest.mark.parametrize("name", ["mlp", "lenet", "minilm", "gpt2", "llama"])
def test_cuda_source_executed(gpucc, models, tmp_path, name):
    compare(gpucc, models / f"{name}.onnx", {**MODELS[name], "batch": 1}, tmp_path, "--target",
            "cuda:simt")


def test_two_profiles_in_one_plan(gpucc, gpucc_run, models, tmp_path):
    plan = tmp_path / "two.plan"
    gpucc.ok("compile", models / "gpt2.onnx", "--profile", "batch=1,seq=8", "--profile",
             "batch=2,seq=16", "-o", plan)
    session = onnxruntime.InferenceSession(str(models / "gpt2.onnx"),
                                           providers=["CPUExecutionProvider"])
    for batch, seq in ((1, 8), (2, 16)):
        arrays = inputs_of(session, {"batch": batch, "seq": seq}, np.random.default_rng(1))
        np.savez(tmp_path / "in.npz", **arrays)
        gpucc_run.ok(plan, "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz")
        expected = session.run(None, arrays)[0]
        found = np.load(tmp_path / "out.npz")[session.get_outputs()[0].name]
        assert error(found, expected) <= TOLERANCE
    arrays = inputs_of(session, {"batch": 3, "seq": 8}, np.random.default_rng(1))
    np.savez(tmp_path / "in.npz", **arrays)
    code, _, err = gpucc_run(plan, "--inputs", tmp_path / "in.npz")
    assert code == 2
    assert "[1, 8]" in err and "[2, 16]" in err, err  # the profiles are listed


def test_planning_reads_no_weights(gpucc, tmp_path):
    """A GPT-2-medium-sized model whose weights are a sparse file of holes: planned up to the plan
    dialect without allocating one block of it."""
    import pathlib
    import subprocess
    import sys
    script = pathlib.Path(__file__).resolve().parents[2] / "examples" / "models" / "make_models.py"
    subprocess.run([sys.executable, script, tmp_path, "--model", "gpt2_medium"], check=True,
                   capture_output=True)
    data = max(tmp_path.iterdir(), key=lambda p: p.stat().st_size)
    assert data.stat().st_size > 1_000_000_000
    model = next(tmp_path.glob("*.onnx"))
    trace = tmp_path / "trace"
    command = ["compile", model, "--profile", "batch=1,seq=64", "--compile-to", "plan", "-o", tmp_path / "plan.mlir"]
    if reason := _cannot_watch():
        gpucc.ok(*command)
        pytest.skip(f"planned, but reads were not watched: {reason}")
    done = subprocess.run(["strace", "-f", "-e", "trace=read,pread64,openat,open", "-o", trace, gpucc.program, *command],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    seen = trace.read_text()
    assert model.name in seen, "the trace does not even show that the model was opened"
    assert data.name not in seen, "the weight file was opened while planning"


def _cannot_watch():
    """Why strace cannot trace here; "" where it can (a container may deny ptrace)."""
    import shutil
    import subprocess
    if not shutil.which("strace"):
        return "strace is not installed"
    probe = subprocess.run(["strace", "-f", "-o", "/dev/null", "true"], capture_output=True, text=True)
    return "" if probe.returncode == 0 else f"strace may not trace here ({probe.stderr.strip()[:120]})"
