#!/usr/bin/env python3
"""Golden values of the networks, computed apart from models/: NumPy, float64, PyTorch's layout.

    python3 tests/golden/make_layers.py > tests/golden/layers.txt        (needs numpy)

Inputs and parameters follow from a formula with exact results, so only outputs are stored. A line
is one of

    NETWORK loss 0 VALUE             mean loss of the batch
    NETWORK class_loss INDEX VALUE   -log of the probability of each class, [image x class]
    NETWORK TENSOR.norm 0 VALUE      Euclidean norm of the tensor's gradient
    NETWORK TENSOR.sum 0 VALUE       its sum
    NETWORK gradient INDEX VALUE     one element of the flat gradient
"""
import numpy as np

COUNT = 3
SAMPLES = 12  # elements of each tensor's gradient


def pattern(first, count):
    """Multiples of 2^-16 in [-0.5, 0.5) that look random."""
    k = np.arange(first, first + count, dtype=np.uint64)
    bits = (k * np.uint64(2654435761) + np.uint64(12345)) & np.uint64(0xFFFFFFFF)
    return (bits >> np.uint64(16)).astype(np.float64) / 65536 - 0.5


def scale(shape):
    """A power of two near 2 / sqrt(inputs); 1/8 for biases."""
    if len(shape) == 1:
        return 0.125
    inputs = int(np.prod(shape[1:]))
    value = 1.0
    while value * value * inputs > 4:
        value /= 2
    return value


def relu(x):
    return np.maximum(x, 0)


def padded(x, padding):
    return np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))


def convolve(x, w, padding=0):
    """[n, c, h, w] with [o, c, k, k]."""
    x = padded(x, padding)
    k = w.shape[2]
    height, width = x.shape[2] - k + 1, x.shape[3] - k + 1
    y = np.zeros((x.shape[0], w.shape[0], height, width))
    for i in range(k):
        for j in range(k):
            y += np.einsum("nchw,oc->nohw", x[:, :, i : i + height, j : j + width], w[:, :, i, j])
    return y


def convolve_gradients(x, w, dy, padding=0):
    x = padded(x, padding)
    k = w.shape[2]
    height, width = dy.shape[2:]
    dx, dw = np.zeros_like(x), np.zeros_like(w)
    for i in range(k):
        for j in range(k):
            dw[:, :, i, j] = np.einsum("nohw,nchw->oc", dy, x[:, :, i : i + height, j : j + width])
            dx[:, :, i : i + height, j : j + width] += np.einsum("nohw,oc->nchw", dy, w[:, :, i, j])
    end = (dx.shape[2] - padding, dx.shape[3] - padding)
    return dx[:, :, padding : end[0], padding : end[1]], dw


def pool(x, window=2, stride=2):
    """The maxima, and which place of its window each has. Windows are cut off at the edge."""
    n, c, h, w = x.shape
    height, width = -(-(h - window) // stride) + 1, -(-(w - window) // stride) + 1
    missing = ((height - 1) * stride + window - h, (width - 1) * stride + window - w)
    x = np.pad(x, ((0, 0), (0, 0), (0, missing[0]), (0, missing[1])), constant_values=-np.inf)
    windows = np.stack([x[:, :, i : i + (height - 1) * stride + 1 : stride,
                          j : j + (width - 1) * stride + 1 : stride]
                        for i in range(window) for j in range(window)], axis=4)
    return windows.max(axis=4), windows.argmax(axis=4)


def pool_gradient(dy, where, shape, window=2, stride=2):
    dx = np.zeros(shape)
    for n, c, y, x in np.ndindex(*dy.shape):
        i, j = divmod(where[n, c, y, x], window)
        dx[n, c, y * stride + i, x * stride + j] += dy[n, c, y, x]
    return dx


def loss_and_gradient(scores, labels):
    shifted = scores - scores.max(axis=1, keepdims=True)
    probability = np.exp(shifted)
    probability /= probability.sum(axis=1, keepdims=True)
    picked = probability[np.arange(len(labels)), labels]
    gradient = probability.copy()
    gradient[np.arange(len(labels)), labels] -= 1
    return -np.log(picked).mean(), gradient / len(labels)


def mlp(x, labels, p):
    x = x.reshape(COUNT, -1)
    hidden = relu(x @ p["dense1.weight"].T + p["dense1.bias"])
    scores = hidden @ p["dense2.weight"].T + p["dense2.bias"]
    loss, d_scores = loss_and_gradient(scores, labels)
    d_hidden = (d_scores @ p["dense2.weight"]) * (hidden > 0)
    gradients = {
        "dense1.weight": d_hidden.T @ x,
        "dense1.bias": d_hidden.sum(axis=0),
        "dense2.weight": d_scores.T @ hidden,
        "dense2.bias": d_scores.sum(axis=0),
    }
    return loss, scores, gradients


def lenet(x, labels, p):
    g = {}
    conv1 = convolve(x, p["conv1.weight"]) + p["conv1.bias"][:, None, None]
    pool1, where1 = pool(conv1)
    relu1 = relu(pool1)
    conv2 = convolve(relu1, p["conv2.weight"]) + p["conv2.bias"][:, None, None]
    pool2, where2 = pool(conv2)
    flat = relu(pool2).reshape(COUNT, -1)
    hidden = relu(flat @ p["dense1.weight"].T + p["dense1.bias"])
    scores = hidden @ p["dense2.weight"].T + p["dense2.bias"]
    loss, d_scores = loss_and_gradient(scores, labels)
    g["dense2.weight"], g["dense2.bias"] = d_scores.T @ hidden, d_scores.sum(axis=0)
    d_hidden = (d_scores @ p["dense2.weight"]) * (hidden > 0)
    g["dense1.weight"], g["dense1.bias"] = d_hidden.T @ flat, d_hidden.sum(axis=0)
    d_pool2 = ((d_hidden @ p["dense1.weight"]) * (flat > 0)).reshape(pool2.shape)
    d_conv2 = pool_gradient(d_pool2, where2, conv2.shape)
    d_relu1, g["conv2.weight"] = convolve_gradients(relu1, p["conv2.weight"], d_conv2)
    g["conv2.bias"] = d_conv2.sum(axis=(0, 2, 3))
    d_conv1 = pool_gradient(d_relu1 * (relu1 > 0), where1, conv1.shape)
    _, g["conv1.weight"] = convolve_gradients(x, p["conv1.weight"], d_conv1)
    g["conv1.bias"] = d_conv1.sum(axis=(0, 2, 3))
    return loss, scores, g


def cifar_quick(x, labels, p):
    g = {}

    def bias(name):
        return p[name + ".bias"][:, None, None]

    conv1 = convolve(x, p["conv1.weight"], 2) + bias("conv1")
    pool1, where1 = pool(conv1, 3)
    relu1 = relu(pool1)
    conv2 = convolve(relu1, p["conv2.weight"], 2) + bias("conv2")
    pool2, where2 = pool(relu(conv2), 3)
    conv3 = convolve(pool2, p["conv3.weight"], 2) + bias("conv3")
    pool3, where3 = pool(relu(conv3), 3)
    flat = pool3.reshape(COUNT, -1)
    hidden = flat @ p["dense1.weight"].T + p["dense1.bias"]
    scores = hidden @ p["dense2.weight"].T + p["dense2.bias"]
    loss, d_scores = loss_and_gradient(scores, labels)
    g["dense2.weight"], g["dense2.bias"] = d_scores.T @ hidden, d_scores.sum(axis=0)
    d_hidden = d_scores @ p["dense2.weight"]
    g["dense1.weight"], g["dense1.bias"] = d_hidden.T @ flat, d_hidden.sum(axis=0)
    d_pool3 = (d_hidden @ p["dense1.weight"]).reshape(pool3.shape)
    d_conv3 = pool_gradient(d_pool3, where3, conv3.shape, 3) * (conv3 > 0)
    d_pool2, g["conv3.weight"] = convolve_gradients(pool2, p["conv3.weight"], d_conv3, 2)
    d_conv2 = pool_gradient(d_pool2, where2, conv2.shape, 3) * (conv2 > 0)
    d_relu1, g["conv2.weight"] = convolve_gradients(relu1, p["conv2.weight"], d_conv2, 2)
    d_conv1 = pool_gradient(d_relu1 * (relu1 > 0), where1, conv1.shape, 3)
    _, g["conv1.weight"] = convolve_gradients(x, p["conv1.weight"], d_conv1, 2)
    for name, gradient in (("conv1", d_conv1), ("conv2", d_conv2), ("conv3", d_conv3)):
        g[name + ".bias"] = gradient.sum(axis=(0, 2, 3))
    return loss, scores, g


MNIST_IMAGE, CIFAR_IMAGE = (28, 28, 1), (32, 32, 3)
NETWORKS = {
    "mlp": (mlp, MNIST_IMAGE, [("dense1.weight", (128, 784)), ("dense1.bias", (128,)),
                           ("dense2.weight", (10, 128)), ("dense2.bias", (10,))]),
    "lenet": (lenet, MNIST_IMAGE, [("conv1.weight", (20, 1, 5, 5)), ("conv1.bias", (20,)),
                               ("conv2.weight", (50, 20, 5, 5)), ("conv2.bias", (50,)),
                               ("dense1.weight", (500, 800)), ("dense1.bias", (500,)),
                               ("dense2.weight", (10, 500)), ("dense2.bias", (10,))]),
    "cifar-quick": (cifar_quick, CIFAR_IMAGE,
                    [("conv1.weight", (32, 3, 5, 5)), ("conv1.bias", (32,)),
                     ("conv2.weight", (32, 32, 5, 5)), ("conv2.bias", (32,)),
                     ("conv3.weight", (64, 32, 5, 5)), ("conv3.bias", (64,)),
                     ("dense1.weight", (64, 1024)), ("dense1.bias", (64,)),
                     ("dense2.weight", (10, 64)), ("dense2.bias", (10,))]),
}


def main():
    labels = np.arange(COUNT) * 7 % 10
    for name, (network, image, tensors) in NETWORKS.items():
        images = 2 * pattern(1_000_003, COUNT * int(np.prod(image))).reshape(COUNT, *image)
        images = images.transpose(0, 3, 1, 2)  # of one channel, both orders are the same
        parameters, first, offsets = {}, 0, {}
        for tensor, shape in tensors:
            count = int(np.prod(shape))
            parameters[tensor] = scale(shape) * pattern(first, count).reshape(shape)
            offsets[tensor] = first
            first += count
        loss, scores, gradients = network(images, labels, parameters)
        print(f"{name} loss 0 {loss:.12g}")
        class_losses = np.log(np.exp(scores).sum(axis=1, keepdims=True)) - scores
        for k, value in enumerate(class_losses.ravel()):
            print(f"{name} class_loss {k} {value:.12g}")
        for tensor, _ in tensors:
            flat = gradients[tensor].ravel()
            print(f"{name} {tensor}.norm 0 {np.linalg.norm(flat):.12g}")
            print(f"{name} {tensor}.sum 0 {flat.sum():.12g}")
            # The largest elements are where an error would show most; an even grid finds the rest.
            chosen = set(np.argsort(-np.abs(flat))[: SAMPLES // 2])
            chosen |= set(range(0, len(flat), max(1, len(flat) * 2 // SAMPLES)))
            for k in sorted(chosen):
                print(f"{name} gradient {offsets[tensor] + k} {flat[k]:.12g}")


if __name__ == "__main__":
    main()
