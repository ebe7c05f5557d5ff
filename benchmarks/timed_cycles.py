"""Cycles of MVM instructions with timed memory over refresh phases: `python benchmarks/timed_cycles.py [--rows] [DEVICE...]`.

A line a shape: mean, least and most cycles over the phases of the seeds from 0 on, what HBM's port width allows at best and its
share, the row hits of both memories, and the cost model's expectation. `--rows` runs the many cases of benchmarks/mvm_cycles.py
instead and prints the Python tuples (device, tokens, CHin, CHout, Tblk, mode, mean) that tests/sets/hbm0923/test_timing_timed.py
holds. Results are not checked here: tests/rtl_models/hbm0923 compares them with the functional model on this memory.
"""

from __future__ import annotations

import dataclasses
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "rtl_models" / "hbm0923"))

from mvm_cycles import CASES, MODES
from mvm_random import IRQ_EN, Case, Place, Runner, prepare, start

from fleet.engines.rtl_sim.job import JobScript
from fleet.sets.hbm0923.cycles.mvm_timed import timed_cycles
from fleet.sets.hbm0923.mvm_operands import MvmFields, ceil_div, channel_bytes

Shape = tuple[int, int, int, int, str]  # tokens, CHin, CHout, Tblk, mode

PHASES, PHASES_OF_SHORT = 16, 48  # a short instruction meets a refresh or not: its mean needs more of them
SHORT = 1_000_000  # multiply-accumulates
TABLE: dict[str, list[Shape]] = {
    "hbm0923": [
        (1, 4096, 4096, 128, "mvm"),
        (1, 4096, 13696, 128, "mvm"),
        (1, 13696, 4096, 128, "mvm"),
        (1, 4096, 256, 128, "mvm"),
        (1, 4096, 4608, 128, "bn"),
        (1, 4096, 4096, 128, "res"),
        (16, 4096, 256, 128, "mvm"),
        (64, 4096, 256, 128, "mvm"),
    ],
    "hbm_small": [(1, 4096, 1024, 128, "mvm"), (1, 1024, 1024, 128, "mvm"), (16, 4096, 256, 128, "mvm")],
    "hbm0923_sparse": [(1, 4096, 4096, 128, mode) for mode in ("mvm", "4 of 8", "2 of 8", "1 of 8")],
    "hbm_small_sparse": [(1, 4096, 2048, 128, mode) for mode in ("mvm", "4 of 8", "2 of 8", "1 of 8")],
}
MORE: dict[str, list[Shape]] = {
    "hbm0923": [
        (1, 4096, 4096, 128, "mvm"),
        (1, 4096, 13696, 128, "mvm"),
        (1, 13696, 4096, 128, "mvm"),
        (1, 4096, 4608, 128, "bn"),
        (1, 4096, 4096, 64, "res"),
        (1, 1024, 1024, 128, "mvm"),
        (1, 4096, 1024, 128, "mvm"),
        (1, 512, 4096, 128, "mvm"),
        (17, 4096, 1024, 128, "bn"),
        (3, 4096, 4096, 128, "mvm"),
        (2, 4096, 2048, 128, "mvm"),
        (2048, 512, 3, 128, "mvm"),  # surfaces a row of a bank apart
    ],
    "hbm_small": [(1, 4096, 1024, 128, "mvm"), (1, 1024, 1024, 128, "mvm"), (2, 2048, 512, 128, "mvm")],
}


class Measured(NamedTuple):
    """Cycles from start to commit, a phase each; beats that found their row open, of all, over the phases."""

    cycles: list[int]
    hbm_hits: float
    ddr_hits: float


def measure(runner: Runner, operands: MvmFields, phases: int) -> Measured:
    """Runs one instruction with each of the phases."""
    cycles: list[int] = []
    rows = dict.fromkeys([(space, what) for space in ("hbm", "ddr") for what in ("row_hits", "row_closed", "row_misses")], 0)
    for seed in range(phases):
        script = JobScript()
        script.write(IRQ_EN, 3)
        start(script, operands.encode(runner.device))
        status, records, _ = runner.play(script, f"timed:{seed}")
        if len(records) != 1 or records[0].error:
            raise SystemExit(f"the instruction failed: {records}")
        cycles.append(records[0].end - records[0].start)
        for key, value in status.traffic.items():
            space, what = key.split(".")[0], key.rpartition(".")[2]
            if (space, what) in rows:
                rows[space, what] += value
    hits = {space: rows[space, "row_hits"] / sum(n for (s, _), n in rows.items() if s == space) for space in ("hbm", "ddr")}
    return Measured(cycles, hits["hbm"], hits["ddr"])


def _measured(name: str, shapes: list[Shape]) -> Iterator[tuple[Shape, Measured, MvmFields, Runner]]:
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(name, Path(folder))
        for shape in shapes:
            tokens, chin, chout, tblk, mode = shape
            case = dataclasses.replace(Case(chin=chin, chout=chout, tokens=tokens, tblk=tblk), **MODES[mode])
            operands = prepare(runner.device, runner.memory, case, Place(pages=True), np.random.default_rng(1))
            phases = PHASES_OF_SHORT if tokens * chin * chout < SHORT else PHASES
            yield shape, measure(runner, operands, phases), operands, runner
        runner.close()


def table(name: str) -> None:
    """Prints the lines of one device."""
    print(f"{name}: tokens x CHin x CHout, mode; cycles mean (least to most); limit, share; row hits HBM, DDR; cost model")
    for (tokens, chin, chout, tblk, mode), m, o, runner in _measured(name, TABLE[name]):
        p = runner.device.parameters
        limit = ceil_div(chout, p["Tout"]) * channel_bytes(runner.device, chin, tblk, o.kept) // 32
        mean, cost = float(np.mean(m.cycles)), timed_cycles(runner.device, o)
        print(
            f"  {tokens} x {chin} x {chout} {mode}: {mean:,.0f} ({min(m.cycles):,} to {max(m.cycles):,}); {limit:,}, "
            f"{100 * limit / mean:.1f} %; {100 * m.hbm_hits:.1f} %, {100 * m.ddr_hits:.1f} %; "
            f"{cost:,} ({100 * (cost / mean - 1):+.1f} %)",
            flush=True,
        )


def rows(name: str) -> list[float]:
    """Prints the tuples of one device; returns the relative errors of the cost model."""
    errors: list[float] = []
    for shape, m, o, runner in _measured(name, CASES[name] + MORE[name]):
        mean, cost = float(np.mean(m.cycles)), timed_cycles(runner.device, o)
        errors.append(cost / mean - 1)
        text = str((name, *shape, round(mean))).replace("'", '"')
        print(f"    {text},  # {cost} {100 * errors[-1]:+.1f} % {min(m.cycles)} to {max(m.cycles)}", flush=True)
    return errors


def main() -> None:
    names = [a for a in sys.argv[1:] if not a.startswith("-")] or list(TABLE)
    if "--rows" not in sys.argv:
        for name in names:
            table(name)
        return
    errors = np.abs(np.concatenate([rows(name) for name in names if name in CASES]))
    quantiles = {what: f"{100 * np.quantile(errors, q):.1f} %" for what, q in {"median": 0.5, "95th": 0.95, "worst": 1.0}.items()}
    print(f"# error of the cost over {errors.size} cases: {quantiles}")


if __name__ == "__main__":
    main()
