#!/usr/bin/env python3
"""Writes the generated reference: one page per dialect and group of passes (from the .td files, by mlir-tblgen)
and the interface matrix: each op interface, the ops that implement it, the folders that use it.

  docs/make_reference.py OUT     usually by `ninja docs`, which sets GPUCC_TBLGEN and GPUCC_MLIR_INCLUDE

Exit code 1 when an interface has no implementer or fewer than two users.
"""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
TBLGEN = os.environ.get("GPUCC_TBLGEN", "mlir-tblgen")
MLIR = os.environ.get("GPUCC_MLIR_INCLUDE", "").split(";")

DIALECTS = {
    "frontend": ["Frontend/Frontend.td"],
    "graph": [f"Graph/{f}/{f}Ops.td" for f in ("Leaves", "Pointwise", "Contraction", "Reduction", "Window",
                                                "Movement", "Composites", "Regions")],
    "dist": ["Dist/DistOps.td"],
    "kernel": ["Kernel/KernelOps.td", "Kernel/SkeletonOps.td", "Kernel/LaunchOps.td"],
    "sched": ["Sched/Sched.td"],
    "plan": ["Plan/Plan.td"],
}
INTERFACES = ["EvaluateOpInterface", "ShardingRuleOpInterface", "DifferentiableOpInterface",
              "CostOpInterface", "ScalarBodyOpInterface", "DecomposableOpInterface", "InferTypeOpAdaptor"]


def tblgen(generator, path):
    command = [TBLGEN, generator, f"-I{ROOT}", f"-I{ROOT / 'include'}", *[f"-I{i}" for i in MLIR if i], str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def implementers(interface):
    """Ops whose generated declaration names the interface's trait."""
    found = []
    for files in DIALECTS.values():
        for file in files:
            text = tblgen("-gen-op-decls", ROOT / "dialects" / file)
            for match in re.finditer(r"class (\w+) : public ::mlir::Op<(.*?)> \{", text, re.S):
                if re.search(rf"\b{interface}\b", match.group(2)):
                    found.append(match.group(1))
    return sorted(set(found))


def users(interface):
    """Folders, outside the dialects' own op implementations, that ask through the interface."""
    words = {"InferTypeOpAdaptor": r"inferReturnTypes|InferTypeOpInterface|Op::create\(",
             "DifferentiableOpInterface": "DifferentiableOpInterface|reverseSweep"}
    pattern = re.compile(words.get(interface, interface))
    folders = set()
    for path in list((ROOT / "lib").rglob("*.cpp")) + list((ROOT / "dialects/Graph").glob("*.cpp")):
        if pattern.search(path.read_text()):
            folders.add(str(path.parent.relative_to(ROOT)))
    return sorted(folders)


def main(out):
    out.mkdir(parents=True, exist_ok=True)
    for dialect, files in DIALECTS.items():
        text = f"# The `{dialect}` dialect\n\n"
        for file in files:
            text += tblgen("-gen-op-doc", ROOT / "dialects" / file) + "\n"
        (out / f"{dialect}.md").write_text(text)
    for path in sorted((ROOT / "include/gpucc").rglob("Passes.td")):
        name = "-".join(path.relative_to(ROOT / "include/gpucc").parts[:-1])
        (out / f"passes-{name}.md").write_text(f"# Passes: {name}\n\n" + tblgen("-gen-pass-doc", path))
    lines = ["# Interfaces", "", "| interface | ops that implement it | who asks through it |", "|---|---|---|"]
    weak = []
    for interface in INTERFACES:
        ops, folders = implementers(interface), users(interface)
        lines.append(f"| `{interface}` | {len(ops)}: {', '.join(ops)} | {', '.join(folders)} |")
        if not ops or len(folders) < 2:
            weak.append(f"{interface}: {len(ops)} implementers, users: {folders}")
    (out / "interfaces.md").write_text("\n".join(lines) + "\n")
    print("\n".join(f"weak: {w}" for w in weak) or f"reference written to {out.name}/")
    return 1 if weak else 0


if len(sys.argv) != 2:
    sys.exit(__doc__)
sys.exit(main(pathlib.Path(sys.argv[1])))
