"""The profile of a run: calls, seconds and bytes of every operation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass
class ProfileRow:
    """The cost of one operation, or of all calls of one operator.

    Attributes:
        name: the operation's id, or the operator.
        operator: the operator ("matmul").
        calls: number of runs.
        seconds: wall time of all calls.
        nbytes: of operands and results, each counted once per call, whether or not they were in a cache.
    """

    name: str
    operator: str
    calls: int = 0
    seconds: float = 0.0
    nbytes: int = 0


class Profile:
    """Filled by `VM.run(profile=...)`; several runs add up."""

    def __init__(self) -> None:
        self.operations: dict[str, ProfileRow] = {}
        """Operation id -> its row, in the order of the first call."""

    def add(self, name: str, operator: str, seconds: float, values: Sequence[Any]) -> None:
        """Add one call, with its operands and its result."""
        row = self.operations.get(name)
        if row is None:
            row = self.operations[name] = ProfileRow(name, operator)
        row.calls += 1
        row.seconds += seconds
        row.nbytes += sum(v.nbytes for v in values if isinstance(v, np.ndarray | np.generic))

    def operators(self) -> list[ProfileRow]:
        """Return one row per operator, the slowest first."""
        rows: dict[str, ProfileRow] = {}
        for row in self.operations.values():
            total = rows.setdefault(row.operator, ProfileRow(row.operator, row.operator))
            total.calls += row.calls
            total.seconds += row.seconds
            total.nbytes += row.nbytes
        return sorted(rows.values(), key=lambda r: -r.seconds)

    @property
    def seconds(self) -> float:
        """Seconds of all operations, without the VM's own time between them."""
        return sum(row.seconds for row in self.operations.values())

    def table(self) -> str:
        """Return operation, calls, time, share and bytes, one line per operator and one for all."""
        rows = self.operators()
        everything = ProfileRow("all", "", sum(r.calls for r in rows), self.seconds, sum(r.nbytes for r in rows))
        width = max(len(r.name) for r in [*rows, everything, ProfileRow("operation", "")])
        lines = [f"{'operation':{width}}  {'calls':>9}  {'time ms':>10}  {'share':>6}  {'bytes':>15}"]
        for r in [*rows, everything]:
            share = r.seconds / everything.seconds if everything.seconds else 0.0
            lines.append(f"{r.name:{width}}  {r.calls:>9,}  {r.seconds * 1e3:>10.3f}  {share:>6.1%}  {r.nbytes:>15,}")
        return "\n".join(lines) + "\n"
