"""Models with decisions and loops of the run, drawn at random: for exports that have operations with bodies."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from fleet.engines.base import RunOptions
from fleet.engines.vm import ENGINE as VM
from fleet.errors import SourceError
from fleet.frontend.source import load
from fleet.ir.dialect import IfOp, WhileOp, all_operations
from fleet.ir.program import Program

STATEMENTS = (
    "a = a * 0.5 + x", "a, b = b, a", "b = b + a.sum()", "b = a", "a = x", "a[1] = c", "a += b", "c = c * 0.75 + a[0]", "k += 1",
    "c = c + k", "b = np.where(a > c, a, b)", "a = np.sort(a)", "b = b[::-1]", "m = a.argmax(); c = c - m",
    "a = a.reshape(2, 2).T.ravel()", "if c > 0.5:\n    b = b - 1\nelse:\n    a = a * 0.5\n    k += 1",
    "if k % 3 == 1:\n    a, b = b, a", "if a[0] > b[1]: c = c - 1", "if c > 9: break",
    "if k == 7 and a.min() < 0: return a, b, c, k",
    "while c > 1:\n    c = c * 0.5\n    b = b + a", "i = 0\nwhile i < 3 and a.max() < 5:\n    i += 1\n    a = a + i",
    "c = max(c, 0.25)", "b = b.astype(np.float32).astype(np.float64)",
)  # fmt: skip
TEXT = """import numpy as np
def forward(x):
    a, b, c, k = x * 2, np.zeros(4), 0.0, 0
    while (a * a).sum() < 40 and k < 12:
        k += 1
        {body}
    return a, b, c, k
"""


def drawn(seed: int) -> str:
    """A model's text."""
    rng = random.Random(seed)
    chosen = rng.choices(STATEMENTS, k=rng.randrange(2, 6))
    return TEXT.format(body="\n        ".join(line for s in chosen for line in s.splitlines()))


def drawn_programs(folder: Path, seeds: range) -> Iterator[tuple[str, Program, dict[str, np.ndarray]]]:
    """Text, program with at least one loop or decision, and inputs; seeds whose text the front end refuses are left out."""
    path = folder / "model.py"
    for seed in seeds:
        text = drawn(seed)
        inputs = {"x": np.random.default_rng(seed).standard_normal(4)}
        path.write_text(text)
        try:
            program = load(f"{path}:forward", {}, inputs)
        except SourceError as error:
            if error.code not in ("F504", "F511"):  # memory that may be shared, values of several types
                raise
            continue
        assert any(isinstance(op, IfOp | WhileOp) for op in all_operations(program.function.body.block))
        yield text, program, inputs


def golden(program: Program, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The outputs on the VM."""
    return dict(VM.run(program, inputs, RunOptions(keep_tensors=False)).outputs)
