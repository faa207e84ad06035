"""What a node may look like: gpucc refuses what ONNX Runtime refuses, and takes what it takes."""
import re

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.capi import onnxruntime_pybind11_state as state

from conftest import ROOT

MICROSOFT = ROOT / "lib/Conversion/FrontendToGraph/MicrosoftSchemas.cpp"
KINDS = {"INT": "i", "FLOAT": "f", "STRING": "s", "INTS": "I", "FLOATS": "F", "TENSOR": "t"}


def runtime_rows():
    """The schemas of ONNX Runtime as rows, by their name there."""
    def count(n):
        return -1 if n == 2**31 - 1 else n
    rows = {}
    for s in state.get_all_operator_schema():
        attributes = " ".join(KINDS.get(str(a.type).split(".")[-1], "?") + ":!"[a.required] + n for n, a in sorted(s.attributes.items()))
        name = f"{s.domain}.{s.name}" if s.domain else s.name
        rows[name, s.since_version] = [count(n) for n in (s.min_input, s.max_input, s.min_output, s.max_output)] + [attributes]
    return rows


def test_rows_of_microsoft_are_those_of_onnx_runtime():
    text = re.sub(r'"\s+"', "", MICROSOFT.read_text())
    written = re.findall(r'\{"([\w.]+)", (\d+), (-?\d+), (-?\d+), (-?\d+), (-?\d+),\s*"([^"]*)"\}', text)
    rules = set()
    for path in (ROOT / "lib/Conversion/FrontendToGraph/Rules").glob("*.cpp"):
        rules |= set(re.findall(r'\{"(com\.microsoft\.\w+)"', path.read_text()))
    expected = runtime_rows()
    assert rules <= {row[0] for row in written}, "an operator that is converted has no row"
    assert [row[0] for row in written] == sorted(row[0] for row in written)
    for name, since, *counts, attributes in written:
        assert [*map(int, counts), attributes] == expected[name, int(since)], name


def tensor(name, shape=(2, 4), dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def model(node, opset, shapes, weights=()):
    result = TensorProto.INT64 if node.op_type == "Shape" else TensorProto.FLOAT
    graph = helper.make_graph([node], "g", [tensor(n, s) for n, s in shapes.items()],
                              [tensor(o, None, result) for o in node.output if o], list(weights))
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def node(op, operands, results="y", domain="", **attributes):
    return helper.make_node(op, list(operands), list(results), name="n", domain=domain, **attributes)


CASES = {
    "plain": (node("Softmax", "x", axis=1), 13),
    "misspelt": (node("Softmax", "x", axs=1), 13),
    "private": (node("Softmax", "x", __origin="here"), 13),
    "one underscore": (node("Softmax", "x", _origin="here"), 13),
    "number for an integer": (node("Softmax", "x", axis=1.0), 13),
    "string for an integer": (node("Softmax", "x", axis="1"), 13),
    "list for an integer": (node("Softmax", "x", axis=[1]), 13),
    "integer for a number": (node("LeakyRelu", "x", alpha=1), 13),
    "two operands": (node("Relu", "xx"), 13),
    "an empty operand more": (node("Relu", ["x", ""]), 13),
    "two results": (node("Relu", "x", "yw"), 13),
    "no operands": (node("Relu", ""), 13),
    "one of two operands": (node("Add", "x"), 13),
    "no required attribute": (node("Cast", "x"), 13),
    "required attribute": (node("Cast", "x", to=TensorProto.FLOAT), 13),
    "any number of operands": (node("Concat", "xxxxxx", axis=0), 13),
    "none of any number": (node("Concat", "", axis=0), 13),
    "attribute of the next version": (node("Shape", "x", start=1), 13),
    "attribute of this version": (node("Shape", "x", start=1), 15),
    "attribute of the last version": (node("Squeeze", "x", axes=[0]), 13),
    "Gelu of Microsoft": (node("Gelu", "x", domain="com.microsoft"), 17),
    "Gelu of Microsoft with an attribute": (node("Gelu", "x", domain="com.microsoft", approximate="tanh"), 17),
    "BiasGelu with three": (node("BiasGelu", "xxx", domain="com.microsoft"), 17),
    "FusedMatMul with scales": (node("FusedMatMul", "xz", domain="com.microsoft", alpha=0.5, transB=1), 17),
    "FusedMatMul misspelt": (node("FusedMatMul", "xz", domain="com.microsoft", transb=1), 17),
}


@pytest.mark.parametrize("case", CASES)
def test_as_onnx_runtime(gpucc, tmp_path, case):
    broken, opset = CASES[case]
    shape = (1, 4) if "last version" in case else (2, 4)
    made = model(broken, opset, {"x": shape, "z": shape})
    try:
        onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
        taken = True
    except Exception as error:
        taken = False
        assert "INVALID_GRAPH" in str(error), error
    onnx.save(made, tmp_path / "m.onnx")
    code, _, err = gpucc("compile", tmp_path / "m.onnx", "-o", tmp_path / "m.plan")
    assert code == (0 if taken else 2), err
    assert taken or f"node 'n' ({'com.microsoft.' if broken.domain else ''}{broken.op_type}, opset" in err


def group_query(operands=7, **attributes):
    """One head of 8 numbers, 2 tokens, no cache; operands from 7 on are there when asked for."""
    names = ["q", "k", "v", "", "", "lengths", "total"] + [""] * (operands - 8) + ["more"] * (operands > 7)
    weights = [numpy_helper.from_array(np.array([1], np.int32), "lengths"), numpy_helper.from_array(np.array(2, np.int32), "total"),
               numpy_helper.from_array(np.ones(8, np.float32), "more")]
    return model(node("GroupQueryAttention", names, domain="com.microsoft", num_heads=1, kv_num_heads=1, **attributes), 17,
                 {n: (1, 2, 8) for n in "qkv"}, weights)


REFUSED = [({"operands": n}, 3) for n in (12, 13, 15, 17)]
REFUSED += [({"operands": 18}, 2), ({"causal": 0}, 3), ({"k_quant_type": "PER_TENSOR"}, 3), ({"causal": 1, "k_quant_type": "NONE"}, 0)]


@pytest.mark.parametrize("asked,code", REFUSED, ids=str)
def test_no_operand_is_ignored(gpucc, tmp_path, asked, code):
    onnx.save(group_query(**asked), tmp_path / "m.onnx")
    found, _, err = gpucc("compile", tmp_path / "m.onnx", "-o", tmp_path / "m.plan")
    assert found == code, err
