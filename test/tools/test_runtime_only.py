"""Preset runtime-only: with no LLVM on the machine the runtime is configured, built with g++, installed, and an embedding
program finds it by find_package(gpucc_runtime).

Where it may (root, mount namespaces), LLVM's folders are covered by empty ones while cmake and g++ run; elsewhere cmake is
told to ignore them. In both cases nothing of LLVM may be named by the build.
A clean build takes 90 s of one core; the build folder is kept, as every build folder is.
"""
import os
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("GPUCC_BUILD", ROOT / "build"))
LLVM = sorted(str(p) for p in pathlib.Path("/usr/lib").glob("llvm-*") if p.is_dir())


def hidden():
    """What to put before a command so that it sees no LLVM; [] where that is not allowed."""
    if not LLVM or not shutil.which("unshare"):
        return []
    cover = " && ".join(f"mount -t tmpfs none {folder}" for folder in LLVM)
    prefix = ["unshare", "-m", "sh", "-c", f'{cover} && exec "$@"', "hidden"]
    probe = subprocess.run(prefix + ["sh", "-c", "ls " + " ".join(LLVM)], capture_output=True, text=True)
    return prefix if probe.returncode == 0 and "bin" not in probe.stdout else []


def run(*command):
    """ccache makes a second run fast; g++ is what a machine without LLVM has."""
    done = subprocess.run([*HIDDEN, *map(str, command)], capture_output=True, text=True,
                          env={**os.environ, "CC": "gcc", "CXX": "g++"})
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


HIDDEN = hidden()


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    if not shutil.which("g++"):
        pytest.skip("there is no g++; install it to build the runtime without LLVM")
    print("LLVM is", "covered: " + ", ".join(LLVM) if HIDDEN else "ignored by cmake (no mount namespaces here)")
    build = BUILD / "runtime-only"  # kept: another run builds only what changed
    prefix = tmp_path_factory.mktemp("runtime-only") / "prefix"
    launcher = ["-DCMAKE_C_COMPILER_LAUNCHER=ccache", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    run("cmake", "-S", ROOT, "--preset", "runtime-only", "-B", build, "-DGPUCC_TESTS=OFF", "-DCMAKE_CXX_FLAGS_RELEASE=-O0",
        "-DCMAKE_C_FLAGS_RELEASE=-O0", f"-DCMAKE_IGNORE_PREFIX_PATH={';'.join(LLVM)}",
        f"-DCMAKE_INSTALL_PREFIX={prefix}", *launcher)
    run("cmake", "--build", build, "--target", "gpucc-run", "gpucc_rt", "--", "-j2")
    run("cmake", "--install", build, "--component", "runtime")
    return build, prefix


def test_nothing_of_llvm_is_named(installed):
    build, _ = installed
    for name in ("build.ninja", "CMakeCache.txt"):
        lines = [line[:200] for line in (build / name).read_text().splitlines()
                 if re.search(r"llvm-\d|libLLVM|LLVM_DIR|MLIR", line) and "CMAKE_IGNORE_PREFIX_PATH" not in line]
        assert lines == [], name


def test_installed_gpucc_run_runs_a_plan_and_has_no_llvm(installed, tmp_path):
    _, prefix = installed
    subprocess.run([BUILD / "test-bin" / "write-test-plans", tmp_path], check=True)
    assert "1 step on 1 rank" in run(prefix / "bin" / "gpucc-run", tmp_path / "axpb.plan")
    libraries = run("ldd", prefix / "bin" / "gpucc-run")
    assert "libgpucc_rt" in libraries or "libdnnl" in libraries, libraries
    assert "LLVM" not in libraries and "MLIR" not in libraries


def test_embedding_program_finds_the_package(installed, tmp_path):
    _, prefix = installed
    run("cmake", "-G", "Ninja", "-S", ROOT / "examples" / "embed", "-B", tmp_path / "embed", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", tmp_path / "embed")
    subprocess.run([BUILD / "test-bin" / "write-test-plans", tmp_path], check=True)
    assert run(tmp_path / "embed" / "embed", tmp_path / "axpb.plan") == "y: 1 1 ...\n"
    assert "LLVM" not in run("ldd", tmp_path / "embed" / "embed")
