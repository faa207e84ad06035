#!/usr/bin/env python3
"""Planning time: the layout search for GPT-2 medium's training step on 8 x H100 (claim: at most 5 s).

    build/venv/bin/python bench/planner.py
    build/venv/bin/python bench/planner.py --batch 64 --seq 1024

Both figures are of whole processes: `train` stops with the unpartitioned training step (import,
differentiation, optimizer: no search), `plan` goes through search, partition, fusion and memory up to the plan
dialect. The weights are a sparse file that is never read.
"""
import pathlib
import statistics
import tempfile

import frame
import models


def main():
    parser = frame.parser(__doc__)
    parser.add_argument("--machine", default="h100")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--seq", type=int, default=1024)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        models.make(folder, "--model", "gpt2_medium")
        planned, trained = [], []

        def run(phase, seen, *options):
            seen.append(frame.gpucc("compile", folder / "gpt2_medium.onnx", "--train", "--optimizer",
                                    "adamw", *options, "--profile",
                                    f"batch={args.batch},seq={args.seq}", "--compile-to", phase,
                                    "-o", folder / "out.mlir"))

        frame.paired(lambda: run("plan", planned, "--machine", args.machine),
                     lambda: run("train", trained), pairs=2 if args.quick else 3, budget=0.0, warm=0)
        layout = next((line for line in planned[-1][2].splitlines() if "layout" in line),
                      planned[-1][2].strip())
    rows = [[what, f"{statistics.median(s[0] for s in seen):.2f}", f"{min(s[0] for s in seen):.2f}",
             f"{min(s[1] for s in seen):.2f}"]
            for what, seen in (("training step, not partitioned", trained),
                               ("searched and planned", planned))]
    text = (frame.table(["up to", "median s", "best s", "best CPU s"], rows) +
            f"\n\nGPT-2 medium, AdamW, batch {args.batch}, seq {args.seq}, machine {args.machine}. "
            f"Found:\n\n    {layout}")
    frame.finish(args, "Planning time", text, {"planned": [s[:2] for s in planned],
                                               "trained": [s[:2] for s in trained]})


if __name__ == "__main__":
    main()
