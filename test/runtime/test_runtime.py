"""gpucc-run, killed training runs, the Python package and the embedding example, on hand-built plans.

Run by ctest, which sets GPUCC_RUN, WRITE_TEST_PLANS, TRAIN_TEST_PLAN, GPUCC_PYTHONPATH (may be empty), RUNTIME_BUILD, SOURCE.
"""
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time

import pytest

np = pytest.importorskip("numpy")


@pytest.fixture(scope="session")
def plans(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plans")
    subprocess.run([os.environ["WRITE_TEST_PLANS"], str(folder)], check=True)
    return folder


def run(*arguments):
    return subprocess.run([os.environ["GPUCC_RUN"], *map(str, arguments)], capture_output=True, text=True)


def test_inputs_and_outputs(plans, tmp_path):
    x = np.linspace(-1, 1, 16).astype(np.float32)
    np.savez(tmp_path / "in.npz", x=x)
    np.savez_compressed(tmp_path / "packed.npz", x=x.astype(np.float64))  # converted
    np.save(tmp_path / "x.npy", x)
    for name in ["in.npz", "packed.npz", "x.npy"]:
        result = run(plans / "axpb.plan", "--inputs", tmp_path / name, "--outputs", tmp_path / "out.npz")
        assert result.returncode == 0, result.stderr
        assert "1 step on 1 rank" in result.stdout
        y = np.load(tmp_path / "out.npz")["y"]
        assert y.dtype == np.float32
        np.testing.assert_array_equal(y, 2 * x + 1)


def test_random_inputs_are_reproducible(plans, tmp_path):
    outputs = []
    for seed in [3, 3, 4]:
        run(plans / "axpb.plan", f"--inputs=random:{seed}", "--outputs", tmp_path / "o.npz")
        outputs.append(np.load(tmp_path / "o.npz")["y"])
    assert np.array_equal(outputs[0], outputs[1]) and not np.array_equal(outputs[0], outputs[2])
    assert np.all(np.abs((outputs[0] - 1) / 2) <= 1)


def test_ranks_and_trace(plans, tmp_path):
    result = run(plans / "sgd-dp2.plan", "--ranks", 2, "--iterations", 3, "--trace", tmp_path / "t.json",
                 "--threads", 1)
    assert result.returncode == 0, result.stderr
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    spans = [e for e in events if e["ph"] == "X"]
    assert {e["pid"] for e in spans} == {0, 1}
    assert sum(e["name"] == "all_reduce" for e in spans) == 6  # 3 steps on 2 ranks


def test_info(plans):
    result = run(plans / "sgd.plan", "--info")
    assert result.returncode == 0
    assert "input     x f32 [2, 4]" in result.stdout and "training step" in result.stdout


@pytest.mark.parametrize("arguments, code, message", [
    (["--nope"], 2, "unknown option '--nope'"),
    ([], 2, "no plan given"),
    (["missing.plan"], 2, "cannot open plan 'missing.plan'"),
    ([__file__], 2, "does not begin with 'GPUCCPLN'"),
    (["axpb.plan", "--ranks", "2"], 2, "compiled for 1; compile it with --ranks 2"),
    (["axpb.plan", "--iterations", "many"], 2, "takes a number from 1 to 1073741824, not 'many'"),
    (["axpb.plan", "--threads", "100000"], 2, "--threads takes a number from 1 to 4096, not '100000'"),
    (["axpb.plan", "--inputs", "missing.npz"], 2, "cannot open arrays 'missing.npz'"),
    (["axpb.plan", "--inputs", "wrong.npz"], 2, "no profile of the plan fits x [3]"),
    (["future.plan"], 3, "needs CPU level 'x86-64-v9'"),
    (["axpb.plan", "--driver", "tpu"], 2, "the drivers are host, null and cuda"),
])
def test_mistakes_are_explained(plans, arguments, code, message):
    np.savez(plans / "wrong.npz", x=np.zeros(3, np.float32))
    result = subprocess.run([os.environ["GPUCC_RUN"], *arguments], capture_output=True, text=True, cwd=plans)
    assert result.returncode == code
    assert message in result.stderr


def test_help_and_version():
    assert "exit codes" in run("--help").stdout
    assert run("--version").stdout.startswith("gpucc-run ")


def train(plans, folder, data, *more):
    return subprocess.Popen([os.environ["TRAIN_TEST_PLAN"], str(plans / "sgd.plan"), str(data), "2000",
                             str(folder), *more])


def test_killed_runs_resume_bit_equal(plans, tmp_path):
    data = tmp_path / "data.npz"
    np.savez(data, x=np.random.default_rng(1).normal(size=(7, 4)).astype(np.float32))
    assert train(plans, tmp_path / "whole", data).wait() == 0
    generator = random.Random(7)
    folder = tmp_path / "killed"
    folder.mkdir()
    kills = 0
    while kills < 20:
        process = train(plans, folder, data, "--resume")
        time.sleep(generator.uniform(0.002, 0.06))
        process.send_signal(signal.SIGKILL)
        if process.wait() == 0:
            break
        kills += 1
    assert train(plans, folder, data, "--resume").wait() == 0
    for name in ["state.safetensors", "log.jsonl"]:
        assert (folder / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
    steps = [json.loads(line)["step"] for line in (folder / "log.jsonl").read_text().splitlines()]
    assert steps == list(range(1, 2001))
    assert kills > 0


@pytest.fixture(scope="session")
def gpucc():
    path = os.environ.get("GPUCC_PYTHONPATH", "")
    if not path:
        pytest.skip("the Python package was not built (no nanobind)")
    sys.path.insert(0, path)
    import gpucc
    return gpucc


def test_python_package(gpucc, plans, tmp_path):
    model = gpucc.load(plans / "axpb.plan")
    assert model.inputs == {"x": ("f32", (16,))} and list(model.outputs) == ["y"]
    x = np.arange(32, dtype=np.float32)[::2]  # not contiguous
    np.testing.assert_array_equal(model.run({"x": x})["y"], 2 * x + 1)
    with pytest.raises(ValueError, match="no profile"):
        model.run({"x": x[:3]})
    with pytest.raises(RuntimeError, match="cannot open plan"):
        gpucc.load("missing.plan")


def test_python_names_the_mistake(gpucc, plans):
    for threads in (-1, 100000):
        with pytest.raises(ValueError, match=f"threads is {threads}; allowed are 1 to 4096, or 0"):
            gpucc.load(plans / "axpb.plan", threads=threads)
    model = gpucc.load(plans / "axpb.plan", threads=1)
    for wrong in (["a", "b"], {"a": 1}, None):
        with pytest.raises((TypeError, ValueError), match="'x' "):
            model.run({"x": wrong})
    with pytest.raises(TypeError, match="'x' is of type str; an array of numbers"):
        model._ranks.write("x", "text")


def test_python_threads_take_turns(gpucc, plans):
    """Each thread gets the result of its own input: one run is not mixed with another."""
    model = gpucc.load(plans / "axpb.plan")
    model.run({"x": np.zeros(16, np.float32)})
    wrong = []

    def work(number):
        x = np.full(16, number, np.float32)
        for _ in range(300):
            y = model.run({"x": x})["y"]
            if not np.array_equal(y, 2 * x + 1):
                wrong.append((number, y))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_python_ranks_and_state(gpucc, plans, tmp_path):
    one, two = gpucc.load(plans / "sgd.plan"), gpucc.load(plans / "sgd-dp2.plan")
    assert two.ranks == 2
    x = np.ones((2, 4), np.float32)
    assert one.run({"x": x})["loss"] == two.run({"x": x})["loss"] == 10
    np.testing.assert_allclose(one.read("w"), np.array([1, 2, 3, 4]) - 0.2, rtol=1e-6)
    two.run({"x": x})
    two.save_state(tmp_path / "s.safetensors")
    one.load_state(tmp_path / "s.safetensors")
    np.testing.assert_array_equal(one.read("w"), two.read("w"))
    assert one.read("step") == 2


def test_embedding_program(plans, tmp_path):
    build, source = os.environ["RUNTIME_BUILD"], pathlib.Path(os.environ["SOURCE"])
    prefix = tmp_path / "prefix"
    subprocess.run(["cmake", "--install", build, "--prefix", prefix, "--component", "runtime"], check=True, capture_output=True)
    subprocess.run(["cmake", "-G", "Ninja", "-S", source / "examples/embed", "-B", tmp_path / "embed",
                    f"-DCMAKE_PREFIX_PATH={prefix}"], check=True, capture_output=True)
    subprocess.run(["cmake", "--build", tmp_path / "embed"], check=True, capture_output=True)
    result = subprocess.run([tmp_path / "embed/embed", plans / "axpb.plan"], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout == "y: 1 1 ...\n"
    for program in [tmp_path / "embed/embed", prefix / "bin/gpucc-run"]:
        libraries = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        assert "LLVM" not in libraries and "MLIR" not in libraries
