"""Small helper to write ONNX graphs the way exporters do.

    g = Graph("mlp", seed=0)
    x = g.input("x", "f32", ["batch", 16])
    g.output(g.linear(x, 16, 4, "fc"), "y", "f32", ["batch", 4])
    g.save("mlp.onnx")

Weights are drawn from one seeded generator in the order of their making, so the
same call gives the same file.
"""
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

TYPES = {"f32": TensorProto.FLOAT, "i64": TensorProto.INT64, "i32": TensorProto.INT32}


class Graph:
    def __init__(self, name, seed=0, opset=17):
        self.name, self.opset = name, opset
        self.random = np.random.default_rng(seed)
        self.nodes, self.initializers, self.inputs, self.outputs = [], [], [], []
        self.count = {}
        self.external = None  # ExternalFile, or None: weights inside the model

    # Values.
    def fresh(self, stem):
        self.count[stem] = self.count.get(stem, 0) + 1
        return f"{stem}_{self.count[stem]}"

    def input(self, name, dtype, shape):
        self.inputs.append(helper.make_tensor_value_info(name, TYPES[dtype], shape))
        return name

    def output(self, value, name, dtype, shape):
        self.nodes.append(helper.make_node("Identity", [value], [name], name=f"output.{name}"))
        self.outputs.append(helper.make_tensor_value_info(name, TYPES[dtype], shape))

    def weight(self, name, array=None, shape=None):
        """An initializer by its parameter name; array, or the shape alone with an external file
        that holds no data (sparse)."""
        if self.external is not None:
            size = tuple(shape if array is None else array.shape)
            self.initializers.append(self.external.add(name, size, array))
        else:
            self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def const(self, value, dtype=np.float32):
        """A Constant node, as exporters write numbers."""
        array = np.asarray(value, dtype=dtype)
        out = self.fresh("const")
        self.nodes.append(helper.make_node("Constant", [], [out], name=out,
                                           value=numpy_helper.from_array(array)))
        return out

    def ints(self, *values):
        return self.const(list(values), np.int64)

    def op(self, kind, *inputs, outputs=1, name=None, **attributes):
        stem = name or self.fresh(kind)
        outs = [stem + "_output_0"] if outputs == 1 else [f"{stem}_output_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), outs, name=stem, **attributes))
        return outs[0] if outputs == 1 else outs

    # What exporters write for common layers.
    def normal(self, shape, scale):
        if self.external is not None and self.external.sparse:
            return None
        return (self.random.standard_normal(shape) * scale).astype(np.float32)

    def parameter(self, name, shape, scale):
        return self.weight(name, self.normal(shape, scale), shape)

    def filled(self, name, shape, value, jitter=0.1):
        """Scales and biases: a value with some noise, so that tests see them."""
        array = self.normal(shape, jitter)
        return self.weight(name, None if array is None else array + np.float32(value), shape)

    def linear(self, x, n_in, n_out, name, bias=True):
        """y = x W^T + b on a matrix: Gemm with transB, as for torch.nn.Linear."""
        w = self.parameter(name + ".weight", (n_out, n_in), n_in ** -0.5)
        args = [x, w] + ([self.filled(name + ".bias", (n_out,), 0)] if bias else [])
        return self.op("Gemm", *args, name=name, transB=1)

    def batch_norm(self, x, channels, name):
        scale = self.filled(name + ".weight", (channels,), 1)
        bias = self.filled(name + ".bias", (channels,), 0)
        mean = self.filled(name + ".running_mean", (channels,), 0)
        variance = self.weight(name + ".running_var",
                               (0.5 + self.random.random(channels)).astype(np.float32))
        return self.op("BatchNormalization", x, scale, bias, mean, variance, name=name,
                       epsilon=1e-5, momentum=0.9)

    def conv(self, x, n_in, n_out, kernel, name, stride=1, pad=0, bias=True):
        w = self.parameter(name + ".weight", (n_out, n_in, kernel, kernel),
                           (n_in * kernel * kernel) ** -0.5)
        args = [x, w] + ([self.filled(name + ".bias", (n_out,), 0)] if bias else [])
        return self.op("Conv", *args, name=name, kernel_shape=[kernel] * 2, strides=[stride] * 2,
                       pads=[pad] * 4, dilations=[1, 1], group=1)

    def size(self, x, dim):
        """One dimension of x as a 1-D tensor: Shape, Gather, Unsqueeze."""
        d = self.op("Gather", self.op("Shape", x), self.const(dim, np.int64), axis=0)
        return self.op("Unsqueeze", d, self.ints(0))

    def view(self, x, *dims):
        """Reshape to dims, each an integer or a value of one element."""
        parts = [self.ints(d) if isinstance(d, int) else d for d in dims]
        return self.op("Reshape", x, self.op("Concat", *parts, axis=0))

    def gelu(self, x):
        """0.5 x (1 + erf(x / sqrt 2)) in separate operators."""
        erf = self.op("Erf", self.op("Div", x, self.const(np.sqrt(2.0))))
        return self.op("Mul", self.op("Mul", x, self.op("Add", erf, self.const(1.0))),
                       self.const(0.5))

    def gelu_tanh(self, x):
        cube = self.op("Mul", self.op("Pow", x, self.const(3.0)), self.const(0.044715))
        inner = self.op("Mul", self.op("Add", x, cube), self.const(np.sqrt(2.0 / np.pi)))
        gate = self.op("Add", self.op("Tanh", inner), self.const(1.0))
        return self.op("Mul", self.op("Mul", x, self.const(0.5)), gate)

    def layer_norm(self, x, scale, bias, epsilon, name):
        """One operator from opset 17 on, nine before."""
        if self.opset >= 17:
            return self.op("LayerNormalization", x, scale, bias, name=name, axis=-1,
                           epsilon=epsilon)
        mean = self.op("ReduceMean", x, axes=[-1])
        centered = self.op("Sub", x, mean)
        variance = self.op("ReduceMean", self.op("Pow", centered, self.const(2.0)), axes=[-1])
        deviation = self.op("Sqrt", self.op("Add", variance, self.const(epsilon)))
        y = self.op("Mul", self.op("Div", centered, deviation), scale)
        return self.op("Add", y, bias, name=name)

    def model(self):
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs,
                                  self.initializers)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)],
                                 ir_version=8, producer_name="gpucc examples")

    def save(self, path):
        if self.external is not None:
            self.external.finish()
        with open(path, "wb") as f:
            f.write(self.model().SerializeToString())
        return path


class ExternalFile:
    """Weights in a file of their own. `sparse`: the file has its size but no data on disk."""

    def __init__(self, folder, location, sparse=False):
        self.path, self.location, self.sparse = os.path.join(folder, location), location, sparse
        self.offset, self.parts = 0, []

    def add(self, name, shape, array):
        count = int(np.prod(shape)) * 4
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=list(shape),
                             data_location=TensorProto.EXTERNAL)
        for key, value in (("location", self.location), ("offset", self.offset),
                           ("length", count)):
            tensor.external_data.add(key=key, value=str(value))
        if array is not None:
            self.parts.append((self.offset, np.ascontiguousarray(array, np.float32)))
        self.offset += (count + 4095) // 4096 * 4096
        return tensor

    def finish(self):
        with open(self.path, "wb") as f:
            for offset, array in self.parts:
                f.seek(offset)
                f.write(array.tobytes())
            f.truncate(self.offset)
