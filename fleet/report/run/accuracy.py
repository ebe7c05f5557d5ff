"""The accuracy section's figures: both causes of error side by side, and the rows of a large model that are shown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from fleet.compare.measured import ErrorStats, OperationRow
from fleet.compare.verdict import Comparison
from fleet.cosim.result import ROUNDED, CosimResult
from fleet.cosim.what_ran import EngineRun
from fleet.report.run.gaps import fused_into

T = TypeVar("T")


class Causes(NamedTuple):
    """The comparisons that split the accelerator's error; None if one was not made."""

    quantisation: Comparison | None
    arithmetic: Comparison | None
    total: Comparison | None


@dataclass(frozen=True)
class ErrorByCause:
    """One operation under both causes. Each part is the row of that comparison, or None.

    place: where the accelerator ran it: "device", "device, fused into h1", "host"; "" if unknown.
    """

    op: str
    quantisation: OperationRow | None
    arithmetic: OperationRow | None
    total: OperationRow | None
    place: str

    @property
    def any(self) -> OperationRow:
        """A row of the operation, for its name and place."""
        row = self.arithmetic or self.total or self.quantisation
        assert row is not None
        return row


def causes(result: CosimResult) -> tuple[Causes, tuple[ErrorByCause, ...]]:
    """Compare golden -> rounded golden (quantisation) -> accelerator (arithmetic), by operation in program order."""
    quantisation = next((c for c in result.comparisons if c.other == ROUNDED), None)
    arithmetic = next((c for c in result.comparisons if c.reference == ROUNDED), None)
    total = None
    if arithmetic is not None:
        golden = quantisation.reference if quantisation else "vm"
        total = next((c for c in result.comparisons if c.other == arithmetic.other and c.reference == golden), None)
    found = Causes(quantisation, arithmetic, total)
    tables = [{row.op: row for row in c.operations} if c else {} for c in found]
    order = _order(found)
    engine = result.engine(arithmetic.other) if arithmetic else None
    into = fused_into(engine)
    return found, tuple(
        ErrorByCause(op, tables[0].get(op), tables[1].get(op), tables[2].get(op), place)
        for op in order
        for place in [_place(engine, op, into.get(op))]
    )


def _order(found: Causes) -> list[str]:
    """Return operation ids in the model's order; operations of the compiled program alone follow their predecessor."""
    model = {row.op: row.index for c in (found.quantisation, found.total) if c for row in c.operations}
    order = sorted(model, key=model.__getitem__)
    before = None
    for row in sorted(found.arithmetic.operations, key=lambda row: row.index) if found.arithmetic else ():
        if row.op not in model:
            order.insert(0 if before is None else order.index(before) + 1, row.op)
        before = row.op
    return order


def _place(engine: EngineRun | None, op: str, into: str | None) -> str:
    """Return where the accelerator ran an operation, from its placement, and what it was fused into."""
    if engine is None:
        return ""
    place = engine.placement.get(op, "")
    return f"{place or 'device'}, fused into {into}" if into else place


def sqnr(row: OperationRow | None, part: str = "cumulative") -> float | None:
    """Return the SQNR in dB of the row's "cumulative" or "local" figures; None without them, without a signal, and for indices."""
    if row is None or not row.has_ulps:
        return None
    stats = row.cumulative if part == "cumulative" else row.local
    return stats.sqnr_db if stats is not None and not math.isnan(stats.sqnr_db) else None


def selected(rows: Sequence[OperationRow], most: int) -> tuple[OperationRow, ...]:
    """Return at most `most` rows, in program order: failing ones first, then those nearest to their bound or lowest in SQNR."""
    if len(rows) <= most:
        return tuple(rows)

    def badness(row: OperationRow) -> tuple[bool, float, float]:
        sqnr = row.cumulative.sqnr_db
        return (
            row.verdict in {"fail", "not proved"},
            row.held.worst_ratio if row.held else 0.0,
            -sqnr if not math.isnan(sqnr) else math.inf,
        )

    chosen = sorted(rows, key=badness, reverse=True)[:most]
    return tuple(sorted(chosen, key=lambda row: row.index))


def thinned(values: Sequence[T], most: int) -> tuple[T, ...]:
    """Return at most `most` values, evenly spaced, the first and the last included."""
    if len(values) <= most:
        return tuple(values)
    step = (len(values) - 1) / (most - 1)
    return tuple(values[round(i * step)] for i in range(most))


def histogram(stats: ErrorStats, reach: float = 0.0) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """Return upper edges and counts of the ULP histogram, cut after the last bucket that is not empty or holds `reach`."""
    edges = (*map(float, stats.ulp_upper), math.inf)
    last = max((i for i, n in enumerate(stats.ulp_counts) if n), default=0)
    bound_at = next((i for i, edge in enumerate(edges) if reach <= edge), 0) if math.isfinite(reach) else 0
    end = min(max(last, bound_at, 3) + 1, len(edges))
    return edges[:end], stats.ulp_counts[:end]
