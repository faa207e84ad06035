"""`gpucc check` names the op at which a compiled model leaves the reference."""
import numpy as np
from onnx import helper

from onnx_model import model


def chain(path):
    """|x| and -|x| are exact in any precision, the product in bf16 is not, and what follows carries its error."""
    weight = np.random.default_rng(3).standard_normal((64, 64)).astype(np.float32)
    nodes = [helper.make_node("Abs", ["x"], ["a"], name="first"),
             helper.make_node("MatMul", ["a", "w"], ["b"], name="product"),
             helper.make_node("Relu", ["b"], ["c"], name="after"),
             helper.make_node("Sin", ["c"], ["y"], name="last")]
    return model(path, nodes, [("x", [8, 64])], [("y", [8, 64])], initializers=[("w", weight)])


def test_first_wrong_op(gpucc, tmp_path):
    path = chain(tmp_path / "chain.onnx")
    code, out, err = gpucc("check", path, "--precision", "bf16", "--tolerance", "1e-5")
    assert code == 1, out + err
    line = next(line for line in out.splitlines() if line.startswith("first wrong op"))
    assert "product (MatMul)" in line and "number 2 of 4" in line and "compiled up to op 1, all values that later ops read agree" in out, out
    assert "at [" in out and "found" in out and "expected" in out


def test_nothing_wrong(gpucc, tmp_path):
    assert "first wrong" not in gpucc.ok("check", chain(tmp_path / "chain.onnx"))


def test_expectations_of_another_model(gpucc, tmp_path):
    path = chain(tmp_path / "chain.onnx")
    np.savez(tmp_path / "in.npz", x=np.ones((8, 64), np.float32))
    np.savez(tmp_path / "out.npz", y=np.full((8, 64), 7, np.float32))
    code, out, _ = gpucc("check", path, "--inputs", tmp_path / "in.npz", "--expect", tmp_path / "out.npz")
    assert code == 1 and "the ops one by one agree with the reference" in out


def test_the_readme_model_with_default_inputs_says_its_warning_once(gpucc, magika):
    """Random bytes lie below the 257 that the model compares with; all 0 or 1 make its first LayerNorm ill-conditioned."""
    code, out, err = gpucc("check", magika)
    assert code == 0, out + err
    assert err.count("symbolic dimensions are bound to 1") == 1


def test_random_inputs_follow_the_tables_that_they_index(gpucc, tmp_path):
    table = np.arange(7, dtype=np.float32)
    path = model(tmp_path / "m.onnx", [helper.make_node("Gather", ["t", "i"], ["y"])], [("i", [500], np.int64)],
                 [("y", [500])], initializers=[("t", table)])
    gpucc.ok("run", path, "--outputs", tmp_path / "o.npz")
    assert set(np.load(tmp_path / "o.npz")["y"]) == set(table)


def test_sizes_that_do_not_suit_the_model_are_the_first_suspect(gpucc, tmp_path):
    path = model(tmp_path / "m.onnx", [helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[2, 2])],
                 [("x", [1, 1, "h", "w"])], [("y", None)])
    code, _, err = gpucc("compile", path, "-o", tmp_path / "m.plan")
    assert code == 2 and "if the sizes do not suit the model (h=1,w=1), choose others with --profile" in err
