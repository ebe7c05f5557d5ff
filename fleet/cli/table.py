"""Terminal output of a co-simulation: a row as each engine finishes, then comparisons and verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import click
import numpy as np

from fleet.compare.measured import OperationRow
from fleet.compare.verdict import Comparison, TaskMetric
from fleet.core.codec import Json, encode
from fleet.cosim.result import CosimResult
from fleet.cosim.what_ran import EngineRun

_HEAD = ("engine", "evidence", "accuracy", "interval", "as golden", "cycles", "instructions", "seconds")
_WIDTHS = (11, 8, 17, 15, 10, 18, 14, 9)
_BUILT_S = 2.0
"""Seconds above which a simulation is assumed to have been built instead of loaded from the cache."""
_LEAST_DB = 20.0
"""SQNR in dB below which calibration is advised."""
_VALUES, _OUTPUTS = 5, 4
"""Maximum number of elements shown per output, and of outputs."""
_COLOURS = {"pass": "green", "fail": "red", "not proved": "yellow", "nothing compared": "red"}


def _line(cells: Sequence[str]) -> str:
    return " ".join(cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(cells, _WIDTHS, strict=True)))


def print_head() -> None:
    """Print the heading of `print_engine`'s rows."""
    click.secho(_line(_HEAD), bold=True)


def print_engine(run: EngineRun, task: TaskMetric | None) -> None:
    """Print one row when an engine has finished."""
    if run.status == "failed":
        click.echo(f"{run.name:11} {click.style('FAILED', fg='red', bold=True)} {run.error}")
        return
    accuracy = interval = agreement = "-"
    if task is not None:
        agreement = f"{100 * task.agreement:.1f} %"
        if task.value is not None and task.correct is not None and task.low is not None and task.high is not None:
            accuracy = f"{task.correct}/{task.samples} {100 * task.value:.2f} %"
            interval = f"{100 * task.low:.1f}..{100 * task.high:.1f} %"
    instructions = run.counters.get("instructions")
    cells = (
        run.name,
        run.evidence or "",
        accuracy,
        interval,
        agreement,
        _cycles(run),
        "-" if instructions is None else f"{instructions:,.0f}",
        f"{run.elapsed_s:.3f}",
    )
    click.echo(_line(cells))
    if isinstance(calls := run.meta.get("host_calls"), Mapping):
        click.echo(f"  the host computed {len(calls)} of {run.name}'s {len(run.placement)} operations: {_named(list(calls))}")
    build = run.counters.get("rtl_build_seconds", 0.0)
    if build >= _BUILT_S:
        click.echo(_line((f"{run.name} build", "once", *["-"] * 5, f"{build:.1f}")))


def _named(ids: Sequence[str]) -> str:
    rest = len(ids) - _VALUES
    return ", ".join(ids[:_VALUES]) + (f" and {rest} more" if rest > 0 else "")


def estimated_cycles(run: EngineRun) -> int | None:
    """Return the cost model's cycles for an engine that runs instructions without a clock; else None, and for a sample too."""
    estimate = None if run.evidence == "sample" else run.counters.get("cycles_estimate")
    return None if run.cycles is not None or estimate is None else round(estimate)


def _cycles(run: EngineRun) -> str:
    estimate = estimated_cycles(run)
    if estimate is not None:
        return f"{estimate:,} estimated"
    return "-" if run.cycles is None else f"{run.cycles:,}"


def _extent(comparison: Comparison) -> str:
    if comparison.kind == "bits":
        of = " of a sample" * comparison.sampled
        return f"{len(comparison.commits)} instruction commits{of}, {comparison.bytes:,} bytes, every bit"
    rows = comparison.operations
    lines = "line" if comparison.printed == 1 else "lines"
    printed = f", {comparison.printed:,} printed {lines} alike" if comparison.printed else ""
    text = f"{len(rows)} operations, {comparison.elements:,} elements{printed}"
    ratios = [r.held.worst_ratio for r in rows if r.held is not None and math.isfinite(r.held.worst_ratio)]
    if comparison.kind == "bound":
        worst = f", worst error / derived bound {max(ratios):.2g}" if ratios else ""
        ways = comparison.ways.words()
        return f"{text}{worst}{f'; {ways}' if ways else ''}"
    floats = [r for r in rows if r.cumulative.ulp_dtype]
    sqnr = [r.cumulative.sqnr_db for r in floats if math.isfinite(r.cumulative.sqnr_db)]
    silent = [r for r in floats if math.isnan(r.cumulative.sqnr_db)]
    lowest = f", lowest SQNR {min(sqnr):.1f} dB" if sqnr else ""
    largest = max((r.cumulative.max_abs for r in silent), default=0.0)
    zero = f", {len(silent)} without a signal (zero but for rounding, largest error {largest:.2g})" if silent else ""
    return f"{text}{lowest}{zero}"


def print_comparison(comparison: Comparison) -> None:
    """Prints one line: verdict, extent and difference. `print_verdict` prints the reasons of a failure."""
    verdict = "measured" if comparison.kind == "info" and comparison.verdict == "pass" else comparison.verdict
    styled = click.style(f"{verdict.upper():9}", fg=_COLOURS.get(verdict), bold=True)
    click.echo(f"  {styled} {comparison.name}: {_extent(comparison)}")


def print_outputs(result: CosimResult, outputs: Mapping[str, str]) -> None:
    """Prints the first elements of each output, of the golden and of every other engine, with their difference.

    outputs: name -> id of the operation that computes it.
    """
    asked = {run.name for run in result.engines if run.required}
    compared = [c for c in result.comparisons if c.reference == "vm" and c.other in asked]
    for name, op in list(outputs.items())[:_OUTPUTS]:
        rows = [(c, row) for c in compared for row in c.operations if row.op == op]
        for n, (comparison, row) in enumerate(rows):
            key = f"{comparison.name}/{op}"
            if f"{key}/reference" not in result.arrays:
                continue
            golden = result.arrays[f"{key}/reference"][:_VALUES]
            if n == 0:
                click.echo(f"{name} {row.reference_dtype}{list(row.shape)}\n  {'vm':11} {_numbers(golden)}")
            other = result.arrays[f"{key}/other"][:_VALUES]
            click.echo(f"  {comparison.other:11} {_numbers(other)}   {_apart(row)}")
    if len(outputs) > _OUTPUTS:
        click.echo(f"and {len(outputs) - _OUTPUTS} more outputs, in the report")


def _numbers(values: np.ndarray) -> str:
    return " ".join(f"{v:>12.6g}" for v in values)


def _apart(row: OperationRow) -> str:
    if row.cumulative.max_abs == 0:
        return "equal"
    sqnr = row.cumulative.sqnr_db
    return f"largest difference {row.cumulative.max_abs:.3g}{f', {sqnr:.1f} dB' if math.isfinite(sqnr) else ''}"


def advice_lines(result: CosimResult) -> list[str]:
    """Return the device's worst operations and advice, if its SQNR against the golden is below 20 dB; else empty."""
    for comparison in result.comparisons:
        run = result.engine(comparison.other)
        if comparison.reference != "vm" or run is None or "device" not in run.placement.values():
            continue
        heard = [r for r in comparison.operations if r.cumulative.ulp_dtype and math.isfinite(r.cumulative.sqnr_db)]
        low = [r for r in heard if r.cumulative.sqnr_db < _LEAST_DB]
        if not low:
            continue
        first = min(low, key=lambda r: r.index)
        worst = sorted(low, key=lambda r: r.cumulative.sqnr_db)[:3]
        words = ", ".join(f"{r.op} {r.cumulative.sqnr_db:.1f} dB" for r in worst)
        lines = [
            f"{first.cumulative.sqnr_db:.1f} dB after {first.op}, the first below {_LEAST_DB:.0f} ({run.name}); worst: {words}"
        ]
        request = result.identity.request
        if request is not None and request.is_command("cosim") and "--calibrate" not in request.arguments:
            lines.append(f"  fit the quantisation to your data: {request} --calibrate DATA.npz")
        return lines
    return []


def print_verdict(result: CosimResult) -> None:
    """Prints comparisons, accuracy lost on the device, its worst operations, first divergence, verdict and its reasons."""
    for comparison in result.comparisons:
        print_comparison(comparison)
    _print_loss(result)
    for line in (*advice_lines(result), *divergence_lines(result)):
        click.echo(line)
    for run in result.engines:
        if run.cut and f"{run.name}: {run.cut}" not in result.reasons:
            click.echo(f"{run.name}: {run.cut}")
    kinds = f" ({result.evidence})" if result.evidence else ""
    click.secho(f"verdict: {result.verdict.upper()}{kinds}", fg=_COLOURS[result.verdict], bold=True)
    for reason in result.reasons:
        click.echo(f"  {reason}")


def _print_loss(result: CosimResult) -> None:
    for name in ("iss", "rtl"):
        task = result.task(name)
        if task is not None and task.lost is not None and task.lost_low is not None and task.lost_high is not None:
            click.echo(
                f"lost on the device ({name}): {100 * task.lost:.2f} points of accuracy, "
                f"{100 * task.confidence:.0f} % interval {100 * task.lost_low:.2f} to {100 * task.lost_high:.2f}; "
                f"{len(task.flips)} predictions differ from the golden's"
            )
            return


def divergence_lines(result: CosimResult) -> list[str]:
    """Return the first divergence: operation -> instruction -> address -> values; empty if there is none."""
    found = result.divergence
    if found is None:
        return []
    place = f"instruction {found.seq} {found.instruction}, " if found.instruction is not None else ""
    lines = [f"first divergence ({found.comparison}): {place}operations {', '.join(found.ops)}", f"  {found.what}"]
    for d in found.differences[:3]:
        element = f"element {list(d.element)} at " if d.element is not None else ""
        lines.append(f"  {element}{d.where}: expected {d.expected}, found {d.found}")
    if found.total_differences:
        lines.append(f"  {found.total_differences:,} elements differ there")
    return lines


def as_json(result: CosimResult, files: Mapping[str, str]) -> dict[str, Json]:
    """Return JSON values of a result: verdict, figures by engine, comparisons, paths of the written files."""
    from fleet.report.run.gaps import gaps

    def number(value: float | None) -> float | None:
        return value if value is None or math.isfinite(value) else None

    engines: dict[str, Json] = {}
    for run in result.engines:
        task = result.task(run.name)
        engines[run.name] = {
            "status": run.status, "error": run.error, "evidence": run.evidence, "seconds": run.elapsed_s, "cycles": run.cycles,
            "cycles_estimated": estimated_cycles(run),
            "instructions": run.counters.get("instructions"), "accuracy": task and task.value,
            "agreement": task and task.agreement, **({"cut": run.cut} if run.cut else {}),
        }  # fmt: skip
    comparisons = [
        {
            "name": c.name, "kind": c.kind, "verdict": c.verdict, "reasons": list(c.reasons), "elements": c.elements,
            "bytes": c.bytes, "printed": c.printed, "ways": encode(c.ways) if c.kind == "bound" else None,
            "worst_ratio": max((number(r.held.worst_ratio) or 0.0 for r in c.operations if r.held is not None), default=None),
        }
        for c in result.comparisons
    ]  # fmt: skip
    return {
        "verdict": result.verdict, "reasons": list(result.reasons), "random_data": result.data.kind == "random",
        "banner": result.data.banner,
        "engines": engines, "comparisons": comparisons, "divergence": divergence_lines(result), "advice": advice_lines(result),
        "not_compared": [gap.to_json() for gap in gaps(result)], "files": files,
    }  # fmt: skip
