"""Hand-made broken ONNX models: rows for test_bad_input.py. A row gives the model and the four parts of the message that
must refuse it: place, found, allowed, remedy. Operators take theirs from ops(): the place is the node, the remedy is the
note that every node's error ends in."""
from typing import NamedTuple

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, helper, numpy_helper

INT64, BOOL, UINT8 = TensorProto.INT64, TensorProto.BOOL, TensorProto.UINT8


class Model(NamedTuple):
    made: object  # a ModelProto, or bytes
    place: str
    found: str
    allowed: str
    remedy: str


def tensor(name, shape=(2, 4), dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, list(shape))


def model(nodes, weights=(), inputs=None, outputs=None, ir=8, opset=17, functions=(), opsets=()):
    graph = helper.make_graph(nodes, "g", inputs or [tensor("x")], outputs or [tensor("y", (None, None))], list(weights))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), *opsets], ir_version=ir,
                             functions=functions)


def node(op, inputs, outputs=("y",), name="broken", **attributes):
    return helper.make_node(op, list(inputs), list(outputs), name=name, **attributes)


def ints(name, *values):
    return numpy_helper.from_array(np.array(values, np.int64), name)


def number(name, value):
    return numpy_helper.from_array(np.array(value, np.int64), name)


def ones(name, *shape):
    return numpy_helper.from_array(np.ones(shape, np.float32), name)


def stored(shape=(4,), dtype=TensorProto.FLOAT, **fields):
    return TensorProto(name="w", data_type=dtype, dims=list(shape), **fields)


def external(*pairs):
    w = stored(data_location=TensorProto.EXTERNAL)
    for key, value in pairs:
        w.external_data.add(key=key, value=str(value))
    return w


def adds(w, dtype=TensorProto.FLOAT):
    return model([node("Add", "xw")], [w], [tensor("x", (2, 4), dtype)])


# ------------------------------------------------------------------------------------------ files
RELU = node("Relu", "x")
NO_GRAPH = onnx.ModelProto(ir_version=8, opset_import=[helper.make_opsetid("", 17)])
NO_OUTPUTS = helper.make_model(helper.make_graph([RELU], "g", [tensor("x")], []), ir_version=8,
                               opset_imports=[helper.make_opsetid("", 17)])
CUT = "the file is cut short"

FILES = {
    "empty file": Model(b"", "m.onnx", "has no graph", "a ModelProto", "as onnx.save writes it"),
    "text file": Model(b"ir_version: 8\n", "m.onnx", "not a protobuf message from byte 10", CUT, "export or download it"),
    "zeros": Model(bytes(64), "m.onnx", "not a protobuf message from byte 2", CUT, "export or download it"),
    "cut in a weight": Model(adds(ones("w", 4)).SerializeToString()[:-7], "m.onnx", "not a protobuf message", CUT,
                             "export or download it"),
    "no graph": Model(NO_GRAPH, "m.onnx", "has no graph", "a ModelProto", "as onnx.save writes it"),
    "ir zero": Model(model([RELU], ir=0), "m.onnx", "has IR version 0", "3 and newer are read", "onnx.version_converter"),
    "opset zero": Model(model([RELU], opset=0), "m.onnx", "version 0 of domain ''", "versions start at 1", "correct opset_import"),
    "opset negative": Model(model([RELU], opset=-1), "m.onnx", "version -1", "versions start at 1", "correct opset_import"),
    "opset twice": Model(model([RELU], opsets=[helper.make_opsetid("", 13)]), "m.onnx", "versions 17 and 13", "one is allowed",
                         "remove the other"),
    "no outputs": Model(NO_OUTPUTS, "graph 'g'", "has no outputs", "at least one", "list it in graph.output"),
}

# ------------------------------------------------------------------------------------------ names
ONE_PRODUCER = "every value has one producer"
DEFINES = "no node, input or initializer defines"

NAMELESS_BODY = helper.make_graph([node("Add", "ab", ("s",))], "body", [tensor("a", (2,)), tensor("b", (2,))],
                                  [tensor("", (2,)), tensor("s", (2,))])
NAMES = {
    "output without a name in a body": Model(
        model([node("Scan", ("a", "x"), ("y", "z"), body=NAMELESS_BODY, num_scan_inputs=1)],
              inputs=[tensor("a", (2,)), tensor("x", (3, 2))], outputs=[tensor("y", (2,)), tensor("z", (3, 2))]),
        "m.onnx", "output 'y' gets no value", "the name of a value", "give it one, or remove it"),
    "produced twice": Model(model([node("Relu", "x", name="first"), node("Neg", "x")]), "node 'broken'", "produces 'y'",
                            ONE_PRODUCER, "rename it"),
    "output twice in a node": Model(model([node("Split", "x", "yy", axis=1)]), "node 'broken'", "produces 'y'", ONE_PRODUCER,
                                    "rename it"),
    "node overwrites weight": Model(model([node("Relu", "x", "w"), node("Add", "xw", name="next")], [ones("w", 4)]),
                                    "node 'broken'", "produces 'w'", ONE_PRODUCER, "rename it"),
    "weight twice": Model(model([node("Add", "xw")], [ones("w", 4), ones("w", 4)]), "initializer name 'w'",
                          "is empty or taken", "owners", "rename one"),
    "weight without a name": Model(model([node("Add", "xw")], [ones("", 4)]), "initializer name ''", "is empty or taken",
                                   "owners", "rename one"),
    "input twice": Model(model([RELU], inputs=[tensor("x"), tensor("x")]), "graph 'g'", "lists the input 'x' twice",
                         "each its own", "give each"),
    "input without a name": Model(model([RELU], inputs=[tensor("x"), tensor("")]), "graph 'g'", "without a name",
                                  "each its own", "give each"),
    "output dangles": Model(model([node("Relu", "x", "z")]), "graph 'g'", "lists the output 'y'", DEFINES, "correct the name"),
    "no nodes": Model(model([]), "graph 'g'", "lists the output 'y'", DEFINES, "correct the name"),
    "reads itself": Model(model([node("Add", "xy")]), "through node 'broken'", "has a cycle", "must be acyclic", "use Loop"),
    "overwrites its input": Model(model([node("Relu", "x", "x"), node("Relu", "x", name="next")]), "through node 'broken'",
                                  "has a cycle", "must be acyclic", "use Loop"),
    "input without a type": Model(model([RELU], inputs=[onnx.ValueInfoProto(name="x")]), "input 'x'", "has no type",
                                  "an element type and a shape", "add them"),
    "input without a shape": Model(model([RELU], inputs=[helper.make_tensor_value_info("x", 1, None)]), "input 'x'",
                                   "has no shape", "sizes or names for its dimensions", "add them"),
    "input huge": Model(model([RELU], inputs=[tensor("x", (1 << 40, 1 << 40))]), "input 'x'", "more than 2^40 elements",
                        "what is allowed", "choose smaller sizes"),
    "input of 17 dimensions": Model(model([RELU], inputs=[tensor("x", (1,) * 17)]), "input 'x'", "has 17 dimensions", "at most 16 are allowed",
                                    "merge some"),
    "output without a name": Model(model([RELU], outputs=[tensor("", (None, None))]), "m.onnx", "output 0 has no name",
                                   "the name of a value", "give it one, or remove it"),
    "output of another type": Model(model([RELU], outputs=[tensor("y", (2, 4), INT64)]), "broken (Relu)",
                                    "output 'y' is declared with elements of type 'i64', the model computes 'f32'", "both must be the same",
                                    "correct the declaration or add a Cast"),
    "input of 2^62": Model(model([RELU], inputs=[tensor("x", (1 << 62,))]), "input 'x'", "more than 2^40 elements",
                           "what is allowed", "choose smaller sizes"),
}

# ----------------------------------------------------------------------------------------- weights
BYTES = "its dims and type take 16"
OFFSET = "a number of bytes from 0 to 2^62 is allowed"
W, FIX, BESIDE = "initializer 'w'", "correct one of them", "put the file beside the model"
RAW = b"\0" * 16
FILE = ("location", "data.bin")  # 16 bytes

WEIGHTS = {
    "raw data long": Model(adds(stored(raw_data=b"\0" * 20)), W, "has 20 bytes", BYTES, FIX),
    "typed data short": Model(adds(stored(float_data=[1, 2])), W, "has 8 bytes", BYTES, FIX),
    "typed data long": Model(adds(stored(float_data=[1] * 9)), W, "has 36 bytes", BYTES, FIX),
    "data in the wrong field": Model(adds(stored(int64_data=[1, 2, 3, 4])), W, "but 0 in float_data", "as many values as the dims",
                                     "write as many"),
    "no data": Model(adds(stored()), W, "but 0 in float_data", "as many values as the dims", "write as many"),
    "data twice": Model(adds(stored(raw_data=RAW, float_data=[1] * 4)), W, "has its data twice", "one is allowed",
                        "remove the other"),
    "a segment": Model(adds(stored(raw_data=RAW, segment=TensorProto.Segment(begin=0, end=2))), W, "is a segment",
                       "whole tensors are read", "export it in one piece"),
    "elements beyond 63 bits": Model(adds(stored((1 << 33, 1 << 33), raw_data=b"")), W, "more elements than 63 bits",
                                     "at most 2^59 are allowed", "correct its dims"),
    "bytes beyond 63 bits": Model(adds(stored((1 << 62,), raw_data=b"")), W, "4611686018427387904 elements",
                                  "at most 2^59 are allowed", "correct its dims"),
    "least dimension": Model(adds(stored((-(1 << 63),), raw_data=b"")), W, "dimension -9223372036854775808",
                             "sizes are 0 or more", "correct its dims"),
    "huge without data": Model(adds(stored((1 << 40,), raw_data=b"")), W, "has 0 bytes", "take 4398046511104", FIX),
    "int8 of 200": Model(adds(stored(dtype=TensorProto.INT8, int32_data=[1, 2, 200, 4]), TensorProto.INT8), W, "has 200 in int32_data",
                         "int8 allows -128 to 127", "correct the value or the type"),
    "uint16 of -1": Model(adds(stored(dtype=TensorProto.UINT16, int32_data=[1, 2, 3, -1]), TensorProto.UINT16), W, "has -1 in int32_data",
                          "uint16 allows 0 to 65535", "correct the value or the type"),
    "bits of a half": Model(adds(stored(dtype=TensorProto.FLOAT16, int32_data=[0, 0, 0, 70000]), TensorProto.FLOAT16), W,
                            "has 70000 in int32_data", "float16 allows 0 to 65535", "correct the value or the type"),
    "file up inside": Model(adds(external(("location", "a/../../x"))), W, "'a/../../x'", "leads out of the model's folder", BESIDE),
    "file absolute": Model(adds(external(("location", "/etc/passwd"))), W, "'/etc/passwd'", "is no relative path", BESIDE),
    "file with a zero": Model(adds(external(("location", "data.bin\0x"))), W, "'data.bin", "is no relative path", BESIDE),
    "file backslash": Model(adds(external(("location", "..\\secret"))), W, "'..\\secret'", "does not exist in", "copy it there"),
    "file unnamed": Model(adds(external(("offset", 0))), W, "which is no name", "needs a location", "add the path of the file"),
    "file empty name": Model(adds(external(("location", ""))), W, "which is no name", "needs a location", "add the path"),
    "file is a folder": Model(adds(external(("location", "."))), W, "'.'", "is not a regular file", "with the tensor's bytes"),
    "file is the model": Model(adds(external(("location", "m.onnx"), ("offset", 1 << 20))), W, "bytes 1048576 to 1048592",
                               "which has only", "copy it again"),
    "file too short": Model(adds(external(FILE, ("offset", 8))), W, "bytes 8 to 24", "which has only 16", "copy it again"),
    "offset negative": Model(adds(external(FILE, ("offset", -1))), W, "offset '-1'", OFFSET, "correct it"),
    "offset text": Model(adds(external(FILE, ("offset", "abc"))), W, "offset 'abc'", OFFSET, "correct it"),
    "offset 2^63": Model(adds(external(FILE, ("offset", 1 << 63))), W, "offset '9223372036854775808'", OFFSET, "correct it"),
    "offset 2^64 - 1": Model(adds(external(FILE, ("offset", 2**64 - 1))), W, "offset '18446744073709551615'", OFFSET, "correct it"),
    "length other": Model(adds(external(FILE, ("length", 20))), W, "has 20 bytes", BYTES, FIX),
    "length zero": Model(adds(external(FILE, ("length", 0))), W, "has 0 bytes", BYTES, FIX),
    "length text": Model(adds(external(FILE, ("length", "16 bytes"))), W, "length '16 bytes'", OFFSET, "correct it"),
    "external key": Model(adds(external(FILE, ("evil", 1))), W, "unknown key 'evil'", "known are location, offset", "remove it"),
    "external key twice": Model(adds(external(FILE, FILE)), W, "the key 'location' twice", "each is allowed once", "remove one"),
}


# --------------------------------------------------------------------------- subgraphs, functions
def branch(*nodes, outputs=("b",)):
    return helper.make_graph(list(nodes), "branch", [], [tensor(o) for o in outputs])


def choice(then, otherwise):
    return model([node("If", "c", then_branch=then, else_branch=otherwise)], [], [tensor("x"), tensor("c", (), BOOL)])


def function(name, *nodes):
    return helper.make_function("my", name, ["a"], ["b"], list(nodes), [helper.make_opsetid("", 17), helper.make_opsetid("my", 1)])


def call(*functions, name="F", inputs=("x",), outputs=("y",)):
    return model([node(name, inputs, outputs, domain="my")], functions=functions, opsets=[helper.make_opsetid("my", 1)])


def inner(op, inputs="a", outputs="b", **more):
    return helper.make_node(op, list(inputs), list(outputs), **more)


def doubling(depth):
    """Each function calls the one before twice: 2^depth nodes when they are put in place."""
    made = [function("F0", inner("Relu"))]
    for i in range(1, depth):
        made.append(function(f"F{i}", inner(f"F{i - 1}", "a", "m", domain="my"), inner(f"F{i - 1}", "m", "b", domain="my")))
    return call(*made, name=f"F{depth - 1}")


def nested(depth):
    """If inside If, as bytes: Python's protobuf refuses to copy such a message."""
    graph = branch(node("Relu", "x", "b")).SerializeToString()
    other = branch(node("Neg", "x", "b"))

    def field(number, content):
        size, length = len(content), b""
        while size >= 128:
            length, size = length + bytes([size & 127 | 128]), size >> 7
        return bytes([number << 3 | 2]) + length + bytes([size]) + content
    for _ in range(depth):
        attribute = field(1, b"then_branch") + field(6, graph) + b"\xa0\x01\x05"
        made = helper.make_node("If", ["c"], ["b"], else_branch=other).SerializeToString() + field(5, attribute)
        graph = field(1, made) + field(2, b"branch") + field(12, tensor("b").SerializeToString())
    frame = model([], inputs=[tensor("x"), tensor("c", (), BOOL)], outputs=[tensor("b")])
    whole = frame.graph.SerializeToString() + field(1, made)
    del frame.graph.node[:]
    frame.ClearField("graph")
    return frame.SerializeToString() + field(7, whole)


THEN = branch(node("Relu", "x", "b"))
REFERENCE = node("LeakyRelu", "x")
REFERENCE.attribute.append(AttributeProto(name="alpha", ref_attr_name="slope", type=AttributeProto.FLOAT))
CALLS = ("calls itself, or calls are nested more than 64 deep", "which is what is allowed", "functions inlined")

BODIES = {
    "nested branches": Model(nested(60), "m.onnx", "nested more than 100 deep", "which is what is allowed", "export the model again"),
    "dangling name in a branch": Model(choice(THEN, branch(node("Relu", ["nowhere"], "b"))), "node 'broken' (Relu)",
                                       "reads 'nowhere'", DEFINES, "correct the name or add"),
    "cycle in a branch": Model(choice(THEN, branch(node("Relu", "q", "b"), node("Relu", "b", "q", name="next"))),
                               "graph 'branch'", "has a cycle", "must be acyclic", "use Loop"),
    "branch without its output": Model(choice(THEN, branch(node("Relu", "x", "q"))), "graph 'branch'", "lists the output 'b'",
                                       DEFINES, "correct the name"),
    "function calls itself": Model(call(function("F", inner("F", domain="my"))), "function 'F'", *CALLS),
    "functions call each other": Model(call(function("F", inner("G", domain="my")), function("G", inner("F", domain="my"))),
                                       "function 'F'", *CALLS),
    "functions double": Model(doubling(40), "m.onnx", "more than 2000000 nodes", "what is allowed", "functions that call each other less"),
    "function twice": Model(call(function("F", inner("Relu")), function("F", inner("Neg"))), "domain 'my'", "the function 'F'",
                            "a name stands for one function", "rename one"),
    "function operands": Model(call(function("F", inner("Relu")), inputs="xx"), "node 'broken'", "has 2 operands",
                               "the function 'F' has 1", "remove the others"),
    "function results": Model(call(function("F", inner("Relu")), outputs="yz"), "node 'broken'", "has 2 results",
                              "the function 'F' has 1", "remove the others"),
    "dangling name in a function": Model(call(function("F", inner("Relu", "q"))), "node 'broken/b' (Relu)", "reads 'q'", DEFINES,
                                         "correct the name or add"),
    "function without its output": Model(call(function("F", inner("Relu", "a", "c"))), "graph 'F'", "lists the output 'b'",
                                         DEFINES, "correct the name"),
    "cycle in a function": Model(call(function("F", inner("Add", "ac"), inner("Relu", "b", "c"))), "graph 'F'", "has a cycle",
                                 "must be acyclic", "use Loop"),
    "reference outside a function": Model(model([REFERENCE]), "node 'broken'", "the caller's 'slope'",
                                          "references are allowed in functions", "write the value"),
}


# --------------------------------------------------------------------------------------- operators
def op(name, found, allowed, operands="x", weights=(), shapes=None, types=None, results="y", opset=17, **attributes):
    """One node; `shapes` of its inputs, and their types where they are not f32."""
    inputs = [tensor(n, s, (types or {}).get(n, TensorProto.FLOAT)) for n, s in (shapes or {"x": (2, 4)}).items()]
    made = model([node(name, operands, results, **attributes)], weights, inputs, opset=opset)
    return Model(made, f"broken ({name})", found, allowed, f"remedy: correct node 'broken' ({name})")


def attribute(name, found, allowed, *attributes):
    broken = node(name, "x")
    broken.attribute.extend(attributes)
    remedy = "remove or rename one" if "each" in allowed else f"correct node 'broken' ({name})"
    return Model(model([broken]), f"broken ({name})", found, allowed, remedy)


def axis(value, rank=2):
    return f"axis {value} is outside", f"[-{rank}, {rank - 1}], the dimensions of a tensor of rank {rank}"


IMAGE = {"x": (1, 4, 8, 8)}
BROADCAST = "each dimension must be equal or 1"
AXIS_NUMBER = AttributeProto(name="axis", type=AttributeProto.FLOAT, f=1)

ATTRIBUTES = {
    "attribute number": attribute("Softmax", "attribute 'axis' is a number", "allowed is an integer", AXIS_NUMBER),
    "attribute text": attribute("Softmax", "attribute 'axis' is a string", "allowed is an integer", helper.make_attribute("axis", "one")),
    "attribute list": attribute("Softmax", "attribute 'axis' is a list of integers", "allowed is an integer", helper.make_attribute("axis", [1, 2])),
    "attribute not a list": attribute("Transpose", "attribute 'perm' is an integer", "allowed is a list of integers",
                                      helper.make_attribute("perm", 1)),
    "attribute a tensor of strings": attribute("Softmax", "attribute 'axis' is a tensor", "allowed is an integer", helper.make_attribute(
        "axis", helper.make_tensor("t", TensorProto.STRING, [1], ["a"]))),
    "attribute unnamed": attribute("Softmax", "the attribute ''", "each has its own", AttributeProto(type=AttributeProto.INT, i=1)),
    "attribute twice": attribute("Softmax", "the attribute 'axis' twice", "each has its own", helper.make_attribute("axis", 0),
                                 helper.make_attribute("axis", 1)),
    "Cast without to": attribute("Cast", "has no attribute 'to'", "has no default"),
    "Concat without axis": attribute("Concat", "has no attribute 'axis'", "has no default"),
    "MaxPool without window": attribute("MaxPool", "has no attribute 'kernel_shape'", "has no default"),
}

OPERATORS = {
    "operand missing": op("Add", "operand 1 is missing", "the operator needs it", ["x", ""]),
    "operands too few": op("Add", "has 1 operand", "Add since opset 14 takes 2"),
    "no operands": op("Relu", "has 0 operands", "Relu since opset 14 takes 1", []),
    "operands too many": op("Relu", "has 2 operands", "Relu since opset 14 takes 1", "xx"),
    "operands of a range": op("Conv", "has 4 operands", "Conv since opset 11 takes 2 to 3", "xxxx"),
    "results too many": op("Relu", "has 2 results", "Relu since opset 14 gives 1", results="yz"),
    "results too few": op("TopK", "has 1 result", "TopK since opset 11 gives 2", "xk", [ints("k", 1)]),
    "attribute misspelt": op("Softmax", "has the attribute 'axes'", "did you mean 'axis'?", axes=1),
    "attribute of another operator": op("Softmax", "has the attribute 'epsilon'", "allowed are axis", epsilon=0.5),
    "attribute of an older version": op("ReduceSum", "has the attribute 'axes'", "allowed are keepdims, noop_with_empty_axes", axes=[1]),
    "attribute where none is": op("Relu", "has the attribute 'consumed_inputs'", "it has none", consumed_inputs=[0]),
    "graph for a number": Model(model([node("Softmax", "x", axis=THEN)]), "broken (Softmax)", "attribute 'axis' is a graph",
                                "allowed is an integer", "remedy: correct node 'broken' (Softmax)"),
    "If without a branch": Model(model([node("If", "c", then_branch=THEN)], [], [tensor("x"), tensor("c", (), BOOL)]), "broken (If)",
                                 "has no attribute 'else_branch'", "has no default", "remedy: correct node 'broken' (If)"),
    "LogSoftmax axis": op("LogSoftmax", *axis(-3), axis=-3),
    "Hardmax axis": op("Hardmax", *axis(7), axis=7),
    "Concat axis": op("Concat", *axis(2), "xx", axis=2),
    "Concat shapes": op("Concat", "tensor<3x5xf32>", "only dimension 0 may differ", "xz", shapes={"x": (2, 4), "z": (3, 5)}, axis=0),
    "Concat ranks": op("Concat", "tensor<3xf32>", "ranks and element types are equal", "xz", shapes={"x": (2, 4), "z": (3,)}, axis=0),
    "Transpose twice": op("Transpose", "[0, 0] names dimension 0 twice", "each dimension once", perm=[0, 0]),
    "Transpose short": op("Transpose", "[0] has 1 entries", "2 expected", perm=[0]),
    "Transpose range": op("Transpose", *axis(2), perm=[0, 2]),
    "Squeeze axis": op("Squeeze", *axis(5), "xa", [ints("a", 5)]),
    "Squeeze size": op("Squeeze", "dimension 1 has size 4", "only dimensions of size 1", "xa", [ints("a", 1)]),
    "Unsqueeze axis": op("Unsqueeze", *axis(9, 3), "xa", [ints("a", 9)]),
    "Unsqueeze twice": op("Unsqueeze", "an axis is listed twice", "each is allowed once", "xa", [ints("a", 0, 0)]),
    "ReduceSum axis": op("ReduceSum", *axis(4), "xa", [ints("a", 4)]),
    "ReduceMean twice": op("ReduceMean", "an axis is listed twice", "each is allowed once", axes=[0, 0]),
    "ArgMax axis": op("ArgMax", *axis(2), axis=2),
    "CumSum axis": op("CumSum", *axis(5), "xa", [number("a", 5)]),
    "Gather axis": op("Gather", *axis(2), "xi", [ints("i", 0)], axis=2),
    "GatherElements ranks": op("GatherElements", "operands 0 and 1", "must have the same rank", "xi", [ints("i", 0)]),
    "ScatterElements shapes": op("ScatterElements", "indices and updates", "must have the same shape", "xiu",
                                 [numpy_helper.from_array(np.zeros((1, 2), np.int64), "i"), ones("u", 1, 3)]),
    "Slice step": op("Slice", "a step is 0", "steps are positive or negative", "xseat",
                     [ints("s", 0), ints("e", 2), ints("a", 0), ints("t", 0)]),
    "Slice axis": op("Slice", *axis(3), "xsea", [ints("s", 0), ints("e", 2), ints("a", 3)]),
    "Slice axis twice": op("Slice", "an axis is listed twice", "each is allowed once", "xsea",
                           [ints("s", 0, 0), ints("e", 2, 2), ints("a", 0, 0)]),
    "Slice lengths": op("Slice", "not equally long", "one entry per axis", "xse", [ints("s", 0, 0), ints("e", 2)]),
    "Split sum": op("Split", "the parts sum to 2", "the dimension has size 4", "xs", [ints("s", 1, 1)], results="yz", axis=1),
    "Split axis": op("Split", *axis(4), results="yz", axis=4),
    "Reshape count": op("Reshape", "the operand has 8 elements", "the shape 9", "xs", [ints("s", 3, 3)]),
    "Reshape 0 beyond": op("Reshape", "copies dimension 2", "the operand has 2 dimensions", "xs", [ints("s", 2, 4, 0)]),
    "Reshape -1": op("Reshape", "8 elements", "cannot be divided into rows of 3", "xs", [ints("s", 3, -1)]),
    "Reshape 0 and -1": op("Reshape", "both 0 and -1", "must not hold", "xs", [ints("s", 0, -1)], {"x": (0, 4)}, allowzero=1),
    "Unsqueeze to 17": op("Unsqueeze", "would have 17 dimensions", "at most 16 are allowed", "xa", [ints("a", *range(15))]),
    "weight of 17 dimensions": op("Relu", "would have 17 dimensions", "at most 16 are allowed", "w", [ones("w", *[1] * 16, 2)]),
    "Expand": op("Expand", "[2,4] cannot be broadcast to [3,4]", BROADCAST, "xs", [ints("s", 3, 4)]),
    "Tile count": op("Tile", "repeats has 1 entries", "for 2 dimensions", "xs", [ints("s", 2)]),
    "Pad count": op("Pad", "pads has 3 entries for 2 dimensions", "expected are two each", "xp", [ints("p", 1, 1, 1)]),
    "Pad mode": op("Pad", "mode is 'mirror'", "constant, reflect, edge and wrap are allowed", "xp", [ints("p", 0, 0, 0, 0)], mode="mirror"),
    "EyeLike rank": op("EyeLike", "EyeLike", "it needs a matrix", shapes={"x": (2, 3, 4)}),
    "Trilu rank": op("Trilu", "Trilu", "it needs a matrix or a batch", shapes={"x": (4,)}),
    "DepthToSpace channels": op("DepthToSpace", "DepthToSpace", "a multiple of blocksize", shapes={"x": (1, 3, 2, 2)}, blocksize=2),
    "DepthToSpace zero": op("DepthToSpace", "DepthToSpace", "a multiple of blocksize", shapes={"x": (1, 4, 2, 2)}, blocksize=0),
    "SpaceToDepth sizes": op("SpaceToDepth", "SpaceToDepth", "multiples of blocksize", shapes={"x": (1, 3, 3, 2)}, blocksize=2),
    "Add shapes": op("Add", "shapes [2,4] and [3]", "sizes must be equal or 1", "xz", shapes={"x": (2, 4), "z": (3,)}),
    "Add types": op("Add", "rhs is tensor<2x4xi64>", "must be the same", "xz", shapes={"x": (2, 4), "z": (2, 4)}, types={"z": INT64}),
    "Where shapes": op("Where", "shapes [3] and [2,4]", "sizes must be equal or 1", "cxx", shapes={"x": (2, 4), "c": (3,)}, types={"c": BOOL}),
    "And of floats": op("And", "not defined for tensor<2x4xf32>", "convert the operands", "xx"),
    "Not of floats": op("Not", "not defined for tensor<2x4xf32>", "takes integers or i1"),
    "Sqrt of integers": op("Sqrt", "not defined for tensor<2x4xi64>", "convert the operand", types={"x": INT64}),
    "BitShift direction": op("BitShift", "direction is 'UP'", "LEFT and RIGHT are allowed", "xx", types={"x": UINT8}, direction="UP"),
    "MatMul scalar": op("MatMul", "one is a scalar", "operands of rank 1 or more", "xz", shapes={"x": (2, 3), "z": ()}),
    "MatMul batches": op("MatMul", "[3,3,5] cannot be broadcast to [2,3,5]", BROADCAST, "xz", shapes={"x": (2, 2, 3), "z": (3, 3, 5)}),
    "Gemm ranks": op("Gemm", "ranks 3 and 3", "multiplies matrices", "xx", shapes={"x": (2, 3, 4)}),
    "Gemm inner": op("Gemm", "has size 3, its partner", "paired dimensions have equal sizes", "xz", shapes={"x": (2, 3), "z": (4, 5)}),
    "Gemm bias": op("Gemm", "[7] cannot be broadcast to [2,5]", BROADCAST, "xzb", [ones("b", 7)], {"x": (2, 3), "z": (3, 5)}),
    "Einsum rank": op("Einsum", "'ijk->i'", "one letter per dimension", equation="ijk->i"),
    "Einsum operands": op("Einsum", "does not fit its 1 operands", "one term per operand", equation="ij,jk->ik"),
    "Conv channels": op("Conv", "filter [4, 3, 3, 3]", "groups times the filter's second dimension", "xw", [ones("w", 4, 3, 3, 3)], IMAGE),
    "Conv group": op("Conv", "groups = 3", "groups divide the filter's first", "xw", [ones("w", 4, 4, 3, 3)], IMAGE, group=3),
    "Conv group zero": op("Conv", "groups = 0", "groups divide the filter's first", "xw", [ones("w", 4, 4, 3, 3)], IMAGE, group=0),
    "Conv strides": op("Conv", "strides, dilations", "need 2 entries", "xw", [ones("w", 4, 4, 3, 3)], IMAGE, strides=[1]),
    "Conv stride zero": op("Conv", "strides and dilations", "must be from 1 to 2^31", "xw", [ones("w", 4, 4, 3, 3)], IMAGE, strides=[0, 1]),
    "Conv dilation": op("Conv", "strides and dilations", "must be from 1 to 2^31", "xw", [ones("w", 4, 4, 3, 3)], IMAGE, dilations=[-1, 1]),
    "Conv window": op("Conv", "reaches over 9 elements", "the padded operand has 8", "xw", [ones("w", 4, 4, 9, 9)], IMAGE),
    "Conv auto_pad": op("Conv", "auto_pad is 'MIDDLE'", "SAME_UPPER and SAME_LOWER are allowed", "xw", [ones("w", 4, 4, 3, 3)], IMAGE,
                        auto_pad="MIDDLE"),
    "Conv bias": op("Conv", "its bias", "one number per output channel", "xwb", [ones("w", 4, 4, 3, 3), ones("b", 5)], IMAGE),
    "Conv rank": op("Conv", "ranks 4 and 3", "a batch, channels and spatial", "xw", [ones("w", 4, 4, 3)], IMAGE),
    "MaxPool window": op("MaxPool", "reaches over 20 elements", "the padded operand has 8", shapes=IMAGE, kernel_shape=[20, 20]),
    "MaxPool zero": op("MaxPool", "[0, 2] contains 0", "entries are at least 1", shapes=IMAGE, kernel_shape=[0, 2]),
    "MaxPool dimensions": op("MaxPool", "kernel_shape", "one entry per spatial dimension", shapes=IMAGE, kernel_shape=[2]),
    "AveragePool stride": op("AveragePool", "strides and dilations", "from 1 to 2^31", shapes=IMAGE, kernel_shape=[2, 2], strides=[1 << 62, 1]),
    "AveragePool pads": op("AveragePool", "[-1, 0] contains -1", "entries are at least 0", shapes=IMAGE, kernel_shape=[2, 2], pads=[-1, 0, 0, 0]),
    "BatchNormalization": op("BatchNormalization", "scale is tensor<3xf32>", "one entry per channel, [4]", "xssss", [ones("s", 3)], IMAGE),
    "LayerNormalization axis": op("LayerNormalization", *axis(5), "xs", [ones("s", 4)], axis=5),
    "GroupNormalization": op("GroupNormalization", "channels", "a multiple of num_groups", "xss", [ones("s", 4)], IMAGE, opset=21, num_groups=3),
    "LRN size": op("LRN", "it needs channels", "a size from 1 to 1024", shapes=IMAGE, size=0),
    "Resize scales": op("Resize", "have 2 entries", "for 4 axes", ["x", "", "s"], [ones("s", 2)], IMAGE),
    "Resize mode": op("Resize", "mode is 'blurry'", "nearest, linear and cubic are allowed", ["x", "", "s"], [ones("s", 4)], IMAGE, mode="blurry"),
    "Resize coordinates": op("Resize", "coordinate_transformation_mode is 'wild'", "allowed are asymmetric, half_pixel", ["x", "", "s"],
                             [ones("s", 4)], IMAGE, coordinate_transformation_mode="wild"),
    "LSTM weights": op("LSTM", "W must be [directions, 4 * hidden, inputs]", "R [directions, the same, hidden]", "xwr",
                       [ones("w", 1, 7, 4), ones("r", 1, 8, 2)], {"x": (3, 1, 4)}, hidden_size=2),
    "LSTM direction": op("LSTM", "direction is 'sideways'", "forward, reverse and bidirectional are allowed", "xwr",
                         [ones("w", 1, 8, 4), ones("r", 1, 8, 2)], {"x": (3, 1, 4)}, hidden_size=2, direction="sideways"),
    "GRU activation": op("GRU", "activation 'wish'", "one of Sigmoid, Tanh, Relu", "xwr", [ones("w", 1, 6, 4), ones("r", 1, 6, 2)],
                         {"x": (3, 1, 4)}, hidden_size=2, activations=["Wish", "Tanh"]),
    "QuantizeLinear scale": op("QuantizeLinear", "scale and zero point", "one number, or one per element", "xs", [ones("s", 3)], axis=1),
    "RotaryEmbedding caches": op("RotaryEmbedding", "9 angles per position", "2 are needed", "xcc", [ones("c", 9, 9)], {"x": (1, 2, 3, 4)}, opset=23),
    "TopK k": op("TopK", "k is 9", "for a dimension of 4", "xk", [ints("k", 9)], results="yi"),
    "TopK axis": op("TopK", *axis(4), "xk", [ints("k", 1)], results="yi", axis=4),
    "PRelu slope": op("PRelu", "[3] cannot be broadcast to [2,4]", BROADCAST, "xs", [ones("s", 3)]),
    "Shape start": op("Shape", "attribute 'start' is a string", "allowed is an integer", start="a"),
    "DFT of complex numbers": op("DFT", "onesided is 1", "allowed for real signals", shapes={"x": (1, 8, 2)}, onesided=1),
    "STFT of complex numbers": op("STFT", "onesided is 1", "set onesided to 0", "xsw", [number("s", 2), ones("w", 4)],
                                  {"x": (1, 8, 2)}),
    "DFT axis": op("DFT", *axis(7, 3), shapes={"x": (1, 4, 1)}, axis=7),
    # Found by the fuzzer.
    "LinearAttention decay": op("LinearAttention", "decay [batch, tokens, heads", "past_state must be [batch, heads, keys, values]",
                                ["x", "x", "x", "", "d"], shapes={"x": (2, 4, 32), "d": (2,)}, results="yz", opset=27, kv_num_heads=4, q_num_heads=4,
                                update_rule="gated"),
    "GridSample grid": op("GridSample", "the grid must have", "one number per spatial dimension", "xg",
                          shapes={"x": (1, 1, 4, 4), "g": (1, 2, 2, 3)}, opset=20),
}

TABLES = [FILES, NAMES, WEIGHTS, BODIES, ATTRIBUTES, OPERATORS]

# What is in order but not supported: exit code 3, and every node with its version and the reason.
UNSUPPORTED = {
    "newer opset": (model([RELU], opset=999), ["'broken' (Relu, opset 999)", "newer than 27", "export with an older opset"]),
    "no opset": (onnx.ModelProto(ir_version=8, graph=model([RELU]).graph), ["'broken' (Relu, opset 1)", "onnx.version_converter"]),
    "no operator": (model([node("", "x")]), ["'broken' (, opset 17)", "no conversion for this operator"]),
    "input type": (model([RELU], inputs=[tensor("x", (2, 4), 77)]), ["element type 77", "gpucc does not have"]),
    "complex input": (model([RELU], inputs=[tensor("x", (2, 4), TensorProto.COMPLEX64)]), ["complex64", "gpucc does not have"]),
    "string weight": (adds(stored(dtype=TensorProto.STRING, string_data=[b"a"] * 4)), ["a tensor of string", "does not have"]),
    "weight type": (adds(stored(dtype=99, raw_data=RAW)), ["element type 99", "gpucc does not have"]),
    "cast": (model([node("Cast", "x", to=99)]), ["casts to element type 99", "gpucc does not have"]),
    "two operators": (model([node("Frobnicate", "x", "a", name="one", domain="com.example"),
                             node("StringNormalizer", "a", name="two")], opsets=[helper.make_opsetid("com.example", 3)]),
                      ["2 nodes", "'one' (com.example.Frobnicate, opset 3)", "'two' (StringNormalizer, opset 17)"]),
}
