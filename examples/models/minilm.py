"""all-MiniLM-L6-v2 with its real weights, as PyTorch exports BERT: separate operators, erf-GELU,
additive mask of the least float. The weights stay in model.safetensors, which is copied beside the
model and referred to as external data."""
import json
import os
import shutil
import struct

import numpy as np
from onnx import TensorProto

from graph import Graph

HIDDEN, HEADS, LAYERS, EPSILON = 384, 12, 6, 1e-12


class SafeTensors:
    """Adds initializers that lie in a .safetensors file."""

    def __init__(self, path, location):
        self.location = location
        with open(path, "rb") as f:
            length = struct.unpack("<Q", f.read(8))[0]
            self.header = json.loads(f.read(length))
        self.start = 8 + length

    def add(self, g, name):
        entry = self.header[name]
        kind = {"F32": TensorProto.FLOAT, "I64": TensorProto.INT64}[entry["dtype"]]
        begin, end = entry["data_offsets"]
        tensor = TensorProto(name=name, data_type=kind, dims=entry["shape"],
                             data_location=TensorProto.EXTERNAL)
        for key, value in (("location", self.location), ("offset", self.start + begin),
                           ("length", end - begin)):
            tensor.external_data.add(key=key, value=str(value))
        g.initializers.append(tensor)
        return name


def minilm(folder, safetensors, opset=17):
    location = os.path.basename(safetensors)
    target = os.path.join(folder, location)
    if os.path.abspath(target) != os.path.abspath(safetensors):
        shutil.copyfile(safetensors, target)
    weights = SafeTensors(safetensors, location)
    g = Graph("minilm", opset=opset)
    w = lambda name: weights.add(g, name)

    def dense(x, name):
        y = g.op("MatMul", x, g.op("Transpose", w(name + ".weight"), perm=[1, 0]))
        return g.op("Add", w(name + ".bias"), y)

    def norm(x, name):
        return g.layer_norm(x, w(name + ".weight"), w(name + ".bias"), EPSILON, name)

    ids = g.input("input_ids", "i64", ["batch", "seq"])
    mask = g.input("attention_mask", "i64", ["batch", "seq"])
    types = g.input("token_type_ids", "i64", ["batch", "seq"])
    batch, seq = g.size(ids, 0), g.size(ids, 1)

    positions = g.op("Slice", w("embeddings.position_ids"), g.ints(0), seq, g.ints(1), g.ints(1))
    h = g.op("Add", g.op("Gather", w("embeddings.word_embeddings.weight"), ids),
             g.op("Gather", w("embeddings.token_type_embeddings.weight"), types))
    h = g.op("Add", h, g.op("Gather", w("embeddings.position_embeddings.weight"), positions))
    h = norm(h, "embeddings.LayerNorm")

    wide = g.op("Unsqueeze", g.op("Unsqueeze", mask, g.ints(1)), g.ints(2))
    wide = g.op("Sub", g.const(1.0), g.op("Cast", wide, to=TensorProto.FLOAT))
    bias = g.op("Mul", wide, g.const(np.finfo(np.float32).min))

    def heads(x):
        x = g.view(x, batch, seq, HEADS, HIDDEN // HEADS)
        return g.op("Transpose", x, perm=[0, 2, 1, 3])

    for i in range(LAYERS):
        name = f"encoder.layer.{i}"
        q, k, v = (heads(dense(h, f"{name}.attention.self.{p}")) for p in ("query", "key", "value"))
        scores = g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2]))
        scores = g.op("Div", scores, g.const(np.sqrt(HIDDEN / HEADS)))
        scores = g.op("Softmax", g.op("Add", scores, bias), axis=-1)
        context = g.op("Transpose", g.op("MatMul", scores, v), perm=[0, 2, 1, 3])
        context = g.view(context, batch, seq, HIDDEN)
        a = norm(g.op("Add", dense(context, f"{name}.attention.output.dense"), h),
                 f"{name}.attention.output.LayerNorm")
        f = g.gelu(dense(a, f"{name}.intermediate.dense"))
        h = norm(g.op("Add", dense(f, f"{name}.output.dense"), a), f"{name}.output.LayerNorm")
    g.output(h, "last_hidden_state", "f32", ["batch", "seq", HIDDEN])
    return g
