#!/usr/bin/env python3
"""Latency of compiled plans on this CPU against ONNX Runtime: same models, inputs and threads.

    build/venv/bin/python bench/host.py                  1 thread, then 2
    build/venv/bin/python bench/host.py --threads 1 --quick --filter MiniLM
    build/venv/bin/python bench/host.py --models M       the real models that bench/models/make.py put into M

Both run in this process through their Python bindings, in turns (see frame.py). ONNX Runtime has all
its graph optimizations, its intra-op pool has the same number of threads, and spins as by default.
Outputs are compared first: a wrong answer is not timed. For a model that is slower than
ONNX Runtime, a line says where our time goes (medians of a trace of the plan's commands).
"""
import collections
import json
import pathlib
import statistics
import sys
import tempfile

import numpy as np
import onnxruntime

import frame
import models

sys.path.insert(0, str(frame.BUILD / "python"))
import gpucc  # noqa: E402  (the binding lives in the build folder)

TOLERANCE = 1e-3


def session_of(path, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def error(found, expected):
    scale = np.maximum(np.abs(expected), max(1e-2 * np.abs(expected).max(), 1e-30))
    return float((np.abs(found - expected) / scale).max())


def where_time_goes(plan, threads, folder):
    """The largest commands of a step, by name, with their share of it."""
    trace = pathlib.Path(folder) / "trace.json"
    steps = 15
    frame.gpucc(plan, "--iterations", steps, "--threads", threads, "--trace", trace,
                program="gpucc-run")
    events = [e for e in json.loads(trace.read_text())["traceEvents"] if e["ph"] == "X"]
    per_step = len(events) // steps
    total, kinds = collections.Counter(), collections.Counter()
    for slot in range(per_step):
        # The same command of every step but the first, which warms up.
        same = events[per_step + slot::per_step]
        took = statistics.median(e["dur"] for e in same)
        kind = "library" if same[0]["cat"] == "LibraryCall" else "kernel"
        name = "/".join(same[0]["name"].split("/")[-2:])
        total[f"{name} [{kind}]"] += took
        kinds[kind] += took
    whole = sum(kinds.values()) or 1
    shares = ", ".join(f"{name} {took / whole:.0%}" for name, took in total.most_common(3))
    return (f"{per_step} commands, oneDNN {kinds['library'] / whole:.0%}, own kernels "
            f"{kinds['kernel'] / whole:.0%}; most: {shares}")


def measure(case, plan, threads, quick):
    session = session_of(case.path, threads)
    arrays = case.inputs(session)
    model = gpucc.load(plan, threads=threads)
    expected = dict(zip([o.name for o in session.get_outputs()], session.run(None, arrays)))
    found = model.run(arrays)
    worst = max(error(found[name], y) for name, y in expected.items())
    if not worst <= TOLERANCE:
        return None, worst
    pair = frame.paired(lambda: model.run(arrays), lambda: session.run(None, arrays),
                        pairs=5 if quick else 11, budget=1.0 if quick else 4.0)
    return pair, worst


def main():
    parser = frame.parser(__doc__)
    parser.add_argument("--threads", type=int, action="append", help="repeatable (default: 1 and 2)")
    parser.add_argument("--models", metavar="FOLDER", help="the real models in this folder instead of the small ones")
    args = parser.parse_args()
    rows, notes, data = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        cases = models.real_cases(args.models) if args.models else models.cases(folder)
        for number, case in enumerate(cases):
            if args.filter.lower() not in case.name.lower():
                continue
            frame.progress(case.name)
            plan = pathlib.Path(folder) / f"{number}.plan"
            frame.gpucc("compile", case.path, "--profile", case.profile, "-o", plan)
            for threads in args.threads or [1, 2]:
                pair, worst = measure(case, plan, threads, args.quick)
                if not pair:
                    notes.append(f"* {case.name} differs from ONNX Runtime by {worst:.1e}: not timed.")
                    break
                rows.append([case.name, threads, frame.milliseconds(statistics.median(pair.ours)),
                             frame.milliseconds(statistics.median(pair.peer)),
                             f"{pair.ratio:.2f}", f"{pair.low:.2f}–{pair.high:.2f}",
                             f"{pair.best:.2f}", pair.verdict()])
                data.append({"model": case.name, "threads": threads, "error": worst,
                             **pair.as_json()})
                if pair.ratio > 1 and not any(d["model"] == case.name for d in data[:-1]
                                              if "where" in d):
                    data[-1]["where"] = where_time_goes(plan, threads, folder)
                    notes.append(f"* {case.name}, {threads} thread{'s' * (threads > 1)}: "
                                 f"{data[-1]['where']}.")
    text = frame.table(["model, batch 1, f32", "threads", "gpucc ms", "ONNX Runtime ms",
                        "ratio", "least–greatest", "best/best", "gpucc is"], rows)
    text += (f"\n\nONNX Runtime {onnxruntime.__version__}. Ratio: gpucc / ONNX Runtime, median of the "
             "pairs; below 1 gpucc is faster.")
    for threads in sorted({d["threads"] for d in data}):
        ratios = [d["ratio"] for d in data if d["threads"] == threads]
        text += (f" Geometric mean at {threads} thread{'s' * (threads > 1)}: "
                 f"{statistics.geometric_mean(ratios):.2f} of {len(ratios)} models.")
    if notes:
        text += "\n\nWhere the time goes when gpucc is slower:\n\n" + "\n".join(notes)
    frame.finish(args, "Host latency against ONNX Runtime", text, data)


if __name__ == "__main__":
    main()
