#!/usr/bin/env python3
"""Writes docs/tour.md: one small model through every phase, as the tools print it today.

  docs/make_tour.py [--check]     --check: only compare (exit code 1 when the tour is stale)

The build is ../build, or $GPUCC_BUILD. Everything in the tour that is not prose is output of a command,
so it cannot go stale: ctest `tour` runs --check.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = pathlib.Path(os.environ.get("GPUCC_BUILD", ROOT / "build"))


class Tour:
    def __init__(self, folder):
        self.folder = folder
        self.lines = []

    def say(self, text):
        self.lines += [text, ""]

    def run(self, command, first=None, last=None, limit=40, width=150):
        """Shows a command and its output, from the line that holds `first` to that which holds
        `last`, at most `limit` lines, long ones cut."""
        env = {**os.environ, "PATH": f"{BUILD}/bin:" + os.environ["PATH"]}
        done = subprocess.run(command, shell=True, cwd=self.folder, env=env, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"`{command}` failed:\n{done.stdout}{done.stderr}")
        out = done.stdout.splitlines()
        if first:
            start = next(i for i, line in enumerate(out) if first in line)
            out = out[start:]
        if last:
            end = next((i for i, line in enumerate(out) if i and line.startswith(last)), len(out) - 1)
            out = out[: end + 1]
        shown = [line if len(line) <= width else line[:width] + " …" for line in out[:limit]]
        if len(out) > limit:
            shown.append(f"… ({len(out) - limit} lines more)")
        self.lines += ["```", f"$ {command}", *shown, "```", ""]


def write(tour):
    t = tour
    t.say("# One model, every phase")
    t.say("*Written by `docs/make_tour.py` from the output of the tools; do not edit.*")
    t.say("The model is a multi-layer perceptron of three layers, `mlp.onnx` of `examples/models`, with a symbolic\n"
          "batch dimension. `--compile-to` stops after a phase; `gpucc-opt --gpucc-phase-<name>` runs the same passes on\n"
          "text.")
    t.say("## frontend: what the file says")
    t.say("Importing is thin: one generic op per node, weights by reference to their place in the file.")
    t.run("gpucc compile mlp.onnx --compile-to frontend", limit=24)
    t.say("## graph: what it means")
    t.say("The profile binds `batch`, so every shape is known. Weights are names; planning never reads them.")
    t.run("gpucc compile mlp.onnx --profile batch=16 --compile-to graph", limit=24)
    t.say("## fuse: what becomes one kernel")
    t.say("On the host matrix products are library calls (oneDNN); they take bias and activation along (library clusters).")
    t.run("gpucc compile mlp.onnx --profile batch=16 --compile-to fuse", limit=30)
    t.say("For a GPU the product is in the cluster too.")
    t.run("gpucc compile mlp.onnx --profile batch=16 --target cuda:sm_90a --compile-to fuse",
          first="graph.cluster", last="    }", limit=16)
    t.say("## kernel: what one kernel computes")
    t.say("Programs over a grid, loops with a scalar body; equal clusters share one kernel.")
    t.run("gpucc compile mlp.onnx --profile batch=16 --compile-to kernel", first="kernel.func", last="  }", limit=30)
    t.say("## sched and plan: order, buffers, addresses")
    t.run("gpucc compile mlp.onnx --profile batch=16 --compile-to sched", first="sched.program", limit=34)
    t.run("gpucc compile mlp.onnx --profile batch=16 --compile-to plan", first="plan.arena", limit=16)
    t.say("## The plan file")
    t.run("gpucc compile mlp.onnx --profile batch=16 --target host:x86-64-v3 -o mlp.plan && gpucc show mlp.plan")
    t.run("gpucc show mlp.plan --memory")
    t.say("## The CUDA C++ of one kernel")
    t.run("gpucc compile mlp.onnx --profile batch=16 --target cuda:sm_90a -o cuda.plan >/dev/null && gpucc show cuda.plan --kernels",
          limit=40)
    t.say("## Is it right?")
    t.run("gpucc check mlp.onnx --profile batch=16")
    t.run("gpucc check mlp.onnx --profile batch=16 --target cuda:simt")
    t.say("## Training on two ranks")
    t.say("Differentiation makes `@step` (forward, backward, accumulation) and `@update`; data parallelism is a sharding of\n"
          "the batch; partitioning leaves one program for both ranks, with collectives.")
    t.run("gpucc compile mlp.onnx --train --loss mse --profile batch=16 --ranks 2 --pin dp=2 --compile-to dist | grep -E 'dist\\.(mesh|all_reduce)|func.func' | cut -c1-110",
          limit=20)
    t.run("gpucc compile mlp.onnx --train --loss mse --optimizer adamw --profile batch=16 --ranks 2 --pin dp=2 --target host:x86-64-v3 -o train.plan && gpucc explain train.plan")
    t.run("gpucc check mlp.onnx --train --loss mse --optimizer adamw --profile batch=16 --ranks 2 --pin dp=2 | tail -n 12 | sed -E 's/error [^ ]+/error …/'")
    return "\n".join(t.lines)


def main():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, ROOT / "examples/models/make_models.py", folder, "--model", "mlp"],
                       check=True, capture_output=True)
        text = write(Tour(folder))
    target = ROOT / "docs" / "tour.md"
    if "--check" in sys.argv:
        if target.read_text() == text:
            return 0
        print("docs/tour.md is stale; run docs/make_tour.py and look at the difference")
        import difflib
        print("\n".join(difflib.unified_diff(target.read_text().splitlines(), text.splitlines(), lineterm="", n=1)))
        return 1
    target.write_text(text)
    return 0


sys.exit(main())
