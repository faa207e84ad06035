#!/usr/bin/env python3
"""Records what PyTorch computes for the runs of training_cases.py.

    record_pytorch.py [pytorch.json]      needs torch and onnx; the tests need only the file

Per case: loss, learning rate and norm of the gradient (before clipping) of every step, in f32.
One optimizer step sums `accumulate` micro-batches and divides by the labels that count in all of
them. Optimizers, clipping and losses are PyTorch's own; the schedule is the formula of
`gpucc compile --help`.
"""
import json
import math
import os
import sys
import tempfile

import numpy as np
import onnx
import torch
import torch.nn.functional as F
from onnx import numpy_helper

import training_cases as cases


def parameters(path):
    """Float initializers of rank >= 1 but BatchNorm's running statistics."""
    result = {}
    for tensor in onnx.load(path).graph.initializer:
        array = numpy_helper.to_array(tensor)
        if array.dtype == np.float32 and array.ndim and ".running_" not in tensor.name:
            result[tensor.name] = torch.tensor(array.copy(), requires_grad=True)
    return result


def linear(p, x, name):
    return F.linear(x, p[name + ".weight"], p[name + ".bias"])


def mlp(p, x):
    return linear(p, F.relu(linear(p, F.relu(linear(p, x, "fc1")), "fc2")), "fc3")


def lenet(p, image):
    def stage(h, conv, norm, pad):
        h = F.conv2d(h, p[conv + ".weight"], p[conv + ".bias"], padding=pad)
        h = F.batch_norm(h, None, None, p[norm + ".weight"], p[norm + ".bias"], training=True,
                         eps=1e-5)
        return F.max_pool2d(F.relu(h), 2)
    h = stage(stage(image, "conv1", "bn1", 2), "conv2", "bn2", 0).flatten(1)
    return linear(p, F.relu(linear(p, F.relu(linear(p, h, "fc1")), "fc2")), "fc3")


def gpt2(p, ids, layers=4, heads=4):
    width = p["wte.weight"].shape[1]

    def norm(x, name):
        return F.layer_norm(x, (width,), p[name + ".weight"], p[name + ".bias"], 1e-5)

    def conv1d(x, name):
        return x @ p[name + ".weight"] + p[name + ".bias"]

    batch, seq = ids.shape
    h = p["wte.weight"][ids] + p["wpe.weight"][torch.arange(seq)]
    for i in range(layers):
        name = f"h.{i}"
        qkv = conv1d(norm(h, name + ".ln_1"), name + ".attn.c_attn")
        q, k, v = (t.view(batch, seq, heads, -1).transpose(1, 2) for t in qkv.split(width, -1))
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        h = h + conv1d(a.transpose(1, 2).reshape(batch, seq, width), name + ".attn.c_proj")
        f = F.gelu(conv1d(norm(h, name + ".ln_2"), name + ".mlp.c_fc"), approximate="tanh")
        h = h + conv1d(f, name + ".mlp.c_proj")
    return norm(h, "ln_f") @ p["wte.weight"].T


def loss_sum(kind, y, labels):
    """Sum of losses and number of labels that count."""
    if kind == "mse":
        return F.mse_loss(y, labels, reduction="sum"), labels.numel()
    y, labels = y.reshape(-1, y.shape[-1]), labels.reshape(-1)
    return F.cross_entropy(y, labels, reduction="sum"), int((labels != -100).sum())


def rate(case, k):
    _, warmup, total, least = case["lr_schedule"].split(":")
    warmup, total, least = int(warmup), int(total), float(least)
    if k < warmup:
        return case["lr"] * (k + 1) / warmup
    progress = min(1.0, (k - warmup) / (total - warmup))
    return least + (case["lr"] - least) * (1 + math.cos(math.pi * progress)) / 2


def record(case, path):
    p = parameters(path)
    forward = {"mlp": mlp, "lenet": lenet, "gpt2": gpt2}[case["model"]]
    if case["optimizer"] == "sgd":
        optimizer = torch.optim.SGD(p.values(), lr=1.0, momentum=case["momentum"],
                                    weight_decay=case["weight_decay"])
    else:
        optimizer = torch.optim.AdamW(p.values(), lr=1.0, weight_decay=case["weight_decay"])
    arrays = cases.data(case)
    labels = torch.tensor(arrays.pop("labels"))
    (inputs,) = (torch.tensor(a) for a in arrays.values())
    batch, samples, at = case["batch"], len(labels), 0
    curve = {"loss": [], "lr": [], "grad_norm": []}
    for k in range(cases.STEPS):
        optimizer.zero_grad()
        total, count = 0.0, 0
        for _ in range(case["accumulate"]):
            chosen = [(at + i) % samples for i in range(batch)]
            at += batch
            loss, n = loss_sum(case["loss"], forward(p, inputs[chosen]), labels[chosen])
            loss.backward()
            total, count = total + loss.item(), count + n
        for tensor in p.values():
            tensor.grad /= count
        norm = torch.nn.utils.clip_grad_norm_(p.values(), case["clip_norm"])
        for group in optimizer.param_groups:
            group["lr"] = rate(case, k)
        optimizer.step()
        for name, value in (("loss", total / count), ("lr", rate(case, k)),
                            ("grad_norm", norm.item())):
            curve[name].append(float(f"{value:.8g}"))
    return curve


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    out = sys.argv[1] if len(sys.argv) > 1 else os.path.join(cases.HERE, "pytorch.json")
    curves = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, case in cases.CASES.items():
            curves[name] = record(case, cases.make_model(case["model"], folder))
            print(name, curves[name]["loss"][0], "->", curves[name]["loss"][-1])
    with open(out, "w") as f:
        f.write('{"pytorch": "%s", "curves": {\n' % torch.__version__)
        f.write(",\n".join(f"{json.dumps(n)}: {json.dumps(c)}" for n, c in curves.items()))
        f.write("\n}}\n")


if __name__ == "__main__":
    main()
