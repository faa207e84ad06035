"""Runs one libFuzzer target for a while on a fresh corpus of real models or plans; any crash, sanitizer report, input of
more than 10 seconds or 2 GiB fails.

    run_fuzzer.py fuzz-onnx-import --bin build/fuzz/test-bin [--seconds 60]
    run_fuzzer.py fuzz-plan-loader --bin build/fuzz/test-bin --gpucc build/bin/gpucc --runs 1000000

Exit code 77 (skipped for ctest) where the compiler has no libFuzzer; what crashed stays in BIN/../crashes.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77

LIMITS = ["-rss_limit_mb=2048", "-timeout=10"]

# Name: (seeds into a folder, options of libFuzzer, ASAN_OPTIONS). libMLIR is not instrumented: the poisoning of its
# allocators, done half here and half there, and the annotations of containers are switched off for the importer.
TARGETS = {
    "fuzz-onnx-import": (lambda a, folder: [sys.executable, HERE.parent / "Import" / "make_corpus.py", folder],
                         ["-max_len=16384"], "detect_leaks=0:allow_user_poisoning=0:detect_container_overflow=0:"
                                             "quarantine_size_mb=16"),
    "fuzz-plan-loader": (lambda a, folder: [sys.executable, HERE / "plan_corpus.py", folder, "--writer",
                                            a.bin.resolve() / "write-test-plans", "--gpucc", a.gpucc.resolve()],
                         ["-max_len=16384"], "quarantine_size_mb=16"),
}


def has_libfuzzer(compiler):
    name = "libclang_rt.fuzzer-x86_64.a"
    for query in (f"-print-file-name={name}", "-print-runtime-dir"):
        found = subprocess.run([compiler, query], capture_output=True, text=True).stdout.strip()
        if os.path.isfile(found) or os.path.isfile(os.path.join(found, "libclang_rt.fuzzer.a")):
            return True
    return False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--gpucc", type=pathlib.Path, help="compiles the seeds of fuzz-plan-loader")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--runs", type=int, help="this many executions instead")
    parser.add_argument("--compiler", default="clang++-22")
    a = parser.parse_args()
    if not has_libfuzzer(a.compiler):
        print(f"skipped: {a.compiler} has no libFuzzer runtime; install libclang-rt-22-dev")
        return SKIPPED
    seeds, options, asan = TARGETS[a.target]
    work = a.bin.resolve().parent
    corpus, crashes = work / f"corpus-{a.target}", work / "crashes"
    for folder in (corpus, crashes):
        folder.mkdir(exist_ok=True)
        for old in folder.iterdir():
            if folder == corpus or old.name.startswith(a.target):
                old.unlink()
    subprocess.run(list(map(str, seeds(a, corpus))), check=True)
    count = len(list(corpus.iterdir()))
    length = f"-runs={a.runs}" if a.runs else f"-max_total_time={a.seconds}"
    command = [str(a.bin / a.target), length, "-print_final_stats=1", f"-artifact_prefix={crashes}/{a.target}-", *LIMITS,
               *options, str(corpus)]
    start = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, errors="replace",
                          env={**os.environ, "ASAN_OPTIONS": asan, "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"})
    executed = re.search(r"stat::number_of_executed_units:\s*(\d+)", done.stderr)
    executed = int(executed.group(1)) if executed else 0
    print(f"{a.target}: {executed} inputs executed in {time.monotonic() - start:.0f} s, from {count} seeds")
    if done.returncode != 0:
        print(done.stderr[-6000:])
        print(f"run again: {a.bin / a.target} FILE, with FILE one of {crashes}/{a.target}-*")
        return 1
    if executed < count or count == 0:
        print(done.stderr[-2000:])
        print(f"error: not even the {count} seeds were executed")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
