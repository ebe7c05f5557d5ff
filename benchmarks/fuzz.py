"""Random programs: instructions compared a second, and where the time goes.

    python benchmarks/fuzz.py --device hbm_small --device vgemm_small --jobs 1 --jobs 2

Every row runs the same programs of one seed (`fleet isa fuzz`), starts of processes left out: the first `--warm` programs do not
count. The first row of a device keeps memory images on a disk, as streams did before they were kept in memory; ratios are to it.
Rows are interleaved, the best of `--rounds` counts. CPU seconds are of all processes, simulations and their start included: on a
machine that others use too, instructions per CPU second times its cores say more than instructions per second.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from fleet.verify.conformance.fuzz import fuzz, state_file
from fleet.verify.conformance.fuzz_state import RanProgram, load_state

SEED = 1


@dataclass
class Row:
    """One way of running the programs; the best round. seconds, cpu: of `instructions`, of which `executed` were legal."""

    device: str
    images: str
    jobs: int
    instructions: int = 0
    executed: int = 0
    cycles: int = 0
    seconds: float = float("inf")
    cpu: float = float("inf")
    failed: int = 0


class Clock:
    """Counts what ends after the first `warm` programs."""

    def __init__(self, warm: int) -> None:
        self._left = warm
        self.spent: Counter[str] = Counter()
        self.instructions = self.executed = self.cycles = 0
        self.start = time.monotonic()

    def __call__(self, ran: RanProgram) -> None:
        self._left -= 1
        if self._left == 0:
            self.start = time.monotonic()
        elif self._left < 0:
            self.spent.update(ran.spent)
            self.instructions += ran.executed + ran.refused
            self.executed += ran.executed
            self.cycles += ran.cycles


def _cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def measure(row: Row, count: int, warm: int) -> Counter[str]:
    """One round; the row keeps the best. Returns the seconds of every phase."""
    with tempfile.TemporaryDirectory(prefix="fleet-bench-") as folder:
        if row.images == "disk":
            os.environ["TMPDIR"] = tempfile.gettempdir()
        clock, before = Clock(warm), _cpu()
        state = load_state(state_file(Path(folder), row.device, SEED), row.device, SEED)
        fuzz(state, Path(folder), seconds=3600, count=count + warm, jobs=row.jobs, ran=clock)
        seconds, cpu = time.monotonic() - clock.start, _cpu() - before
        os.environ.pop("TMPDIR", None)
    row.instructions, row.executed, row.cycles = clock.instructions, clock.executed, clock.cycles
    row.seconds, row.cpu, row.failed = min(row.seconds, seconds), min(row.cpu, cpu), len(state.failures)
    return clock.spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", action="append", help="default: hbm_small and vgemm_small")
    parser.add_argument("--jobs", action="append", type=int, help="default: 1 and 2")
    parser.add_argument("--programs", type=int, default=200)
    parser.add_argument("--warm", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=2)
    a = parser.parse_args()
    jobs = a.jobs or [1, 2]
    print("device        images  jobs  instr  executed  cycles/instr  instr/s  ratio  instr/CPU s  failed")
    for device in a.device or ["hbm_small", "vgemm_small"]:
        rows = [Row(device, "disk", 1), *(Row(device, "memory", n) for n in jobs)]
        spent: dict[int, Counter[str]] = {}
        for _ in range(a.rounds):
            for n, row in enumerate(rows):
                spent[n] = measure(row, a.programs, a.warm)
        base = rows[0].instructions / rows[0].seconds
        for row in rows:
            rate = row.instructions / row.seconds
            print(
                f"{row.device:12}  {row.images:6}  {row.jobs:4}  {row.instructions:5}  {row.executed:8}  "
                f"{row.cycles / row.instructions:12.0f}  {rate:7.0f}  {rate / base:5.2f}  {row.instructions / row.cpu:11.0f}  "
                f"{row.failed:6}"
            )
        for row, phases in zip(rows, spent.values(), strict=True):
            whole = sum(v for k, v in phases.items() if k != "clock")
            shares = ", ".join(f"{k} {100 * v / whole:.0f} %" for k, v in phases.most_common())
            print(f"  {row.images}, {row.jobs} at a time: {shares} (clock is part of simulation)")


if __name__ == "__main__":
    main()
