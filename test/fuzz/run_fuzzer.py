"""Runs one libFuzzer target for a while on a fresh corpus of real models or plans; any crash, sanitizer report, leak of
time or memory fails.

    run_fuzzer.py fuzz-onnx-import --bin build/fuzz/test-bin [--seconds 60]

Exit code 77 (skipped for ctest) where the compiler has no libFuzzer; what crashed stays in BIN/../crashes.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77

# Name: (seeds into a folder, options of libFuzzer, ASAN_OPTIONS). libMLIR is not instrumented: the poisoning of its
# allocators, done half here and half there, and the annotations of containers are switched off for the importer.
TARGETS = {
    "fuzz-onnx-import": (lambda bin, folder: [sys.executable, HERE.parent / "Import" / "make_corpus.py", folder],
                         ["-max_len=16384", "-rss_limit_mb=4096", "-timeout=30"],
                         "detect_leaks=0:allow_user_poisoning=0:detect_container_overflow=0"),
    "fuzz-plan-loader": (lambda bin, folder: [bin / "write-test-plans", folder],
                         ["-max_len=8192", "-timeout=30"], ""),
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
    parser.add_argument("--seconds", type=int, default=60)
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
    subprocess.run(list(map(str, seeds(a.bin.resolve(), corpus))), check=True)
    count = len(list(corpus.iterdir()))
    command = [str(a.bin / a.target), f"-max_total_time={a.seconds}", "-print_final_stats=1",
               f"-artifact_prefix={crashes}/{a.target}-", *options, str(corpus)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace",
                          env={**os.environ, "ASAN_OPTIONS": asan, "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"})
    executed = re.search(r"stat::number_of_executed_units:\s*(\d+)", done.stderr)
    executed = int(executed.group(1)) if executed else 0
    print(f"{a.target}: {executed} inputs executed in {a.seconds} s, from {count} seeds")
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
