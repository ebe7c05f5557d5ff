"""One test in several simulators: each has a verdict of its own, and all must leave the same records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fleet.adopt.bench.records import first_difference, seen_in
from fleet.adopt.bench.replay import BenchRunner, Outcome
from fleet.adopt.bench.simulators import VERILATOR
from fleet.adopt.workspace import AdoptWorkspace
from fleet.errors import ExitCode, FleetError


@dataclass(frozen=True)
class SimulatorRun:
    """A test in one simulator.

    outcome: None if there is none, and `error` says why; agrees: with which simulator, in words; disagrees: nothing is wrong but
    that its records are not those of the first simulator.
    """

    simulator: str
    runner: BenchRunner | None
    outcome: Outcome | None
    error: FleetError | None = None
    agrees: str = ""
    disagrees: bool = False

    @property
    def fails_alone(self) -> bool:
        """Whether the test fails in this simulator, whatever the others do."""
        return self.exit_code is ExitCode.DIFFERS and not self.disagrees

    @property
    def exit_code(self) -> ExitCode:
        """Exit code of the outcome, or of the error."""
        found = self.outcome or self.error
        return found.exit_code if found is not None else ExitCode.INCOMPLETE


def run_folder(work: AdoptWorkspace, test: Path, simulator: str) -> Path:
    """The folder of one run of a test."""
    return work.folder / "runs" / (test.stem if simulator == VERILATOR else f"{test.stem}@{simulator}")


def side_by_side(
    work: AdoptWorkspace, test: Path, model: bool | None, simulators: Sequence[str], waves: bool | None = None
) -> Iterator[SimulatorRun]:  # fmt: skip
    """Run a test in each simulator; an outcome whose records differ from those of the first simulator that ran differs.

    waves: as `BenchRunner` takes it.

    Raises what `replay` does if only one is asked for; of several, the error of one stands in its run.
    """
    first: tuple[str, Sequence[str]] | None = None
    for name in simulators:
        try:
            runner = BenchRunner(work, model, name, waves)
            outcome = runner.run(test, run_folder(work, test, name), ("+observe",) if len(simulators) > 1 else ())
        except FleetError as error:
            if len(simulators) == 1:
                raise
            yield SimulatorRun(name, None, None, error)
            continue
        agrees, disagrees = "", False
        if first is None:
            first = name, seen_in(outcome.folder)
        elif (found := first_difference(first[1], seen_in(outcome.folder))) is not None:
            said = f"simulators disagree: {name} has {found[1]}, {first[0]} {found[0]}"
            disagrees = outcome.exit_code is not ExitCode.DIFFERS
            outcome = replace(outcome, differences=(*outcome.differences, said))
        else:
            agrees = f"{len(first[1])} records are those of {first[0]}"
        yield SimulatorRun(name, runner, outcome, agrees=agrees, disagrees=disagrees)
