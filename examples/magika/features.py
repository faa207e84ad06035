#!/usr/bin/env python3
"""What kind of file is this? The published Magika model, compiled by gpucc.

  features.py features FILE OUT.npz     the model's input for a file: 1024 bytes from either end
  features.py label OUT.npz [--expect]  the label of the greatest output; with --expect also what
                                      ONNX Runtime makes of the same input
  features.py model                     path of the model in the installed wheel `magika`

The features are those that the model was trained on (the wheel's config.min.json gives the sizes):
up to 4096 bytes are read from each end, white space at the outer ends is dropped, 256 fills up.
"""
import importlib.util
import json
import pathlib
import sys

import numpy as np


def folder():
    spec = importlib.util.find_spec("magika")
    if spec is None:
        sys.exit("error: the wheel `magika` is not installed; cmake/setup.sh installs it")
    return pathlib.Path(spec.origin).parent / "models" / "standard_v3_3"


def config():
    return json.loads((folder() / "config.min.json").read_text())


def features(path):
    c = config()
    data = pathlib.Path(path).read_bytes()
    beg = data[: c["block_size"]].lstrip()[: c["beg_size"]]
    end = data[-c["block_size"]:].rstrip()[-c["end_size"]:]
    row = np.full(c["beg_size"] + c["end_size"], c["padding_token"], np.int32)
    row[: len(beg)] = list(beg)
    if end:
        row[-len(end):] = list(end)
    return row[None]


def main(argv):
    if argv[:1] == ["model"]:
        print(folder() / "model.onnx")
        return
    if argv[:1] == ["features"] and len(argv) == 3:
        np.savez(argv[2], bytes=features(argv[1]))
        return
    if argv[:1] == ["label"] and len(argv) >= 2:
        scores = np.load(argv[1])["target_label"][0]
        best = int(scores.argmax())
        print(f"{config()['target_labels_space'][best]}  ({100 * scores[best]:.2f} %)")
        return
    sys.exit(__doc__)


main(sys.argv[1:])
