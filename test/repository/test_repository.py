"""Rules over the sources themselves: who may include whom, sizes of files, what must not be said.

The table is that of docs/layering.md. A row names a folder, what of ours it may include, and whether
LLVM/MLIR headers are allowed.
"""
import pathlib
import re
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]

FACTS = ["gpucc/Facts"]
DIALECTS = ["dialects/"]
COMMON = FACTS + ["gpucc/Support"]

# folder prefix: (allowed prefixes of quoted includes of ours, LLVM and MLIR allowed)
TABLE = {
    "lib/Facts": (FACTS, False),
    "lib/Support": (COMMON, True),
    "dialects/Interfaces": (COMMON + ["dialects/Interfaces"], True),
    "dialects/Base": (COMMON + ["dialects/Interfaces", "dialects/Base"], True),
    "dialects/Frontend": (COMMON + ["dialects/Interfaces", "dialects/Base", "dialects/Frontend"], True),
    "dialects/Graph": (COMMON + ["dialects/Interfaces", "dialects/Base", "dialects/Graph"], True),
    "dialects/Dist": (COMMON + ["dialects/Interfaces", "dialects/Base", "dialects/Dist"], True),
    "dialects/Kernel": (COMMON + ["dialects/Interfaces", "dialects/Base", "dialects/Kernel"], True),
    "dialects/Sched": (COMMON + ["dialects/Interfaces", "dialects/Base", "dialects/Sched"], True),
    "dialects/Plan": (COMMON + ["dialects/Interfaces", "dialects/Base", "dialects/Plan"], True),
    "lib/Solvers": (FACTS + ["gpucc/Solvers"], False),
    "lib/CostModel": (FACTS + ["gpucc/Solvers", "gpucc/CostModel"], False),
    "lib/Workload": (FACTS + ["gpucc/Solvers", "gpucc/CostModel", "gpucc/Workload"], False),
    "lib/Simulate": (FACTS + ["gpucc/Solvers", "gpucc/CostModel", "gpucc/Workload", "gpucc/Simulate"], False),
    "lib/Planner": (FACTS + ["gpucc/Solvers", "gpucc/CostModel", "gpucc/Workload", "gpucc/Simulate",
                             "gpucc/Planner"], False),
    "lib/Import": (COMMON + DIALECTS + ["gpucc/Import"], True),
    "lib/Reference": (COMMON + DIALECTS + ["gpucc/Reference"], True),
    "lib/Analysis": (COMMON + DIALECTS + ["gpucc/Analysis"], True),
    "lib/Pipelines": (["gpucc/", "dialects/", "lib/Transforms", "gpucc_rt/PlanFile.h"], True),
    "lib/Target": (COMMON + DIALECTS + ["gpucc/Target", "gpucc/Analysis", "gpucc/Transforms/Kernel",
                                        "gpucc/Conversion/KernelTo", "gpucc_rt/PlanFile.h"], True),
}
for group in ("Graph", "Training", "Planning", "Dist", "Fusion", "Kernel", "Memory"):
    TABLE[f"lib/Transforms/{group}"] = (
        COMMON + DIALECTS + ["gpucc/Analysis", "gpucc/Solvers", "gpucc/CostModel", "gpucc/Planner",
                             f"gpucc/Transforms/{group}"], True)
for conversion in ("FrontendToGraph", "GraphToKernel", "GraphToSched", "KernelToLoops",
                   "KernelToThreads", "SchedToPlan"):
    TABLE[f"lib/Conversion/{conversion}"] = (
        COMMON + DIALECTS + ["gpucc/Analysis", "gpucc/Solvers", "gpucc/Transforms/Kernel",
                             f"gpucc/Conversion/{conversion}"], True)
# The tile sizes of the skeletons, plain values.
TABLE["lib/Conversion/KernelToThreads"][0].append("gpucc/Target/Cuda/Skeletons.h")

OURS = re.compile(r"^(gpucc/|dialects/|gpucc_rt/|lib/)")
FOREIGN = re.compile(r"^(mlir/|llvm/|clang/)")


def sources():
    listed = subprocess.run(["git", "ls-files", "--", "*.cpp", "*.h", "*.td", "*.cuh", "*.py", "*.sh", "*.cmake"],
                            cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.splitlines() if (ROOT / name).exists()]


def includes(path):
    return re.findall(r'^\s*#?\s*include\s+[<"]([^>"]+)[>"]', path.read_text(), re.M)


def test_layering():
    wrong = []
    for path in sources():
        name = str(path.relative_to(ROOT))
        row = max((r for r in TABLE if name.startswith(r + "/") or
                   name.startswith(r.replace("lib/", "include/gpucc/") + "/")), key=len, default=None)
        if row is None:
            continue
        allowed, llvm = TABLE[row]
        own = [row + "/", row.replace("lib/", "gpucc/") + "/"]
        for target in includes(path):
            if FOREIGN.match(target) and not llvm:
                wrong.append(f"{name} includes {target}: {row} knows no LLVM")
            if OURS.match(target) and not any(target.startswith(a) for a in allowed + own):
                wrong.append(f"{name} includes {target}: not in the row of {row}")
    assert not wrong, "\n".join(wrong)


def test_runtime_knows_no_compiler():
    wrong = []
    for path in sources():
        name = str(path.relative_to(ROOT))
        if not name.startswith("runtime/"):
            continue
        for target in includes(path):
            if FOREIGN.match(target) or target.startswith(("gpucc/", "dialects/", "lib/")):
                wrong.append(f"{name} includes {target}")
    assert not wrong, "\n".join(wrong)


def test_tools_of_the_compiler_reach_the_runtime_by_public_headers_only():
    wrong = []
    for path in sources():
        name = str(path.relative_to(ROOT))
        if name.startswith(("lib/", "dialects/", "include/", "tools/")):
            for target in includes(path):
                if target.startswith(("core/", "drivers/", "session/", "plan/")):
                    wrong.append(f"{name} includes {target}")
    assert not wrong, "\n".join(wrong)


def test_sizes_of_files():
    lengths = {}
    for path in sources():
        name = str(path.relative_to(ROOT))
        if not name.startswith(("test/", "docs/")):
            lengths[name] = len(path.read_text().splitlines())
    too_long = {n: l for n, l in lengths.items() if l > 900}
    assert not too_long, f"a file holds one idea, 900 lines at most: {too_long}"
    code = [l for n, l in lengths.items() if n.endswith((".cpp", ".h", ".td", ".cuh"))]
    assert statistics.median(code) <= 200, statistics.median(code)


def test_no_plans_or_models_are_tracked():
    """What a command left behind in the checkout is not source."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    assert not [f for f in listed if f and (ROOT / f).is_file() and (ROOT / f).stat().st_size > 256 * 1024]
    assert not [f for f in listed if f.endswith((".plan", ".onnx", ".npz"))]


def test_no_paths_or_hosts_of_a_machine():
    wrong = []
    pattern = re.compile(r"(?<![\w.$}])/(?:home|root|work|Users)/\w|https?://(?!www\.apache\.org|llvm\.org|www\.w3\.org)")
    for path in sources():
        name = str(path.relative_to(ROOT))
        if name == "test/repository/test_repository.py":
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if pattern.search(line):
                wrong.append(f"{name}:{number}: {line.strip()[:120]}")
    assert not wrong, "\n".join(wrong)


def test_adding_an_op_is_what_the_sources_do():
    """Each block of docs/adding-an-op.md under a heading with a path stands in that file; no other source knows the op."""
    text = (ROOT / "docs/adding-an-op.md").read_text()
    steps = re.findall(r"^## \d\. [^\n]*`([^`]+)`\n(.*?)(?=^## )", text, re.M | re.S)
    assert 1 <= len(steps) <= 3, "an op needs at most three source files"
    for path, body in steps:
        blocks = re.findall(r"^```\w+\n(.*?)^```", body, re.M | re.S)
        assert blocks, path
        source = (ROOT / path).read_text()
        for block in blocks:
            for piece in block.split("...\n"):
                assert piece.strip("\n") in source, f"{path} does not hold\n{piece}"
    files = {path for path, _ in steps}
    others = [str(p.relative_to(ROOT)) for p in sources()
              if str(p.relative_to(ROOT)).startswith(("lib/", "dialects/", "include/", "runtime/", "tools/"))
              and re.search(r"\bmish\b|MishOp", p.read_text()) and str(p.relative_to(ROOT)) not in files]
    assert not others, f"these know the op too: {others}"
