"""Main program of a fresh process with a mutated functional model or compiler: `python -m fleet.verify.mutation.child JSON`.

Exit code 0: no check told the mutant from the unchanged program. 1: the last line of standard output names the check that did. Any
other end, such as a traceback, is caused by the mutant too, because the same process without a mutant runs first and must return 0.
"""

from __future__ import annotations

import datetime
import json
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fleet.core.codec import decode, encode_record
from fleet.core.scratch import Scratch
from fleet.errors import FleetError
from fleet.verify.mutation.outside import FOUND

COST_GATE = (0.02, 0.05)
"""Limits for the cost model's relative error with ideal memory, (median, 95th percentile), as in the conformance suite."""

_ON_HOST = ("vm", "iss")


@dataclass(frozen=True)
class HostChecks:
    """Request to the process. streams: file of recordings; draws: of `fleet isa check`; cases: their files."""

    device: str
    streams: str | None = None
    draws: int = 0
    cases: tuple[str, ...] = ()

    @property
    def command(self) -> list[str]:
        """The command that runs the checks."""
        return [sys.executable, "-m", "fleet.verify.mutation.child", json.dumps(encode_record(self))]


def main(arguments: Sequence[str]) -> int:
    """Run the checks. arguments: one, the JSON text of `HostChecks`."""
    for found in _all(decode(HostChecks, json.loads(arguments[0]), "the checks of a mutant")):
        print(f"{FOUND}{found}")
        return 1
    return 0


def _all(wanted: HostChecks) -> Iterator[str]:
    """Yield the first finding of each stage as "<test>\t<how>"."""
    if wanted.streams is not None:
        yield from _streams(wanted.device, Path(wanted.streams))
    if wanted.draws:
        yield from _check(wanted.device, wanted.draws)
    for case in wanted.cases:
        yield from _case(wanted.device, Path(case))


def _streams(device: str, recorded: Path) -> Iterator[str]:
    """Compare the functional model with the recordings: commits and memory; then its costs with the hardware's cycles."""
    from fleet.isa.registry import find_device
    from fleet.streams.images import Images
    from fleet.verify.mutation.probes import differs, left_by_model
    from fleet.verify.mutation.recordings import load_recordings

    instruction_set, chip = find_device(device)
    errors: list[float] = []
    with Scratch("mutant") as folder:
        images = Images(chip, folder)
        try:
            for r in load_recordings(recorded):
                case, expected = r.case, r.expected
                found = left_by_model(instruction_set, chip, case, images)
                if why := differs(expected, found.commits, found.memory):
                    yield f"{case.name}\t{why}"
                    return
                for call, commit, measured in zip(case.calls, expected.commits, r.cycles, strict=False):
                    if measured and not commit.cause:
                        unit = instruction_set.instructions[call.instruction]
                        cost = unit.expected_cycles(chip, call.fields, "ideal")
                        if cost is not None:
                            errors.append(abs(cost / measured - 1))
        finally:
            images.close()
    if errors:
        errors.sort()
        median, p95 = (errors[min(len(errors) - 1, math.ceil(q * len(errors)) - 1)] for q in (0.5, 0.95))
        if median > COST_GATE[0] or p95 > COST_GATE[1]:
            yield f"the cost model's gate\tmedian {median:.1%}, 95th percentile {p95:.1%} of the hardware's cycles"


def _check(device: str, draws: int) -> Iterator[str]:
    from fleet.isa.checking.whole import check_set
    from fleet.isa.registry import find_device

    instruction_set, chip = find_device(device)
    for finding in check_set(instruction_set, chip, draws=draws).findings:
        yield f"fleet isa check\t{finding}"
        return


def _case(device: str, path: Path) -> Iterator[str]:
    """Run the case on this device as far as no hardware is needed: on the golden and the functional model."""
    from fleet.regress.case_runs import CaseOptions, run_case
    from fleet.regress.cases import load_case

    now = datetime.datetime.now(datetime.UTC)
    seen: set[tuple[object, ...]] = set()
    for run in load_case(path).runs:
        key = (run.issue, run.load)
        if run.device != device or run.tier != "quick" or "iss" not in run.engines or key in seen:
            continue
        seen.add(key)
        here = replace(run, engines=_ON_HOST, memory="ideal")
        try:
            result = run_case(here, CaseOptions(now.date(), now.isoformat(timespec="seconds")))
        except FleetError as error:
            yield f"{run.name}\t{error}"
            return
        if result.verdict != "pass":
            yield f"{run.name}\t{'; '.join(result.reasons)}"
            return


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
