"""Small ONNX models for the tests of this folder."""
import numpy as np
from onnx import helper, save


def model(path, nodes, inputs, outputs, opset=17, initializers=(), domains=()):
    """`inputs`, `outputs`: (name, shape) or (name, shape, numpy type)."""
    def value(name, shape, dtype=np.float32):
        return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape)
    from onnx import numpy_helper
    weights = [numpy_helper.from_array(array, name) for name, array in initializers]
    graph = helper.make_graph(nodes, "g", [value(*i) for i in inputs], [value(*o) for o in outputs], weights)
    opsets = [helper.make_opsetid("", opset), *(helper.make_opsetid(d, 1) for d in domains)]
    save(helper.make_model(graph, opset_imports=opsets, ir_version=min(10, 8 + (opset > 20))), str(path))
    return path
