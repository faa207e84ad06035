"""Is the layout that vendors and papers published among the first that `gpucc plan` names?

    python bench/layouts.py --data DATA [--gpucc build/bin/gpucc] [--most N] [--source REGEX] [--newest]

DATA holds published-runs/published_runs.csv. One line per distinct published layout: its place among
the meshes (tp, cp, ep, pp, dp) of the answer, and how much slower its best variant is predicted than
the chosen layout. Before them the times of the searches that the issue names, and its rows.
"""
import argparse
import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

MODELS = [(r"llama.?3.*8b", "llama-3-8b"), (r"llama.?3.*70b", "llama-3-70b"), (r"llama.?3.*405b", "llama-3-405b"),
          (r"llama.?2.*70b", "llama-2-70b"), (r"llama.?2.*13b", "llama-2-13b"), (r"llama.?2.*7b", "llama-2-7b"),
          (r"deepseek.?v3", "deepseek-v3"), (r"mixtral.*8x7b", "mixtral-8x7b"), (r"qwen3.*30b", "qwen3-30b-a3b"),
          (r"qwen3.*235b", "qwen3-235b-a22b"), (r"gpt.?oss.?120b", "gpt-oss-120b"), (r"gpt3?-17[45]", "gpt-3-175b"),
          (r"gpt-530b|gpt-529", "gpt-529.6b"), (r"gpt-22b$", "gpt-22b"), (r"gpt-1t|gpt-1008", "gpt-1008b"),
          (r"gpt-145", "gpt-145.6b"), (r"gpt-310", "gpt-310.1b"), (r"gpt-76", "gpt-76.1b"), (r"gpt-39.1", "gpt-39.1b"),
          (r"gpt-177b", "gpt-177b-mcore"), (r"gpt-462b", "gpt-462b-mcore"), (r"gpt-70b", "gpt-70b-mcore")]
MACHINES = [("GB300", "gb300-nvl72"), ("GB200", "gb200-nvl72"), ("B300", "b300"), ("B200", "b200"), ("H800", "h800"),
            ("H200", "h200"), ("H100", "h100"), ("A100", "a100-80gb")]
# The rows the issue names: model, machine, gpus, batch, published mesh (tp, cp, ep, pp, dp), recipe, stack.
# A layout is published for a stack: only what that stack runs (gpucc plan --stack) is compared.
NAMED = [
    # selective-recomputation paper, Table 3: 175B with TP 8, PP 8 (64 GPUs); more GPUs by data parallelism
    ("gpt-3-175b", "a100-80gb", 1024, 1536, 2048, (8, 1, 1, 8, 16), "f16", "megatron-2022"),
    # Llama 3 Herd, Table 4; DeepSeek-V3 report, section 3.2
    ("llama-3-405b", "h100", 16384, 2048, 8192, (8, 1, 1, 16, 128), "bf16", "meta-2024"),
    ("deepseek-v3", "h800", 2048, 15360, 4096, (1, 1, 64, 16, 128), "f8", "hai-llm"),
    # Megatron-LM, megatron/core/transformer/moe/README.md, example script for Mixtral 8x7B (32 GPUs: dp 8): TP 1, PP 4, EP 8
    ("mixtral-8x7b", "h100", 64, 256, 4096, (1, 1, 8, 4, 16), "bf16", "megatron"),
    # NeMo-Framework-Launcher, H100 table, Llama 3 8B on one node: TP 1, CP 2, DP 4; more nodes by data parallelism
    ("llama-3-8b", "h100", 64, 512, 8192, (1, 2, 1, 1, 32), "bf16", "megatron-2024"),
]


def number(text):
    try:
        return int(float(text))
    except ValueError:
        return 0


def mixture(model, machine):
    """What Megatron-Bridge's recipes set for mixtures, as in bench/cost-model/Recipes.cpp: token-once dispatch, graphs of
    attention and router on racks, expert traffic beside compute."""
    if model not in ("deepseek-v3", "qwen3-235b-a22b", "qwen3-30b-a3b", "gpt-oss-120b"):
        return ""
    rack, plain = machine.startswith("gb"), (model == "gpt-oss-120b" and machine != "b300") or \
        (model == "qwen3-235b-a22b" and machine in ("h100", "b200"))
    beside = (model == "deepseek-v3" and not rack) or (model == "qwen3-235b-a22b" and machine == "h100")
    return (",in-place-loss=on" + (",experts-once=off" if plain else ",experts-once=on") +
            (",overlap-experts=on" if beside else "") + (",host-share=0.333" if rack else ""))


def release(source):
    """Megatron-Bridge 26.02.01: (26, 2, 1)."""
    found = re.search(r"Bridge ([\d.]+)$", source)
    return tuple(int(part) for part in found[1].split(".")) if found else ()


def newest(rows):
    """Of the layouts that the releases of one software give for the same model, machine, GPUs, batch, sequence and
    precision, those of the newest: its authors have replaced the others."""
    last = {}
    for key, source in rows:
        case = key[:5] + (key[6].split(",")[0], bool(release(source)))
        last[case] = max(last.get(case, ()), release(source))
    return [(key, source) for key, source in rows
            if release(source) == last[key[:5] + (key[6].split(",")[0], bool(release(source)))]]


def published(path, source):
    """Distinct (workload, machine, gpus, batch, sequence, mesh, recipe, stack), each with the newest source."""
    seen = {}
    for row in csv.DictReader(open(path)):
        if not re.search(source, row["source"]) or "LoRA" in row["model"] or "truncated" in row["model"]:
            continue
        model = next((n for p, n in MODELS if re.search(p, row["model"].lower().replace("_", "-"))), None)
        gpu = row["gpu_type"].upper().replace(" ", "")
        machine = next((n for p, n in MACHINES if p in gpu), None)
        tp, cp, ep, pp, dp = (number(row[k]) or 1 for k in ("tp", "cp", "ep", "pp", "dp"))
        gpus, batch, sequence = number(row["gpus"]), number(row["global_batch"]), number(row["seq"])
        if not model or not machine or not gpus or not batch or tp * cp * pp * dp != gpus or not row["tp"]:
            continue
        precision = row["precision"].lower()
        if "fp4" in precision:
            continue
        recipe = "f8" if "8" in precision else "f32" if "fp32" in precision else "f16" if "fp16" in precision else "bf16"
        megatron2021 = re.search("SC'21|selective", row["source"])
        if "Herd" not in row["source"]:  # which sums gradients in f32 and says nothing of overlapped tensor traffic
            recipe += ",flash-attention=off,gradient-bytes=2" if megatron2021 else ",overlap-tensor=on,gradient-bytes=2"
        recipe += mixture(model, machine)
        if model in ("gpt-3-175b",) and row["source"].startswith("Megatron-LM SC'21") and pp == 1:
            continue  # the ZeRO-3 rows are there to lose
        megatron2024 = re.search("Megatron-Core H100|NeMo-Framework|NeMo long-sequence", row["source"])
        stack = ("megatron-2022" if megatron2021 else "megatron-2024" if megatron2024 else
                 "meta-2024" if "Herd" in row["source"] else "megatron")
        key = (model, machine, gpus, batch, sequence, (tp, cp, ep, pp, dp), recipe, stack)
        seen[key] = max(seen.get(key, row["source"]), row["source"], key=release)
    return list(seen.items())


class Refused(Exception):
    pass


def plan(gpucc, model, machine, gpus, batch, sequence, pins, stack):
    command = [gpucc, "plan", "-w", model, "-m", machine, "-n", str(gpus), "-b", str(batch), "-s", str(sequence),
               "--no-reasons", "--quiet", "--json", "-", "--pin", pins, "--stack", stack]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise Refused(done.stderr.strip()[:160])
    return json.loads(done.stdout)


def mesh(choice):
    keys = dict(re.findall(r"^(\w+): (\d+)$", choice["yaml"], re.M))
    return tuple(int(keys[k]) for k in ("tp", "cp", "ep", "pp", "dp"))


def judge(gpucc, key):
    model, machine, gpus, batch, sequence, wanted, recipe, stack = key
    pins = ",".join("recipe." + ("precision=" + p if "=" not in p else p) for p in recipe.split(","))
    free = plan(gpucc, model, machine, gpus, batch, sequence, pins, stack)
    ranked = [mesh(free["best"])] + [mesh(c) for c in free["next"]]
    place = ranked.index(wanted) + 1 if wanted in ranked else 0
    degrees = dict(zip(("tp", "cp", "ep", "pp", "dp"), wanted))
    theirs = plan(gpucc, model, machine, gpus, batch, sequence,
                  pins + "".join(f",{k}={v}" for k, v in degrees.items()), stack)
    slower = theirs["best"]["step_seconds"] / free["best"]["step_seconds"] - 1
    return place, slower, free["best"]["layout"], theirs["best"]["layout"]


def show(gpucc, rows, title):
    places, least = [], 1.0
    print(f"{title}\n{'workload':18s} {'machine':12s} {'gpus':>5s}  {'published mesh':26s} place  slower  chosen")
    for key in rows:
        name = "tp{} cp{} ep{} pp{} dp{}".format(*key[5])
        try:
            place, slower, best, _ = judge(gpucc, key)
        except Refused as problem:
            print(f"{key[0]:18s} {key[1]:12s} {key[2]:5d}  {name:26s} refused: {problem}")
            places.append(0)
            continue
        places.append(place)
        least = min(least, slower)
        print(f"{key[0]:18s} {key[1]:12s} {key[2]:5d}  {name:26s} {place or '-':>5}  {100 * slower:+5.1f}%  {best}", flush=True)
    if places:
        top = sum(1 for p in places if 1 <= p <= 5)
        print(f"{title}: n={len(places)}, published layout in the top 5: {top} ({100 * top / len(places):.0f} %), "
              f"never predicted better than chosen by more than {max(0.0, -100 * least):.1f} %\n")


def times(gpucc):
    """Seconds until the first answer and the last one, and the gap, of the problems that the issue names."""
    root = pathlib.Path(__file__).resolve().parents[1]
    builtin = root / "lib" / "CostModel" / "data" / "machines" / "a100-40gb.yaml"
    with tempfile.TemporaryDirectory() as folder:
        mixed = pathlib.Path(folder) / "mixed.yaml"
        mixed.write_text(builtin.read_text() + "nodes: 4\nmore-nodes:\n  - {like: v100, nodes: 4}\n")
        print(f"planning times\n{'workload':18s} {'machine':12s} {'gpus':>5s} {'batch':>6s}  first, s  last, s  answer")
        for model, machine, gpus, batch in [row[:4] for row in NAMED] + [("gpt-22b", str(mixed), 64, 256)]:
            command = [gpucc, "plan", "-w", model, "-m", machine, "-n", str(gpus), "-b", str(batch), "--no-reasons"]
            began = time.monotonic()
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            last = time.monotonic() - began
            first = re.search(r"^\s*([\d.]+) s ", done.stderr, re.M)
            bound = next(line for line in done.stdout.splitlines() if line.startswith("bound"))
            print(f"{model:18s} {pathlib.Path(machine).stem:12s} {gpus:5d} {batch:6d}  {first[1] if first else '-':>8s}  {last:7.2f}  "
                  f"{bound[5:].strip()}", flush=True)
    print()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = pathlib.Path(__file__).resolve().parents[1]
    parser.add_argument("--gpucc", default=str(root / "build" / "bin" / "gpucc"))
    parser.add_argument("--data")
    parser.add_argument("--source", default="Megatron-Bridge 26.02$|Herd|selective-recompute Table 5|Megatron-Core|Launcher")
    parser.add_argument("--newest", action="store_true", help="of several releases only the newest one's layouts")
    parser.add_argument("--most", type=int, default=1000)
    options = parser.parse_args()
    times(options.gpucc)
    show(options.gpucc, NAMED, "named rows")
    if not options.data:
        return print("no --data: the published table is skipped")
    path = pathlib.Path(options.data) / "published-runs" / "published_runs.csv"
    if not path.exists():
        return print(f"{path} is not there: the published table is skipped")
    rows = published(path, options.source)
    rows = [key for key, _ in (newest(rows) if options.newest else rows)]
    show(options.gpucc, rows[:options.most], "published rows")


if __name__ == "__main__":
    sys.exit(main())
