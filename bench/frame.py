"""The frame of every benchmark: paired runs, ratio tables, JSON, RESULTS.md.

A shared machine drifts: a figure of ours from now and a peer's from an hour ago say nothing. So both
sides run in one process, in turns,

    A A A | B B B | A A A | B B B | ...          one block of calls each, a *pair* is A's block and B's

and only ratios within a pair count. A block's figure is the median of its calls; the first call after
a switch is not counted (it pays for the other side's caches and sleeping threads). The result is the
median of the pairs' ratios with their least and greatest: if 1.00 lies between, nothing is proved.

    pair = frame.paired(lambda: ours.run(x), lambda: session.run(None, x), pairs=11, budget=4.0)
    pair.ratio, pair.low, pair.high              # ours / peer; below 1 we are faster
"""
import argparse
import dataclasses
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("GPUCC_BUILD", ROOT / "build"))
RESULTS = ROOT / "bench" / "RESULTS.md"


@dataclasses.dataclass
class Pair:
    """Seconds per call of both sides, pair by pair."""
    ours: list
    peer: list

    @property
    def ratios(self):
        return [a / b for a, b in zip(self.ours, self.peer)]

    @property
    def ratio(self):
        return statistics.median(self.ratios)

    @property
    def low(self):
        return min(self.ratios)

    @property
    def high(self):
        return max(self.ratios)

    @property
    def best(self):
        """Fastest block against fastest block: what is left when the machine is quiet."""
        return min(self.ours) / min(self.peer)

    def verdict(self):
        """"faster" or "slower" only when every pair agrees."""
        if self.high < 1:
            return "faster"
        if self.low > 1:
            return "slower"
        return "mostly faster" if self.ratio < 1 else "mostly slower"

    def as_json(self):
        return {"ours_s": self.ours, "peer_s": self.peer, "ratio": self.ratio, "low": self.low,
                "high": self.high, "best": self.best}


def seconds(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def block(call, count):
    """Median seconds of `count` calls after one that is not counted."""
    call()
    return statistics.median(seconds(call) for _ in range(count))


def paired(ours, peer, pairs=11, budget=4.0, warm=3):
    """Interleaved blocks of two callables. `budget`: seconds for all, which sets the calls per block."""
    for _ in range(warm):
        ours()
        peer()
    once = min(seconds(ours), seconds(ours)) + min(seconds(peer), seconds(peer))
    count = max(1, min(200, int(budget / pairs / max(once, 1e-9)) - 1))
    result = Pair([], [])
    for turn in range(pairs):
        # Who goes first alternates, so that neither side always follows the other.
        sides = [(ours, result.ours, 0), (peer, result.peer, 1)]
        for call, into, _ in sides if turn % 2 == 0 else reversed(sides):
            into.append(block(call, count))
    return result


def cpu():
    """The processor and what of its vector units matters, without the machine's name."""
    text = pathlib.Path("/proc/cpuinfo").read_text()
    name = next((line.split(":", 1)[1].strip() for line in text.splitlines()
                 if line.startswith("model name")), "unknown CPU")
    flags = next((line.split() for line in text.splitlines() if line.startswith("flags")), [])
    level = next((f for f in ("avx512f", "avx2", "avx") if f in flags), "no AVX")
    family = next((line.split(":")[1].strip() for line in text.splitlines()
                   if line.startswith("cpu family")), "?")
    return f"{name} (family {family}, {level}), {os.cpu_count()} cores"


def load():
    """Processes that wanted a core in the last minute: above the number of cores, times are inflated."""
    return f"{os.getloadavg()[0]:.1f}"


def milliseconds(value):
    return f"{value * 1e3:.3f}" if value < 0.1 else f"{value * 1e3:.0f}"


def size(count):
    return f"{count / 2**20:.2f} MiB" if count >= 2**20 else f"{count / 1024:.1f} KiB"


def table(head, rows):
    """A markdown table that also reads well as text."""
    cells = [list(map(str, head))] + [list(map(str, row)) for row in rows]
    width = [max(len(row[i]) for row in cells) for i in range(len(head))]
    line = lambda row: "| " + " | ".join(c.ljust(w) for c, w in zip(row, width)) + " |"
    return "\n".join([line(cells[0]), "|" + "|".join("-" * (w + 2) for w in width) + "|"] +
                     [line(row) for row in cells[1:]])


def parser(doc):
    """The options of every benchmark."""
    result = argparse.ArgumentParser(description=doc,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    result.add_argument("--quick", action="store_true", help="fewer repetitions, for a first look")
    result.add_argument("--json", metavar="FILE", help="every figure, as JSON")
    result.add_argument("--record", action="store_true", help="append the tables to bench/RESULTS.md")
    result.add_argument("--filter", default="", help="only models whose name contains this")
    return result


def heading():
    given, options = iter(sys.argv[1:]), []
    for option in given:  # where the JSON went is of no interest and may name a folder of this machine
        if option == "--json":
            next(given, None)
        elif option == "--models":  # likewise
            next(given, None)
            options.append("--models M")
        elif pathlib.Path(option).is_dir():  # a folder of models
            options.append("M")
        elif not option.startswith("--json="):
            options.append(option)
    command = " ".join(["build/venv/bin/python", f"bench/{pathlib.Path(sys.argv[0]).name}", *options])
    return (f"{datetime.date.today().isoformat()}, `{command}`\n\nCPU: {cpu()}. "
            f"Load average at the end: {load()}.")


def finish(args, title, text, data):
    """Prints, writes the JSON file, and appends to RESULTS.md if --record is given."""
    section = f"## {title}\n\n{heading()}\n\n{text}\n"
    print(section)
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(
            {"title": title, "date": datetime.date.today().isoformat(), "cpu": cpu(),
             "load": load(), "results": data}, indent=1))
    if args.record:
        with RESULTS.open("a") as out:
            out.write("\n" + section)


def progress(text):
    print(text, file=sys.stderr, flush=True)


def gpucc(*args, program="gpucc", limit=600):
    """Runs a tool and returns (seconds, CPU seconds, what it printed); stops the benchmark if it fails."""
    before, start = os.times(), time.perf_counter()
    done = subprocess.run([str(BUILD / "bin" / program), *map(str, args)], capture_output=True,
                          text=True, timeout=limit)
    wall, after = time.perf_counter() - start, os.times()
    if done.returncode != 0:
        raise RuntimeError(f"{program} {' '.join(map(str, args))}: exit code {done.returncode}\n"
                           f"{done.stderr[-2000:]}")
    used = (after.children_user + after.children_system -
            before.children_user - before.children_system)
    return wall, used, done.stdout + done.stderr
