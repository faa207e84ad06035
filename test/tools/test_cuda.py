"""The CUDA path of whole models: compiled for three architectures and judged by the code itself
(no spills, tensor-core instructions), executed through the emulated driver (one graph launch per
replay), and compared with the host target.
"""
import collections
import json
import os
import re
import subprocess
import sys

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from conftest import BUILD

ARCHITECTURES = ["sm_80", "sm_90a", "sm_100a"]
PROFILES = {"lenet": "batch=2", "resnet18": "batch=1", "minilm": "batch=1,seq=16",
            "gpt2": "batch=2,seq=16", "llama": "batch=2,seq=16"}


@pytest.fixture(scope="session")
def small_models(models):
    """The example models; ResNet-18 for images of 64 x 64."""
    resnet = onnx.load(models / "resnet18.onnx")
    for dim in resnet.graph.input[0].type.tensor_type.shape.dim[2:]:
        dim.dim_value = 64
    onnx.save(resnet, models / "resnet18_64.onnx")
    paths = {name: models / f"{name}.onnx" for name in PROFILES}
    return {**paths, "resnet18": models / "resnet18_64.onnx"}


def kernels_of(gpucc, tmp_path, *options):
    """Compiles for all architectures; the rows of `gpucc show --kernels --json`."""
    gpucc.ok("compile", *options, "--target", "cuda:" + ",".join(ARCHITECTURES), "-o",
             tmp_path / "m.plan")
    gpucc.ok("show", tmp_path / "m.plan", "--kernels", "--json", tmp_path / "kernels.json")
    kernels = json.loads((tmp_path / "kernels.json").read_text())["kernels"]
    assert kernels
    for kernel in kernels:
        assert [v["arch"] for v in kernel["variants"]] == ARCHITECTURES
    return kernels


def assert_no_spills(kernels):
    for kernel in kernels:
        for v in kernel["variants"]:
            assert "error" not in v, v
            assert v["spill_bytes"] == 0 and v["local_instructions"] == 0, (kernel["kernel"], v)
            assert 1 <= v["registers"] <= 255, (kernel["kernel"], v)


@pytest.mark.parametrize("name", PROFILES)
def test_no_spills(gpucc, small_models, tmp_path, name):
    kernels = kernels_of(gpucc, tmp_path, small_models[name], "--profile", PROFILES[name])
    assert_no_spills(kernels)
    # Products of f32 are strict: tensor cores would round their operands.
    assert not any(v["matrix_instructions"] for k in kernels for v in k["variants"])


def test_magika_has_no_spills(gpucc, magika, tmp_path):
    assert_no_spills(kernels_of(gpucc, tmp_path, magika, "--profile", "unk__214=1"))


def test_training_steps_have_no_spills(gpucc, models, tmp_path):
    for precision in ("f32", "mixed-bf16"):
        assert_no_spills(kernels_of(gpucc, tmp_path, models / "gpt2.onnx", "--train", "--optimizer",
                                    "adamw", "--profile", "batch=8,seq=16", "--precision", precision))


def weight_products(path, rows):
    """How many matrix products by a weight the model has whose M (= rows), N and K are >= 16."""
    graph = onnx.load(path).graph
    shapes = {i.name: tuple(i.dims) for i in graph.initializer}
    shapes.update({node.output[0]: shapes[node.input[0]] for node in graph.node
                   if node.op_type == "Transpose" and node.input[0] in shapes})
    return sum(node.op_type in ("MatMul", "Gemm") and len(shapes.get(node.input[1], ())) == 2
               and min(rows, *shapes[node.input[1]]) >= 16 for node in graph.node)


@pytest.mark.parametrize("precision", ["tf32", "bf16", "f16"])
@pytest.mark.parametrize("name, rows", [("minilm", 16), ("gpt2", 32), ("llama", 32), ("resnet18", 1)])
def test_tensor_cores_in_every_product(gpucc, small_models, tmp_path, name, rows, precision):
    kernels = kernels_of(gpucc, tmp_path, small_models[name], "--profile", PROFILES[name],
                         "--precision", precision)
    assert_no_spills(kernels)
    element = {"tf32": "float", "bf16": "gk_bf16", "f16": "gk_f16"}[precision]
    launches = collections.Counter()
    for kernel in kernels:
        if "gk_gemm" not in kernel["source"]:
            continue
        product = re.search(r"gk_gemm_\w+<(?:([a-z]\w*), )?(\d+), (\d+), (\d+),", kernel["source"])
        assert product, kernel["source"]
        if min(map(int, product.groups()[1:])) < 16:
            continue
        assert product[1] == element, f"{kernel['kernel']} multiplies {product[1]}"
        for v in kernel["variants"]:
            assert v["matrix_instructions"] > 0, (kernel["kernel"], v)
            launches[v["arch"]] += kernel["launches"]
    expected = weight_products(small_models[name], rows)
    assert expected == {"minilm": 36, "gpt2": 17, "llama": 29, "resnet18": 0}[name]
    for arch in ARCHITECTURES:
        assert launches[arch] >= expected


@pytest.mark.parametrize("precision", ["bf16", "f16"])
def test_tensor_cores_in_attention(gpucc, small_models, tmp_path, precision):
    kernels = kernels_of(gpucc, tmp_path, small_models["minilm"], "--profile", PROFILES["minilm"],
                         "--precision", precision)
    attention = [k for k in kernels if "gk_attention" in k["source"]]
    assert sum(k["launches"] for k in attention) == 6
    assert all(v["matrix_instructions"] > 0 for k in attention for v in k["variants"])


def test_resnet18_executed_equals_host(gpucc, small_models):
    out = gpucc.ok("check", small_models["resnet18"], "--profile", "batch=1", "--target", "cuda:simt")
    assert "1 tensors compared, 0 wrong" in out


# -------------------------------------------------------------------------- bits of both targets
def elementwise_model(path, rows, width):
    """Everything but products: arithmetic, transcendental functions, reductions of rows and of
    columns, softmax, layer norm, a transposition, integers and comparisons."""
    rng = np.random.default_rng(11)
    weights = {name: rng.standard_normal(width).astype(np.float32) for name in ("scale", "shift")}
    weights["axes"] = np.array([0], np.int64)
    node = helper.make_node
    nodes = [
        node("LayerNormalization", ["x", "scale", "shift"], ["normed"], axis=-1, epsilon=1e-5),
        node("Erf", ["normed"], ["erf"]),
        node("Exp", ["erf"], ["exp"]),
        node("Tanh", ["x"], ["tanh"]),
        node("Mul", ["exp", "tanh"], ["product"]),
        node("Softmax", ["product"], ["probabilities"], axis=-1),
        node("Sigmoid", ["x"], ["gate"]),
        node("Sub", ["probabilities", "gate"], ["difference"]),
        node("Transpose", ["difference"], ["turned"], perm=[1, 0]),
        node("ReduceSum", ["difference", "axes"], ["columns"], keepdims=0),
        node("ReduceMax", ["product"], ["largest"], axes=[1], keepdims=0),
        node("ArgMax", ["difference"], ["best"], axis=1, keepdims=0),
        node("Greater", ["x", "difference"], ["is_greater"]),
        node("Where", ["is_greater", "normed", "difference"], ["chosen"]),
    ]
    outputs = {"turned": [width, rows], "columns": [width], "largest": [rows], "chosen": [rows, width],
               "probabilities": [rows, width]}
    infos = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in outputs.items()]
    infos.append(helper.make_tensor_value_info("best", TensorProto.INT64, [rows]))
    graph = helper.make_graph(
        nodes, "elementwise", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [rows, width])],
        infos, [onnx.numpy_helper.from_array(a, n) for n, a in weights.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


@pytest.mark.parametrize("rows, width", [(7, 40), (33, 1000), (3, 2500), (65, 64)])
def test_same_bits_as_host(gpucc, tmp_path, rows, width):
    model = elementwise_model(tmp_path / "m.onnx", rows, width)
    x = (np.random.default_rng(rows).standard_normal((rows, width)) * 3).astype(np.float32)
    np.savez(tmp_path / "in.npz", x=x)
    found = {}
    for target in ("host", "cuda:simt"):
        gpucc.ok("run", model, "--target", target, "--inputs", tmp_path / "in.npz", "--outputs",
                 tmp_path / f"{target[:4]}.npz")
        found[target] = dict(np.load(tmp_path / f"{target[:4]}.npz"))
    host, device = found["host"], found["cuda:simt"]
    assert set(host) == set(device) and len(host) == 6
    for name, expected in host.items():
        assert np.isfinite(expected).all()
        differing = np.count_nonzero(expected.view(np.uint8) != device[name].view(np.uint8))
        assert differing == 0, f"{name}: {differing} bytes differ"
    rows_sum = host["probabilities"].astype(np.float64).sum(-1)
    np.testing.assert_allclose(rows_sum, 1, atol=1e-5)  # and they mean something


# ------------------------------------------------------------------------ launches of a replay
REPLAY = r"""
import ctypes, json, sys
plan_file, build, replays = sys.argv[1], sys.argv[2], int(sys.argv[3])
rt = ctypes.CDLL(build + "/lib/libgpucc_rt.so")
fake = ctypes.CDLL(build + "/lib/libgpucc_fakecuda.so")
fake.gpuccFakeCudaGet.restype = ctypes.c_longlong
fake.gpuccFakeCudaReport.restype = ctypes.c_char_p
rt.gpucc_rt_status_message.restype = ctypes.c_char_p
for name in ("plan_open", "session_prepare", "session_run"):
    getattr(rt, "gpucc_rt_" + name).restype = ctypes.c_void_p

def check(status):
    if status:
        sys.exit(rt.gpucc_rt_status_message(ctypes.c_void_p(status)).decode())

def counters():
    return {n: fake.gpuccFakeCudaGet(n.encode()) for n in
            ("cuGraphLaunch", "cuLaunchKernel", "cuGraphInstantiateWithFlags", "kernels-run")}

plan, session = ctypes.c_void_p(), ctypes.c_void_p()
check(rt.gpucc_rt_plan_open(plan_file.encode(), ctypes.byref(plan)))
check(rt.gpucc_rt_session_prepare(plan, None, ctypes.byref(session)))
check(rt.gpucc_rt_session_run(session))
seen = [counters()]
for _ in range(replays):
    check(rt.gpucc_rt_session_run(session))
    seen.append(counters())
print(json.dumps({"seen": seen, "report": fake.gpuccFakeCudaReport().decode()}))
"""


@pytest.mark.parametrize("name, options", [
    ("mlp", ["--profile", "batch=8"]),
    ("minilm", ["--profile", "batch=1,seq=16"]),
    ("gpt2", ["--profile", "batch=8,seq=16", "--train", "--optimizer", "adamw", "--clip-norm", "1"]),
])
def test_one_graph_launch_per_replay(gpucc, models, tmp_path, name, options):
    plan = tmp_path / "m.plan"
    gpucc.ok("compile", models / f"{name}.onnx", *options, "--target", "cuda:simt", "-o", plan)
    gpucc.ok("show", plan, "--kernels", "--json", tmp_path / "k.json")
    kernels = json.loads((tmp_path / "k.json").read_text())["kernels"]
    done = subprocess.run([sys.executable, "-c", REPLAY, str(plan), str(BUILD), "3"],
                          capture_output=True, text=True, timeout=600,
                          env={**os.environ, "GPUCC_LIBCUDA": str(BUILD / "lib" / "libgpucc_fakecuda.so")})
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["report"] == ""
    launches = sum(k["launches"] for k in kernels)
    for before, after in zip(result["seen"], result["seen"][1:]):
        grown = {n: after[n] - before[n] for n in after}
        assert grown == {"cuGraphLaunch": 1, "cuLaunchKernel": 0, "cuGraphInstantiateWithFlags": 0,
                         "kernels-run": launches}, grown
