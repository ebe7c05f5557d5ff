"""A sample of an instruction set's conformance suite, on `iss` alone or on `iss` and `rtl`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from shlex import quote

from fleet.core.scratch import Scratch
from fleet.errors import FleetError
from fleet.isa.checking.asking import NoAnswer
from fleet.isa.registry import find_device
from fleet.sdk import NoRoomError
from fleet.streams.case import StreamOutcome
from fleet.streams.images import Images
from fleet.streams.model_side import UNKNOWN_CAUSE, execute
from fleet.streams.run import StreamRunner
from fleet.verify.conformance.costs import CostSample
from fleet.verify.conformance.drawn import run_drawn
from fleet.verify.conformance.pages import at_pages
from fleet.verify.conformance.settings import settings
from fleet.verify.conformance.suite import is_case_name, make_case, names


@dataclass(frozen=True)
class SampleFailure:
    """A case that failed. name: of the case, for `fleet stream run`; reason: one line; outcome: of a run that was compared."""

    name: str
    reason: str
    outcome: StreamOutcome | None = None

    @property
    def line(self) -> str:
        """The case, what is wrong, and the command that runs it again, under the setting in which it failed.

        A variant that no name draws has none: its stream is kept.
        """
        again = f"fleet stream run {quote(self.name)}"
        if self.outcome is not None and not is_case_name(self.name):
            return f"{self.name}: {self.outcome.setting.name}: {self.reason}"
        if self.outcome is not None:
            return f"{self.name}: {self.outcome.setting.name}: {self.reason}; {again}{self.outcome.setting.options}"
        said = self.reason if self.reason.startswith(self.name) else f"{self.name}: {self.reason}"
        return said if again in said else f"{said}; {again}"


def sample_names(device: str, count: int) -> list[str]:
    """Return `count` case names of every kind and instruction: directed ones spread evenly, random, illegal, programs."""
    seeds = range(count)
    drawn = names(device, random=seeds, illegal=seeds, programs=seeds, extremes=range(1), directed=False)
    directed: dict[str, list[str]] = {}
    for name in names(device):
        directed.setdefault(name.rpartition("/")[0], []).append(name)
    spread = [group[i * len(group) // min(count, len(group))] for group in directed.values() for i in range(min(count, len(group)))]
    return [*spread, *drawn]


def run_sample(device: str, cases: list[str], *, rtl: bool, costs: CostSample | None = None) -> Iterator[SampleFailure | None]:
    """Run cases. Yield a failure or None for each; cases for which the device's memory is too small are skipped.

    rtl: run every case on two memories and compare every bit. costs: takes what was measured.

    Raises SetupError, BuildError or DeviceError if nothing can be run at all.
    """
    if rtl:
        with StreamRunner(device) as runner:
            for name in cases:
                drawn = run_drawn(runner, name, settings(device, int(name.rpartition("/")[2]), every=False))
                if drawn.left_out:
                    continue
                if drawn.failure:
                    yield SampleFailure(name, drawn.failure)
                    continue
                try:
                    if costs is not None:
                        costs.add(drawn.outcomes)
                except NoAnswer as error:
                    yield SampleFailure(name, str(error))
                    continue
                wrong = [o for o in drawn.outcomes if not o.passed]
                yield SampleFailure(name, wrong[0].reasons[0], wrong[0]) if wrong else None
            if costs is not None:
                yield from _at_pages(runner, cases, costs)
        return
    _, chip = find_device(device)
    with Scratch("sample") as folder:
        images = Images(chip, folder)
        try:
            for name in cases:
                with suppress(NoRoomError):
                    yield _on_iss(name, images)
        finally:
            images.close()


def _at_pages(runner: StreamRunner, cases: list[str], costs: CostSample) -> Iterator[SampleFailure]:
    """Measure directed calls with their operands at and across pages; yield a failure for each that differs.

    What cannot be run so is left out: it has run as drawn.
    """
    for name in (n for n in cases if "/directed/" in n):
        with suppress(FleetError):
            for pair in at_pages(make_case(name)):
                outcomes = [o for case in pair for o in runner.run(case)]
                yield from (SampleFailure(o.case.name, o.reasons[0], o) for o in outcomes if not o.passed)
                with suppress(NoAnswer):
                    costs.add_moved(pair[0].calls[-1], *outcomes)


def _on_iss(name: str, images: Images) -> SampleFailure | None:
    try:
        case = make_case(name)
        instruction_set, chip = find_device(case.device)
        images.fill(case.blocks, case.parameters)
        commits = execute(instruction_set, chip, images.memory, case.calls)
    except NoRoomError:
        raise
    except FleetError as error:
        return SampleFailure(name, str(error))
    for commit, cause in zip(commits, case.causes or (0,) * len(commits), strict=True):
        if commit.cause not in {cause, UNKNOWN_CAUSE}:
            return SampleFailure(name, f"{commit.instruction}: refused with cause {commit.cause}, the case states {cause}")
    return None
