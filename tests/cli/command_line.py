"""What tests of the command line share: a model, how a command ended, its environment."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

DENSE = """import numpy as np


def forward(x: "float32[N, 64]", w: "float32[64, 32]", b: "float32[32]"):
    y = x @ w + b
    return y, np.argmax(y, axis=-1)
"""
ENTRY = "import sys; from fleet.cli.main import main; sys.exit(main())"


@dataclass(frozen=True)
class Ran:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def line(self) -> str:
        """The first line of standard error."""
        return self.err.splitlines()[0] if self.err else ""


def environment(changes: Mapping[str, str | None] | None = None) -> dict[str, str]:
    """That of the tests, this checkout first on the import path; None takes a variable away."""
    found = dict(os.environ)
    found["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, [found.get("PYTHONPATH")])])
    for name in ("FLEET_DEBUG", "COLUMNS", "PYTHONUNBUFFERED"):  # as most users have it
        found.pop(name, None)
    for name, value in (changes or {}).items():
        if value is None:
            found.pop(name, None)
        else:
            found[name] = value
    return found


Fleet = Callable[..., Ran]


Refused = Callable[..., Ran]


def tree(folder: Path) -> dict[str, bytes]:
    """Every file of a folder with its bytes."""
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir()) if p.is_file()}
