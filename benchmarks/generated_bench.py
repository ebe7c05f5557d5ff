"""Cycles a second of fleet's own sets: on their own bench, and on the one that `fleet isa adopt` makes from their ports.

    python benchmarks/generated_bench.py --rounds 5

A conformance case is repeated until it has about `--cycles` cycles; both benches play its register script on ideal memory. Runs
alternate, and each pair gives a ratio; wall time is that of the whole job, for the generated bench with the start of its process.
The generated bench is built as `FLEET_RTL_BUILD=fast` says, with the compiler's flags of the own one. Cycles of each instruction
from start to commit must be the same.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "sim" / "conformance"))

from as_adopted import adopted, commit_cycles, script_lines

from fleet.adopt.bench.replay import BenchRunner
from fleet.engines.rtl_sim.build import build, design_of
from fleet.engines.rtl_sim.modes.recipe import MODE_VARIABLE
from fleet.engines.rtl_sim.records import read_records
from fleet.errors import ExitCode
from fleet.isa.registry import find_device
from fleet.streams.case import Setting
from fleet.streams.run import StreamRunner
from fleet.verify.conformance.suite import make_case

CASES = (
    "vgemm_small/finish/directed/2", "vgemm_small/load/directed/5", "vgemm_small/store/directed/2",
    "hbm_small/mvm_bn_res/directed/0", "hbm_small/softmax/directed/1",
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """A case: cycles a second on each bench, the best of all rounds, and the ratio of each pair."""

    name: str
    own: float
    generated: float
    ratios: tuple[float, ...]


def compared(runner: BenchRunner, streams: StreamRunner, name: str, cycles: int, rounds: int, folder: Path) -> Row:
    """Run a case on both benches in turn."""
    case = make_case(name)
    _, once = streams.hardware(case, Setting())
    case = replace(case, calls=list(case.calls) * max(1, cycles // once.cycles))
    test = folder / "long.toml"
    own: list[float] = []
    generated: list[float] = []
    for n in range(rounds):
        before = streams.spent.get("simulation", 0.0)
        _, status = streams.hardware(case, Setting())
        own.append(status.cycles / (streams.spent["simulation"] - before))
        script = streams.folder / "job.script"
        if n == 0:
            test.write_text("\n".join(script_lines(streams.device, case, script, folder)) + "\n")
        outcome = runner.run(test, folder / "run", wave=False)
        if outcome.differences or outcome.violations or outcome.exit_code is ExitCode.INTERNAL:
            sys.exit(f"{name}: {[*outcome.differences, *outcome.violations][0]}")
        generated.append(outcome.cycles / outcome.seconds)
        expected = [r.end - r.start for r in read_records(streams.folder / "job.commits")]
        if commit_cycles(runner, test, script, outcome.folder) != expected:
            sys.exit(f"{name}: cycles are not those of the own bench")
    return Row(name, max(own), max(generated), tuple(b / a for a, b in zip(own, generated, strict=True)))


def rows(cases: list[str], cycles: int, rounds: int, home: Path) -> Iterator[Row]:
    """All cases, device by device."""
    for device in dict.fromkeys(name.split("/")[0] for name in cases):
        folder = home / device
        folder.mkdir()
        design = design_of(*find_device(device))
        executable = build(design, mode="checked")
        os.environ[MODE_VARIABLE] = "fast"  # only the generated bench is built from here on
        runner = adopted(folder, design)
        with StreamRunner(device, executable=executable) as streams:
            for name in cases:
                if name.split("/")[0] == device:
                    yield compared(runner, streams, name, cycles, rounds, folder)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--case", action="append", help="may be given several times")
    parser.add_argument("--cycles", type=int, default=200_000, help="of a job, about")
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        found = list(rows(asked.case or list(CASES), asked.cycles, asked.rounds, Path(home)))
    print("| case | own bench, cycles/s | generated bench, cycles/s | ratio, median of pairs | lowest, highest |")
    print("|---|---|---|---|---|")
    for row in found:
        low, high, middle = min(row.ratios), max(row.ratios), statistics.median(row.ratios)
        print(f"| {row.name} | {row.own:,.0f} | {row.generated:,.0f} | {middle:.2f} | {low:.2f}, {high:.2f} |")


if __name__ == "__main__":
    main()
