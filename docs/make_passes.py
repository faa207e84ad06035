#!/usr/bin/env python3
"""Writes docs/passes: one page per pass with the IR before and after it, as gpucc-opt prints it today.

  docs/make_passes.py [--check]     --check: only compare (exit code 1 when a page is stale)

What a pass does and its options come from Passes.td; the example is the first one of the pass's own lit test, run
again with the flags of its RUN line. The build is ../build, or $GPUCC_BUILD.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = pathlib.Path(os.environ.get("GPUCC_BUILD", ROOT / "build"))
OUT = ROOT / "docs" / "passes"
GROUPS = [  # in the order of the phases
    ("Import", "Conversion/FrontendToGraph"), ("Whole tensors", "Transforms/Graph"),
    ("Training", "Transforms/Training"), ("Layout search", "Transforms/Planning"),
    ("Distribution", "Transforms/Dist"), ("Fusion", "Transforms/Fusion"), ("Memory and order", "Transforms/Memory"),
    ("Kernels", "Conversion/GraphToKernel"), ("Code of kernels", "Transforms/Kernel"),
    ("Host loops", "Conversion/KernelToLoops"), ("CUDA threads", "Conversion/KernelToThreads"),
    ("Commands", "Conversion/GraphToSched"), ("The plan", "Conversion/SchedToPlan"),
]
LONGEST = 48  # lines of an example


def passes_of(path):
    """(flag, summary, description, options) of every pass of a Passes.td."""
    text = path.read_text()
    for start in re.finditer(r'def \w+\s*:\s*Pass<"([^"]+)"', text):
        end = text.find("\ndef ", start.end())
        body = text[start.end():end if end > 0 else len(text)]
        summary = re.search(r'let summary = ((?:\s*"[^"]*")+);', body)
        description = re.search(r"let description = \[\{(.*?)\}\];", body, re.S)
        words = textwrap.dedent(description[1]).strip() if description else ""
        string = r'"((?:[^"\\]|\\.)*)"'
        options = re.findall(rf'Option<"\w+",\s*{string},\s*{string},\s*((?:"(?:[^"\\]|\\.)*",\s*)?)((?:\s*"(?:[^"\\]|\\.)*")+)', body)
        join = lambda text: "".join(re.findall(string, text)).replace('\\"', '"')  # noqa: E731
        yield (start[1], join(summary[1]), words,
               [(name, kind, join(default), join(meaning)) for name, kind, default, meaning in options])


def prose(words):
    """The description without its sketch of an example: the page has a real one."""
    text = re.split(r"\n(?:Before:|```)", "\n" + words)[0].strip()
    return re.sub(r"(?<=[.\n])[^.\n]*:$", "", text).strip()


def runs_of(flag):
    """(file, RUN command) of the tests that name the pass, the one called after it first."""
    found = []
    for path in sorted((ROOT / "test").rglob("*.mlir")):
        for line in re.findall(r"^// RUN: (gpucc-opt .*)$", path.read_text(), re.M):
            if re.search(rf"{flag}(?![\w-])", line):
                own = path.stem == flag.removeprefix("gpucc-")
                found.append((not own, "verify-diagnostics" in line, len(line), path, line))
    return [(path, line) for *_, path, line in sorted(found, key=lambda f: f[:4])]


def clean(text):
    """Without the test's own comments, blank lines in pairs and trailing ones."""
    lines = [line for line in text.splitlines()
             if not re.match(r"\s*// ?(RUN|[A-Z0-9]+(-[A-Z]+)*:|expected-)", line)]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def first_function(text):
    """The first function with a body, with the comment above it."""
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if re.match(r"\s*(func\.func|kernel\.func|frontend\.graph)\b", line)), None)
    if start is None:
        return text
    indent = re.match(r"\s*", lines[start])[0]
    end = next((i for i in range(start, len(lines)) if i > start and lines[i].rstrip() == indent + "}"), len(lines) - 1)
    while start and lines[start - 1].strip().startswith("//"):
        start -= 1
    return textwrap.dedent("\n".join(lines[start:end + 1]))


def shown(text):
    lines = [line if len(line) <= 160 else line[:160] + " …" for line in text.splitlines()]
    if len(lines) > LONGEST:
        lines = [*lines[:LONGEST], f"… ({len(lines) - LONGEST} lines more)"]
    return "```mlir\n" + "\n".join(lines) + "\n```\n"


def example_of(flag):
    """Markdown of the first example of the pass's tests that can be shown."""
    for path, line in runs_of(flag):
        flags = re.sub(r"\s+(\||2>&1|-o /dev/null).*$", "", line.removeprefix("gpucc-opt "))
        source = path
        if "%S/" in flags:
            source = path.parent / re.search(r"%S/(\S+)", flags)[1]
        text = source.read_text()
        split = "split-input-file" in flags
        wanted = text.split("// -----") if split else [text]
        diagnoses = "verify-diagnostics" in flags
        refusal = flag.startswith(("gpucc-verify", "gpucc-check"))
        if refusal:
            wanted = [c for c in wanted if "expected-error" in c]
        elif diagnoses:
            wanted = [c for c in wanted if "expected-error" not in c and "expected-remark" not in c]
        if not wanted:
            continue
        flags = re.sub(r"%[sS]\S*|--?split-input-file|--?verify-diagnostics|--allow-unregistered-dialect", "", flags).strip()
        flags = re.sub(r"\s+", " ", flags)
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "in.mlir"
            file.write_text(clean(wanted[0]) + "\n")
            done = subprocess.run(f"{BUILD}/bin/gpucc-opt in.mlir --allow-unregistered-dialect {flags}", shell=True, cwd=folder, capture_output=True, text=True)
        where = path.relative_to(ROOT)
        command = f"The first example of `{where}`, by `gpucc-opt {flags}`:\n"
        if refusal:
            words = "\n".join(l for l in done.stderr.splitlines() if re.match(r"in\.mlir:\d+:\d+: (error|note)", l) and "see current op" not in l)
            if words:
                return f"{command}\n{shown(clean(wanted[0]))}\nis refused:\n\n```\n{words}\n```\n"
            continue
        if done.returncode or not done.stdout.strip():
            continue
        before, after = clean(wanted[0]), done.stdout.strip()
        if not split and len(before.splitlines()) > LONGEST // 2:
            before, after = first_function(before), first_function(after)
        return f"{command}\nBefore\n\n{shown(before)}\nAfter\n\n{shown(after)}"
    return ""


def page(flag, summary, words, options):
    text = f"# {flag}\n\n*Written by `docs/make_passes.py`; do not edit.*\n\n{summary[0].upper() + summary[1:]}.\n\n"
    if prose(words):
        text += prose(words) + "\n\n"
    if options:
        text += "| option | type | default | |\n|---|---|---|---|\n"
        for name, kind, default, meaning in options:
            text += f"| `{name}` | {kind.removeprefix('std::')} | {default and f'`{default}`'} | {meaning} |\n"
        text += "\n"
    example = example_of(flag)
    if not example:  # nothing to run: the sketch of Passes.td
        example = words[len(prose(words)):].strip() + "\n"
    return text + "## Example\n\n" + example


def main():
    pages = {}
    index = ["# Passes", "", "*Written by `docs/make_passes.py`; do not edit.*", "",
             "One page per pass, with the IR before and after it; in the order of the phases (which pass runs when and why: "
             "`lib/Pipelines/Compile/Phases.cpp`).", ""]
    for title, folder in GROUPS:
        index += [f"## {title}", ""]
        for flag, summary, words, options in passes_of(ROOT / "include/gpucc" / folder / "Passes.td"):
            pages[f"{flag}.md"] = page(flag, summary, words, options)
            index.append(f"* [`{flag}`]({flag}.md): {summary}")
        index.append("")
    known = {p.parent.relative_to(ROOT / "include/gpucc").as_posix() for p in (ROOT / "include/gpucc").rglob("Passes.td")}
    if missing := known - {folder for _, folder in GROUPS}:
        sys.exit(f"GROUPS of make_passes.py lacks {sorted(missing)}")
    pages["README.md"] = "\n".join(index).rstrip() + "\n"
    bare = sorted(name for name, text in pages.items() if name != "README.md" and "```" not in text)
    if bare:
        sys.exit(f"no example for {bare}")
    old = {p.name: p.read_text() for p in OUT.glob("*.md")}
    if "--check" in sys.argv:
        stale = sorted(name for name in {*old, *pages} if old.get(name) != pages.get(name))
        if stale:
            sys.exit(f"stale in docs/passes: {', '.join(stale)}\nrun docs/make_passes.py")
        return
    OUT.mkdir(exist_ok=True)
    for name in {*old} - {*pages}:
        (OUT / name).unlink()
    for name, text in pages.items():
        (OUT / name).write_text(text)
    print(f"{len(pages)} pages in docs/passes")


if __name__ == "__main__":
    main()
