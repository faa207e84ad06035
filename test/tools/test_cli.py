"""Help, errors and exit codes of gpucc: 0 fine, 1 comparison failed, 2 bad input, 3 unsupported."""
import json
import re

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


@pytest.mark.parametrize("option", ["--lr", "--accumulate"])
def test_training_options_need_train(gpucc, models, option):
    refused(gpucc("compile", models / "mlp.onnx", option, "1"), 2, option, "--train")


# Refused, or defined as PyTorch documents

def test_plan_beyond_the_memory_is_refused_not_aborted(gpucc, gpucc_run, models, tmp_path):
    plan = tmp_path / "huge.plan"
    gpucc.ok("compile", models / "mlp.onnx", "--profile", "batch=10000000000", "-o", plan)
    for program in (gpucc, gpucc_run):
        code, _, err = program("run", plan) if program is gpucc else program(plan)
        assert code == 2 and "the plan needs" in err and "--memory-budget" in err, (code, err)


@pytest.fixture(scope="session")
def classifier(gpucc, models, tmp_path_factory):
    """A training plan of 4 classes and 8 samples per step."""
    folder = tmp_path_factory.mktemp("classifier")
    plan = folder / "m.plan"
    gpucc.ok("compile", models / "mlp.onnx", "--train", "--lr", "0.1", "--profile", "batch=8", "-o", plan)
    return plan


def train_on(gpucc, plan, folder, labels, *more):
    x = np.random.default_rng(0).standard_normal((8, 16), np.float32)
    np.savez(folder / "d.npz", x=x, labels=np.asarray(labels, np.int64))
    return gpucc("train", plan, "--data", folder / "d.npz", "--steps", 1, "--save", folder / "run", *more)


def test_null_driver_does_not_train(gpucc, classifier, tmp_path):
    refused(train_on(gpucc, classifier, tmp_path, [0] * 8, "--driver", "null"), 2, "'null'", "host", "--driver")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("label", [4, -1, 2**40])
def test_labels_beyond_the_classes_are_refused(gpucc, classifier, tmp_path, label):
    refused(train_on(gpucc, classifier, tmp_path, [0, 1, label, 3, 0, 1, 2, 3]), 2, "labels", str(label), "element 2",
            "0 to 3", "--ignore-index")


def test_batch_of_ignored_labels_changes_nothing(gpucc, classifier, models, tmp_path):
    """PyTorch: the mean over no labels is 0/0, NaN, and every gradient is 0."""
    code, _, err = train_on(gpucc, classifier, tmp_path, [-100] * 8)
    assert code == 0, err
    log = json.loads((tmp_path / "run" / "log.jsonl").read_text())
    assert log["loss"] is None and log["grad_norm"] == 0
    state = (tmp_path / "run" / "state.safetensors").read_bytes()
    header = json.loads(state[8:8 + int.from_bytes(state[:8], "little")])
    for weight in onnx.load(models / "mlp.onnx").graph.initializer:
        begin, end = (8 + int.from_bytes(state[:8], "little") + at for at in header[weight.name]["data_offsets"])
        np.testing.assert_array_equal(np.frombuffer(state[begin:end], np.float32),
                                      onnx.numpy_helper.to_array(weight).ravel(), weight.name)


def test_names_beyond_ascii(gpucc, gpucc_run, tmp_path):
    path = model(tmp_path / "m.onnx", [helper.make_node("Neg", ["größe"], ["答え"])], [tensor("größe", [3])],
                 [tensor("答え", [3])])
    plan = tmp_path / "m.plan"
    gpucc.ok("compile", path, "-o", plan)
    np.savez(tmp_path / "in.npz", **{"größe": np.float32([1, 2, 3])})
    for program in (gpucc, gpucc_run):
        program.ok(*(["run"] if program is gpucc else []), plan, "--inputs", tmp_path / "in.npz", "--outputs",
                   tmp_path / "out.npz")
        assert np.load(tmp_path / "out.npz")["答え"].tolist() == [-1, -2, -3]


@pytest.mark.parametrize("precision, what", [("bf16", "bf16"), ("mixed-bf16", "bf16"), ("f16", "f16"), ("tf32", "tf32")])
def test_old_architecture_lacks_narrow_products(gpucc, models, precision, what):
    refused(gpucc("compile", models / "mlp.onnx", "--profile", "batch=32", "--target", "cuda:sm_75", "--precision",
                  precision), 3, "sm_75", what, "sm_80", "--precision f32")


def attention(path):
    """softmax(q k^T / 4) v, which becomes one graph.attention."""
    nodes = [helper.make_node("Transpose", ["k"], ["kt"], perm=[0, 1, 3, 2]), helper.make_node("MatMul", ["q", "kt"], ["s"]),
             helper.make_node("Mul", ["s", "scale"], ["t"]), helper.make_node("Softmax", ["t"], ["p"], axis=-1),
             helper.make_node("MatMul", ["p", "v"], ["y"])]
    shape = [1, 2, 32, 16]
    return model(path, nodes, [tensor(name, shape) for name in "qkv"], [tensor("y", shape)],
                 weights(scale=np.float32(0.25)))


@pytest.mark.parametrize("precision, code", [("f32", 0), ("tf32", 0), ("f16", 3), ("bf16", 3)])
def test_old_architecture_lacks_narrow_attention(gpucc, tmp_path, precision, code):
    """Refused before there is code for it; in f32 its rows are copied without the asynchronous copies of sm_80."""
    command = ["compile", attention(tmp_path / "m.onnx"), "--target", "cuda:sm_75", "--precision", precision, "-o",
               tmp_path / "m.plan"]
    gpucc.ok("compile", tmp_path / "m.onnx", "--compile-to=graph", "-o", tmp_path / "m.mlir")
    assert "graph.attention" in (tmp_path / "m.mlir").read_text()
    if code:
        refused(gpucc(*command), code, "sm_75", precision, "sm_80", "--precision f32")
    else:
        gpucc.ok(*command)


@pytest.mark.parametrize("declared, words", [
    (tensor("y", [2, 5]), ["2x5", "2x4"]), (tensor("y", [2, 4, 1]), ["2x4x1", "2x4"]), (tensor("y", ["n", 4]), [])])
def test_contradicting_declaration_of_an_output_is_a_warning(gpucc, tmp_path, declared, words):
    path = model(tmp_path / "m.onnx", [helper.make_node("Neg", ["x"], ["y"])], [tensor("x", [2, 4])], [declared])
    code, _, err = gpucc("compile", path, "-o", tmp_path / "m.plan")
    assert code == 0, err
    assert ("warning: output 'y' is declared as" in err) == bool(words), err
    assert all(word in err for word in words), err


def test_nan_on_both_sides_is_no_agreement(gpucc, tmp_path):
    """The loss is NaN in plan and reference alike: nothing was compared."""
    path = model(tmp_path / "m.onnx", [helper.make_node("MatMul", ["x", "w"], ["a"]),
                                       helper.make_node("Mul", ["a", "nan"], ["y"])],
                 [tensor("x", [4, 4])], [tensor("y", [4, 4])],
                 weights(w=np.ones((4, 4), np.float32), nan=np.float32(np.nan)))
    code, out, _ = gpucc("check", path, "--train", "--loss", "mse")
    assert code == 1 and "NaN on both sides" in out, out


def test_unknown_command_lists_the_commands(gpucc):
    refused(gpucc("compiel", "m.onnx"), 2, "compiel", "compile", "simulate", "--help")


def test_json_to_stdout_is_nothing_but_json(gpucc, models, tmp_path):
    plan = tmp_path / "m.plan"
    gpucc.ok("compile", models / "mlp.onnx", "--profile", "batch=4", "-o", plan)
    for command in (["show", plan, "--memory"], ["explain", plan],
                    ["check", models / "mlp.onnx", "--profile", "batch=4"], ["topo", "h100"]):
        code, out, err = gpucc(*command, "--json", "-", cwd=tmp_path)
        assert code == 0 and json.loads(out) and err, command
        assert not (tmp_path / "-").exists()


def test_resume_says_what_it_does_not_find(gpucc, models, tmp_path):
    rng = np.random.default_rng(2)
    np.savez(tmp_path / "d.npz", x=rng.standard_normal((8, 16)).astype(np.float32),
             labels=rng.standard_normal((8, 4)).astype(np.float32))
    for name, flags in (("adamw", []), ("sgd", ["--momentum", "0.9"])):
        gpucc.ok("compile", models / "mlp.onnx", "--train", "--loss", "mse", "--optimizer", name, *flags,
                 "--profile", "batch=8", "-o", tmp_path / f"{name}.plan")
    (tmp_path / "empty").mkdir()

    def train(plan, resume):
        code, _, err = gpucc("train", tmp_path / plan, "--data", tmp_path / "d.npz", "--steps", 2, "--save",
                             tmp_path / "run", "--resume", tmp_path / resume)
        assert code == 0, err
        return err

    err = train("adamw.plan", "empty")
    assert "warning" in err and "state.safetensors" in err and "step 1" in err
    assert train("adamw.plan", "run") == ""
    err = train("sgd.plan", "run")
    assert "warning" in err and "have no place in this plan" in err and "optimizer" in err


def test_a_loss_that_is_no_number_is_said_once(gpucc, models, tmp_path):
    np.savez(tmp_path / "d.npz", x=np.full((8, 16), np.nan, np.float32), labels=np.zeros((8, 4), np.float32))
    gpucc.ok("compile", models / "mlp.onnx", "--train", "--loss", "mse", "--profile", "batch=8", "-o",
             tmp_path / "m.plan")
    code, _, err = gpucc("train", tmp_path / "m.plan", "--data", tmp_path / "d.npz", "--steps", 3, "--save",
                         tmp_path / "run")
    assert code == 0 and err.count("not finite") == 1 and "step 1" in err, err


def test_nan_on_both_sides_beside_a_difference_is_no_agreement(gpucc, tmp_path):
    """y[0] is NaN whatever the weights are; the rest differs a little, within the tolerance, on two ranks and one."""
    mask = np.array([[np.nan, 1, 1, 1]], np.float32)
    path = model(tmp_path / "m.onnx", [helper.make_node("MatMul", ["x", "w"], ["a"]),
                                       helper.make_node("Mul", ["a", "mask"], ["y"])],
                 [tensor("x", [4, 64])], [tensor("y", [4, 4])],
                 weights(w=np.random.default_rng(0).standard_normal((64, 4)).astype(np.float32), mask=mask))
    code, out, _ = gpucc("check", path, "--train", "--loss", "mse", "--freeze", "mask", "--ranks", 2, "--pin", "tp=2")
    assert code == 1 and "FAIL y " in out and "NaN on both sides at [0, 0]" in out, out


@pytest.mark.parametrize("train", [["--train", "--loss", "mse"], []])
def test_check_takes_the_given_tolerance(gpucc, models, train):
    command = ["check", models / "mlp.onnx", "--profile", "batch=8", *train]
    assert gpucc(*command)[0] == 0
    code, out, err = gpucc(*command, "--tolerance", "0.5")
    assert code == 0 and "(allowed 5e-01)" in out, out + err
    refused(gpucc(*command, "--tolerance", "-1"), 2, "--tolerance")


def test_check_refuses_a_tolerance_for_node_tests(gpucc, tmp_path):
    refused(gpucc("check", "--onnx-tests", tmp_path, "--tolerance", "1"), 2, "--tolerance", "--onnx-tests")


def test_times_name_every_command(gpucc, models, tmp_path):
    """The table's shares are of the whole step, largest first; its names are those of the trace."""
    gpucc.ok("compile", models / "lenet.onnx", "--profile", "batch=1", "-o", tmp_path / "l.plan")
    out = gpucc.ok("run", tmp_path / "l.plan", "--iterations", "5", "--times", "--trace", tmp_path / "t.json")
    rows = re.findall(r"^ *([\d.]+) % +([\d.]+)  (\w+) +(.*)$", out, re.M)
    times = [float(row[1]) for row in rows]
    count, whole = re.search(r"command \(of (\d+), ([\d.]+) us together\)", out).groups()
    assert int(count) == len(rows) and times == sorted(times, reverse=True)
    assert abs(sum(times) - float(whole)) < 0.1 and abs(sum(float(row[0]) for row in rows) - 100) < 1
    events = [e for e in json.loads((tmp_path / "t.json").read_text())["traceEvents"] if e["ph"] == "X"]
    assert len(events) == 5 * len(rows)
    assert sorted((e["cat"], e["name"]) for e in events[:len(rows)]) == sorted((row[2], row[3]) for row in rows)
