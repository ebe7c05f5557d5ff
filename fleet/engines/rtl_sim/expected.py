"""Expected commits of a job: the simulation ends at the first that differs (rtl_models/README.md).

Only when to end is decided by it: whether two engines agree is decided by comparing what both left, in Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fleet.engines.trace import Commit

ANY_CAUSE = 0x7FFF
_RESULT_VALID = 0x8000

_RECORD = np.dtype([("digest", "<u8"), ("bytes_written", "<u4"), ("result", "<u4"), ("error", "<u2"), ("reserved", "<u2", (3,))])


class ExpectedCommit(NamedTuple):
    """What must agree in a commit. error: 0, the cause of a refusal, or `ANY_CAUSE`; result: None if the instruction has none."""

    digest: int
    bytes_written: int
    result: int | None = None
    error: int = 0


def expected_of(commits: Sequence[Commit]) -> tuple[ExpectedCommit, ...]:
    """The expected commits out of an engine's trace."""
    return tuple(ExpectedCommit(c.digest, c.bytes_written, c.result, c.error) for c in commits)


def save_expected(path: Path, commits: Sequence[ExpectedCommit]) -> None:
    """Writes the file that a job names as `expected`."""
    rows = np.zeros(len(commits), _RECORD)
    for row, c in zip(rows, commits, strict=True):
        valid = c.result is not None and c.error != ANY_CAUSE
        row["digest"], row["bytes_written"], row["result"] = c.digest, c.bytes_written, c.result or 0
        row["error"] = c.error | (_RESULT_VALID if valid else 0)
    rows.tofile(path)
