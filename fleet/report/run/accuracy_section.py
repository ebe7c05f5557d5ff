"""The section "Accuracy by operation" of a run's page: the two causes of error, pictures, a table for each comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from fleet.compare.measured import OperationRow
from fleet.compare.verdict import Comparison
from fleet.cosim.result import CosimResult
from fleet.report.frame.cut import CutRows
from fleet.report.frame.text import engine_title
from fleet.report.pictures.accuracy_pictures import sqnr_by_depth, ulp_distribution
from fleet.report.run import accuracy, error_causes
from fleet.report.run.headline import worst_operation

TABLE_ROWS = 50
"""Longest table of a page; report.json holds all rows."""
PASSED_ROWS = 20
"""Longest table of a comparison in which nothing failed; the page shows it folded."""
DEPTH_POINTS = 100
_BOTH = "both causes together, against golden"


@dataclass(frozen=True)
class OperationTable:
    """The operations of one comparison.

    Attributes:
        rows: the shown ones. failed, unproved: numbers among all.
        ways: how elements were decided, in words; "" for comparisons without a bound.
        judged: whether the third judge was asked. special: shown operations with NaN, infinities or saturated values.
    """

    comparison: Comparison
    rows: CutRows[OperationRow]
    failed: int
    unproved: int
    ways: str
    judged: bool
    special: tuple[OperationRow, ...]


@dataclass(frozen=True)
class AccuracySection:
    """The section's values.

    Attributes:
        causes: the comparisons that tell the causes apart. rows: errors by operation and cause.
        sentences: which class of operations adds how much.
        depth: picture of the SQNR against depth, or None. thinned: whether it leaves out operations.
        ulp: (caption, picture) for each comparison whose floats differ. exact: a sentence for each whose floats are equal.
        tables: one for each comparison.
    """

    causes: accuracy.Causes
    rows: CutRows[accuracy.ErrorByCause]
    sentences: tuple[str, ...]
    depth: Markup | None
    thinned: bool
    ulp: tuple[tuple[str, Markup], ...]
    exact: tuple[str, ...]
    tables: tuple[OperationTable, ...]


def accuracy_section(result: CosimResult) -> AccuracySection:
    """Return the section of a result."""
    found, rows = accuracy.causes(result)
    pictures: list[tuple[str, Markup]] = []
    exact: list[str] = []
    drawn = accuracy.thinned(rows, DEPTH_POINTS)
    series = {
        "quantisation: weights as stored against golden": [accuracy.sqnr(r.quantisation) for r in drawn],
        "arithmetic, from the inputs on": [accuracy.sqnr(r.arithmetic) for r in drawn],
        "arithmetic, this operation alone": [accuracy.sqnr(r.arithmetic, "local") for r in drawn],
        _BOTH: [accuracy.sqnr(r.total) for r in drawn],
    }
    series = {text: values for text, values in series.items() if any(v is not None for v in values)}
    depth = Markup(sqnr_by_depth([r.op for r in drawn], series, "sqnr", _BOTH)) if series else None
    for i, comparison in enumerate(c for c in result.comparisons if c.kind == "bound"):
        floats = tuple(r for r in comparison.operations if r.has_ulps)
        differing = tuple(r for r in floats if r.cumulative.ulp_max > 0 or r.cumulative.ulp_max != r.cumulative.ulp_max)
        if floats and not differing:
            exact.append(_no_distance(comparison, floats))
        worst = worst_operation(replace(comparison, operations=differing))
        if worst is None or worst.bound is None or not worst.cumulative.ulp_counts:
            continue
        edges, counts = accuracy.histogram(worst.cumulative, worst.bound.ulp_median)
        unit = f"ULP of {worst.cumulative.ulp_dtype}" if worst.cumulative.ulp_dtype else "units"
        text = f"{comparison.other} against {engine_title(comparison.reference)}, at {worst.op}"
        exactly = f"; {len(floats) - len(differing)} of its {len(floats)} operations are 0 ULP away everywhere"
        picture = ulp_distribution(edges, {text: counts}, worst.bound.ulp_median, unit, f"ulp-{i}")
        pictures.append((text + (exactly if len(differing) < len(floats) else ""), Markup(picture)))
    return AccuracySection(
        causes=found,
        rows=_by_cause(rows),
        sentences=error_causes.sentences(result),
        depth=depth,
        thinned=len(drawn) < len(rows),
        ulp=tuple(pictures),
        exact=tuple(exact),
        tables=tuple(_table(c) for c in result.comparisons if c.operations),
    )


def _no_distance(comparison: Comparison, floats: Sequence[OperationRow]) -> str:
    """Return the sentence that replaces a histogram with one bar at zero."""
    elements = sum(r.cumulative.elements for r in floats)
    sides = f"{engine_title(comparison.other)} and {engine_title(comparison.reference)}"
    if not any(r.cumulative.mismatches for r in floats):
        return f"{sides} are identical: no float of {elements:,} differs."
    return f"{sides} differ by less than the dtype holds: 0 ULP of {floats[0].cumulative.ulp_dtype} in all {elements:,} floats."


def _by_cause(rows: Sequence[accuracy.ErrorByCause]) -> CutRows[accuracy.ErrorByCause]:
    keep = {r.op for r in accuracy.selected([row.any for row in rows], TABLE_ROWS)}
    return CutRows([row for row in rows if row.op in keep], len(rows))


def _table(comparison: Comparison) -> OperationTable:
    red = any(r.verdict in ("fail", "not proved") for r in comparison.operations)
    rows = accuracy.selected(comparison.operations, TABLE_ROWS if red else PASSED_ROWS)
    return OperationTable(
        comparison=comparison,
        rows=CutRows(rows, len(comparison.operations)),
        failed=sum(r.verdict == "fail" for r in comparison.operations),
        unproved=sum(r.verdict == "not proved" for r in comparison.operations),
        ways=comparison.ways.words() if comparison.kind == "bound" else "",
        judged=any(r.higher is not None for r in comparison.operations),
        special=tuple(r for r in rows if _special(r)),
    )


def _special(row: OperationRow) -> bool:
    a, b = row.reference_counts, row.other_counts
    return any((a.saturated, a.nan, a.inf, a.subnormal, b.saturated, b.nan, b.inf, b.subnormal))
