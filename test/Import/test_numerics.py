"""Imported programs, by the Reference evaluator, against ONNX Runtime and the official node tests."""
import glob
import os
import re
import shutil

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")
from onnx import numpy_helper

# What the product runs in the graph phase.
PASSES = ("func.func(gpucc-fold-constants,gpucc-simplify-graph,cse,gpucc-raise-composites,"
          "gpucc-simplify-graph,cse),gpucc-verify-phase-graph")

MODELS = {
    "mlp": ((), {"batch": 3}, {}),
    "lenet": ((), {"batch": 2}, {}),
    "resnet18": (("--size", "64", "--width", "16"), {"batch": 1}, {}),
    "gpt2": ((), {"batch": 2, "seq": 12}, {}),
    "llama": ((), {"batch": 2, "seq": 12}, {}),
    "gpt2 opset 16": (("--opset", "16"), {"batch": 2, "seq": 12}, {}),
    "minilm": ((), {"batch": 2, "seq": 16},
               {"input_ids": 30000, "attention_mask": 2, "token_type_ids": 2}),
}


def write_case(model, folder, sizes, bounds):
    """A node-test folder: the model, random inputs, and what ONNX Runtime answers."""
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    shutil.copyfile(model, folder / "model.onnx")
    for extra in glob.glob(str(model.parent / "*")):
        if not extra.endswith(".onnx"):
            os.link(extra, folder / os.path.basename(extra))
    session = runtime.InferenceSession(str(model))
    random, feed = np.random.default_rng(0), {}
    for i, x in enumerate(session.get_inputs()):
        shape = [sizes.get(d, d) for d in x.shape]
        if "int" in x.type:
            value = random.integers(0, bounds.get(x.name, 200), shape).astype(
                np.int64 if "64" in x.type else np.int32)
        else:
            value = random.standard_normal(shape).astype(np.float32)
        feed[x.name] = value
        (data / f"input_{i}.pb").write_bytes(numpy_helper.from_array(value).SerializeToString())
    for i, y in enumerate(session.run(None, feed)):
        (data / f"output_{i}.pb").write_bytes(numpy_helper.from_array(y).SerializeToString())


@pytest.mark.parametrize("name", MODELS)
def test_model_equals_onnx_runtime(name, translate, make_models, tmp_path):
    args, sizes, bounds = MODELS[name]
    write_case(make_models(name.split()[0], *args), tmp_path / "case", sizes, bounds)
    for passes in ("", PASSES):
        run = translate("--onnx-tests", tmp_path, "--floor-part=0.01", f"--passes={passes}")
        assert run.stdout.endswith("1 passed, 0 failed, 0 unsupported\n"), run.stdout + run.stderr


def test_magika(translate, tmp_path):
    magika = pytest.importorskip("magika")
    path = glob.glob(os.path.join(os.path.dirname(magika.__file__), "models/standard_v3_3/*.onnx"))
    from pathlib import Path
    lone = tmp_path / "lone" / "magika.onnx"
    lone.parent.mkdir()
    shutil.copyfile(path[0], lone)
    write_case(lone, tmp_path / "case" / "magika", {"unk__214": 1}, {"bytes": 256})
    run = translate("--onnx-tests", tmp_path / "case", "--floor-part=0.01", f"--passes={PASSES}")
    assert run.stdout.endswith("1 passed, 0 failed, 0 unsupported\n"), run.stdout + run.stderr


def node_tests():
    folder = os.path.join(os.path.dirname(onnx.__file__), "backend/test/data/node")
    return folder if os.path.isdir(folder) else None


@pytest.mark.parametrize("passes", ["", PASSES], ids=["imported", "graph passes"])
def test_official_node_tests(translate, passes):
    folder = node_tests()
    if folder is None:
        pytest.skip("this onnx wheel has no node tests; onnx==1.22.0 has")
    run = translate("--onnx-tests", folder, "--jobs=2", f"--passes={passes}")
    last = run.stdout.rstrip().splitlines()[-1]
    passed, failed, unsupported = map(int, re.findall(r"\d+", last))
    failures = [line for line in run.stdout.splitlines() if line.startswith("FAIL")]
    assert failed == 0, "\n".join(failures)
    assert passed >= 1400, last
    reasons = [line for line in run.stdout.splitlines() if line.startswith("unsupported")]
    assert all(": " in line for line in reasons), "a test is refused without a reason"


def test_a_wrong_answer_is_seen(translate, make_models, tmp_path):
    """The comparison can fail: one element of the expected output is changed."""
    write_case(make_models("mlp"), tmp_path / "mlp", {"batch": 3}, {})
    path = tmp_path / "mlp" / "test_data_set_0" / "output_0.pb"
    tensor = onnx.TensorProto.FromString(path.read_bytes())
    value = numpy_helper.to_array(tensor).copy()
    value[1, 2] *= 1.01
    path.write_bytes(numpy_helper.from_array(value).SerializeToString())
    run = translate("--onnx-tests", tmp_path, "--floor-part=0.01")
    assert run.returncode == 1
    assert "output 0 differs at element 6" in run.stdout


def test_sparse_weights_are_not_read(translate, make_models):
    """355 M parameters in a file without data: imported through the graph phase, still sparse."""
    model = make_models("gpt2_medium")
    run = translate("--profile", "batch=1,seq=1024", f"--passes={PASSES}", "--elide", model)
    assert run.returncode == 0, run.stderr
    assert run.stdout.count("graph.attention") == 24
    data = model.parent / "gpt2_medium.data"
    assert data.stat().st_size > 1.4e9 and data.stat().st_blocks * 512 < 1 << 20
