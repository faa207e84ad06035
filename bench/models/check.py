"""Compiles, runs and compares every model of bench/models with ONNX Runtime, and says how well it fused.

    build/venv/bin/python bench/models/check.py M                        all that lie in folder M
    build/venv/bin/python bench/models/check.py M --filter gpt --json results.json

Columns: greatest error relative to max(|y|, 1e-2 max|Y|), limit 1e-3; argmax of class scores; kernels and
launches; the arena of intermediate values over the most bytes alive at once; the share of ops inside clusters
after decomposition (constants and views aside) on the host, where products are library calls, and for CUDA,
where they are kernels. The last line says how many agree; the exit code is 1 when one does not.

--cuda looks at the CUDA kernels instead: compiled by NVRTC for sm_80, sm_90a and sm_100a, how many there are and
whether any spills registers (no GPU is needed).
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnxruntime

import zoo

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import frame

LIMIT = 1e-3
VIEWS = {"constant", "weight", "weight_data", "reshape", "broadcast", "iota", "cluster", "yield"}


def gpucc(*args):
    done = subprocess.run([str(frame.BUILD / "bin" / "gpucc"), *map(str, args)], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"exit code {done.returncode}: {done.stderr.strip()[-1500:]}")
    return done.stdout


def error(ours, theirs):
    """The metric of the claim; infinite when shapes, NaNs or infinities differ."""
    if ours.shape != theirs.shape or not np.array_equal(np.isfinite(ours), np.isfinite(theirs)):
        return float("inf")
    if theirs.dtype.kind not in "fc":
        return 0.0 if np.array_equal(ours, theirs) else float("inf")
    ours, theirs = ours.astype(np.float64), theirs.astype(np.float64)
    if not theirs.size:
        return 0.0
    scale = np.maximum(np.abs(theirs), 1e-2 * np.abs(theirs).max())
    return float(np.max(np.abs(ours - theirs) / np.maximum(scale, 1e-30)))


def in_clusters(text):
    """Ops inside clusters and all ops, in the IR after fusion."""
    inside = total = 0
    depth = None
    for line in text.splitlines():
        match = re.match(r"^(\s*)(?:%\S+ = )?graph\.(\w+)", line)
        if depth is not None and line.startswith(depth + "}"):
            depth = None
        if not match:
            continue
        if match[2] == "cluster":
            depth = match[1]
        elif match[2] not in VIEWS:
            total += 1
            inside += depth is not None
    return inside, total


def compare(model, path, sizes, plan, folder, row):
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    arrays = zoo.inputs(session, model, sizes)
    np.savez(folder / "in.npz", **arrays)
    gpucc("run", plan, "--inputs", folder / "in.npz", "--outputs", folder / "out.npz")
    ours = np.load(folder / "out.npz")
    expected = session.run(None, arrays)
    for i, (output, theirs) in enumerate(zip(session.get_outputs(), expected)):
        mine = ours[output.name]
        row["error"] = max(row["error"], error(mine, theirs))
        if i == 0 and model.classes:
            row["argmax"] &= bool(np.array_equal(mine.argmax(-1), theirs.argmax(-1)))
        elif i == 0:
            row["argmax"] &= bool(mine.argmax() == theirs.argmax())


def examine(model, path, folder):
    plan = folder / "model.plan"
    row = {"model": model.name, "error": 0.0, "argmax": True}
    start = time.perf_counter()
    text = gpucc("compile", path, *zoo.profile_options(model.profiles), "--external-weights", "-o", plan)
    row["compile_s"] = time.perf_counter() - start
    for sizes in model.profiles:
        compare(model, path, sizes, plan, folder, row)
    single = zoo.profile_options(model.profiles[:1])
    text = gpucc("compile", path, *single, "--external-weights", "-o", plan)
    row["kernels"], row["launches"] = map(int, re.search(r"(\d+) kernels, (\d+) launches", text).groups())
    gpucc("show", plan, "--memory", "--json", folder / "memory.json")
    arenas = json.loads((folder / "memory.json").read_text())["arenas"]
    scratch = next(a for a in arenas if a["arena"] == "scratch")
    row["arena"], row["max_live"] = scratch["bytes"], scratch["max_live"]
    for target, key in (("host", "host"), ("cuda:sm_90a", "cuda")):
        inside, total = in_clusters(gpucc("compile", path, *single, "--target", target,
                                          "--compile-to=fuse"))
        row[f"share_{key}"], row[f"ops_{key}"] = inside / max(total, 1), total
    row["fine"] = row["error"] <= LIMIT and row["argmax"]
    return row


ARCHITECTURES = "sm_80,sm_90a,sm_100a"


def examine_cuda(model, path, folder):
    plan, table = folder / "cuda.plan", folder / "kernels.json"
    start = time.perf_counter()
    gpucc("compile", path, *zoo.profile_options(model.profiles[:1]), "--target", f"cuda:{ARCHITECTURES}",
          "--external-weights", "-o", plan)
    seconds = time.perf_counter() - start
    gpucc("show", plan, "--kernels", "--json", table)
    kernels = json.loads(table.read_text())["kernels"]
    variants = [v for k in kernels for v in k["variants"]]
    spills = [f"{k['kernel']} ({v['arch']})" for k in kernels for v in k["variants"]
              if v.get("spill_bytes") or v.get("local_instructions")]
    return {"model": model.name, "kernels": len(kernels), "launches": sum(k["launches"] for k in kernels),
            "variants": len(variants), "seconds": seconds, "spills": spills,
            "registers": max((v.get("registers", 0) for v in variants), default=0),
            "matrix": sum(bool(v.get("matrix_instructions")) for v in variants),
            "fine": not spills and len(variants) == 3 * len(kernels)}


def report_cuda(rows):
    print(frame.table(["model", "kernels", "launches", "cubins", "with matrix instructions", "most registers",
                       "compile s", "spills"],
                      [[r["model"], r["kernels"], r["launches"], r["variants"], r["matrix"], r["registers"],
                        f"{r['seconds']:.0f}", ", ".join(r["spills"]) or "none"] if "kernels" in r
                       else [r["model"], *["-"] * 6, "FAILED"] for r in rows]))


def report_host(rows):
    print(frame.table(
        ["model", "error", "argmax", "compile s", "kernels", "launches", "arena", "arena/live", "in clusters",
         "cuda", ""],
        [[r["model"], f"{r['error']:.1e}", "same" if r["argmax"] else "DIFFERS", f"{r['compile_s']:.1f}",
          r["kernels"], r["launches"], frame.size(r["arena"]), f"{r['arena'] / max(r['max_live'], 1):.3f}",
          f"{r['share_host']:.0%} of {r['ops_host']}", f"{r['share_cuda']:.0%} of {r['ops_cuda']}",
          "agrees" if r["fine"] else "WRONG"] if "error" in r else [r["model"], *["-"] * 9, "FAILED"]
         for r in rows]))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--filter", default="", help="only models whose name contains this")
    parser.add_argument("--cuda", action="store_true", help="the CUDA kernels: cubins and spills")
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    rows, absent = [], []
    for model in zoo.MODELS.values():
        path = args.folder / model.file
        if args.filter not in model.name:
            continue
        if not path.is_file():
            absent.append(model.name)
            continue
        frame.progress(model.name)
        with tempfile.TemporaryDirectory(dir=args.folder) as folder:
            try:
                look = examine_cuda if args.cuda else examine
                rows.append(look(model, path.resolve(), pathlib.Path(folder)))
            except (RuntimeError, KeyError) as failure:
                rows.append({"model": model.name, "fine": False, "reason": str(failure)})
    (report_cuda if args.cuda else report_host)(rows)
    for r in rows:
        if "reason" in r:
            print(f"\n{r['model']}: {r['reason']}")
    if absent:
        print(f"\nnot in {args.folder.name}: {', '.join(absent)} (make.py makes them)")
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1))
    good = sum(r["fine"] for r in rows)
    what = "compile for " + ARCHITECTURES + " without spills" if args.cuda else "agree with ONNX Runtime"
    print(f"{good} of {len(rows)} models {what}, {len(rows) - good} do not, {len(absent)} not made")
    return 0 if rows and good == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
