"""Nothing that the documents name may be gone: paths, passes, options, tests, presets."""
import itertools
import json
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("GPUCC_BUILD", ROOT / "build"))
FOLDERS = ("dialects", "include", "lib", "runtime", "tools", "test", "docs", "examples", "bench", "cmake", "python-bindings")
# Options of other people's programs.
FOREIGN = {"--test-dir", "--output-on-failure", "--preset", "--build", "--target", "--prefix", "--component", "--data",
           "--canonicalize", "--cse"}


def documents():
    listed = subprocess.run(["git", "ls-files", "--", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.splitlines() if (ROOT / name).exists()]


def code_of(path):
    """Inline code and code blocks of a document; headings and prose are free."""
    text = path.read_text()
    blocks = re.findall(r"^```\w*\n(.*?)^```|((?:^    .*\n)+)", text, re.M | re.S)
    spans = re.findall(r"`([^`\n]+)`", text)
    return spans + [a or b for a, b in blocks]


def every(pattern):
    return [(p, m) for p in documents() for code in code_of(p) for m in re.findall(pattern, code)]


def expand(path):
    """a/{b,c}.md -> a/b.md, a/c.md"""
    parts = re.split(r"\{([^}]*)\}", path)
    choices = [[part] if i % 2 == 0 else part.split(",") for i, part in enumerate(parts)]
    return ["".join(c) for c in itertools.product(*choices)]


def test_paths_exist():
    pattern = r"(?<![\w/.<>-])((?:" + "|".join(FOLDERS) + r")/[\w./{},*-]*[\w/}*])(?![\w<>|])"
    missing = [f"{p.relative_to(ROOT)}: {path}" for p, found in every(pattern) for path in expand(found)
               if not any(list(base.glob(path.rstrip("/"))) for base in (ROOT, p.parent)) and not found.endswith("/X")]
    assert not missing, "\n".join(missing)


def test_links_lead_somewhere():
    missing = [f"{p.relative_to(ROOT)}: {link}" for p in documents() 
               for link in re.findall(r"\]\(([^)#]+)", re.sub(r"^```.*?^```", "", p.read_text(), flags=re.M | re.S))
               if "://" not in link and not (p.parent / link).exists()]
    assert not missing, "\n".join(missing)


def words(*globs):
    return "\n".join(p.read_text() for g in globs for p in ROOT.glob(g) if p.is_file())


def test_passes_and_programs_exist():
    known = set(re.findall(r'"(gpucc-[\w-]+)"', words("include/**/*.td", "lib/**/*.cpp", "tools/**/*.cpp")))
    known |= set(re.findall(r"\b(gpucc-[\w-]+)\b", words("**/CMakeLists.txt")))
    known |= {f"gpucc-phase-{phase}" for phase in ("graph", "train", "dist", "fuse", "kernel", "sched", "plan", "PHASE")}
    missing = [f"{p.relative_to(ROOT)}: {name}" for p, name in every(r"(?<![\w/.@-])(gpucc-[a-z][a-z-]*[a-z]|gpucc-phase-PHASE)\b")
               if name not in known and not any(k.startswith(name + "-") for k in known)]  # gpucc-verify-phase-<x>
    assert not missing, "\n".join(missing)


def test_options_exist():
    source = words("tools/**/*.cpp", "runtime/tools/*.cpp", "include/**/*.td", "lib/Pipelines/**/*.cpp", "examples/**/*.py",
                   "examples/**/*.sh", "bench/**/*.py", "bench/**/*.cpp", "docs/*.py", "test/**/*.py", "*.sh", "cmake/*.sh")
    missing = []
    for path, option in every(r"(?<![\w-])(--[a-z][\w-]+)"):
        name = option[2:]
        if option in FOREIGN or name.startswith(("gpucc-phase", "gpucc-")) or option in source:
            continue
        if not re.search(rf'"{re.escape(name)}"', source):  # options of passes are declared without dashes
            missing.append(f"{path.relative_to(ROOT)}: {option}")
    assert not missing, "\n".join(missing)


def test_ctest_names_match_tests():
    listed = subprocess.run(["ctest", "--test-dir", BUILD, "-N"], capture_output=True, text=True, check=True).stdout
    tests = re.findall(r"Test +#\d+: (\S+)", listed)
    assert tests
    dead = []
    for path, pattern in every(r"ctest [^`\n]*?-R '?([^' `]+)"):
        for alternative in pattern.replace("\\|", "|").split("|"):
            if not any(re.search(alternative, t) for t in tests):
                dead.append(f"{path.relative_to(ROOT)}: ctest -R {alternative}")
    assert not dead, "\n".join(dead)


def test_presets_exist():
    presets = json.loads((ROOT / "CMakePresets.json").read_text())
    names = {p["name"] for kind in ("configurePresets", "buildPresets", "testPresets") for p in presets[kind]}
    missing = [f"{p.relative_to(ROOT)}: {name}" for p, name in every(r"--preset[ =]([a-z][\w-]*)") if name not in names]
    assert not missing, "\n".join(missing)
