#!/usr/bin/env python3
"""What a plan costs before and beside its work: start, memory of a run, file size.

    build/venv/bin/python bench/startup.py                    the small models
    build/venv/bin/python bench/startup.py --models DIR       the real ones that bench/models/make.py put there

Each model runs in a process of its own. `start`: from loading the plan to its first result, the plan's
file in the page cache (median of 5 processes). `anonymous`: memory of its own that the process has after
eight runs, less what it had before loading; weights are pages of the plan's file and do not count.
`arenas`: bytes of io and scratch in the plan. `run`: a later run. `touch`: page-in of the weights, the time to read
one byte of each page of the mapped plan. The claim: anonymous <= arenas + 50 MB; beside the run itself and page-in,
start takes at most 50 ms (`beside`).
"""
import json
import mmap
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import frame
import models

CHILD = """
import json, pathlib, sys, time
import numpy as np
sys.path.insert(0, sys.argv[1])
import gpucc
arrays = dict(np.load(sys.argv[3]))
def anonymous():
    text = pathlib.Path("/proc/self/smaps_rollup").read_text()
    return 1024 * int(next(l for l in text.splitlines() if l.startswith("Anonymous:")).split()[1])
before, start = anonymous(), time.perf_counter()
model = gpucc.load(sys.argv[2], threads=int(sys.argv[4]))
model.run(arrays)
first = time.perf_counter() - start
times = []
for _ in range(7):
    start = time.perf_counter()
    model.run(arrays)
    times.append(time.perf_counter() - start)
print(json.dumps({"start": first, "run": sorted(times)[3], "anonymous": anonymous() - before}))
"""


def child(plan, arrays, threads):
    done = subprocess.run([sys.executable, "-c", CHILD, frame.BUILD / "python", plan, arrays, str(threads)],
                          check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def page_in(path):
    """Seconds to touch every page of a file that is in the page cache."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
        start = time.perf_counter()
        for at in range(0, len(view), mmap.PAGESIZE):
            view[at]
        return time.perf_counter() - start


def measure(case, plan, folder):
    import numpy as np
    import onnxruntime
    arrays = folder / "inputs.npz"
    np.savez(arrays, **case.inputs(onnxruntime.InferenceSession(str(case.path), providers=["CPUExecutionProvider"])))
    rows = [child(plan, arrays, 1) for _ in range(5)]
    frame.gpucc("show", plan, "--memory", "--json", folder / "memory.json")
    memory = json.loads((folder / "memory.json").read_text())
    arenas = sum(a["bytes"] for a in memory["arenas"] if a["arena"] in ("io", "scratch"))
    return {"model": case.name, "run": statistics.median(r["run"] for r in rows), "start": statistics.median(r["start"] for r in rows),
            "anonymous": max(r["anonymous"] for r in rows), "arenas": arenas, "touch": page_in(plan),
            "file": plan.stat().st_size}


def main():
    parser = frame.parser(__doc__)
    parser.add_argument("--models", help="folder of real models")
    args = parser.parse_args()
    data, rows = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for case in (models.real_cases(args.models) if args.models else models.cases(folder)):
            if args.filter.lower() not in case.name.lower():
                continue
            frame.progress(case.name)
            plan = folder / "model.plan"
            frame.gpucc("compile", case.path, "--profile", case.profile, "-o", plan)
            row = measure(case, plan, folder)
            data.append(row)
            fits = row["anonymous"] <= row["arenas"] + 50e6
            beside = max(0.0, row["start"] - row["run"] - row["touch"])
            rows.append([case.name, frame.milliseconds(row["start"]), frame.milliseconds(row["run"]),
                         frame.milliseconds(row["touch"]), frame.milliseconds(beside),
                         f"{row['anonymous'] / 1e6:.1f}", f"{row['arenas'] / 1e6:.1f}", "yes" if fits else "no",
                         f"{row['file'] / 1e6:.1f}"])
    text = frame.table(["model, batch 1, f32, 1 thread", "start ms", "run ms", "touch ms", "beside ms", "anonymous MB", "arenas MB",
                        "within 50 MB", "plan MB"], rows)
    frame.finish(args, "Start and memory of a run", text, data)


if __name__ == "__main__":
    main()
