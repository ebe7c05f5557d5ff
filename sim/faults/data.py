"""Seeded weights and inputs of the models in `models/`, and a case with its golden."""

from __future__ import annotations

from pathlib import Path

import numpy as np

ROWS = 16
FOLDER = "sim/faults/models"
CASE = "sim/faults/models/small_digits.toml"

_CASE = """name = "small_digits"
model = "../../../examples/digits/model.py:forward"
weights = "../../../examples/digits/weights.npz"
input = "../../../examples/digits/test.npz"
labels = "../../../examples/digits/labels.npz"
metric = "accuracy"
engines = ["vm", "iss"]
devices = ["hbm_small"]
samples = 16

[[runs]]
"""

SEEDS = f"{FOLDER}/seeds.toml"
_SEEDS = """name = "seeds"
model = "difference.py:forward"
golden = false
engines = ["vm", "cpython"]
samples = 16

[[runs]]
seeds = [0, 1]
"""
DRAWN = f"{FOLDER}/drawn.toml"
_DRAWN = _SEEDS.replace('"seeds"', '"drawn"').replace("golden", 'input = "difference.input.npz"\ngolden')
STALLS = f"{FOLDER}/stalls.toml"
_STALLS = (
    _CASE.replace('"small_digits"', '"stalls"')
    .replace('["vm", "iss"]', '["vm", "iss", "rtl"]\ngolden = false')
    .replace("[[runs]]", '[[runs]]\nmemories = ["stall"]\nseeds = [0, 1]')
)


def write(project: Path) -> None:
    """Writes them into a copy of the project."""
    folder = project / FOLDER
    rng = np.random.default_rng(20240917)

    def normal(*shape: int) -> np.ndarray:
        return rng.normal(size=shape).astype(np.float32)

    def save(name: str, inputs: np.ndarray, **weights: np.ndarray) -> None:
        np.savez(folder / f"{name}.weights.npz", **weights)
        np.savez(folder / f"{name}.input.npz", x=inputs)

    save("difference", normal(ROWS, 16), w=normal(16, 16), b=normal(16))
    # Scales that differ much between groups, so that a scale taken from the wrong group cannot pass for rounding.
    save("groups", normal(ROWS, 300), w=normal(300, 20) * np.repeat(np.float32([1, 0.25, 4]), (128, 128, 44))[:, None])
    tied = normal(64, 20)
    tied[:, 5] = tied[:, 17] = tied[:, 3]
    bias = np.zeros(20, np.float32)
    bias[[3, 5, 17]] = 100
    save("ties", normal(ROWS, 64), w=tied, b=bias)
    nothing = normal(32, 32)
    nothing[:, 9] = 0
    save("zeros", normal(ROWS, 32), w1=normal(32, 32), w2=nothing)
    save("long", normal(ROWS, 1100), w=normal(1100, 20))
    for file, text in ((CASE, _CASE), (SEEDS, _SEEDS), (DRAWN, _DRAWN), (STALLS, _STALLS)):
        (project / file).write_text(text, encoding="utf-8")


def cosim(model: str, *more: str) -> tuple[str, ...]:
    """Arguments of `python -m` that co-simulate a model of `models/` on its data: "difference", or "file:function"."""
    file, _, function = model.partition(":")
    data = function or file
    return (
        "fleet.cli.main", "cosim", f"{FOLDER}/{file}.py:{function or 'forward'}",
        "--weights", f"{FOLDER}/{data}.weights.npz", "--input", f"{FOLDER}/{data}.input.npz", *more,
    )  # fmt: skip


def digits(*more: str) -> tuple[str, ...]:
    """The same for the digits, 16 images."""
    base = "examples/digits"
    return (
        "fleet.cli.main", "cosim", f"{base}/model.py:forward", "--weights", f"{base}/weights.npz", "--input", f"{base}/test.npz",
        "--labels", f"{base}/labels.npz", "--batch", str(ROWS), *more,
    )  # fmt: skip


DEVICE = ("--device", "hbm_small")
