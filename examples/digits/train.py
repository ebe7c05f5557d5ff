"""Trains the digits model and writes weights.npz, test.npz and labels.npz next to this file.

Run it with scikit-learn installed (`pip install -e .[train]`); everything is seeded, so a second run on the same
NumPy build writes the same files. The data are the 1,797 images of 8 x 8 pixels that scikit-learn ships ("Optical
Recognition of Handwritten Digits", UCI, CC BY 4.0); 360 of them, drawn once by the seed, are the test set and are
never trained on. Pixels are divided by 16, so every input is exact in FP16.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

SEED = 923
TEST_IMAGES = 360
EPOCHS = 200
BATCH = 64
HERE = Path(__file__).parent


def split() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(x_train, y_train, x_test, y_test); the test set is drawn by `SEED` alone."""
    digits = load_digits()
    x = (digits.data / 16.0).astype(np.float32)
    y = digits.target.astype(np.int64)
    order = np.random.default_rng(SEED).permutation(len(x))
    test, train = order[:TEST_IMAGES], order[TEST_IMAGES:]
    return x[train], y[train], x[test], y[test]


def shifted(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Every image moved by at most one pixel each way: the only augmentation."""
    images = np.pad(x.reshape(-1, 8, 8), ((0, 0), (1, 1), (1, 1)))
    dy, dx = rng.integers(0, 3, (2, len(x)))
    rows = dy[:, None, None] + np.arange(8)[None, :, None]
    columns = dx[:, None, None] + np.arange(8)[None, None, :]
    return images[np.arange(len(x))[:, None, None], rows, columns].reshape(-1, 64)


def train(x: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
    """Softmax cross-entropy by Adam with decoupled weight decay; He initialisation."""
    rng = np.random.default_rng(SEED + 1)
    shapes = {"w1": (64, 128), "b1": (128,), "w2": (128, 128), "b2": (128,), "w3": (128, 10), "b3": (10,)}
    p = {k: rng.normal(0, np.sqrt(2 / s[0]), s) if len(s) == 2 else np.zeros(s) for k, s in shapes.items()}
    m = {k: np.zeros(s) for k, s in shapes.items()}
    v = {k: np.zeros(s) for k, s in shapes.items()}
    step, steps = 0, EPOCHS * (len(x) // BATCH)
    for _ in range(EPOCHS):
        order = rng.permutation(len(x))
        images = shifted(x, rng).astype(np.float64)
        for i in range(0, len(x) - BATCH + 1, BATCH):
            xb, yb = images[order[i : i + BATCH]], y[order[i : i + BATCH]]
            h1 = np.maximum(xb @ p["w1"] + p["b1"], 0)
            h2 = np.maximum(h1 @ p["w2"] + p["b2"] + h1, 0)
            z = h2 @ p["w3"] + p["b3"]
            e = np.exp(z - z.max(1, keepdims=True))
            dz = e / e.sum(1, keepdims=True)
            dz[np.arange(BATCH), yb] -= 1
            dz /= BATCH
            d2 = (dz @ p["w3"].T) * (h2 > 0)
            d1 = (d2 @ p["w2"].T + d2) * (h1 > 0)
            gradient = {"w3": h2.T @ dz, "b3": dz.sum(0), "w2": h1.T @ d2, "b2": d2.sum(0), "w1": xb.T @ d1, "b1": d1.sum(0)}
            step += 1
            rate = 2e-3 * 0.5 * (1 + np.cos(np.pi * step / steps))
            for k, g in gradient.items():
                m[k] = 0.9 * m[k] + 0.1 * g
                v[k] = 0.999 * v[k] + 0.001 * g * g
                p[k] -= rate * (m[k] / (1 - 0.9**step) / (np.sqrt(v[k] / (1 - 0.999**step)) + 1e-8) + 1e-2 * p[k])
    return {k: a.astype(np.float32) for k, a in p.items()}


def main() -> None:
    x_train, y_train, x_test, y_test = split()
    weights = train(x_train, y_train)
    h1 = np.maximum(x_test @ weights["w1"] + weights["b1"], 0)
    h2 = np.maximum(h1 @ weights["w2"] + weights["b2"] + h1, 0)
    right = int((np.argmax(h2 @ weights["w3"] + weights["b3"], -1) == y_test).sum())
    np.savez_compressed(HERE / "weights.npz", **weights)
    np.savez_compressed(HERE / "test.npz", x=x_test)
    np.savez_compressed(HERE / "labels.npz", digit=y_test)
    print(f"test accuracy {right}/{TEST_IMAGES} = {right / TEST_IMAGES:.4f}; wrote weights.npz, test.npz, labels.npz in {HERE}")


if __name__ == "__main__":
    main()
