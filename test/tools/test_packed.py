"""Weights that gpucc compile packs into the plan: mapped, not packed again, not copied, and the same results."""
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from conftest import BUILD, ROOT

CHILD = """
import pathlib, sys
import numpy as np
sys.path.insert(0, sys.argv[1])
import gpucc
def anonymous():
    text = pathlib.Path("/proc/self/smaps_rollup").read_text()
    return 1024 * int(next(l for l in text.splitlines() if l.startswith("Anonymous:")).split()[1])
before = anonymous()
model = gpucc.load(sys.argv[2], threads=1)
model.run({"image": np.ones((1, 3, 64, 64), np.float32)})
print(anonymous() - before)
"""


@pytest.fixture(scope="module")
def plans(gpucc, models, tmp_path_factory):
    """ResNet-18 (47 MB of weights) with packed weights and without."""
    folder = tmp_path_factory.mktemp("packed")
    subprocess.run([sys.executable, ROOT / "examples" / "models" / "make_models.py", folder, "--model", "resnet18",
                    "--size", "64"], check=True, capture_output=True)
    for name, options in (("packed", []), ("plain", ["--no-pack"])):
        gpucc.ok("compile", folder / "resnet18.onnx", "--profile", "batch=1", *options, "-o", folder / f"{name}.plan")
    return folder


def run(plan, outputs, **env):
    return subprocess.run([BUILD / "bin" / "gpucc-run", plan, "--outputs", outputs], capture_output=True, text=True,
                          check=True, env={**os.environ, **env})


def outputs_of(plan, folder, **env):
    done = run(plan, folder / "y.npz", **env)
    with np.load(folder / "y.npz") as file:
        return {name: file[name] for name in file.files}, done.stdout + done.stderr


def test_results_are_equal_bit_for_bit(plans, tmp_path):
    packed, said = outputs_of(plans / "packed.plan", tmp_path)
    plain, _ = outputs_of(plans / "plain.plan", tmp_path)
    assert packed.keys() == plain.keys() and "packed weights again" not in said
    assert all(packed[name].tobytes() == plain[name].tobytes() for name in packed)


def test_packing_later_gives_the_same_file(plans, tmp_path):
    (tmp_path / "m.plan").write_bytes((plans / "plain.plan").read_bytes())
    for _ in range(2):  # the second time replaces what the first has left
        subprocess.run([BUILD / "bin" / "gpucc-run", tmp_path / "m.plan", "--pack"], check=True, capture_output=True)
        assert (tmp_path / "m.plan").read_bytes() == (plans / "packed.plan").read_bytes()


def test_another_cpu_packs_again_and_says_so_once(plans, tmp_path):
    """oneDNN is told to leave AVX-512 alone: what was packed with it does not fit."""
    if "avx512" not in open("/proc/cpuinfo").read():
        pytest.skip("this CPU has no AVX-512 to leave alone")
    other, said = outputs_of(plans / "packed.plan", tmp_path, DNNL_MAX_CPU_ISA="AVX2")
    mine, _ = outputs_of(plans / "plain.plan", tmp_path, DNNL_MAX_CPU_ISA="AVX2")
    assert said.count("packed weights again") == 1 and "gpucc-run --pack" in said
    assert all(other[name].tobytes() == mine[name].tobytes() for name in mine)


def test_weights_take_no_memory_of_their_own(gpucc, plans):
    gpucc.ok("show", plans / "packed.plan", "--memory", "--json", plans / "memory.json")
    arenas = {a["arena"]: a["bytes"] for a in json.loads((plans / "memory.json").read_text())["arenas"]}
    assert arenas["weights"] > 40e6

    def anonymous(plan):
        done = subprocess.run([sys.executable, "-c", CHILD, BUILD / "python", plan], check=True, capture_output=True,
                              text=True)
        return int(done.stdout)
    assert anonymous(plans / "packed.plan") < arenas["io"] + arenas["scratch"] + 16e6
    assert anonymous(plans / "plain.plan") > 40e6  # so the measure sees packed weights
