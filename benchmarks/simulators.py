"""Cycles a second of an adopted design in each simulator: the owner's test of each small design, its steps again and again.

    python benchmarks/simulators.py --rounds 3

The bench is the same one; outside of Verilator the design runs behind a link, a line each way for each change of an input. Runs are
interleaved, the best of `--rounds`, wall time of the simulation alone, without a wave. The records of all must be the same.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "sim" / "adopt"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "adopt"))

from adopted import COPIER, FIR, KERNEL, MESH, PAIRER, RELAY, SCALER, VAULT, modelled
from owner_tests import TESTS, edits

from fleet.adopt.bench.records import first_difference, seen_in
from fleet.adopt.bench.replay import BenchRunner
from fleet.adopt.workspace import AdoptWorkspace, open_workspace
from fleet.engines.rtl_sim.build import BuildError
from fleet.errors import DeviceError, SetupError

SIMULATORS = ("verilator", "icarus", "cxxrtl")


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--times", type=int, default=100, help="how often the steps of a test are repeated")
    asked = parser.parse_args()
    print(f"| design | cycles | {', '.join(f'{n}, cycles/s' for n in SIMULATORS)} |".replace("/s, ", "/s | "))
    print("|---|---" + "|---" * len(SIMULATORS) + "|")
    with tempfile.TemporaryDirectory() as home:
        for files in (COPIER, PAIRER, VAULT, RELAY, KERNEL, FIR, MESH, SCALER):
            folder = modelled(Path(home) / files.stem, files, edits=edits(files))
            head, _, steps = TESTS[files].replace("FAULT", "0").partition("[[step]]")
            # What is received is counted from the beginning: a test of streams is repeated in its idle time alone.
            times, idle = (1, 10_000) if files == SCALER else (asked.times, 1)
            test = folder / "long.toml"
            test.write_text(f"limit = 10000000\n{head}" + f"[[step]]{steps}\n" * times + f"[[step]]\nidle = {idle}\n")
            row = measured(open_workspace(folder), test, asked.rounds)
            print(f"| {row.top} | {row.cycles:,} | {' | '.join(row.speeds)} |", flush=True)


@dataclass(frozen=True)
class Row:
    """Cycles of a test, and cycles a second in each simulator as text."""

    top: str
    cycles: int
    speeds: list[str]


def measured(work: AdoptWorkspace, test: Path, rounds: int) -> Row:
    """Run a test in each simulator that reads the design."""
    runners: dict[str, BenchRunner] = {}
    speed: dict[str, float] = {}
    cycles = 0
    for name in SIMULATORS:
        try:
            runner = BenchRunner(work, model=False, simulator=name)
            runner.run(test, work.folder / name, wave=False)  # builds it
        except (BuildError, DeviceError, SetupError) as error:
            print(f"{work.top.name} in {name}: {error.what}", file=sys.stderr)
        else:
            runners[name] = runner
    for _ in range(rounds):
        seen: list[Sequence[str]] = []
        for name, runner in runners.items():
            outcome = runner.run(test, work.folder / name, ("+observe",), wave=False)
            speed[name] = max(speed.get(name, 0.0), outcome.cycles / outcome.seconds)
            cycles = outcome.cycles
            seen.append(seen_in(outcome.folder))
            if (found := first_difference(seen[0], seen[-1])) is not None:
                sys.exit(f"{work.top.name}: the simulators disagree: {found[0]}, {found[1]}")
    return Row(work.top.name, cycles, [f"{speed[n]:,.0f}" if n in speed else "not read" for n in SIMULATORS])


if __name__ == "__main__":
    main()
