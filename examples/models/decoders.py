"""GPT-2-style and Llama-style decoders, as PyTorch exports the Hugging Face classes.

GPT-2: learned positions, fused QKV (Conv1D: x W + b), causal Where with the least float, tanh-GELU,
tied output projection. Llama: RMSNorm in separate operators, rotary embedding from inv_freq,
grouped-query attention by Expand, SwiGLU, no biases.
"""
import numpy as np
from onnx import TensorProto

from graph import ExternalFile, Graph

LEAST = float(np.finfo(np.float32).min)


def gpt2(layers=4, width=64, heads=4, vocabulary=256, positions=128, dropout=0.0, opset=17,
         external=None, seed=3):
    g = Graph("gpt2", seed, opset)
    g.external = external
    head = width // heads
    ids = g.input("input_ids", "i64", ["batch", "seq"])
    batch, seq = g.size(ids, 0), g.size(ids, 1)
    length = g.op("Squeeze", seq, g.ints(0))

    def drop(x):
        if not dropout:
            return x
        return g.op("Dropout", x, g.const(dropout), g.const(True, np.bool_))

    def conv1d(x, n_in, n_out, name):
        w = g.parameter(name + ".weight", (n_in, n_out), n_in ** -0.5)
        b = g.filled(name + ".bias", (n_out,), 0, 0.02)
        flat = g.op("Gemm", g.view(x, -1, n_in), w, b, name=name)
        return g.view(flat, batch, seq, n_out)

    def norm(x, name):
        return g.layer_norm(x, g.filled(name + ".weight", (width,), 1),
                            g.filled(name + ".bias", (width,), 0), 1e-5, name)

    def split_heads(x):
        return g.op("Transpose", g.view(x, batch, seq, heads, head), perm=[0, 2, 1, 3])

    table = g.parameter("wte.weight", (vocabulary, width), 0.5)
    place = g.op("Range", g.const(0, np.int64), length, g.const(1, np.int64))
    place = g.op("Unsqueeze", place, g.ints(0))
    h = g.op("Add", g.op("Gather", table, ids),
             g.op("Gather", g.parameter("wpe.weight", (positions, width), 0.1), place))
    h = drop(h)
    square = g.op("Concat", seq, seq, axis=0)
    ones = g.op("ConstantOfShape", square, value=onnx_ones())
    causal = g.op("Cast", g.op("Trilu", ones, upper=0), to=TensorProto.BOOL)
    causal = g.op("Unsqueeze", causal, g.ints(0, 1))

    for i in range(layers):
        name = f"h.{i}"
        qkv = conv1d(norm(h, name + ".ln_1"), width, 3 * width, name + ".attn.c_attn")
        q, k, v = (split_heads(p) for p in
                   g.op("Split", qkv, g.ints(width, width, width), outputs=3, axis=2))
        scores = g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2]))
        scores = g.op("Div", scores, g.const(np.sqrt(head)))
        scores = g.op("Where", causal, scores, g.const(LEAST))
        probabilities = drop(g.op("Softmax", scores, axis=-1))
        context = g.op("Transpose", g.op("MatMul", probabilities, v), perm=[0, 2, 1, 3])
        context = g.view(context, batch, seq, width)
        h = g.op("Add", drop(conv1d(context, width, width, name + ".attn.c_proj")), h)
        f = conv1d(norm(h, name + ".ln_2"), width, 4 * width, name + ".mlp.c_fc")
        f = conv1d(g.gelu_tanh(f), 4 * width, width, name + ".mlp.c_proj")
        h = g.op("Add", h, drop(f))
    h = norm(h, "ln_f")
    logits = g.op("MatMul", h, g.op("Transpose", table, perm=[1, 0]), name="lm_head")
    g.output(logits, "logits", "f32", ["batch", "seq", vocabulary])
    return g


def onnx_ones():
    from onnx import numpy_helper
    return numpy_helper.from_array(np.ones(1, np.float32))


def gpt2_medium(folder):
    """24 layers, width 1024, 355 M parameters; the weights' file is sparse: no data on disk."""
    file = ExternalFile(folder, "gpt2_medium.data", sparse=True)
    return gpt2(layers=24, width=1024, heads=16, vocabulary=50257, positions=1024, external=file)


def llama(layers=4, width=64, heads=8, kv_heads=2, hidden=172, vocabulary=256, base=10000.0,
          opset=17, seed=4):
    g = Graph("llama", seed, opset)
    head = width // heads
    ids = g.input("input_ids", "i64", ["batch", "seq"])
    batch, seq = g.size(ids, 0), g.size(ids, 1)
    length = g.op("Squeeze", seq, g.ints(0))

    def projection(x, n_in, n_out, name):
        w = g.parameter(name + ".weight", (n_out, n_in), n_in ** -0.5)
        return g.op("MatMul", x, g.op("Transpose", w, perm=[1, 0]), name=name)

    def norm(x, name):
        mean = g.op("ReduceMean", g.op("Pow", x, g.const(2.0)), axes=[-1])
        root = g.op("Sqrt", g.op("Add", mean, g.const(1e-5)))
        y = g.op("Mul", x, g.op("Div", g.const(1.0), root))
        return g.op("Mul", g.filled(name + ".weight", (width,), 1), y, name=name)

    # cos and sin [1, 1, seq, head]
    frequency = (1.0 / base ** (np.arange(0, head, 2) / head)).astype(np.float32)
    place = g.op("Range", g.const(0, np.int64), length, g.const(1, np.int64))
    place = g.op("Cast", g.op("Unsqueeze", place, g.ints(0, 1)), to=TensorProto.FLOAT)
    angle = g.op("MatMul", g.const(frequency.reshape(1, head // 2, 1)), place)
    angle = g.op("Transpose", angle, perm=[0, 2, 1])
    angle = g.op("Concat", angle, angle, axis=-1)
    cos = g.op("Unsqueeze", g.op("Cos", angle), g.ints(1))
    sin = g.op("Unsqueeze", g.op("Sin", angle), g.ints(1))

    def rotate(x):
        half = head // 2
        a = g.op("Slice", x, g.ints(0), g.ints(half), g.ints(3), g.ints(1))
        b = g.op("Slice", x, g.ints(half), g.ints(np.iinfo(np.int64).max), g.ints(3), g.ints(1))
        turned = g.op("Concat", g.op("Neg", b), a, axis=-1)
        return g.op("Add", g.op("Mul", x, cos), g.op("Mul", turned, sin))

    def split_heads(x, count):
        return g.op("Transpose", g.view(x, batch, seq, count, head), perm=[0, 2, 1, 3])

    def repeat(x):
        """[B, kv, S, D] to [B, heads, S, D]: each key/value head serves heads / kv_heads queries."""
        wide = g.op("Unsqueeze", x, g.ints(2))
        shape = g.op("Concat", batch, g.ints(kv_heads), g.ints(heads // kv_heads), seq,
                     g.ints(head), axis=0)
        return g.view(g.op("Expand", wide, shape), batch, heads, seq, head)

    square = g.op("Concat", seq, seq, axis=0)
    from onnx import numpy_helper
    full = g.op("ConstantOfShape", square, value=numpy_helper.from_array(
        np.full(1, LEAST, np.float32)))
    mask = g.op("Unsqueeze", g.op("Trilu", full, g.const(1, np.int64), upper=1), g.ints(0, 1))

    h = g.op("Gather", g.parameter("model.embed_tokens.weight", (vocabulary, width), 0.5), ids)
    for i in range(layers):
        name = f"model.layers.{i}"
        x = norm(h, name + ".input_layernorm")
        q = rotate(split_heads(projection(x, width, width, name + ".self_attn.q_proj"), heads))
        k = projection(x, width, kv_heads * head, name + ".self_attn.k_proj")
        v = projection(x, width, kv_heads * head, name + ".self_attn.v_proj")
        k, v = repeat(rotate(split_heads(k, kv_heads))), repeat(split_heads(v, kv_heads))
        scores = g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2]))
        scores = g.op("Add", g.op("Mul", scores, g.const(head ** -0.5)), mask)
        context = g.op("MatMul", g.op("Softmax", scores, axis=-1), v)
        context = g.view(g.op("Transpose", context, perm=[0, 2, 1, 3]), batch, seq, width)
        h = g.op("Add", h, projection(context, width, width, name + ".self_attn.o_proj"))
        x = norm(h, name + ".post_attention_layernorm")
        gate = projection(x, width, hidden, name + ".mlp.gate_proj")
        gate = g.op("Mul", gate, g.op("Sigmoid", gate))
        up = projection(x, width, hidden, name + ".mlp.up_proj")
        h = g.op("Add", h, projection(g.op("Mul", gate, up), hidden, width,
                                      name + ".mlp.down_proj"))
    h = norm(h, "model.norm")
    g.output(projection(h, width, vocabulary, "lm_head"), "logits", "f32",
             ["batch", "seq", vocabulary])
    return g
