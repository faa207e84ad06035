"""Help, errors and exit codes of gpucc: 0 fine, 1 comparison failed, 2 bad input, 3 unsupported."""
import json

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper


def model(path, nodes, inputs, outputs, initializers=(), opset=17):
    graph = helper.make_graph(list(nodes), "g", list(inputs), list(outputs), list(initializers))
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), path)
    return path


def tensor(name, shape, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def refused(result, code, *words):
    found, _, err = result
    assert found == code, err
    for word in words:
        assert word in err, f"'{word}' is not in:\n{err}"


@pytest.mark.parametrize("command", ["compile", "run", "check", "train", "explain", "show"])
def test_help_teaches_by_example(gpucc, command):
    out = gpucc.ok(command, "--help")
    assert "examples" in out or "example" in out
    assert f"gpucc {command}" in out


def test_all_missing_operators_are_named(gpucc, tmp_path):
    path = model(tmp_path / "m.onnx",
                 [helper.make_node("StringNormalizer", ["s"], ["t"], name="first"),
                  helper.make_node("Unknown", ["x"], ["y"], name="second", domain="my.domain")],
                 [tensor("s", [2], TensorProto.STRING), tensor("x", [2])],
                 [tensor("t", [2], TensorProto.STRING), tensor("y", [2])])
    refused(gpucc("compile", path), 3, "first", "second", "StringNormalizer", "Unknown")


def test_truncated_model(gpucc, models, tmp_path):
    path = tmp_path / "cut.onnx"
    path.write_bytes((models / "mlp.onnx").read_bytes()[:1000])
    refused(gpucc("compile", path), 2, "cut.onnx")


def test_dangling_name(gpucc, tmp_path):
    path = model(tmp_path / "m.onnx", [helper.make_node("Relu", ["nowhere"], ["y"], name="n")],
                 [tensor("x", [2])], [tensor("y", [2])])
    refused(gpucc("compile", path), 2, "nowhere", "n")


def test_cycle(gpucc, tmp_path):
    path = model(tmp_path / "m.onnx", [helper.make_node("Add", ["x", "b"], ["a"], name="one"),
                                       helper.make_node("Relu", ["a"], ["b"], name="two")],
                 [tensor("x", [2])], [tensor("b", [2])])
    refused(gpucc("compile", path), 2, "cycle")


def test_external_data_must_stay_in_the_folder(gpucc, tmp_path):
    weight = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2], data_location=TensorProto.EXTERNAL)
    weight.external_data.add(key="location", value="../secret")
    path = model(tmp_path / "m.onnx", [helper.make_node("Add", ["x", "w"], ["y"])], [tensor("x", [2])],
                 [tensor("y", [2])], [weight])
    refused(gpucc("compile", path), 2, "../secret")


def test_shapes_do_not_fit(gpucc, tmp_path):
    path = model(tmp_path / "m.onnx", [helper.make_node("MatMul", ["x", "z"], ["y"], name="product")],
                 [tensor("x", [2, 3]), tensor("z", [4, 5])], [tensor("y", [2, 5])])
    refused(gpucc("compile", path), 2, "product", "3", "4")


@pytest.mark.parametrize("options, words", [
    (["--target", "cuda:sm_1"], ["sm_1", "sm_90a"]),
    (["--target", "tpu"], ["tpu", "host", "cuda"]),
    (["--pin", "dp=x"], ["dp=x"]),
    (["--pin", "color=red"], ["color=red", "micro-batches"]),
    (["--profile", "batch"], ["batch", "NAME=SIZE"]),
    (["--compile-to", "nirvana"], ["nirvana", "fuse"]),
    (["--ranks", "3", "--pin", "dp=2,tp=2"], ["3"]),
    (["--train", "--loss", "hinge"], ["hinge", "cross-entropy"]),
    (["--train", "--loss", "output:nothing"], ["nothing", "y"]),
    (["--train", "--loss", "mse", "--lr-schedule", "zigzag"], ["zigzag", "cosine"]),
    (["--train", "--loss", "mse", "--freeze", "no.such.*"], ["no.such.*"]),
    (["--train", "--loss", "mse", "--pin", "micro-batches=3", "--profile", "batch=8"], ["8", "3"]),
])
def test_bad_options(gpucc, models, options, words):
    refused(gpucc("compile", models / "mlp.onnx", *options), 2, *words)


def test_wrong_input_names_what_was_expected(gpucc, models, tmp_path):
    np.savez(tmp_path / "in.npz", x=np.zeros((3, 5), np.float32))
    code, _, err = gpucc("run", models / "mlp.onnx", "--profile", "batch=8", "--inputs",
                         tmp_path / "in.npz")
    assert code == 2
    assert "x" in err and "16" in err, err


def test_no_such_file(gpucc):
    assert gpucc("compile", "/nonexistent.onnx")[0] == 2


def test_damaged_plan(gpucc, models, tmp_path):
    plan = tmp_path / "m.plan"
    gpucc.ok("compile", models / "mlp.onnx", "-o", plan)
    data = bytearray(plan.read_bytes())
    data[100] ^= 255
    plan.write_bytes(data)
    refused(gpucc("run", plan), 2, "m.plan")


def test_train_wants_a_training_plan(gpucc, models, tmp_path):
    plan = tmp_path / "m.plan"
    gpucc.ok("compile", models / "mlp.onnx", "-o", plan)
    np.savez(tmp_path / "d.npz", x=np.zeros((8, 16), np.float32))
    refused(gpucc("train", plan, "--data", tmp_path / "d.npz", "--steps", 1, "--save", tmp_path), 2,
            "--train")


def test_failed_comparison_is_exit_1(gpucc, models, tmp_path):
    np.savez(tmp_path / "in.npz", x=np.ones((1, 16), np.float32))
    np.savez(tmp_path / "expect.npz", y=np.full((1, 4), 1e3, np.float32))
    code, out, _ = gpucc("check", models / "mlp.onnx", "--inputs", tmp_path / "in.npz", "--expect",
                         tmp_path / "expect.npz")
    assert code == 1 and "first wrong: y" in out


def test_json_beside_the_table(gpucc, models, tmp_path):
    plan = tmp_path / "m.plan"
    gpucc.ok("compile", models / "mlp.onnx", "-o", plan)
    gpucc.ok("show", plan, "--memory", "--json", tmp_path / "m.json")
    assert {a["arena"] for a in json.loads((tmp_path / "m.json").read_text())["arenas"]} >= {"weights", "io"}
    gpucc.ok("explain", plan, "--json", tmp_path / "e.json")
    assert json.loads((tmp_path / "e.json").read_text())["stages"]


def test_cuda_kernels_are_shown(gpucc, models, tmp_path):
    plan = tmp_path / "m.plan"
    gpucc.ok("compile", models / "mlp.onnx", "--target", "cuda:sm_90a", "-o", plan)
    out = gpucc.ok("show", plan, "--kernels")
    assert "__global__" in out and "registers" in out


def test_runtime_has_no_llvm(gpucc_run):
    import subprocess
    libraries = subprocess.run(["ldd", gpucc_run.program], capture_output=True, text=True).stdout
    assert "LLVM" not in libraries and "MLIR" not in libraries


def test_completion(gpucc):
    out = gpucc.ok("completion")
    assert "--compile-to" in out and "complete -o filenames -F _gpucc gpucc" in out


def weights(**arrays):
    return [onnx.numpy_helper.from_array(np.asarray(a), name) for name, a in arrays.items()]


def test_value_read_through_two_shapes_is_not_overwritten(gpucc, tmp_path):
    """b + transpose(reshape(b)): the sum may not take b's buffer."""
    rng = np.random.default_rng(0)
    path = model(tmp_path / "m.onnx",
                 [helper.make_node("MatMul", ["x", "w"], ["b"]), helper.make_node("Reshape", ["b", "s"], ["r"]),
                  helper.make_node("Transpose", ["r"], ["t"], perm=[1, 0]), helper.make_node("Add", ["b", "t"], ["c"]),
                  helper.make_node("Softmax", ["c"], ["d"]), helper.make_node("MatMul", ["d", "w"], ["y"])],
                 [tensor("x", [16, 16])], [tensor("y", [16, 16])],
                 weights(w=rng.random((16, 16), np.float32), s=np.array([16, 16])))
    gpucc.ok("check", path)


def test_initializers_named_like_functions(gpucc, tmp_path):
    path = model(tmp_path / "m.onnx", [helper.make_node("Mul", ["x", "main"], ["a"]),
                                       helper.make_node("Add", ["a", "main.weight"], ["b"]),
                                       helper.make_node("Add", ["b", "stage0"], ["y"])],
                 [tensor("x", [4])], [tensor("y", [4])],
                 weights(main=np.full(4, 2, np.float32), **{"main.weight": np.full(4, 5, np.float32)},
                         stage0=np.full(4, 7, np.float32)))
    np.savez(tmp_path / "in.npz", x=np.ones(4, np.float32))
    np.savez(tmp_path / "expect.npz", y=np.full(4, 14, np.float32))
    gpucc.ok("check", path, "--inputs", tmp_path / "in.npz", "--expect", tmp_path / "expect.npz")
    gpucc.ok("check", path, "--train", "--loss", "mse")


def test_training_refuses_what_it_cannot_train(gpucc, tmp_path):
    ones = weights(w=np.ones((4, 4), np.float32))
    path = model(tmp_path / "flat.onnx", [helper.make_node("MatMul", ["x", "w"], ["a"]),
                                          helper.make_node("Sign", ["a"], ["y"])],
                 [tensor("x", [4, 4])], [tensor("y", [4, 4])], ones)
    refused(gpucc("compile", path, "--train", "--loss", "mse"), 2, "gradient")
    path = model(tmp_path / "name.onnx", [helper.make_node("MatMul", ["x", "micro"], ["y"])],
                 [tensor("x", [4, 4])], [tensor("y", [4, 4])], weights(micro=np.ones((4, 4), np.float32)))
    refused(gpucc("compile", path, "--train", "--loss", "mse"), 2, "micro", "rename")


def test_plan_does_not_overwrite_its_model(gpucc, models):
    before = (models / "mlp.onnx").read_bytes()
    refused(gpucc("compile", models / "mlp.onnx", "-o", models / "mlp.onnx"), 2, "overwrite")
    assert (models / "mlp.onnx").read_bytes() == before


@pytest.mark.parametrize("option", ["--lr", "--accumulate", "--memory-budget"])
def test_training_options_need_train(gpucc, models, option):
    refused(gpucc("compile", models / "mlp.onnx", option, "1"), 2, option, "--train")
