"""Makes weights.npz and input.npz for the 4096 x 256 product: seeded, and shaped like a trained layer's.

A trained transformer's linear layers have near-Gaussian weights whose scale differs by output channel, a few input
channels that are much larger than the rest, and activations with outliers in the same few channels (Dettmers et al.,
"LLM.int8()", 2022). These are what makes INT4 hard, so uniform noise would flatter the device.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

SEED = 4096
TOKENS = 64
HERE = Path(__file__).parent


def weights(rng: np.random.Generator) -> np.ndarray:
    """(4096, 256) float32: Gaussian, log-normal scale per output, 0.5 % heavier inputs, a touch of heavy tail."""
    w = rng.normal(0, 0.02, (4096, 256)) * rng.lognormal(0, 0.3, 256)
    w[rng.choice(4096, 20, replace=False)] *= 4
    w += rng.standard_t(4, w.shape) * 0.004
    return w.astype(np.float32)


def activations(rng: np.random.Generator) -> np.ndarray:
    """(TOKENS, 4096) float32: unit Gaussian, six outlier channels of about 20."""
    a = rng.normal(0, 1, (TOKENS, 4096))
    a[:, rng.choice(4096, 6, replace=False)] *= 20
    return a.astype(np.float32)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--out", type=Path, default=HERE, help="folder for weights.npz and input.npz (default: here)")
    parser.add_argument("--if-missing", action="store_true", help="do nothing where both files are there already")
    options = parser.parse_args()
    out = options.out
    if options.if_missing and all((out / name).exists() for name in ("weights.npz", "input.npz")):
        return
    rng = np.random.default_rng(SEED)
    out.mkdir(parents=True, exist_ok=True)
    for name, arrays in (("weights.npz", {"b": weights(rng)}), ("input.npz", {"a": activations(rng)})):
        temporary = out / f".{name}.tmp.npz"
        np.savez(temporary, **arrays)
        temporary.replace(out / name)
    print(f"wrote weights.npz and input.npz in {out}")


if __name__ == "__main__":
    main()
