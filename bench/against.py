#!/usr/bin/env python3
"""gpucc against every CPU runtime that installs: latency of the real models, compile time and memory.

    build/bench-venv/bin/python bench/against.py M                       all models in M, all peers, 1 and 2 threads
    build/bench-venv/bin/python bench/against.py M --peers openvino --threads 1 --filter OCR
    build/bench-venv/bin/python bench/against.py M --compile             compile time and memory, beside IREE's

bench/models/make.py fills M; bench/peers-requirements.txt says what the environment needs. Each model and peer run in
a process of their own, in which gpucc and the peer take turns (frame.py), pinned to as many cores as there are
threads; answers are compared first, and a wrong one is not timed. Every side gets the model with fixed sizes.
What peers compile is kept in M/peers, so that a second run only times. Columns are gpucc's time over the peer's:
below 1 gpucc is faster; `best of` is the fastest peer.
"""
import dataclasses
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import frame
import models

TOLERANCE = 1e-3
LIMIT = 300  # seconds for one peer on one model, its compilation included


@dataclasses.dataclass
class Fixed:
    """One model of the zoo with all its dimensions fixed."""
    key: str
    path: str
    inputs: list
    outputs: list


def fix(case, folder):
    """Writes the model with fixed dimensions, and inputs for it, into `folder`."""
    import numpy as np
    import onnx
    import onnxruntime
    folder.mkdir(parents=True, exist_ok=True)
    key = case.model.name
    path, arrays = folder / f"{key}.onnx", folder / f"{key}.npz"
    session = onnxruntime.InferenceSession(str(case.path), providers=["CPUExecutionProvider"])
    if not path.exists():
        values = case.inputs(session)
        np.savez(arrays, **values)
        model = onnx.load(str(case.path))
        results = session.run(None, values)
        constants = {w.name for w in model.graph.initializer}
        for value in model.graph.input:
            if value.name not in constants:
                set_shape(value, values[value.name].shape)
        for value, result in zip(model.graph.output, results):
            set_shape(value, result.shape)
        del model.graph.value_info[:]  # they name the symbolic dimensions
        onnx.save(onnx.shape_inference.infer_shapes(model, data_prop=True), str(path))
    return Fixed(key, str(path), [i.name for i in session.get_inputs()], [o.name for o in session.get_outputs()])


def set_shape(value, shape):
    del value.type.tensor_type.shape.dim[:]
    for extent in shape:
        value.type.tensor_type.shape.dim.add().dim_value = extent


def child(peer, threads, plan, quick, folder, fixed):
    """Times one peer beside gpucc; prints one line of JSON."""
    import numpy as np
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    import peers
    fixed = Fixed(**json.loads(fixed))
    arrays = dict(np.load(pathlib.Path(folder) / f"{fixed.key}.npz"))
    try:
        other = peers.PEERS[peer](fixed, int(threads), folder)
        theirs = other.run(arrays)
    except peers.Refused as refusal:
        return {"reason": str(refusal)}
    sys.path.insert(0, str(frame.BUILD / "python"))
    import gpucc
    ours = gpucc.load(plan, threads=int(threads))
    found = ours.run(arrays)
    worst = max(error(found[name], value) for name, value in theirs.items())
    if not worst <= TOLERANCE:
        return {"reason": f"answers differ by {worst:.1e}", "setting": other.setting}
    pair = frame.paired(lambda: ours.run(arrays), lambda: other.run(arrays), pairs=5 if quick else 11,
                        budget=1.5 if quick else 4.0)
    return {"setting": other.setting, "error": worst, **pair.as_json()}


def error(found, expected):
    import numpy as np
    if expected.dtype.kind != "f":
        return 0.0 if np.array_equal(found, expected) else float("inf")
    scale = np.maximum(np.abs(expected), max(1e-2 * np.abs(expected).max(), 1e-30))
    return float((np.abs(found - expected) / scale).max())


def time_pair(peer, threads, plan, quick, folder, fixed):
    request = json.dumps([peer, threads, str(plan), quick, str(folder), json.dumps(dataclasses.asdict(fixed))])
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads), TORCHINDUCTOR_CACHE_DIR=str(folder / "inductor"))
    try:
        done = subprocess.run([sys.executable, __file__, "--child", request], capture_output=True, text=True,
                              env=environment, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return {"reason": f"not done after {LIMIT} s"}
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not lines:
        tail = [line for line in done.stderr.splitlines() if line.strip()][-1:] or [f"exit code {done.returncode}"]
        return {"reason": f"failed: {tail[0].strip()[:160]}"}
    return json.loads(lines[-1])


def latency(args, cases, work):
    import peers
    names = args.peers.split(",") if args.peers else list(peers.PEERS)
    rows, notes, data, settings = [], [], [], {}
    for case in cases:
        fixed = fix(case, work)
        with tempfile.TemporaryDirectory() as folder:
            plan = pathlib.Path(folder) / "model.plan"
            frame.gpucc("compile", case.path, "--profile", case.profile, "-o", plan)
            refused = {}
            for threads in args.threads or [1, 2]:
                row = {"model": case.name, "threads": threads, "peers": {}}
                for peer in names:
                    frame.progress(f"{case.name}, {threads} threads, {peer}")
                    # What does not run with one number of threads does not with another.
                    found = refused.get(peer) or time_pair(peer, threads, plan, args.quick, work, fixed)
                    row["peers"][peer] = found
                    settings[peer] = found.get("setting", settings.get(peer))
                    if "reason" in found:
                        refused[peer] = found
                        notes.append(f"* {case.name}, {peers.PEERS[peer].name}: {found['reason']}")
                data.append(row)
                rows.append(line_of(row, names))
    head = ["model, batch 1, f32", "threads", "gpucc ms", *(peers.PEERS[n].name for n in names), "best of them"]
    text = frame.table(head, rows) + "\n\ngpucc's time over the peer's, median of the pairs; below 1 gpucc is faster."
    for threads in sorted({row["threads"] for row in data}):
        text += f"\nGeometric means, {threads} thread{'s' * (threads > 1)}: " + means(data, names, threads) + "."
    text += "\n\nSettings: " + "; ".join(f"{peers.PEERS[n].name} {settings[n]}" for n in names if settings.get(n)) + "."
    if notes:
        text += "\n\nWhat did not run:\n\n" + "\n".join(dict.fromkeys(notes))
    return "Host latency against other runtimes", text, data


def line_of(row, names):
    timed = {n: row["peers"][n] for n in names if "ratio" in row["peers"][n]}
    ours = [statistics.median(pair["ours_s"]) for pair in timed.values()]
    return [row["model"], row["threads"], frame.milliseconds(min(ours)) if ours else "–",
            *(f"{timed[n]['ratio']:.2f}" if n in timed else "–" for n in names),
            f"{max(pair['ratio'] for pair in timed.values()):.2f}" if timed else "–"]


def means(data, names, threads):
    import peers
    rows = [row["peers"] for row in data if row["threads"] == threads]
    parts = []
    for n in names:
        ratios = [row[n]["ratio"] for row in rows if "ratio" in row[n]]
        if ratios:
            parts.append(f"{peers.PEERS[n].name} {statistics.geometric_mean(ratios):.2f} of {len(ratios)} models")
    best = [max(p["ratio"] for p in row.values() if "ratio" in p) for row in rows
            if any("ratio" in p for p in row.values())]
    return ", ".join(parts) + (f", the best of each {statistics.geometric_mean(best):.2f}" if best else "")


# Linux counts what a process held before exec, so the command is started by a small process, not by this large one.
MEASURE = """
import os, subprocess, sys, time
start = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
errors = process.stderr.read().decode(errors="replace")
_, status, usage = os.wait4(process.pid, 0)
print(time.perf_counter() - start, usage.ru_maxrss * 1024)
sys.stderr.write(errors)
sys.exit(status != 0)
"""


def measured(command):
    """Seconds and most resident bytes of a command; raises Refused with its error."""
    import peers
    done = subprocess.run([sys.executable, "-S", "-c", MEASURE, *map(str, command)], capture_output=True, text=True)
    if done.returncode:
        raise peers.Refused(peers.first_error(done.stderr))
    seconds, peak = done.stdout.split()
    return float(seconds), int(peak)


def compiling(args, cases, work):
    import peers
    rows, data, notes = [], [], []
    for case in cases:
        frame.progress(case.name)
        fixed = fix(case, work)
        weights = os.path.getsize(fixed.path)
        with tempfile.TemporaryDirectory() as folder:
            plan = pathlib.Path(folder) / "model.plan"
            ours = measured([frame.BUILD / "bin" / "gpucc", "compile", fixed.path, "-o", plan])
        try:
            _, theirs = peers.Iree.compile_model(fixed, work, measured)
        except peers.Refused as refusal:
            theirs = (None, None)
            notes.append(f"* {case.name}, IREE: {refusal}")
        limit = 2.5 * weights + 500e6
        data.append({"model": case.name, "ours_s": ours[0], "iree_s": theirs[0], "weights": weights,
                     "peak": ours[1], "iree_peak": theirs[1], "limit": limit})
        rows.append([case.name, f"{ours[0]:.1f}", f"{theirs[0]:.1f}" if theirs[0] else "–",
                     f"{ours[0] / theirs[0]:.2f}" if theirs[0] else "–", frame.size(weights), frame.size(ours[1]),
                     frame.size(limit), "yes" if ours[1] <= limit else "NO",
                     frame.size(theirs[1]) if theirs[1] else "–"])
    text = frame.table(["model", "gpucc s", "IREE s", "ratio", "model file", "peak memory", "2.5 weights + 500 MB",
                        "within", "IREE's peak"], rows)
    text += ("\n\ngpucc: from ONNX to plan. IREE: iree-compile from MLIR to module (its import is not counted), "
             + " ".join(peers.Iree.FLAGS) + ".")
    if notes:
        text += "\n\nWhat did not compile:\n\n" + "\n".join(notes)
    return "Compile time and memory against IREE", text, data


def main():
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(child(*json.loads(sys.argv[2]))))
        return
    parser = frame.parser(__doc__)
    parser.add_argument("models", metavar="M", help="the folder that bench/models/make.py filled")
    parser.add_argument("--peers", help="a list: onnxruntime,openvino,iree,tvm,torch (default: all)")
    parser.add_argument("--threads", type=int, action="append", help="repeatable (default: 1 and 2)")
    parser.add_argument("--compile", action="store_true", help="compile time and memory instead of latency")
    args = parser.parse_args()
    cases = [c for c in models.real_cases(args.models) if args.filter.lower() in c.name.lower()]
    work = pathlib.Path(args.models).resolve() / "peers"
    title, text, data = (compiling if args.compile else latency)(args, cases, work)
    frame.finish(args, title, text, data)


if __name__ == "__main__":
    main()
