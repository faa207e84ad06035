#!/usr/bin/env python3
"""Compile time and plan size per model, growth with depth, and CUDA compile time cold and cached.

    build/venv/bin/python bench/compile.py
    build/venv/bin/python bench/compile.py --quick --filter ResNet

* Host: wall and CPU seconds of `gpucc compile` (a whole process: import to plan file), paired with the
  creation of an ONNX Runtime session on the same file, which is that peer's "compile".
* Depth: a GPT of 2 and of 24 layers, in pairs. Kernels are shared between layers, so their number must
  not grow, and time must grow far less than 12 times (claim: at most 2.5 times).
* CUDA: the same model for three architectures, with an empty kernel cache and again with a full one.
"""
import pathlib
import re
import statistics
import tempfile

import onnxruntime

import frame
import models

ARCHITECTURES = "cuda:sm_80,sm_90a,sm_100a"


def kernels(printed):
    """"9 kernels, 12 launches" of the line that `gpucc compile` ends with."""
    found = re.search(r"(\d+) kernels?, (\d+) launches?", printed)
    return int(found.group(1)), int(found.group(2))


def compiling(case, plan, seen, *options):
    """A callable that compiles once and notes (wall, CPU, printed) in `seen`."""
    return lambda: seen.append(frame.gpucc("compile", case.path, "--profile", case.profile, *options,
                                           "-o", plan))


def opening(case):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return lambda: onnxruntime.InferenceSession(str(case.path), options,
                                                providers=["CPUExecutionProvider"])


def turns(quick):
    return {"pairs": 3 if quick else 5, "budget": 0.0, "warm": 0}


def host(cases, folder, quick):
    rows, data = [], []
    for case in cases:
        frame.progress(f"host: {case.name}")
        plan, seen = folder / "host.plan", []
        pair = frame.paired(compiling(case, plan, seen), opening(case), **turns(quick))
        used = statistics.median(s[1] for s in seen)
        unique, launches = kernels(seen[-1][2])
        size = plan.stat().st_size
        rows.append([case.name, f"{statistics.median(pair.ours):.2f}", f"{min(pair.ours):.2f}",
                     f"{used:.2f}", f"{statistics.median(pair.peer):.3f}", f"{pair.ratio:.1f}",
                     unique, launches, frame.size(size)])
        data.append({"model": case.name, "kernels": unique, "launches": launches,
                     "plan_bytes": size, "cpu_s": used, **pair.as_json()})
    return frame.table(["model", "gpucc s", "best s", "CPU s", "ORT session s", "ratio", "kernels",
                        "launches", "plan (with weights)"], rows), data


def depth(folder, quick):
    built = []
    for layers in (24, 2):
        models.make(folder / str(layers), "--model", "gpt2", "--layers", layers)
        built.append(models.Case(f"GPT, {layers} layers", folder / str(layers) / "gpt2.onnx",
                                 {"batch": 1, "seq": 64}))
    rows, data = [], []
    for title, options in (("host", ()), ("planning only (--compile-to plan)",
                                          ("--compile-to", "plan"))):
        frame.progress(f"depth: {title}")
        deep, shallow = [], []
        pair = frame.paired(compiling(built[0], folder / "deep", deep, *options),
                            compiling(built[1], folder / "shallow", shallow, *options),
                            **turns(quick))
        least = min(s[1] for s in deep) / min(s[1] for s in shallow)
        counts = ["", ""] if options else [kernels(s[-1][2])[0] for s in (shallow, deep)]
        rows.append([title, f"{statistics.median(pair.peer):.2f}",
                     f"{statistics.median(pair.ours):.2f}", f"{pair.ratio:.2f}",
                     f"{pair.low:.2f}–{pair.high:.2f}", f"{pair.best:.2f}", f"{least:.2f}", *counts])
        data.append({"what": title, "cpu_ratio_of_best": least, "kernels": counts,
                     **pair.as_json()})
    return frame.table(["phase", "2 layers s", "24 layers s", "ratio", "least–greatest", "best/best",
                        "CPU best/best", "kernels 2", "kernels 24"], rows), data


def cuda(cases, folder, quick):
    rows, data = [], []
    for number, case in enumerate(cases):
        frame.progress(f"CUDA: {case.name}")
        plan, cold, warm = folder / "cuda.plan", [], []
        options = ("--target", ARCHITECTURES, "--cache", folder / f"cache{number}")
        compiling(case, plan, cold, *options)()
        for _ in range(1 if quick else 3):
            compiling(case, plan, warm, *options)()
        unique, launches = kernels(cold[0][2])
        again = statistics.median(s[0] for s in warm)
        rows.append([case.name, f"{cold[0][0]:.2f}", f"{cold[0][1]:.2f}", f"{again:.2f}",
                     f"{again / cold[0][0]:.3f}", unique, launches,
                     frame.size(plan.stat().st_size)])
        data.append({"model": case.name, "cold_s": cold[0][0], "cold_cpu_s": cold[0][1],
                     "cached_s": again, "kernels": unique, "launches": launches,
                     "plan_bytes": plan.stat().st_size})
    return frame.table(["model", "cold s", "cold CPU s", "cached s", "cached/cold", "kernels",
                        "launches", "plan (with weights)"], rows), data


def main():
    args = frame.parser(__doc__).parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        cases = [c for c in models.cases(folder) if args.filter.lower() in c.name.lower()]
        host_text, host_data = host(cases, folder, args.quick)
        depth_text, depth_data = depth(folder, args.quick)
        cuda_text, cuda_data = cuda(cases, folder, args.quick)
    text = (f"### For this CPU, against the creation of an ONNX Runtime {onnxruntime.__version__} "
            f"session\n\n{host_text}\n\nRatio: gpucc compile / session creation; gpucc makes machine "
            "code in a new process and pays once, the peer pays at each start.\n\n"
            f"### Growth with depth (claim: at most 2.5 times, same number of kernels)\n\n"
            f"{depth_text}\n\n### For {ARCHITECTURES.split(':')[1]}, cold and with the kernel cache\n\n"
            f"{cuda_text}\n\nCold is measured once per model.")
    frame.finish(args, "Compile time and plan size", text,
                 {"host": host_data, "depth": depth_data, "cuda": cuda_data})


if __name__ == "__main__":
    main()
