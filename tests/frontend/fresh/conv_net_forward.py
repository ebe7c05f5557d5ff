"""A small CNN forward pass written with explicit loops, as a student would."""
import numpy as np


def conv2d(image, kernels, bias, stride=1, padding=0):
    if padding > 0:
        image = np.pad(image, ((0, 0), (padding, padding), (padding, padding)), mode="constant")
    c, h, w = image.shape
    n, _, kh, kw = kernels.shape
    oh = (h - kh) // stride + 1
    ow = (w - kw) // stride + 1
    out = np.zeros((n, oh, ow))
    for f in range(n):
        for i in range(oh):
            for j in range(ow):
                patch = image[:, i * stride:i * stride + kh, j * stride:j * stride + kw]
                out[f, i, j] = np.sum(patch * kernels[f]) + bias[f]
    return out


def relu(x):
    return np.maximum(x, 0)


def maxpool(x, size=2):
    c, h, w = x.shape
    x = x[:, :h // size * size, :w // size * size]
    return x.reshape(c, h // size, size, w // size, size).max(axis=(2, 4))


def main():
    rng = np.random.default_rng(11)
    img = rng.random((1, 10, 10))
    params = {
        "w1": rng.normal(0, 0.3, (4, 1, 3, 3)),
        "b1": np.zeros(4),
        "w2": rng.normal(0, 0.3, (3, 4, 3, 3)),
        "b2": np.full(3, 0.1),
    }
    x = relu(conv2d(img, params["w1"], params["b1"], padding=1))
    x = maxpool(x)
    x = relu(conv2d(x, params["w2"], params["b2"]))
    print("feature map:", x.shape)
    flat = x.flatten()
    logits = flat @ rng.normal(size=(flat.size, 5)) / np.sqrt(flat.size)
    probs = np.exp(logits) / np.exp(logits).sum()
    print("probs:", np.round(probs, 4))
    print("class:", int(np.argmax(probs)))
    n_params = sum(p.size for p in params.values())
    print(f"{n_params} parameters")


if __name__ == "__main__":
    main()
