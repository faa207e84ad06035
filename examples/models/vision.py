"""MLP, LeNet with BatchNorm, ResNet-18: the operators that PyTorch exports for them."""
from graph import Graph


def mlp(inputs=16, hidden=32, outputs=4, seed=0):
    g = Graph("mlp", seed)
    x = g.input("x", "f32", ["batch", inputs])
    h = g.op("Relu", g.linear(x, inputs, hidden, "fc1"))
    h = g.op("Relu", g.linear(h, hidden, hidden, "fc2"))
    g.output(g.linear(h, hidden, outputs, "fc3"), "y", "f32", ["batch", outputs])
    return g


def lenet(classes=10, seed=1):
    g = Graph("lenet", seed)
    x = g.input("image", "f32", ["batch", 1, 28, 28])
    pool = dict(kernel_shape=[2, 2], strides=[2, 2])
    h = g.op("Relu", g.batch_norm(g.conv(x, 1, 6, 5, "conv1", pad=2), 6, "bn1"))
    h = g.op("MaxPool", h, **pool)
    h = g.op("Relu", g.batch_norm(g.conv(h, 6, 16, 5, "conv2"), 16, "bn2"))
    h = g.op("MaxPool", h, **pool)
    h = g.op("Flatten", h, axis=1)
    h = g.op("Relu", g.linear(h, 400, 120, "fc1"))
    h = g.op("Relu", g.linear(h, 120, 84, "fc2"))
    g.output(g.linear(h, 84, classes, "fc3"), "logits", "f32", ["batch", classes])
    return g


def basic_block(g, x, n_in, n_out, stride, name):
    h = g.conv(x, n_in, n_out, 3, name + ".conv1", stride=stride, pad=1, bias=False)
    h = g.op("Relu", g.batch_norm(h, n_out, name + ".bn1"))
    h = g.batch_norm(g.conv(h, n_out, n_out, 3, name + ".conv2", pad=1, bias=False), n_out,
                     name + ".bn2")
    if stride != 1 or n_in != n_out:
        x = g.conv(x, n_in, n_out, 1, name + ".downsample.0", stride=stride, bias=False)
        x = g.batch_norm(x, n_out, name + ".downsample.1")
    return g.op("Relu", g.op("Add", h, x))


def resnet18(size=224, width=64, classes=1000, seed=2):
    """He et al. 2015; `width` is the channels of the first stage."""
    g = Graph("resnet18", seed)
    x = g.input("image", "f32", ["batch", 3, size, size])
    h = g.batch_norm(g.conv(x, 3, width, 7, "conv1", stride=2, pad=3, bias=False), width, "bn1")
    h = g.op("MaxPool", g.op("Relu", h), kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    channels = width
    for stage in range(4):
        for block in range(2):
            n_out = width << stage
            stride = 2 if stage > 0 and block == 0 else 1
            h = basic_block(g, h, channels, n_out, stride, f"layer{stage + 1}.{block}")
            channels = n_out
    h = g.op("Flatten", g.op("GlobalAveragePool", h), axis=1)
    g.output(g.linear(h, channels, classes, "fc"), "logits", "f32", ["batch", classes])
    return g
