"""Stored norms: the cycles of a case's runs, and the widths of the bounds that they are checked against.

`golden/<case>/norms.toml`, written by `fleet case accept`, holds for every run
  cycles   engine -> total cycles. Simulated time is deterministic, so another number is a change of hardware, memory or bench.
  bounds   comparison and operation -> median of the bound's elements. A wider bound accepts larger errors: that is a regression.

If the file names a run that the case does not have, the case's runs fail. A run that is not in the file states that it has no
norms.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeGuard

from fleet.core.files import write_atomically
from fleet.core.toml_file import TomlTable, TomlValue, is_number, read_toml, toml_value
from fleet.cosim.result import CosimResult
from fleet.errors import ComparisonFailure, FleetError

FILE = "norms.toml"
FORMAT = 1
WIDER = 1.01
"""Factor by which a bound may exceed its norm: another order of summation in a library changes the values behind bounds."""


@dataclass(frozen=True)
class RunNorms:
    """Norms of one run. cycles: engine -> cycles. bounds: comparison -> operation -> median of the bound, inf if none is finite."""

    cycles: Mapping[str, int] = field(default_factory=dict[str, int])
    bounds: Mapping[str, Mapping[str, float]] = field(default_factory=dict[str, Mapping[str, float]])


@dataclass(frozen=True)
class Norms:
    """Norms of a case. runs: run id -> norms. reason: why they were accepted. date: ISO 8601. path: the file."""

    case: str
    reason: str
    date: str
    runs: Mapping[str, RunNorms]
    path: Path


def norms_of(result: CosimResult) -> RunNorms:
    """Return the norms of a result: cycles of each engine with a clock, bounds of each comparison that has them."""
    cycles = {run.name: run.cycles for run in result.engines if run.status == "ran" and run.cycles is not None}
    bounds = {
        c.name: {
            row.op: row.bound.bound_median
            for row in c.operations
            if row.bound is not None and not math.isnan(row.bound.bound_median)
        }
        for c in result.comparisons
        if c.kind == "bound"
    }
    return RunNorms(cycles, {name: rows for name, rows in bounds.items() if rows})


def held(norms: Norms, run: str, result: CosimResult) -> tuple[str, ...]:
    """Return the differences of a run from its norms, one line each. run: an id in the norms."""
    where = str(norms.path)
    then, now = norms.runs[run], norms_of(result)
    wrong: list[str] = []
    for engine, cycles in then.cycles.items():
        found = now.cycles.get(engine)
        if found != cycles and any(e.name == engine and e.status == "ran" for e in result.engines):
            times = f" ({found / cycles:.2f} times as many)" if found and cycles else ""
            shown = "none" if found is None else f"{found:,}"
            wrong.append(
                f"{where}: {engine} took {shown} cycles, the norm is {cycles:,}{times}; if that is meant: `fleet case accept`"
            )
    unheld = now.cycles.keys() - then.cycles.keys()
    wrong += [f"{where}: holds no cycles of {engine}; accept them with `fleet case accept`" for engine in sorted(unheld)]
    wider = [
        (now.bounds[name][op] / bound if bound else math.inf, name, op, bound, now.bounds[name][op])
        for name, rows in then.bounds.items()
        for op, bound in rows.items()
        if op in now.bounds.get(name, {}) and now.bounds[name][op] > bound * WIDER
    ]
    if wider:
        times, name, op, bound, found = max(wider)
        total = sum(map(len, now.bounds.values()))
        what = f"{name}, {op}: the bound is {found:.3g}, its norm {bound:.3g} ({times:.4g} times as wide)"
        count = f"{len(wider)} of {total} bounds are wider than their norms"
        wrong.append(f"{where}: {count}; most: {what}; if that is meant: `fleet case accept`")
    return tuple(wrong)


def differences(old: Norms | None, new: Norms) -> tuple[str, ...]:
    """Return the changes from stored norms to new ones, one line per run and figure; empty if there are none."""
    lines: list[str] = []
    before = {} if old is None else old.runs
    lines += [f"{run}: gone" for run in before if run not in new.runs]
    for run, one in new.runs.items():
        then = before.get(run, RunNorms())
        for engine in dict.fromkeys((*then.cycles, *one.cycles)):
            a, b = then.cycles.get(engine), one.cycles.get(engine)
            if a != b:
                lines.append(f"{run}: {engine} cycles {'-' if a is None else f'{a:,}'} -> {'-' if b is None else f'{b:,}'}")
        for name in dict.fromkeys((*then.bounds, *one.bounds)):
            rows, others = then.bounds.get(name, {}), one.bounds.get(name, {})
            moved = [op for op in dict.fromkeys((*rows, *others)) if _shown(rows.get(op)) != _shown(others.get(op))]
            if moved:
                first = f"{moved[0]} {_shown(rows.get(moved[0]))} -> {_shown(others.get(moved[0]))}"
                lines.append(f"{run}: {name}: {len(moved)} bounds, first: {first}")
    return tuple(lines)


def _shown(bound: float | None) -> str:
    """Return a bound as it is stored."""
    return "-" if bound is None else f"{bound:.6g}"


def load_norms(path: Path, runs: Sequence[str] | None = None) -> Norms | None:
    """Read a file of norms; None if it is missing. runs: ids of the case's runs, which all names must be among.

    Raises ComparisonFailure with file, line and key.
    """
    if not path.exists():
        return None
    file = read_toml(path, ComparisonFailure)
    file.need("format", "case", "reason", "date", "runs")
    file.only("format", "case", "reason", "date", "runs")
    if file.integer("format", 1) != FORMAT:
        raise file.wrong("format", f"format is {file.values['format']}, expected {FORMAT}", hint="accept the norms again")
    table = file.table("runs")
    found = {run: _run(table.table(run), table) for run in table.values}
    if runs is not None and (unknown := [run for run in found if run not in runs]):
        hint = "`fleet case accept` leaves it out"
        raise table.wrong(unknown[0], f"norms of run '{unknown[0]}', which the case does not have", hint=hint)
    return Norms(file.text("case"), file.text("reason"), file.text("date"), found, path)


def _run(table: TomlTable, runs: TomlTable) -> RunNorms:
    table.only("cycles", "bounds", "bounds_as")
    cycles = table.table("cycles") if "cycles" in table else None
    owner = runs.table(table.text("bounds_as")) if "bounds_as" in table else table
    bounds = owner.table("bounds") if "bounds" in owner else None
    return RunNorms(
        {} if cycles is None else {engine: cycles.integer(engine, 0) for engine in cycles.values},
        {} if bounds is None else {name: _bounds(bounds.table(name)) for name in bounds.values},
    )


def _bounds(table: TomlTable) -> dict[str, float]:
    def fits(value: TomlValue) -> TypeGuard[int | float]:
        return is_number(value) and not math.isnan(value)

    return {op: float(table.get(op, "a number", fits)) for op in table.values}


def store_norms(norms: Norms) -> None:
    """Write the file, completely or not at all. Raises FleetError without a reason."""
    if not norms.reason.strip():
        raise FleetError("norms need a reason", where=str(norms.path), hint='give one with --reason "..."')
    lines = [
        "# Cycles of the case's runs and the medians of their bounds. Written by `fleet case accept`.",
        f"format = {FORMAT}",
        *(f"{key} = {toml_value(value)}" for key, value in _head(norms)),
    ]
    first: dict[str, str] = {}
    for run, one in sorted(norms.runs.items()):
        table = f"runs.{toml_value(run)}"
        same = first.setdefault(repr(one.bounds), run)
        lines += ["", f"[{table}]", *([f"bounds_as = {toml_value(same)}"] if same != run else [])]
        lines += [f"[{table}.cycles]", *(f"{json.dumps(k)} = {v}" for k, v in sorted(one.cycles.items()))]
        for name, rows in sorted(one.bounds.items()) if same == run else ():
            lines += [f"[{table}.bounds.{json.dumps(name)}]", *(f"{json.dumps(op)} = {_shown(v)}" for op, v in rows.items())]
    write_atomically(norms.path, ("\n".join(lines) + "\n").encode())


def _head(norms: Norms) -> tuple[tuple[str, str], ...]:
    return ("case", norms.case), ("reason", norms.reason), ("date", norms.date)
