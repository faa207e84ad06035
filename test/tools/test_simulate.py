"""gpucc simulate, plan and schedule as a user calls them: reports, files in and out, refusals."""
import json
import xml.etree.ElementTree as xml

import numpy as np
import pytest
from onnx import helper

from onnx_model import model

SIZES = ["-w", "llama-3-8b", "-m", "h100", "-n", "16", "-b", "32"]


@pytest.mark.parametrize("command", ["simulate", "plan", "schedule"])
def test_help_teaches_by_example(gpucc, command):
    out = gpucc.ok(command, "--help")
    assert "examples" in out and f"gpucc {command}" in out


def test_a_report_in_every_form(gpucc, tmp_path):
    files = {name: tmp_path / name for name in ("r.json", "t.json", "s.svg", "m.svg", "s.csv")}
    out = gpucc.ok("simulate", *SIZES, "--pin", "tp=2,pp=4,dp=2,zero=1,micro-batch=1",
                   "--json", files["r.json"], "--trace", files["t.json"], "--picture", files["s.svg"],
                   "--memory-picture", files["m.svg"], "--schedule-csv", files["s.csv"])
    for word in ("step", "MFU", "HFU", "memory", "parameters", "matrix products"):
        assert word in out
    report = json.loads(files["r.json"].read_text())
    assert report["gpus"] == 16 and len(report["pipeline_ranks"]) == 4
    # The parts of the busiest rank are the step.
    assert sum(report["seconds"].values()) == pytest.approx(report["step_seconds"], rel=0.02)
    trace = json.loads(files["t.json"].read_text())["traceEvents"]
    assert max(e["ts"] + e["dur"] for e in trace if e["ph"] == "X") == pytest.approx(1e6 * report["step_seconds"])
    for name in ("s.svg", "m.svg"):
        assert xml.parse(files[name]).getroot().tag.endswith("svg")
    checked = gpucc.ok("schedule", "--check", files["s.csv"])
    assert "4 ranks, 4 stages, 16 micro-batches" in checked


def test_a_layout_that_does_not_fit_exits_with_1(gpucc):
    code, out, _ = gpucc("simulate", "-w", "llama-3-70b", "-m", "h100", "-n", "8", "--pin", "dp=8")
    assert code == 1 and "DOES NOT FIT" in out


def test_a_plan_goes_out_and_in_again(gpucc, tmp_path):
    layout, other = tmp_path / "layout.yaml", tmp_path / "other.yaml"
    out = gpucc.ok("plan", *SIZES, "--quiet", "--export", layout, "--json", tmp_path / "p.json")
    assert out.startswith("chosen") and "why not" in out and "proved" in out
    best = json.loads((tmp_path / "p.json").read_text())["best"]
    report = gpucc.ok("simulate", "-w", "llama-3-8b", "-m", "h100", "-n", "16", "-l", layout, "--json", "-")
    assert json.loads(report)["step_seconds"] == pytest.approx(best["step_seconds"], rel=0.02)
    other.write_text(layout.read_text().replace("zero: ", "# was ").replace("micro-batch: ", "# was "))
    assert "step, seconds" in gpucc.ok("plan", *SIZES, "--diff", layout, other)
    assert gpucc.ok("plan", *SIZES, "--diff", layout, layout) == "the layouts are equal\n"


def test_exports_for_other_stacks(gpucc):
    pins = ["--pin", "tp=2,pp=2,schedule=1f1b", "--quick", "--quiet", "--json", "/dev/null"]
    assert "--tensor-model-parallel-size 2\n" in gpucc.ok("plan", *SIZES, *pins, "--megatron", "-")
    assert "tensor_parallel_degree = 2\n" in gpucc.ok("plan", *SIZES, *pins, "--torchtitan", "-")


def test_a_stack_brings_its_recipe(gpucc, tmp_path):
    """Megatron-LM of 2022 wrote scores to memory and waited for its sends; a file or a pin is stronger."""
    pins = ["--pin", "tp=2,pp=2", "--quick", "--quiet", "--json", "/dev/null", "--export", "-"]
    out = gpucc.ok("plan", *SIZES, *pins, "--stack", "megatron-2022")
    assert "flash-attention: false" in out and "sends: waited" in out
    out = gpucc.ok("plan", *SIZES, *pins, "--stack", "megatron-2022", "--pin", "recipe.sends=beside")
    assert "flash-attention: false" in out and "sends: beside\n" in out
    given = tmp_path / "given.yaml"
    given.write_text("recipe:\n  flash-attention: true\n")
    out = gpucc.ok("plan", *SIZES, *pins, "--stack", "megatron-2022", "-l", given)
    assert "flash-attention: true" in out and "sends: waited" in out
    assert "sends: beside-interleaved" in gpucc.ok("plan", *SIZES, *pins, "--stack", "megatron")


@pytest.mark.parametrize("arguments, words", [
    (["simulate", "-w", "llama-9"], ["llama-9", "llama-3-8b"]),
    (["simulate", *SIZES, "--pin", "tp=5"], ["tp: found 5", "nearest that works is tp=4"]),
    (["simulate", *SIZES, "--pin", "tp=8,pp=4"], ["--gpus"]),
    (["simulate", *SIZES, "--pin", "tq=8"], ["did you mean tp?"]),
    (["simulate", *SIZES, "--straggler", "99=2"], ["a rank below 16"]),
    (["plan", *SIZES, "--pin", "pp=64"], ["no layout of 16 GPUs"]),
    (["simulate", "-w", "llama-3-8b", "-m", "h100", "--pin", "tp=16"], ["nearest that works is tp=8"]),
    (["simulate", *SIZES, "--pin", "tp=2", "--pin", "tp=4"], ["tp: found the key twice"]),
    (["simulate", *SIZES, "--pin", "micro-batches=2"], ["gpucc compile", "micro-batch=1"]),
    (["simulate", *SIZES, "--mtbf-hours", "nan"], ["found 'nan'", "above 0"]),
    (["simulate", *SIZES, "--straggler", "0=inf"], ["found '0=inf'", "a factor from 1 to 1000"]),
    (["simulate", *SIZES, "--price-per-hour", "1e300"], ["found '1e300'", "at most 1000000"]),
    (["simulate", *SIZES, "--mtbf-hours", "0.01"], ["one of 16 GPUs fails every 2.25 s", "checkpoint of 60 s every 16.4 s"]),
    (["simulate", *SIZES, "--pin", "dp=1000000000"], ["leave the key out"]),
    (["simulate"], ["-w llama-3-8b"]),
    (["plan", *SIZES, "--stack", "caffe"], ["megatron, megatron-2022, megatron-2024, torchtitan"]),
    (["plan", *SIZES, "--by", "price"], ["--price-per-hour 2.5"]),
    (["schedule", "zigzag"], ["zigzag", "zb-h1"]),
    (["schedule", "zb-v", "-p", "8", "--micro-batches", "8"], ["micro-batches=16"]),
])
def test_refusals_name_the_rule_and_the_remedy(gpucc, arguments, words):
    code, _, err = gpucc(*arguments)
    assert code == 2, err
    for word in words:
        assert word in err


# Datasheets: V100 and T4 have tensor cores for f16 only, A100 for tf32, f16 and bf16, Hopper for fp8, Blackwell for fp4.
@pytest.mark.parametrize("machine, precision, instead", [
    ("a100-80gb", "f8", "bf16"), ("a100-80gb", "f4", "bf16"), ("h100", "f4", "f8"), ("v100", "bf16", "f16"),
    ("v100", "tf32", "f32"), ("v100", "f8", "f16"), ("t4", "bf16", "f16"), ("t4", "f8", "f16"), ("t4", "f4", "f16"),
])
def test_a_precision_that_the_device_lacks_is_refused(gpucc, machine, precision, instead):
    for command in (["simulate"], ["plan", "--quick", "--quiet"]):
        sizes = ["-w", "gpt-2", "-m", machine, "-n", "4", "-b", "8"]
        code, _, err = gpucc(*command, *sizes, "--pin", f"recipe.precision={precision}")
        assert code == 2 and f"found {precision}, allowed" in err and "f16" in err
        assert err.strip().endswith(f"recipe.precision={instead}")
    gpucc.ok("simulate", *sizes, "--pin", f"recipe.precision={instead}")
    report = gpucc.ok("simulate", *sizes)  # nothing pinned: the widest used that there is
    assert f"dense {'f16' if machine in ('v100', 't4') else 'bf16'} peak" in report
    gpucc.ok("simulate", *sizes, "--pin", "recipe.precision=f32")


def test_a_report_names_the_stage_that_limits_the_step(gpucc):
    """Gemma 2 makes 256,000 logits on the last of eight stages; stage 0 ends last and waits for it."""
    sizes = ["-w", "gemma-2-9b", "-m", "h100", "-n", "8", "-b", "512", "--pin", "pp=8,recompute=cheap"]
    out = gpucc.ok("simulate", *sizes)
    assert "pipeline rank 7 (5 layers, logits) limits the step" in out
    assert "the time of the busiest pipeline rank (7) goes" in out
    report = json.loads(gpucc.ok("simulate", *sizes, "--json", "-"))
    work = [rank["work_seconds"] for rank in report["pipeline_ranks"]]
    step = report["step_seconds"]
    assert report["busiest_rank"] == int(np.argmax(work)) == 7
    assert report["busiest_rank_holds"] == "5 layers, logits"
    assert report["bubble_share"] == pytest.approx(1 - np.mean(work) / step, rel=1e-3)
    assert report["busiest_bubble_share"] == pytest.approx(1 - max(work) / step, abs=1e-3)
    assert report["busiest_bubble_share"] < 0.02 < 0.2 < report["bubble_share"]
    _, out, _ = gpucc("simulate", "-w", "deepseek-v3", "-m", "h800", "-n", "2048", "-b", "15360",
                      "--pin", "pp=16,ep=64,tp=1")
    assert "expert traffic" in out


def test_few_tokens_are_printed_as_they_are(gpucc):
    sizes = ["-w", "gpt-2", "-m", "h100", "-n", "8", "-b", "8"]
    assert " 8 tokens " in gpucc.ok("simulate", *sizes, "-s", "1")
    assert " 8192 tokens " in gpucc.ok("simulate", *sizes)
    assert " 0.1311 M tokens " in gpucc.ok("simulate", *sizes[:-1], "128")


@pytest.mark.parametrize("command", ["simulate", "plan"])
def test_what_does_not_fit_exits_with_1(gpucc, command):
    sizes = ["-w", "llama-3-405b", "-m", "v100", "-n", "8", "-b", "8"]
    code, out, err = gpucc(command, *sizes, *(["--quiet"] if command == "plan" else []))
    assert code == 1 and ("DOES NOT FIT" in out if command == "simulate" else "nothing fits" in err)


def test_the_nearest_that_works_works(gpucc):
    """The layout that a refusal names is accepted when its pins are put behind the refused ones' places."""
    for pins in ("tp=16", "pp=34", "cp=3", "tp=5,pp=3", "dp=7"):
        code, _, err = gpucc("simulate", "-w", "llama-3-8b", "-m", "h100", "-n", "8", "--pin", pins)
        assert code == 2
        wanted = dict(p.split("=") for p in pins.split(","))
        wanted.update(p.split("=") for p in err.strip().split("nearest that works is ")[1].split(","))
        again = ",".join(f"{k}={v}" for k, v in wanted.items())
        code, _, err = gpucc("simulate", "-w", "llama-3-8b", "-m", "h100", "-n", "8", "--pin", again)
        assert code in (0, 1), err


def test_prices(gpucc):
    sizes = ["-w", "llama-3-8b", "-m", "h100", "-n", "8", "-b", "32", "--price-per-hour", "2.5"]
    report = json.loads(gpucc.ok("simulate", *sizes, "--pin", "zero=3", "--json", "-"))
    assert report["price_per_hour"] == 20
    assert report["price_per_step"] == pytest.approx(20 / 3600 * report["step_seconds"])
    assert report["price_per_million_tokens"] == pytest.approx(report["price_per_step"] / (32 * 8192) * 1e6)
    out = gpucc.ok("plan", *sizes, "--quick", "--quiet", "--by", "price")
    rows = [line for line in out.splitlines() if "per million tokens  tp" in line]
    prices = [float(line.split("step")[1].split()[0]) for line in rows]
    assert [int(line.split()[0]) for line in rows][:2] == [8, 4]
    assert f"{min(prices):.4g} per million tokens\n" in out


def test_a_compiled_plan_is_timed_from_its_commands(gpucc, tmp_path):
    m, k, n = 96, 160, 224
    weight = np.ones((k, n), np.float32)
    path = model(tmp_path / "m.onnx", [helper.make_node("MatMul", ["x", "w"], ["y"])],
                 [("x", (m, k))], [("y", (m, n))], initializers=[("w", weight)])
    for target in ("host", "cuda:sm_80"):
        plan, report, trace = (tmp_path / f"{target[:4]}.{e}" for e in ("plan", "json", "trace"))
        gpucc.ok("compile", path, "--target", target, "-o", plan)
        out = gpucc.ok("simulate", plan, "-m", "a100-80gb", "--json", report, "--trace", trace)
        assert "fits" in out and "matrix products" in out
        step = json.loads(report.read_text())
        product = step["stages"][0]["work"]["matrix products"]
        assert product["flops"] == 2 * m * k * n  # operands of the call, note of the kernel
        assert product["seconds"] >= 2 * m * k * n / 19.5e12  # the datasheet's f32 rate
        events = json.loads(trace.read_text())["traceEvents"]
        end = max(e["ts"] + e["dur"] for e in events if e["ph"] == "X")
        assert end == pytest.approx(1e6 * step["step_seconds"])
    code, _, err = gpucc("simulate", plan, "-w", "llama-3-8b")
    assert code == 2 and "leave the plan out" in err
    code, _, err = gpucc("simulate", path)
    assert code == 2 and "no plan" in err


def test_causal_attention_counts_what_its_mask_keeps(gpucc, tmp_path):
    batch, heads, rows, size = 2, 3, 32, 16
    shape = (batch, heads, rows, size)
    path = model(tmp_path / "m.onnx", [helper.make_node("Attention", ["q", "k", "v"], ["y"], is_causal=1)],
                 [("q", shape), ("k", shape), ("v", shape)], [("y", shape)], opset=24)
    plan, report = tmp_path / "m.plan", tmp_path / "m.json"
    gpucc.ok("compile", path, "--target", "cuda:sm_80", "-o", plan)
    gpucc.ok("simulate", plan, "-m", "a100-80gb", "--json", report)
    kept = sum(row + 1 for row in range(rows))
    assert json.loads(report.read_text())["stages"][0]["work"]["attention cores"]["flops"] == \
        4 * batch * heads * size * kept


def test_a_broken_schedule_is_refused_with_its_cell(gpucc, tmp_path):
    path = tmp_path / "s.csv"
    path.write_text("0F0,0B0\n1B0,1F0\n")
    code, _, err = gpucc("schedule", "--check", path)
    assert code == 2 and "row 1, cell 0 (B0)" in err and "before its F" in err


def test_broken_files_are_refused_with_their_line(gpucc, tmp_path):
    workload, layout = tmp_path / "w.yaml", tmp_path / "l.yaml"
    workload.write_text("name: x\nlayers: 2\nhidden: 64\nvocab: 100\nsequence: 32\nattention: {heads: four}\n")
    code, _, err = gpucc("simulate", "-w", workload, "-m", "h100")
    assert code == 2 and f"{workload}:6: attention.heads: found 'four'" in err
    layout.write_text("tp: 2\nzero: 9\n")
    code, _, err = gpucc("simulate", *SIZES, "-l", layout)
    assert code == 2 and f"{layout}:2: zero: found '9', allowed a whole number from 0 to 3" in err


@pytest.mark.parametrize("option, found, meant", [("-w", "lama-3-8b", "llama-3-8b"), ("-w", "Llama-3-8B", "llama-3-8b"),
                                                  ("-m", "h101", "h100"), ("-m", "A100-80GB", "a100-80gb")])
def test_a_slip_in_a_name_is_told(gpucc, option, found, meant):
    code, _, err = gpucc("simulate", *["-w", "llama-3-8b", "-m", "h100"][2 * (option == "-w"):][:2], option, found)
    assert code == 2 and f"did you mean {meant}?" in err


def test_another_word_is_not_taken_for_a_slip(gpucc):
    code, _, err = gpucc("simulate", "-m", "h100", "-w", "quark")
    assert code == 2 and "did you mean" not in err


@pytest.mark.parametrize("pins, local", [("tp=1,pp=1,dp=16,micro-batch=1", 1), ("tp=1,pp=2,dp=8,micro-batch=1", 8)])
def test_torchtitan_accumulates_what_a_pipeline_does_not_split(gpucc, pins, local):
    """torchtitan runs local_batch_size at once but for a pipeline: more than the micro-batch would not fit."""
    out = gpucc.ok("plan", "-w", "llama-3-8b", "-m", "h100", "-n", "16", "-b", "64", "--pin", pins, "--stack",
                   "torchtitan", "--torchtitan", "-", "--quiet", "--quick")
    assert f"local_batch_size = {local}\n" in out
    assert "global_batch_size = 64\n" in out


def test_a_wrong_list_of_stages_changes_no_degree(gpucc, tmp_path):
    """The advice is to remove the list, not other degrees under which the same list is wrong again."""
    layout = tmp_path / "l.yaml"
    layout.write_text("pp: 2\ndp: 8\nglobal-batch: 32\nstage-layers: [1, 2]\n")
    code, _, err = gpucc("simulate", *SIZES, "-l", layout)
    assert code == 2 and "remove the key for an even split" in err and "nearest" not in err
    layout.write_text("pp: 2\ndp: 8\nzero: 1\nglobal-batch: 32\n")
    assert "pp2" in gpucc.ok("simulate", *SIZES, "-l", layout)


def test_torchtitan_recomputes_by_operator(gpucc):
    """What does not fit whole: by operator where the stack chooses so, cheap modules where Megatron names them."""
    args = ["-w", "llama-3-8b", "-m", "h100", "-n", "8", "-b", "16", "--pin", "tp=1,pp=1,cp=1,micro-batch=2,zero=3",
            "--quiet", "--quick"]
    titan = gpucc.ok("plan", *args, "--stack", "torchtitan", "--torchtitan", "-")
    assert "recompute=ops" in titan and 'selective_ac_option = "op"\n' in titan and "# the attention core" not in titan
    assert "recompute=ops" not in gpucc.ok("plan", *args, "--stack", "megatron")


@pytest.mark.parametrize("layers, option, noted", [(16, 2, False), (12, 2, True), (None, None, False)])
def test_torchtitan_recomputes_every_nth_layer(gpucc, layers, option, noted):
    pins = "tp=1,pp=1,dp=8,micro-batch=1,zero=3,recompute=full" + (f",recompute-layers={layers}" if layers else "")
    out = gpucc.ok("plan", "-w", "llama-3-8b", "-m", "h100", "-n", "8", "-b", "16", "--pin", pins, "--quiet", "--quick",
                   "--torchtitan", "-")
    assert (f'selective_ac_option = "{option}"\n' in out) == (option is not None)
    assert f'mode = "{"selective" if option else "full"}"\n' in out
    assert ("layers are meant" in out) == noted


def test_slow_nodes_are_left_out_and_said(gpucc, tmp_path):
    """What is exported, layout and machine, simulates to the time that was promised."""
    machine, part, layout = tmp_path / "mixed.yaml", tmp_path / "part.yaml", tmp_path / "layout.yaml"
    gpucc.ok("topo", "h100", "--machine", machine)
    machine.write_text(machine.read_text().replace("\nnodes: 1\n", "\nnodes: 4\n") + "more-nodes:\n  - {like: t4, nodes: 2}\n")
    answer = json.loads(gpucc.ok("plan", "-w", "llama-2-7b", "-m", machine, "-b", "256", "--quiet", "--no-reasons", "--json",
                                 "-", "--export", layout, "--export-machine", part))
    assert answer["gpus"] == 32 and len(answer["nodes"]) == 3
    assert answer["nodes"][0]["step_seconds"] > answer["best"]["step_seconds"] == answer["nodes"][1]["step_seconds"]
    report = json.loads(gpucc.ok("simulate", "-w", "llama-2-7b", "-m", part, "-l", layout, "--json", "-"))
    assert report["step_seconds"] == pytest.approx(answer["best"]["step_seconds"], rel=1e-3)
    text = gpucc.ok("plan", "-w", "llama-2-7b", "-m", machine, "-b", "256", "--quiet", "--no-reasons", "--pin",
                    "dp=32,tp=1,pp=1")  # of 48 devices 32 are no layout
    assert "t4-16gb  no layout of so many devices" in text and "h100-sxm5-80gb  " in text


def test_parts_of_a_mixed_machine_have_their_own_precision(gpucc, tmp_path):
    """H100 beside V100: bf16 where the V100 are left out, as for the H100 alone; pinned, it leaves them out."""
    machine, part = tmp_path / "mixed.yaml", tmp_path / "part.yaml"
    gpucc.ok("topo", "v100-16gb", "--machine", machine)
    machine.write_text(machine.read_text() + "more-nodes:\n  - {like: h100, nodes: 2}\n")
    args = ["-w", "llama-3-8b", "-s", "32768", "-b", "16", "--stack", "megatron", "--quiet", "--no-reasons", "--json", "-"]
    answer = json.loads(gpucc.ok("plan", *args, "-m", machine, "--export-machine", part))
    alone = json.loads(gpucc.ok("plan", *args, "-m", part))
    assert answer["gpus"] == 16 and "precision: bf16" in answer["best"]["yaml"]
    assert answer["best"]["step_seconds"] == alone["best"]["step_seconds"]
    pinned = json.loads(gpucc.ok("plan", *args, "-m", machine, "--pin", "recipe.precision=f8"))
    assert pinned["gpus"] == 16 and pinned["nodes"][0]["why"] == "not all have the precision"
    code, _, err = gpucc("simulate", "-w", "llama-3-8b", "-m", machine, "--pin", "recipe.precision=f8,dp=24,global-batch=24")
    assert code == 2 and "recipe.precision: found f8" in err


def test_a_pin_that_the_stack_does_not_run_is_said(gpucc):
    code, _, err = gpucc("plan", "-w", "llama-3-8b", "-m", "h100", "-n", "64", "-b", "128", "--stack", "megatron-2024",
                         "--pin", "zero=3", "--quiet")
    assert code == 2 and "the stack runs none of the layouts with these pins" in err and "0.0 GiB" not in err
