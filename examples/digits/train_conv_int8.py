"""Trains the INT8 convolutional network and writes conv_int8_weights.npz and conv_int8_test.npz next to this file.

Run it with scikit-learn installed (`pip install -e .[train]`). Images, split, augmentation and labels are those of train.py.
It trains in binary64, then rounds: an activation has as many fraction bits as the shifts of conv_int8.py say, a weight as many as
fit into INT8. The last epochs train through that rounding.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from conv_int8 import forward
from train import BATCH, HERE, SEED, shifted, split

EPOCHS, ROUNDED_EPOCHS = 60, 15
PIXEL_BITS = 4
BITS = (6, 7, 6)
"""Fraction bits of the weights of each layer."""
SHIFTS = (5, 6)
"""As in conv_int8.py."""
Arrays = dict[str, np.ndarray]


def columns(x: np.ndarray, stride: int) -> np.ndarray:
    """Taps of 3 x 3 windows side by side: (N, H, W, C) -> (N, H / stride, W / stride, 9 C)."""
    _, height, width, _ = x.shape
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    return np.concatenate(
        [padded[:, i : i + height : stride, j : j + width : stride, :] for i in range(3) for j in range(3)], axis=-1
    )


def scattered(d: np.ndarray, shape: tuple[int, ...], stride: int) -> np.ndarray:
    """The transpose of `columns`."""
    n, height, width, channels = shape
    padded = np.zeros((n, height + 2, width + 2, channels))
    for t in range(9):
        i, j = divmod(t, 3)
        padded[:, i : i + height : stride, j : j + width : stride, :] += d[..., t * channels : (t + 1) * channels]
    return padded[:, 1:-1, 1:-1, :]


def activation_bits() -> tuple[int, int, int]:
    """Fraction bits of the inputs of each layer."""
    first = PIXEL_BITS + BITS[0] - SHIFTS[0]
    return PIXEL_BITS, first, first + BITS[1] - SHIFTS[1]


def integers(p: Arrays) -> Arrays:
    """The weights as the model has them: INT8, and INT32 biases with the fraction bits of the sums."""
    found: Arrays = {}
    for i, (bits, inputs) in enumerate(zip(BITS, activation_bits(), strict=True), 1):
        found[f"w{i}"] = np.clip(np.rint(p[f"w{i}"] * 2**bits), -127, 127).astype(np.int8)
        found[f"b{i}"] = np.rint(p[f"b{i}"] * 2 ** (bits + inputs)).astype(np.int32)
    return found


def used(p: Arrays, *, rounded: bool) -> Arrays:
    """The numbers that a pass computes with."""
    if not rounded:
        return p
    q = integers(p)
    scales = {f"{kind}{i + 1}": BITS[i] + (activation_bits()[i] if kind == "b" else 0) for i in range(3) for kind in "wb"}
    return {k: v / 2.0 ** scales[k] for k, v in q.items()}


def stored(h: np.ndarray, bits: int, *, rounded: bool) -> np.ndarray:
    """ReLU, and the rounding of an activation."""
    return np.clip(np.floor(h * 2**bits + 0.5), 0, 127) / 2**bits if rounded else np.maximum(h, 0)


def train(x: np.ndarray, y: np.ndarray) -> Arrays:
    """Softmax cross-entropy by Adam with decoupled weight decay; gradients pass through roundings as if there were none."""
    rng = np.random.default_rng(SEED + 2)
    shapes = {"w1": (9, 16), "b1": (16,), "w2": (144, 32), "b2": (32,), "w3": (512, 10), "b3": (10,)}
    p = {k: rng.normal(0, np.sqrt(2 / s[0]), s) if len(s) == 2 else np.zeros(s) for k, s in shapes.items()}
    m, v = ({k: np.zeros(s) for k, s in shapes.items()} for _ in range(2))
    step, steps = 0, EPOCHS * (len(x) // BATCH)
    _, bits1, bits2 = activation_bits()
    for epoch in range(EPOCHS):
        rounded = epoch >= EPOCHS - ROUNDED_EPOCHS
        order = rng.permutation(len(x))
        images = shifted(x, rng).astype(np.float64).reshape(-1, 8, 8, 1)
        for i in range(0, len(x) - BATCH + 1, BATCH):
            xb, yb = images[order[i : i + BATCH]], y[order[i : i + BATCH]]
            q = used(p, rounded=rounded)
            c1 = columns(xb, 1)
            h1 = stored(c1 @ q["w1"] + q["b1"], bits1, rounded=rounded)
            c2 = columns(h1, 2)
            h2 = stored(c2 @ q["w2"] + q["b2"], bits2, rounded=rounded)
            flat = h2.reshape(BATCH, 512)
            z = flat @ q["w3"] + q["b3"]
            e = np.exp(z - z.max(1, keepdims=True))
            dz = e / e.sum(1, keepdims=True)
            dz[np.arange(BATCH), yb] -= 1
            dz /= BATCH
            d2 = (dz @ q["w3"].T).reshape(h2.shape) * (h2 > 0)
            d1 = scattered(d2 @ q["w2"].T, h1.shape, 2) * (h1 > 0)
            gradient = {
                "w3": flat.T @ dz, "b3": dz.sum(0),
                "w2": c2.reshape(-1, 144).T @ d2.reshape(-1, 32), "b2": d2.sum((0, 1, 2)),
                "w1": c1.reshape(-1, 9).T @ d1.reshape(-1, 16), "b1": d1.sum((0, 1, 2)),
            }  # fmt: skip
            step += 1
            rate = 4e-3 * 0.5 * (1 + np.cos(np.pi * step / steps))
            for k, g in gradient.items():
                m[k] = 0.9 * m[k] + 0.1 * g
                v[k] = 0.999 * v[k] + 0.001 * g * g
                p[k] -= rate * (m[k] / (1 - 0.9**step) / (np.sqrt(v[k] / (1 - 0.999**step)) + 1e-8) + 1e-2 * p[k])
    return p


def main() -> None:
    x_train, y_train, x_test, y_test = split()
    weights = integers(train(x_train, y_train))
    images = np.rint(x_test * 2**PIXEL_BITS).astype(np.int8).reshape(-1, 8, 8, 1)
    right = int((forward(images, **weights)[1] == y_test).sum())
    np.savez_compressed(Path(HERE) / "conv_int8_weights.npz", **weights)
    np.savez_compressed(Path(HERE) / "conv_int8_test.npz", x=images)
    print(f"test accuracy {right}/{len(y_test)} = {right / len(y_test):.4f}")
    print({k: (int(np.abs(a).max()), a.dtype.name) for k, a in weights.items()})


if __name__ == "__main__":
    main()
