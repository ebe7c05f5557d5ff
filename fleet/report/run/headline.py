"""One row per engine: the figures that a reader looks for first. The page, the summary and the campaign's index share them."""

from __future__ import annotations

from dataclasses import dataclass

from fleet.compare.measured import OperationRow
from fleet.compare.verdict import Comparison
from fleet.core.codec import Json, encode_record
from fleet.cosim.result import CosimResult
from fleet.cosim.what_ran import EngineRun
from fleet.report.frame.text import engine_title

GOLDEN = "vm"
"""The engine whose result the others' task figures are compared with."""


@dataclass(frozen=True)
class HeadRow:
    """One engine.

    Attributes:
        engine: its name. title: its name for readers. status, error: as in `EngineRun`.
        accuracy, low, high: fraction with its Wilson interval; None without labels.
        lost, lost_low, lost_high: golden's accuracy minus this one's, with the paired interval; None for the golden itself.
        agreement: fraction of samples with the golden's class; None without a task.
        check: what it was compared with and the outcome, in words. check_verdict: "pass", "fail", "not proved", "info" or "".
        ratio: largest error / derived bound; None without a bound. ratio_op: the operation with that error.
        evidence: "model", "sample", "bench" or "board"; "" if it did not run.
        cycles, instructions: None if the engine counts none. elapsed_s: wall time.
        required: whether the user named it.
    """

    engine: str
    title: str
    status: str
    evidence: str
    error: str | None
    metric: str | None
    accuracy: float | None
    low: float | None
    high: float | None
    lost: float | None
    lost_low: float | None
    lost_high: float | None
    agreement: float | None
    check: str
    check_verdict: str
    ratio: float | None
    ratio_op: str | None
    cycles: int | None
    instructions: int | None
    elapsed_s: float
    required: bool

    def to_json(self) -> dict[str, Json]:
        """Return JSON values; infinities and NaN as strings, as in the result."""
        return encode_record(self)


def headline(result: CosimResult) -> tuple[HeadRow, ...]:
    """Return the rows in the result's order of engines, without engines that were not asked for."""
    return tuple(_row(result, engine) for engine in result.engines if engine.status != "not asked")


def worst_operation(comparison: Comparison) -> OperationRow | None:
    """Return the operation with the largest error / bound; without bounds, the one with the lowest SQNR; None without any."""
    bounded = [row for row in comparison.operations if row.held is not None]
    if bounded:
        return max(bounded, key=lambda row: row.held.worst_ratio if row.held else 0.0)
    rows = [row for row in comparison.operations if row.cumulative.sqnr_db == row.cumulative.sqnr_db]
    return min(rows, key=lambda row: row.cumulative.sqnr_db, default=None)


def _row(result: CosimResult, engine: EngineRun) -> HeadRow:
    task = result.task(engine.name)
    lossy = task if task and engine.name != GOLDEN else None
    mine = [c for c in result.comparisons if c.other == engine.name]
    mine.sort(key=lambda c: ("bits", "bound", "info").index(c.kind))
    worst = next((w for c in mine if c.kind == "bound" and (w := worst_operation(c)) and w.held), None)
    check, verdict = _check(mine[0]) if mine else ("reference of the others" if _is_reference(result, engine.name) else "", "")
    instructions = engine.counters.get("instructions")
    return HeadRow(
        engine=engine.name,
        title=engine_title(engine.name),
        status=engine.status,
        evidence=engine.evidence or "",
        error=engine.error,
        metric=task.metric if task else None,
        accuracy=task.value if task else None,
        low=task.low if task else None,
        high=task.high if task else None,
        lost=lossy.lost if lossy else None,
        lost_low=lossy.lost_low if lossy else None,
        lost_high=lossy.lost_high if lossy else None,
        agreement=task.agreement if task else None,
        check=check,
        check_verdict=verdict,
        ratio=worst.held.worst_ratio if worst and worst.held else None,
        ratio_op=worst.op if worst else None,
        cycles=engine.cycles,
        instructions=None if instructions is None else int(instructions),
        elapsed_s=engine.elapsed_s,
        required=engine.required,
    )


def _check(comparison: Comparison) -> tuple[str, str]:
    reference = engine_title(comparison.reference)
    if comparison.verdict == "nothing compared":
        return f"nothing compared with {reference}", "fail"
    if comparison.kind == "bits":
        equal, of = sum(row.equal for row in comparison.commits), " of a sample" * comparison.sampled
        return f"{equal:,} of {len(comparison.commits):,} commits{of} = {reference} in every bit", comparison.verdict
    if comparison.kind == "bound":
        ok = sum(row.verdict not in {"fail", "not proved"} for row in comparison.operations)
        ways = comparison.ways
        others = f" ({ways.words()})" if ways.own + ways.higher + ways.not_proved else ""
        words = "hold against" if others else "within the bound of"
        if not comparison.operations and comparison.printed:
            return f"{comparison.printed:,} printed lines = {reference}", comparison.verdict
        return f"{ok:,} of {len(comparison.operations):,} operations {words} {reference}{others}", comparison.verdict
    return f"measured against {reference}", "info" if comparison.verdict == "pass" else "fail"


def _is_reference(result: CosimResult, name: str) -> bool:
    return any(c.reference == name for c in result.comparisons)
