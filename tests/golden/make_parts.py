#!/usr/bin/env python3
"""Golden values of single layers and of ResNet-20, computed apart from models/: NumPy, float64.

    python3 tests/golden/make_parts.py > tests/golden/parts.txt        (needs numpy; a minute)

Only what a layer gives is written down in formulas here. All gradients are central differences of
that, which in float64 agree with the derivative to six digits, so that no mistake in a derivation
can be made twice. Inputs and parameters follow from make_layers.py's pattern. A line is one of

    PART output INDEX VALUE       channels last, as in models/
    PART input INDEX VALUE        gradient of a weighted sum of the outputs, of the input
    PART parameter INDEX VALUE    the same of the flat parameters
    resnet20 loss 0 VALUE, resnet20 class_loss INDEX VALUE, resnet20 gradient INDEX VALUE: see
    make_layers.py
"""
import numpy as np

from make_layers import COUNT, convolve, loss_and_gradient, pattern, relu, scale

STEP = 1e-7  # with 1e-6, a few of the half a million values before a ReLU change their sign
SAMPLES = 40  # of what a part gives and of each of its gradients, at most


class Parameters:
    """Hands out the tensors of a flat vector, one after the other."""

    def __init__(self, flat):
        self.flat, self.first = flat, 0

    def take(self, *shape):
        count = int(np.prod(shape))
        self.first += count
        return self.flat[self.first - count : self.first].reshape(shape)


def conv(x, p, outputs, window, stride=1, padding=0, mode="constant"):
    """`mode` is that of numpy.pad. Every position of stride 1, of which some are left out."""
    w, b = p.take(outputs, x.shape[1], window, window), p.take(outputs)
    x = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)), mode=mode)
    return convolve(x, w)[:, :, ::stride, ::stride] + b[:, None, None]


def group_norm(x, p, groups):
    factor, shift = p.take(x.shape[1]), p.take(x.shape[1])
    g = x.reshape(x.shape[0], groups, -1)
    g = (g - g.mean(axis=2, keepdims=True)) / np.sqrt(g.var(axis=2, keepdims=True) + 1e-5)
    return g.reshape(x.shape) * factor[:, None, None] + shift[:, None, None]


def global_average_pool(x):
    return x.mean(axis=(2, 3), keepdims=True)


def subsample(x, stride, outputs):
    y = x[:, :, ::stride, ::stride]
    return np.concatenate([y, np.zeros((y.shape[0], outputs - y.shape[1], *y.shape[2:]))], axis=1)


def residual_block(x, p, outputs, stride, groups, shortcut):
    y = relu(group_norm(conv(x, p, outputs, 3, stride, 1), p, groups))
    return group_norm(conv(y, p, outputs, 3, 1, 1), p, groups) + shortcut(x, p)


def resnet20(x, p):
    x = relu(group_norm(conv(x, p, 16, 3, 1, 1), p, 8))
    for outputs in (16, 32, 64):
        for block in range(3):
            if block == 0 and outputs > 16:
                x = relu(residual_block(x, p, outputs, 2, 8, lambda x, _: subsample(x, 2, outputs)))
            else:
                x = relu(residual_block(x, p, outputs, 1, 8, lambda x, _: x))
    x = x.mean(axis=(2, 3))
    return x @ p.take(10, 64).T + p.take(10)


# Each part has the shape of an image, [height, width, channels], and what it makes of images.
PARTS = {
    "conv_zeros": ((5, 4, 2), lambda x, p: conv(x, p, 3, 3, 1, 1)),
    "conv_zeros_stride": ((6, 5, 2), lambda x, p: conv(x, p, 2, 3, 2, 1)),
    "conv_replicate": ((5, 4, 2), lambda x, p: conv(x, p, 3, 3, 1, 1, "edge")),
    "conv_replicate_wide": ((3, 4, 1), lambda x, p: conv(x, p, 2, 5, 2, 4, "edge")),
    "conv_reflect": ((5, 4, 2), lambda x, p: conv(x, p, 3, 3, 1, 1, "reflect")),
    "conv_reflect_wide": ((4, 5, 1), lambda x, p: conv(x, p, 2, 5, 2, 3, "reflect")),
    "group_norm": ((3, 4, 6), lambda x, p: group_norm(x, p, 3)),
    "global_average_pool": ((3, 4, 5), lambda x, p: global_average_pool(x)),
    "residual": ((4, 4, 4), lambda x, p: residual_block(x, p, 4, 1, 2, lambda x, _: x)),
    "residual_subsample": ((4, 5, 2), lambda x, p: residual_block(
        x, p, 4, 2, 2, lambda x, _: subsample(x, 2, 4))),
    "residual_conv": ((4, 4, 2), lambda x, p: residual_block(
        x, p, 4, 2, 2, lambda x, p: group_norm(conv(x, p, 4, 1, 2), p, 1))),
}


def differences(value, at):
    """The gradient of `value`, a function of nothing that reads `at`, with respect to `at`."""
    gradient = np.zeros(at.size)
    for k in range(at.size):
        original = at[k]
        at[k] = original + STEP
        above = value()
        at[k] = original - STEP
        gradient[k] = (above - value()) / (2 * STEP)
        at[k] = original
    return gradient


def write(name, what, values):
    for k in range(0, len(values), max(1, -(-len(values) // SAMPLES))):
        print(f"{name} {what} {k} {values[k]:.9g}")


def write_part(name, image, layer, images=2):
    parameters = pattern(0, 2000)
    inputs = 2 * pattern(1_000_003, images * int(np.prod(image)))

    def output():
        p = Parameters(parameters)
        y = layer(inputs.reshape(images, *image).transpose(0, 3, 1, 2), p)
        output.parameter_count = p.first
        return y.transpose(0, 2, 3, 1).ravel()

    outputs = output()
    parameters = parameters[: output.parameter_count]
    weights = pattern(2_000_003, outputs.size)
    write(name, "output", outputs)
    write(name, "input", differences(lambda: weights @ output(), inputs))
    write(name, "parameter", differences(lambda: weights @ output(), parameters))


def resnet20_tensors():
    """Shape of each tensor, and whether it is the factors of a normalisation."""
    def normalised(outputs, inputs):
        return [((outputs, inputs, 3, 3), False), ((outputs,), False),
                ((outputs,), True), ((outputs,), False)]
    tensors, before = normalised(16, 3), 16
    for outputs in (16, 32, 64):
        for _ in range(3):
            tensors += normalised(outputs, before) + normalised(outputs, outputs)
            before = outputs
    return tensors + [((10, 64), False), ((10,), False)]


def write_resnet20():
    labels = np.arange(COUNT) * 7 % 10
    images = 2 * pattern(1_000_003, COUNT * 32 * 32 * 3).reshape(COUNT, 32, 32, 3)
    images = images.transpose(0, 3, 1, 2)
    pieces, first, chosen = [], 0, []
    for shape, factors in resnet20_tensors():
        count = int(np.prod(shape))
        pieces.append(scale(shape) * pattern(first, count) + (1 if factors else 0))
        chosen += [first, first + count * 2 // 3]
        first += count
    parameters = np.concatenate(pieces)

    def loss():
        return loss_and_gradient(resnet20(images, Parameters(parameters)), labels)[0]

    scores = resnet20(images, Parameters(parameters))
    print(f"resnet20 loss 0 {loss():.9g}")
    write("resnet20", "class_loss",
          (np.log(np.exp(scores).sum(axis=1, keepdims=True)) - scores).ravel())
    for k in chosen:
        print(f"resnet20 gradient {k} {differences(loss, parameters[k : k + 1])[0]:.7g}")


def main():
    for name, (image, layer) in PARTS.items():
        write_part(name, image, layer)
    write_resnet20()


if __name__ == "__main__":
    main()
