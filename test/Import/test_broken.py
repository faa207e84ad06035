"""Broken and hostile ONNX files: exit code 2, and an error that names place, found, allowed, remedy."""
import os

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper


def info(name, shape=(2, 4), kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, list(shape))


def graph(nodes, initializers=(), inputs=None, outputs=None):
    return helper.make_graph(nodes, "g", inputs or [info("x")], outputs or [info("y")],
                             list(initializers))


def model(g, ir=8, opset=17):
    return helper.make_model(g, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir)


def relu(src="x", dst="y", name="n"):
    return helper.make_node("Relu", [src], [dst], name=name)


def external(location, offset=0, length=16, **extra):
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[4],
                         data_location=TensorProto.EXTERNAL)
    for key, value in dict(location=location, offset=offset, length=length, **extra).items():
        tensor.external_data.add(key=key, value=str(value))
    return model(graph([helper.make_node("Add", ["x", "w"], ["y"])], [tensor]))


def weight(dims, **fields):
    return TensorProto(name="w", data_type=TensorProto.FLOAT, dims=dims, **fields)


def add(tensor):
    return model(graph([helper.make_node("Add", ["x", "w"], ["y"], name="add")], [tensor]))


W4 = numpy_helper.from_array(np.ones(4, np.float32), "w")

CASES = {
    "cut short": (lambda: add(W4).SerializeToString()[:-7], "not a protobuf message"),
    "not a model": (lambda: b"PK\x03\x04 zip file", "is no ONNX model"),
    "empty": (lambda: b"", "the message has no graph"),
    "old ir": (lambda: model(graph([relu()]), ir=2), "IR version 2"),
    "dangling name": (lambda: model(graph([relu("nowhere")])), "reads 'nowhere', which no node"),
    "dangling output": (lambda: model(graph([relu(dst="z")])), "lists the output 'y'"),
    "cycle": (lambda: model(graph([relu("b", "a", "n1"), relu("a", "b", "n2"),
                                   relu("x", "y", "n3")])), "has a cycle through node 'n1'"),
    "produced twice": (lambda: model(graph([relu(name="n1"), relu(name="n2")])),
                       "produces 'y', which is produced or stored already"),
    "short payload": (lambda: add(weight([4], raw_data=b"\0" * 12)),
                      "has 12 bytes of data; its dims and type take 16"),
    "short typed payload": (lambda: add(TensorProto(name="w", data_type=TensorProto.INT32,
                                                    dims=[4], int32_data=[1, 2])),
                            "has 4 elements by its dims but 2 in int32_data"),
    "negative dim": (lambda: add(weight([-4], raw_data=b"")), "negative dimension -4"),
    "huge dims": (lambda: add(weight([1 << 40, 1 << 40], raw_data=b"")),
                  "more elements than 63 bits can count"),
    "initializer twice": (lambda: model(graph(
        [helper.make_node("Add", ["x", "w"], ["y"])], [W4, W4])), "'w' is empty or taken"),
    "external escape": (lambda: external("../secret"), "leads out of the model's folder"),
    "external absolute": (lambda: external("/etc/passwd"), "is no relative path"),
    "external missing": (lambda: external("nothing.bin"), "does not exist"),
    "external short": (lambda: external("data.bin", offset=8), "cut short"),
    "external offset": (lambda: external("data.bin", offset="abc"), "offset 'abc'"),
    "external overflow": (lambda: external("data.bin", offset=2**64 - 1), "offset '184467"),
    "external unknown key": (lambda: external("data.bin", evil=1), "unknown key 'evil'"),
    "external length": (lambda: external("data.bin", length=20), "take 16"),
    "external link": (lambda: external("link.bin"), "is a link out of the model's folder"),
    "external folder": (lambda: external("folder"), "is not a regular file"),
    "no outputs": (lambda: model(helper.make_graph([relu()], "g", [info("x")], [])),
                   "has no outputs"),
    "axis": (lambda: model(graph([helper.make_node("Softmax", ["x"], ["y"], name="sm", axis=5)])),
             "axis 5 is outside [-2, 1]"),
    "shapes": (lambda: add(numpy_helper.from_array(np.ones(3, np.float32), "w")),
               "operands of shapes [2,4] and [3] do not broadcast"),
    "attribute twice": (lambda: twice(), "has the attribute 'axis' twice"),
    "missing operand": (lambda: model(graph([helper.make_node("Add", ["x", ""], ["y"],
                                                              name="add")])),
                        "operand 1 is missing"),
}


def twice():
    node = helper.make_node("Softmax", ["x"], ["y"], name="sm", axis=1)
    node.attribute.append(helper.make_attribute("axis", 0))
    return model(graph([node]))


@pytest.mark.parametrize("case", CASES)
def test_broken(case, translate, tmp_path):
    make, expected = CASES[case]
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "data.bin").write_bytes(b"\0" * 64)
    folder = tmp_path / "model"
    (folder / "folder").mkdir(parents=True)
    (folder / "data.bin").write_bytes(b"\0" * 16)
    os.symlink(outside / "data.bin", folder / "link.bin")
    broken = make()
    path = folder / "m.onnx"
    path.write_bytes(broken if isinstance(broken, bytes) else broken.SerializeToString())
    run = translate(path)
    assert run.returncode == 2, (run.returncode, run.stdout, run.stderr)
    assert expected in run.stderr, run.stderr
    assert "m.onnx" in run.stderr or case == "empty"


def test_links_can_be_allowed(translate, tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "blob").write_bytes(b"\0" * 16)
    os.symlink(tmp_path / "blob", folder / "w.bin")
    (folder / "m.onnx").write_bytes(external("w.bin").SerializeToString())
    assert translate(folder / "m.onnx").returncode == 2
    run = translate("--follow-links", folder / "m.onnx")
    assert run.returncode == 0, run.stderr
    assert 'graph.files = ["m.onnx", "w.bin"]' in run.stdout


def test_unsupported_lists_everything(translate, tmp_path):
    nodes = [helper.make_node("Det", ["x"], ["a"], name="first"),
             helper.make_node("Frobnicate", ["a"], ["b"], name="second", domain="com.example"),
             helper.make_node("MaxRoiPool", ["b", "b"], ["y"], name="third")]
    m = model(graph(nodes))
    m.opset_import.append(helper.make_opsetid("com.example", 3))
    path = tmp_path / "m.onnx"
    path.write_bytes(m.SerializeToString())
    run = translate(path)
    assert run.returncode == 3
    for text in ("3 nodes that gpucc cannot compile", "'first' (Det, opset 17)",
                 "'second' (com.example.Frobnicate, opset 3)", "'third' (MaxRoiPool"):
        assert text in run.stderr, run.stderr


def test_unsorted_nodes_are_sorted(translate, tmp_path):
    m = model(graph([relu("h", "y", "late"), relu("x", "h", "early")]))
    path = tmp_path / "m.onnx"
    path.write_bytes(m.SerializeToString())
    run = translate(path, "--to=frontend")
    assert run.returncode == 0, run.stderr
    assert run.stdout.index('"early"') < run.stdout.index('"late"')


def test_long_chain_needs_no_stack(translate, tmp_path):
    count = 20000
    nodes = [relu("x" if i == 0 else f"v{i - 1}", "y" if i == count - 1 else f"v{i}", f"n{i}")
             for i in range(count)]
    path = tmp_path / "m.onnx"
    path.write_bytes(model(graph(nodes)).SerializeToString())
    assert translate(path, "-o", tmp_path / "out").returncode == 0


def test_functions_are_put_in_place(translate, tmp_path):
    body = [helper.make_node("LeakyRelu", ["a"], ["t"]), helper.make_node("Neg", ["t"], ["b"])]
    body[0].attribute.add(name="alpha", ref_attr_name="slope", type=onnx.AttributeProto.FLOAT)
    f = helper.make_function("my", "Twist", ["a"], ["b"], body, [helper.make_opsetid("", 17)],
                             ["slope"])
    g = graph([helper.make_node("Twist", ["x"], ["y"], domain="my", name="call", slope=0.5)])
    m = helper.make_model(g, functions=[f], ir_version=8, opset_imports=[
        helper.make_opsetid("", 17), helper.make_opsetid("my", 1)])
    path = tmp_path / "m.onnx"
    path.write_bytes(m.SerializeToString())
    run = translate(path)
    assert run.returncode == 0, run.stderr
    assert "dense<5.000000e-01>" in run.stdout and "graph.unary" in run.stdout
