"""The figures of a result that a night stores: cycles (also by operation), SQNR, error over bound, predicted classes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields

from fleet.compare.verdict import TaskMetric
from fleet.cosim.device_figures import device_hash, hardware_hash
from fleet.cosim.identity import bench_hash, software_hash
from fleet.cosim.result import CosimResult
from fleet.errors import FleetError
from fleet.isa.registry import find_device
from fleet.regress.cases import CaseRun
from fleet.regress.night_records import Classes

_SHOWN = 16
"""Number of hexadecimal digits of a part's hash that are kept."""


def figures_of(result: CosimResult) -> Mapping[str, float]:
    """Return name -> value, as in `NightRecord.figures`, without NaN."""
    found: dict[str, float] = {}
    for run in result.engines:
        if run.status == "ran" and run.cycles is not None:
            found[f"cycles {run.name}"] = run.cycles
    for comparison in result.comparisons:
        for row in comparison.commits:
            if row.cycles and row.ops:
                name = f"cycles {comparison.other} {row.ops[-1]}"
                found[name] = found.get(name, 0) + sum(row.cycles.values())
        worst = [row.held.worst_ratio for row in comparison.operations if row.held is not None]
        if comparison.kind == "bound" and worst:
            found[f"over {comparison.name}"] = _short(max(worst))
        if comparison.kind != "bits":
            found |= {f"sqnr {comparison.name} {row.op}": _short(row.cumulative.sqnr_db) for row in comparison.operations}
    return {name: value for name, value in found.items() if not math.isnan(value)}


def classes_of(result: CosimResult) -> Mapping[str, Classes]:
    """Return engine -> predicted classes; empty without labels."""
    return {task.engine: _classes(task, task.correct) for task in result.tasks if task.correct is not None}


def _classes(task: TaskMetric, correct: int) -> Classes:
    lost = tuple(f.index for f in task.flips if f.label == f.golden)
    won = tuple(f.index for f in task.flips if f.label == f.other)
    return Classes(task.samples, correct, lost, won)


def content_parts(result: CosimResult) -> tuple[str, Mapping[str, str]]:
    """Return (hash of the content, its parts by name); ("", {}) if the result has no content."""
    content = result.identity.content
    if content is None:
        return "", {}
    parts = {f.name: getattr(content, f.name) for f in fields(content) if f.name != "tools"}
    named = {name: value[:_SHOWN] for name, value in parts.items() if isinstance(value, str)}
    return content.hash[:32], {**named, "tools": ", ".join(f"{k} {v}" for k, v in sorted(content.tools.items()))}


def parts_known(run: CaseRun) -> Mapping[str, str]:
    """Return the parts of a run's content that are known before it runs, by the names of `content_parts`; not model and data."""
    known: dict[str, str | None] = {"software": software_hash()}
    with suppress(FleetError):  # the run will say what is wrong with the device
        if run.device is not None:
            instruction_set, device = find_device(run.device)
            known["device"] = device_hash(device)
            if "rtl" in run.engines:
                known |= {"hardware": hardware_hash(instruction_set, device), "bench": bench_hash()}
    return {name: value[:_SHOWN] for name, value in known.items() if value is not None}


def _short(value: float) -> float:
    """Round to six significant digits, so that another order of summation in a library does not change the figure."""
    return float(f"{value:.6g}")
