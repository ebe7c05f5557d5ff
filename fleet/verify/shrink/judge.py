"""Tells quickly how a stream fails, without locating, storing or explaining it. For callers with thousands of streams."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fleet.compare.signature import FailureSignature, of_failure
from fleet.engines.rtl_sim.process import SimulationError
from fleet.engines.rtl_sim.records import read_records
from fleet.errors import FleetError
from fleet.streams.binaries import binaries
from fleet.streams.case import Setting, StreamCase, StreamCommit
from fleet.streams.images import differences
from fleet.streams.model_side import UNKNOWN_CAUSE
from fleet.streams.run import NAME, StreamRunner
from fleet.streams.stream_signature import of_commits


@dataclass(frozen=True)
class FailureVerdict:
    """Failure of a stream, with its instruction (None if unknown). signature None: it passed."""

    signature: FailureSignature | None
    seq: int | None = None


def judge(runner: StreamRunner, case: StreamCase, setting: Setting) -> FailureVerdict:
    """Run the stream once and compare it. The first commit that differs counts, even if a later instruction hangs.

    Raises DeviceError if the functional model cannot run it.
    """
    plan = binaries(runner.set, runner.device, case, setting.issue)
    whole = replace(case, blocks=(*case.blocks, *plan.blocks))
    expected = runner.model(whole)
    failure: SimulationError | None = None
    try:
        found, _ = runner.hardware(whole, setting, plan=plan)
    except SimulationError as error:
        failure, found = error, _so_far(runner, case)
    if (first := of_commits(NAME, expected, found)) is not None:
        return FailureVerdict(first[1], first[0])
    if failure is not None:
        seq, signature = of_failure(NAME, str(failure))
        return FailureVerdict(signature, seq)
    for i, (commit, cause) in enumerate(zip(expected, case.causes or (), strict=False)):
        if commit.cause not in {cause, UNKNOWN_CAUSE}:
            return FailureVerdict(FailureSignature(NAME, "stated", commit.instruction), i)
    if differences(runner.expected, runner.found, 1)[0]:
        first = runner.first_stray(case, setting)
        seq = len(case.calls) - 1 if first is None else first
        return FailureVerdict(FailureSignature(NAME, "memory", case.calls[seq].instruction, "outside the destination"), seq)
    return FailureVerdict(None)


def _so_far(runner: StreamRunner, case: StreamCase) -> list[StreamCommit]:
    """Return the commits of the hardware up to the end of the run."""
    path = runner.folder / "job.commits"
    try:
        records = read_records(path) if path.exists() else []
    except FleetError:
        return []
    return [
        StreamCommit(c.instruction, r.error, r.digest, r.bytes_written, r.result) for c, r in zip(case.calls, records, strict=False)
    ]
