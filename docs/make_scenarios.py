#!/usr/bin/env python3
"""Writes the tables of docs/scenarios: what `gpucc simulate` says of each step today.

  docs/make_scenarios.py [--check]     --check: only compare (exit code 1 when a page is stale)

A table stands between `<!-- table NAME -->` and `<!-- end -->`. A step adds pins to those of the steps before it; a
pin given again replaces the old one. The build is ../build, or $GPUCC_BUILD.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
GPUCC = pathlib.Path(os.environ.get("GPUCC_BUILD", ROOT / "build")) / "bin" / "gpucc"
GIB = 1 << 30

NAIVE = ("recipe.fused-pointwise=off,recipe.flash-attention=off,recipe.overlap-gradients=off,"
         "recipe.overlap-parameters=off")
SEVEN = ["-w", "llama-2-7b", "-m", "a100-80gb", "-n", "8", "-s", "128", "-b", "512"]
SEVEN_STEPS = [
    ("0", "`dp=8,micro-batch=4`, f32, nothing fused, no flash attention, no overlap",
     "dp=8,micro-batch=4,recipe.precision=f32," + NAIVE),
    ("1", "`zero=1`: Adam's state is shared, so that it fits at all", "zero=1"),
    ("2", "fusion: `fused-pointwise=on,flash-attention=on`", "recipe.fused-pointwise=on,recipe.flash-attention=on"),
    ("3a", "precision: `precision=tf32`", "recipe.precision=tf32"),
    ("3", "precision: `precision=bf16`", "recipe.precision=bf16"),
    ("4", "recomputation: `recompute=full` pays for `micro-batch=64`", "recompute=full,micro-batch=64"),
    ("5", "overlap: gradients and parameters travel beside compute",
     "recipe.overlap-gradients=on,recipe.overlap-parameters=on"),
    ("5a", "16-bit gradients: `gradient-bytes=2`", "recipe.gradient-bytes=2"),
    ("6a", "layout for memory: `zero=3`", "zero=3"),
]
THOUSAND = ["-w", "gpt-3-175b", "-m", "a100-80gb", "-n", "1024"]
THOUSAND_STEPS = [
    ("0", "tp 16, pp 8, dp 8, 1F1B, full recomputation, nothing fused, no overlap, batch 512",
     "tp=16,sp=off,pp=8,dp=8,schedule=1f1b,recompute=full,global-batch=512," + NAIVE),
    ("1", "tp 8: a tensor group stays inside a node", "tp=8,dp=16"),
    ("2", "batch 1,536: more micro-batches per pipeline", "global-batch=1536"),
    ("3", "flash attention and fused pointwise kernels", "recipe.fused-pointwise=on,recipe.flash-attention=on"),
    ("4", "sequence parallelism; nothing is recomputed any more, it fits", "sp=on,recompute=none"),
    ("5", "interleaved 1F1B, 12 chunks per rank", "schedule=interleaved,virtual-stages=12"),
    ("6", "tensor and data-parallel traffic beside products",
     "recipe.overlap-tensor=on,recipe.overlap-gradients=on,recipe.overlap-parameters=on"),
    ("7", "tp 4, dp 32, cheap recomputation: larger products", "tp=4,dp=32,zero=1,recompute=cheap"),
]


def merged(pins, more):
    result = dict(p.split("=", 1) for p in pins.split(",") if p)
    result.update(p.split("=", 1) for p in more.split(","))
    return ",".join(f"{k}={v}" for k, v in result.items())


def simulate(sizes, pins, *more):
    done = subprocess.run([GPUCC, "simulate", *sizes, "--pin", pins, "--json", "-", *more], capture_output=True, text=True)
    if done.returncode not in (0, 1):  # 1: does not fit
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def plan(sizes, pins):
    done = subprocess.run([GPUCC, "plan", *sizes, "--pin", pins, "--json", "-", "--quiet", "--no-reasons"],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["best"]["layout"], json.loads(done.stdout)["best"]


def memory(report):
    most = max(r["total"] for r in report["pipeline_ranks"]) / GIB
    return f"{most:.0f}" + ("" if report["fits"] else ", **does not fit**")


def seven():
    rows = ["| step | change (`--pin`) | samples/s | factor | GiB per GPU | exposed traffic, s |", "|---|---|---|---|---|---|"]
    pins, before = "", None
    for name, change, more in SEVEN_STEPS:
        pins = merged(pins, more)
        report = simulate(SEVEN, pins)
        rate = 512 / report["step_seconds"]
        traffic = report["seconds"]["gradient"] + report["seconds"]["gather"]
        rows.append(f"| {name} | {change} | {rate:.3g} | {f'{rate / before:.2f}' if before else ''} | {memory(report)} | {traffic:.3f} |")
        before = rate
    layout, best = plan(SEVEN, "recipe.cuda-graphs=on,recipe.gradient-bytes=2")
    rows.append(f"| 6b | layout for speed: what `gpucc plan` picks with `cuda-graphs=on` ({layout}) | {512 / best['step_seconds']:.3g} | "
                f"{512 / best['step_seconds'] / before:.2f} | | |")
    return rows


def thousand():
    rows = ["| step | change | step, s | MFU % | HFU % | products | repeated | pointwise | tensor | bubble | data parallel | host |",
            "|---|---|---|---|---|---|---|---|---|---|---|---|"]

    def row(name, change, report):
        s = report["seconds"]
        parts = [s["matmul"] + s["attention"], s["recompute"], s["pointwise"], s["tensor"], s["bubble"],
                 s["gradient"] + s["gather"] + s["update"], s["host"]]
        rows.append(f"| {name} | {change} | {report['step_seconds']:.1f} | {100 * report['mfu']:.0f} | {100 * report['hfu']:.0f} | " +
                    " | ".join(f"{p:.2f}" for p in parts) + " |")

    pins = ""
    for name, change, more in THOUSAND_STEPS:
        pins = merged(pins, more)
        row(name, change, simulate(THOUSAND, pins))
    layout, best = plan(THOUSAND, "global-batch=1536,recipe.overlap-tensor=on")
    row("8", f"what `gpucc plan` picks ({layout})", with_layout(best["yaml"]))
    return rows


def with_layout(yaml):
    path = pathlib.Path(os.environ.get("TMPDIR", "/tmp")) / f"scenario-{os.getpid()}.yaml"
    path.write_text(yaml)
    try:
        done = subprocess.run([GPUCC, "simulate", *THOUSAND, "-l", path, "--json", "-"], capture_output=True, text=True, check=True)
    finally:
        path.unlink()
    return json.loads(done.stdout)


TABLES = {"seven": seven, "thousand": thousand}


def main():
    stale = []
    for page in sorted((ROOT / "docs" / "scenarios").glob("*.md")):
        text = page.read_text()
        new = re.sub(r"(<!-- table (\w+) -->\n).*?(<!-- end -->)",
                     lambda m: m[1] + "\n".join(TABLES[m[2]]()) + "\n" + m[3], text, flags=re.S)
        if new != text:
            stale.append(page.name)
            if "--check" not in sys.argv:
                page.write_text(new)
    if stale:
        print(("stale, run docs/make_scenarios.py: " if "--check" in sys.argv else "written: ") + ", ".join(stale))
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
