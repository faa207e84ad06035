"""gpucc topo: every format through the command, drawing and machine file, refusals; bench/costmodel
on a small made-up table."""
import csv
import json
import os
import pathlib
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "test" / "CostModel" / "topologies"


@pytest.mark.parametrize("sample", sorted(p.name for p in SAMPLES.iterdir()))
def test_every_format(gpucc, tmp_path, sample):
    out = gpucc.ok("topo", SAMPLES / sample, "--svg", tmp_path / "d.svg", "--json", tmp_path / "t.json")
    assert "GPUs" in out and "warning" in out
    told = json.loads((tmp_path / "t.json").read_text())
    drawing = ElementTree.parse(tmp_path / "d.svg").getroot()
    words = [e.text for e in drawing.iter("{http://www.w3.org/2000/svg}text")]
    for gpu in told["gpus"]:
        assert gpu["name"] in words
    assert len(told["warnings"]) == out.count("  warning: ")


def test_built_in_machines_are_listed_and_drawn(gpucc, tmp_path):
    names = [line.split()[0] for line in gpucc.ok("topo", "--list").splitlines()]
    for name in ("v100 t4 a100-40gb a100-80gb a100-pcie a800 h100 h200 h800 b200 gb200-nvl72 l4 l40s "
                 "rtx4090").split():
        assert name in names
    gpucc.ok("topo", "gb200-nvl72", "--svg", tmp_path / "d.svg")
    ElementTree.parse(tmp_path / "d.svg")


def test_machine_file_reads_back(gpucc, tmp_path):
    gpucc.ok("topo", SAMPLES / "lstopo-two-packages.xml", "--machine", tmp_path / "m.yaml")
    out = gpucc.ok("topo", tmp_path / "m.yaml")
    assert "4 GPUs" in out and "a100-sxm4-80gb" in out


def test_refusals(gpucc, tmp_path):
    (tmp_path / "t.txt").write_text("\tGPU0\tGPU1\nGPU0\t X \tNV2\nGPU1\tNVX\t X \n")
    code, _, err = gpucc("topo", tmp_path / "t.txt")
    assert code == 2
    assert "t.txt:3: GPU1 to GPU0: found 'NVX', allowed X, NV#, PIX" in err
    code, _, err = gpucc("topo", "z9000")
    assert code == 2 and "found 'z9000'" in err and "h100" in err
    code, _, err = gpucc("topo", SAMPLES / "cube-mesh.txt", "--machine", tmp_path / "m.yaml")
    assert code == 2 and "no model name" in err  # the table has none


COLUMNS = ("source url model params layers hidden ffn heads kv_heads vocab seq global_batch micro_batch gpus gpu_type "
           "gpus_per_node precision tp cp pp dp ep vpp zero_stage recompute metric_name metric_value notes").split()


def test_bench_costmodel_on_another_table(tmp_path):
    """A made-up run: half of the FLOP rate of the machine must be told as such, not as a good fit."""
    program = pathlib.Path(os.environ["GPUCC_BUILD"]) / "bin" / "gpucc-bench-costmodel"
    run = dict(source="MosaicML llm-foundry", model="MPT-7b", layers=32, hidden=4096, ffn=16384, heads=32,
               kv_heads=32, vocab=50368, seq=2048, global_batch=1024, micro_batch=8, gpus=8,
               gpu_type="A100-80GB", gpus_per_node=8, precision="amp_bf16", tp=1, cp=1, pp=1, dp=8,
               zero_stage="3 (FSDP)", recompute="none", notes="run_id=made-up#1")
    flops = 6 * 6.7e9 * 1024 * 2048  # parameters without embeddings
    rows = [dict(run, metric_name="iteration_time_s", metric_value=flops / (8 * 312e12 * 0.25))]
    table = tmp_path / "runs.csv"
    with table.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    done = subprocess.run([str(program), "--runs", str(table)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    last = done.stdout.strip().splitlines()[-1]
    assert last.startswith("overall: n=1, MAPE ")
    # 25 % of the peak is about half of what such runs reach (45 to 60 %).
    assert 35 < float(last.split("MAPE ")[1].split()[0]) < 65


MADE_UP = dict(source="MosaicML llm-foundry", model="MPT-7b", layers=32, hidden=4096, ffn=16384, heads=32, kv_heads=32,
               vocab=50368, seq=2048, global_batch=1024, micro_batch=8, gpus=8, gpu_type="A100-80GB", gpus_per_node=8,
               precision="amp_bf16", tp=1, cp=1, pp=1, dp=8, zero_stage="3 (FSDP)", recompute="none",
               metric_name="iteration_time_s", metric_value=100, notes="run_id=made-up#1")


def bench_costmodel(path, columns, rows, **dialect):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, **dialect)
        writer.writeheader()
        writer.writerows(rows)
    program = pathlib.Path(os.environ["GPUCC_BUILD"]) / "bin" / "gpucc-bench-costmodel"
    return subprocess.run([str(program), "--runs", str(path)], capture_output=True, text=True, timeout=60)


def test_bench_costmodel_takes_other_spellings_of_a_table(tmp_path):
    """Order and case of columns, blanks, thousands separators, quotes and line ends change nothing."""
    plain = bench_costmodel(tmp_path / "plain.csv", COLUMNS, [MADE_UP])
    assert "overall: n=1," in plain.stdout
    spaced = {f" {key.upper()} ": f" {value:,} " if isinstance(value, int) else f" {value} "
              for key, value in MADE_UP.items()}
    columns = [f" {key.upper()} " for key in reversed(COLUMNS)]
    other = bench_costmodel(tmp_path / "other.csv", columns, [spaced], quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    assert other.stdout == plain.stdout, other.stderr


def test_bench_costmodel_joins_metrics_of_a_run_without_its_number(tmp_path):
    """Two metrics are one run, a metric measured twice is two."""
    run = dict(MADE_UP, notes="")
    rows = [run, dict(run, metric_name="tokens_per_s_per_GPU", metric_value=2600), dict(run, metric_value=101)]
    assert "overall: n=2," in bench_costmodel(tmp_path / "runs.csv", COLUMNS, rows).stdout


def test_bench_costmodel_takes_tables_in_the_form_of_vtrain(tmp_path):
    """A run of one node and one of eight nodes, told apart by their GPUs."""
    columns = ["# GPUs", "global batch", "micro batch", "hidden size", "attention heads", "# layers", "sequence length",
               "tensor parallelism", "data parallelism", "pipeline parallelism", "iteration time (ms)"]
    rows = [dict(zip(columns, values)) for values in ([8, 16, 8, 2048, 16, 24, 1024, 8, 1, 1, 400],
                                                     [64, 512, 32, 3072, 32, 30, 2048, 8, 8, 1, 5000])]
    out = bench_costmodel(tmp_path / "wide.csv", columns, rows).stdout
    assert "vTrain single" in out and "vTrain multi" in out and "overall: n=2," in out


def test_bench_costmodel_predicts_runs_of_unknown_software_and_says_so(tmp_path):
    out = bench_costmodel(tmp_path / "runs.csv", COLUMNS, [dict(MADE_UP, source="Somebody's stack")]).stdout
    assert "overall: n=1," in out and "assumed Somebody's stack" in out and "software unknown" in out


def test_bench_costmodel_names_what_it_cannot_read(tmp_path):
    empty = bench_costmodel(tmp_path / "empty.csv", COLUMNS, [])
    assert empty.returncode and "no line below the columns" in empty.stderr
    other = bench_costmodel(tmp_path / "sizes.csv", ["size(B)", "time(ns)"], [{"size(B)": 8, "time(ns)": 9}])
    assert other.returncode and "found no column source, model" in other.stderr
    program = pathlib.Path(os.environ["GPUCC_BUILD"]) / "bin" / "gpucc-bench-costmodel"
    for wrong, said in ((["--runs", tmp_path], "cannot be read"), (["--runs", tmp_path / "gpu.csv", "--only", "x"], "--only")):
        done = subprocess.run([str(program), *map(str, wrong)], capture_output=True, text=True, timeout=60)
        assert done.returncode in (1, 2) and said in done.stderr
    out = bench_costmodel(tmp_path / "moe.csv", COLUMNS, [dict(MADE_UP, model="Qwen2-57B-A14B")]).stdout
    assert "architecture" in out and "overall: n=0," in out  # not silently dense
    for column, value in (("zero_stage", "3 group=99999999999999999999"), ("gpus", 10**11), ("tp", 10**11), ("zero_stage", "3 group=7")):
        out = bench_costmodel(tmp_path / "odd.csv", COLUMNS, [dict(MADE_UP, **{column: value})]).stdout
        assert "implausible layout" in out and "overall: n=0," in out, (column, value)
    for gpu in ("MI300X", "H100 PCIe"):  # not silently the SXM part
        out = bench_costmodel(tmp_path / "gpu.csv", COLUMNS, [dict(MADE_UP, gpu_type=gpu)]).stdout
        assert f"device {gpu}" in out and "overall: n=0," in out


@pytest.mark.parametrize("column, spellings", [
    ("recompute", ["full", "Full", "True", "full recompute", "uniform"]),
    ("zero_stage", ["1", "ZeRO-1", "zero1", "stage 1"]), ("zero_stage", ["0", "none"]),
    ("zero_stage", ["2", "2 (FSDP SHARD_GRAD_OP)", "SHARD_GRAD_OP"]),
    ("zero_stage", ["3 (FSDP)", "zero3", "HSDP"]), ("precision", ["fp32", "float32"])])
def test_bench_costmodel_reads_settings_in_other_words(tmp_path, column, spellings):
    """The same setting in other words is the same prediction; it was silently another one."""
    run = dict(MADE_UP, source="SimuMax", metric_value=2000)  # whose stack shards the optimizer alone; also f32 takes less
    said = {spelling: bench_costmodel(tmp_path / "runs.csv", COLUMNS, [dict(run, **{column: spelling})]).stdout
            for spelling in spellings}
    assert "overall: n=1," in said[spellings[0]]
    assert len(set(said.values())) == 1
    other = {"recompute": "none", "zero_stage": "2" if spellings[0] != "2" else "3", "precision": "fp8"}[column]
    # The column counts at all.
    assert bench_costmodel(tmp_path / "o.csv", COLUMNS, [dict(run, **{column: other})]).stdout not in said.values()


def test_bench_costmodel_chooses_a_layout_where_none_is_stated(tmp_path):
    run = dict(MADE_UP, tp="", pp="", dp="", micro_batch="")
    assert "overall: n=1," in bench_costmodel(tmp_path / "runs.csv", COLUMNS, [run]).stdout


def test_bench_costmodel_accounts_for_runs_without_a_figure(tmp_path):
    run = dict(MADE_UP, metric_name="days_for_300B_tokens")
    out = bench_costmodel(tmp_path / "runs.csv", COLUMNS, [run]).stdout
    assert "no time, rate or memory" in out and "overall: n=0," in out


def test_bench_costmodel_reads_utilisation(tmp_path):
    """The same run by its time and by its MFU: 6 FLOP per token and weight of a product, and attention in full
    (4 s h per token and layer forward, three times that with backward), of eight times 312 TFLOP/s."""
    by_time = bench_costmodel(tmp_path / "t.csv", COLUMNS, [MADE_UP]).stdout
    h, f, layers, s, vocab = 4096, 16384, 32, 2048, 50368
    weights = layers * (4 * h * h + 2 * h * f) + vocab * h
    flops = 1024 * s * (6 * weights + layers * 12 * s * h)
    mfu = 100 * flops / (100 * 8 * 312e12)
    run = dict(MADE_UP, metric_name="MFU_pct", metric_value=mfu)
    by_rate = bench_costmodel(tmp_path / "r.csv", COLUMNS, [run]).stdout
    last = [float(out.strip().splitlines()[-1].split("MAPE ")[1].split()[0]) for out in (by_time, by_rate)]
    assert last[0] == pytest.approx(last[1], abs=0.3)


def test_bench_costmodel_reads_hardware_utilisation(tmp_path):
    """Without recomputation HFU is MFU."""
    out = {metric: bench_costmodel(tmp_path / "u.csv", COLUMNS, [dict(MADE_UP, metric_name=metric, metric_value=40)]).stdout
           for metric in ("HFU_pct", "MFU_pct")}
    assert out["HFU_pct"] == out["MFU_pct"]
    full = dict(MADE_UP, metric_name="HFU_pct", metric_value=40, recompute="full")
    assert bench_costmodel(tmp_path / "f.csv", COLUMNS, [full]).stdout != out["HFU_pct"]


def test_bench_costmodel_takes_the_batch_from_notes_and_refuses_nonsense(tmp_path):
    plain = bench_costmodel(tmp_path / "p.csv", COLUMNS, [MADE_UP]).stdout
    noted = dict(MADE_UP, global_batch="", notes="run_id=made-up#1; global batch = 8x128 inferred")
    assert bench_costmodel(tmp_path / "n.csv", COLUMNS, [noted]).stdout == plain
    for metric, value in (("iteration_time_s", 1e-300), ("MFU_pct", 450), ("iteration_time_ms", 1e9)):
        wrong = bench_costmodel(tmp_path / "w.csv", COLUMNS, [dict(MADE_UP, metric_name=metric, metric_value=value)]).stdout
        assert "implausible time" in wrong and "overall: n=0," in wrong, metric
    other = dict(MADE_UP, model="MPT-30b", layers=48, hidden=7168, ffn=28672, heads=64, gpus=64, dp=64)
    assert "overall: n=2," in bench_costmodel(tmp_path / "two.csv", COLUMNS, [MADE_UP, other]).stdout  # one run_id


def test_bench_costmodel_knows_built_in_models_by_name(tmp_path):
    run = dict(MADE_UP, model="Gemma-2 9B", notes="")
    for key in ("layers", "hidden", "ffn", "heads", "kv_heads", "vocab"):
        run[key] = ""
    assert "overall: n=1," in bench_costmodel(tmp_path / "g.csv", COLUMNS, [run]).stdout
