#!/usr/bin/env python3
"""Writes the definitions of ONNX's operators as rows of NodeSchema (Schemas.h), one per operator and version:

  {"Relu", 6, 1, 1, 1, 1, ""},
  {"Softmax", 13, 1, 1, 1, 1, "i:axis"},

  make_schemas.py FILE

They come from the pinned `onnx` package; CMake keeps them in the build folder. Of its domains only those of operators
that gpucc converts are taken.
"""
import pathlib
import sys

import onnx.defs

DOMAINS = {"": "", "ai.onnx.preview.training": "ai.onnx.preview.training."}
LETTERS = {"FLOAT": "f", "INT": "i", "STRING": "s", "TENSOR": "t", "GRAPH": "g", "FLOATS": "F", "INTS": "I", "STRINGS": "S",
           "TENSORS": "T", "GRAPHS": "G", "TYPE_PROTO": "p", "TYPE_PROTOS": "P", "SPARSE_TENSOR": "x", "SPARSE_TENSORS": "X"}
UNBOUNDED = 2**31 - 1


def row(schema):
    def count(n):
        return -1 if n == UNBOUNDED else n
    attributes = " ".join(LETTERS[a.type.name] + (":!"[a.required]) + name for name, a in sorted(schema.attributes.items()))
    return (f'{{"{DOMAINS[schema.domain]}{schema.name}", {schema.since_version}, {count(schema.min_input)}, '
            f'{count(schema.max_input)}, {count(schema.min_output)}, {count(schema.max_output)}, "{attributes}"}},')


def main():
    schemas = [s for s in onnx.defs.get_all_schemas_with_history() if s.domain in DOMAINS]
    assert schemas, "the onnx package has no schemas"
    schemas.sort(key=lambda s: ((DOMAINS[s.domain] + s.name).encode(), s.since_version))
    pathlib.Path(sys.argv[1]).write_text("".join(row(s) + "\n" for s in schemas))


main()
