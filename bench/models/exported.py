"""The models that PyTorch exports, with seeded weights: nothing is downloaded.

    module, inputs, names, dynamic = exported.MAKERS["resnet50"]()
    exported.export("resnet50", folder)               folder/resnet50.onnx (+ .data), by the default exporter

Random weights alone would test little, so some are set as training leaves them: BatchNorm's statistics are those
of random images (else activations of a deep net overflow or die), ConvNeXt's layer scale is not its initial 1e-6
(which makes every block the identity), ViT's head is not its initial zero, and ResNet's residual branches are
damped (at full weight 53 layers amplify f32 rounding until f32 itself is 1.3e-3 away from f64, in PyTorch too).
Needs torch, torchvision, transformers and onnxscript: a tier of its own (requirements.txt).
"""
import pathlib
import warnings

import torch

IMAGE = 224


def settle(module, size=IMAGE, rounds=2):
    """Gives normalizations the statistics of random images, then freezes the module."""
    norms = [m for m in module.modules() if isinstance(m, torch.nn.BatchNorm2d)]
    if norms:
        for norm in norms:
            norm.momentum = None  # the plain mean of all rounds
            norm.reset_running_stats()
        module.train()
        with torch.no_grad():
            for _ in range(rounds):
                module(torch.randn(4, 3, size, size))
    for name, parameter in module.named_parameters():
        if name.endswith("layer_scale"):
            torch.nn.init.uniform_(parameter, 0.1, 1.0)
        elif name.endswith("bn3.weight"):  # the last scale of a residual branch
            torch.nn.init.uniform_(parameter, 0.1, 0.4)
        elif name.endswith("weight") and not parameter.any():
            torch.nn.init.normal_(parameter, std=0.05)
    return module.eval()


def vision(name):
    def make():
        import torchvision
        torch.manual_seed(0)
        module = settle(getattr(torchvision.models, name)(weights=None))
        image = torch.randn(2, 3, IMAGE, IMAGE)
        return module, (image,), ["image"], ["scores"], ({0: "batch"},)
    return make


class Logits(torch.nn.Module):
    """Token ids to the model's logits, without caches."""

    def __init__(self, inner, field="logits"):
        super().__init__()
        self.inner, self.field = inner, field

    def forward(self, input_ids, attention_mask):
        out = self.inner(input_ids=input_ids, attention_mask=attention_mask)
        return getattr(out, self.field)


class Cached(torch.nn.Module):
    """One step of generation: new ids and the keys and values of what came before, [B, H, past, D] each;
    gives logits and the longer keys and values."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, input_ids, *past):
        from transformers import DynamicCache
        pairs = [(past[i], past[i + 1]) for i in range(0, len(past), 2)]
        cache = DynamicCache(pairs)
        out = self.inner(input_ids=input_ids, past_key_values=cache, use_cache=True)
        present = [t for layer in out.past_key_values.layers for t in (layer.keys, layer.values)]
        return (out.logits, *present)


TOKENS = {"input_ids": {0: "batch", 1: "seq"}, "attention_mask": {0: "batch", 1: "seq"}}


def tokens(vocabulary, batch=2, seq=12):
    return torch.randint(0, vocabulary, (batch, seq)), torch.ones(batch, seq, dtype=torch.int64)


def bert():
    import transformers
    torch.manual_seed(0)
    module = transformers.BertModel(transformers.BertConfig(), add_pooling_layer=False).eval()
    return (Logits(module, "last_hidden_state"), tokens(30522), list(TOKENS), ["hidden"], TOKENS)


def gpt2_module():
    import transformers
    torch.manual_seed(0)
    return transformers.GPT2LMHeadModel(transformers.GPT2Config(use_cache=False)).eval()


def gpt2():
    return (Logits(gpt2_module()), tokens(50257), list(TOKENS), ["logits"], TOKENS)


def gpt2_kv(layers=12, heads=12, depth=64, past=7):
    ids, _ = tokens(50257, seq=3)
    names = [f"past_{i}_{kind}" for i in range(layers) for kind in ("key", "value")]
    cache = [torch.randn(2, heads, past, depth) for _ in names]
    dynamic = {"input_ids": {0: "batch", 1: "seq"},
               "past": tuple({0: "batch", 2: "past"} for _ in names)}
    return (Cached(gpt2_module()), (ids, *cache), ["input_ids", *names],
            ["logits"] + [name.replace("past", "present") for name in names], dynamic)


def llama():
    import transformers
    torch.manual_seed(0)
    config = transformers.LlamaConfig(vocab_size=32000, hidden_size=768, intermediate_size=2432,
                                      num_hidden_layers=12, num_attention_heads=12,
                                      num_key_value_heads=4, max_position_embeddings=2048,
                                      tie_word_embeddings=True, use_cache=False)
    return (Logits(transformers.LlamaForCausalLM(config).eval()), tokens(32000), list(TOKENS),
            ["logits"], TOKENS)


MAKERS = {"resnet50": vision("resnet50"), "mobilenet_v3_large": vision("mobilenet_v3_large"),
          "efficientnet_b0": vision("efficientnet_b0"), "convnext_tiny": vision("convnext_tiny"),
          "vit_b_16": vision("vit_b_16"), "swin_t": vision("swin_t"), "bert_base": bert,
          "gpt2_small": gpt2, "gpt2_small_kv": gpt2_kv, "llama_110m": llama}


def export(name, folder):
    """Writes folder/name.onnx with its weights beside it in name.onnx.data."""
    module, inputs, input_names, output_names, dynamic = MAKERS[name]()
    path = pathlib.Path(folder) / f"{name}.onnx"
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        torch.onnx.export(module, inputs, str(path), input_names=input_names,
                          output_names=output_names, dynamic_shapes=dynamic, dynamo=True,
                          external_data=True, verbose=False)
    return path
