"""Makes weights and inputs of the block at both widths: seeded, and spread as in a trained transformer rather than evenly.

Scales differ by input and output, gammas by channel, and two channels of the residual stream are far larger than the rest:
that is what makes INT4 hard. The matrices of the narrow block are scaled up, so that its scores spread as much: an attention
whose weights were all alike would hide a wrong mask.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

SEED = 124
TOKENS = 64
HERE = Path(__file__).parent
WIDTHS = {"full": (768, 3072), "narrow": (128, 512)}


def arrays(width: int, ffn: int) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """(weights, input) of a block: float32, by the names of model.py's arguments."""
    rng = np.random.default_rng(SEED)
    gain = (768 / width) ** 0.5

    def matrix(inputs: int, outputs: int, spread: float) -> np.ndarray:
        scale = rng.lognormal(0, 0.2, outputs) * rng.lognormal(0, 0.2, (inputs, 1))
        return (rng.normal(0, spread * gain, (inputs, outputs)) * scale).astype(np.float32)

    def vector(count: int, middle: float, spread: float) -> np.ndarray:
        return rng.normal(middle, spread, count).astype(np.float32)

    weights = {
        "g1": vector(width, 0.4, 0.1), "b1": vector(width, 0, 0.1),
        "wqkv": matrix(width, 3 * width, 0.14), "bqkv": vector(3 * width, 0, 0.3),
        "wo": matrix(width, width, 0.12), "bo": vector(width, 0, 0.1),
        "g2": vector(width, 0.4, 0.1), "b2": vector(width, 0, 0.1),
        "wup": matrix(width, ffn, 0.13), "bup": vector(ffn, -0.3, 0.2),
        "wdown": matrix(ffn, width, 0.12), "bdown": vector(width, 0, 0.1),
    }  # fmt: skip
    x = rng.normal(0, 1, (TOKENS, width))
    x[:, rng.choice(width, 2, replace=False)] *= 8
    return weights, {"x": x.astype(np.float32)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--out", type=Path, default=HERE, help="folder for the files (default: here)")
    parser.add_argument("--if-missing", action="store_true", help="make only files that are not there")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name, sizes in WIDTHS.items():
        files = [options.out / f"{name}-{kind}.npz" for kind in ("weights", "input")]
        if options.if_missing and all(f.exists() for f in files):
            continue
        for file, content in zip(files, arrays(*sizes), strict=True):
            temporary = file.with_name(f".{file.stem}.tmp.npz")
            np.savez(temporary, **content)
            temporary.replace(file)
        print(f"wrote {' and '.join(f.name for f in files)} in {options.out}")


if __name__ == "__main__":
    main()
