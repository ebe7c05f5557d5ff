"""Streams in legs beside the same streams as one run: the same commits, cycles, traffic and bytes; planted faults in the middle."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import pytest
from planted_legs import DEVICE, LEAK, STEP

from fleet.compare.diverged import Divergence
from fleet.engines.legs import run as legs_run
from fleet.engines.legs.plan import Leg
from fleet.engines.rtl_sim.build import Design
from fleet.engines.rtl_sim.job import Job, JobStatus
from fleet.engines.rtl_sim.process import Simulation
from fleet.streams.case import Setting, StreamCase
from fleet.streams.run import StreamRunner
from fleet.verify.conformance.suite import make_case

SHORTEST = 10_000
TIMES = 40
MIDDLE = 20 * 42 + 10
"""A product in the middle of `long_case`."""


def long_case(wrong: bool = False) -> StreamCase:
    """A program of 42 instructions, several times: its memory is the same each time, what it accumulates is not.

    wrong: with the product in its middle that the planted fault knows.
    """
    case = make_case(f"{DEVICE}/program/1")
    calls = list(case.calls * TIMES)
    if wrong:
        call = calls[MIDDLE]
        assert call.instruction == "gemm"
        assert call.fields["gemm_w1"] & 0x3FFF == 1, "one outer iteration: its step is not used"
        calls[MIDDLE] = replace(call, fields={**call.fields, "gemm_w2": call.fields["gemm_w2"] | STEP})
    return replace(case, calls=tuple(calls), causes=None)


def in_legs(design: Design | None = None, *, jobs: int = 2, fault: int = 0) -> StreamRunner:
    return StreamRunner(DEVICE, design=design, arguments=(f"+planted={fault}",), rtl_jobs=jobs, shortest_leg=SHORTEST)


@pytest.fixture(scope="module")
def one() -> Iterator[StreamRunner]:
    with StreamRunner(DEVICE) as runner:
        yield runner


@pytest.fixture(scope="module")
def cut() -> Iterator[StreamRunner]:
    with in_legs() as runner:
        yield runner


@pytest.mark.parametrize("issue", ["regs", "aux"])
@pytest.mark.parametrize("memory", ["ideal", "fixed:20"])
def test_legs_are_the_one_run(one: StreamRunner, cut: StreamRunner, memory: str, issue: str) -> None:
    setting = next(s for s in (Setting(memory, "regs"), Setting(memory, "aux")) if s.issue == issue)
    (whole,), (legs,) = one.run(long_case(), [setting]), cut.run(long_case(), [setting])
    assert whole.passed
    assert legs.passed, legs.reasons
    assert cut.ran is not None
    assert len(cut.ran.legs) > 1
    assert cut.ran.agreed == len(cut.ran.legs) - 1
    assert legs.found == whole.found, "digests, causes, start, end and classes of cycles of every instruction"
    assert legs.cycles == whole.cycles
    assert legs.traffic == whole.traffic
    assert legs.image_bytes == whole.image_bytes > 0
    nonces = {job.nonce for job in cut.ran.evidence}
    assert len(nonces) == len(cut.ran.legs)
    assert legs.cut.startswith(f"cut into {len(cut.ran.legs)} legs, before instruction")
    assert "cycles: put together at the cuts" in legs.cut
    assert not whole.cut


@pytest.mark.parametrize("memory", ["stall:3", "timed:2"])
def test_every_memory_gives_the_same_bits(one: StreamRunner, cut: StreamRunner, memory: str) -> None:
    (whole,), (legs,) = one.run(long_case(), [Setting(memory)]), cut.run(long_case(), [Setting(memory)])
    assert whole.passed
    assert legs.passed, legs.reasons
    assert [c.architectural for c in legs.found] == [c.architectural for c in whole.found]
    assert cut.ran is not None
    assert len(cut.ran.legs) > 1
    assert ("not those of one run" if "stall" in memory else "approximate") in legs.cut


def test_registers_on_timed_memory_start_at_their_time(one: StreamRunner, cut: StreamRunner) -> None:
    setting = Setting("timed:2", "regs")
    (whole,), (legs,) = one.run(long_case(), [setting]), cut.run(long_case(), [setting])
    assert legs.passed, legs.reasons
    assert abs(legs.cycles - whole.cycles) < 0.02 * whole.cycles


@pytest.mark.parametrize("issue", ["regs", "aux"])
def test_a_wrong_product_in_the_middle_is_found_as_in_one_run(faulty: Design, issue: str) -> None:
    setting = next(s for s in (Setting("ideal", "regs"), Setting("ideal", "aux")) if s.issue == issue)
    case = long_case(wrong=True)
    with in_legs(faulty, jobs=3) as right:
        (agrees,) = right.run(case, [setting])
        assert agrees.passed, "without the fault"
        assert right.ran is not None
        middle = next(leg for leg in right.ran.legs if leg.own <= MIDDLE < leg.end)
        assert middle.own > 0
        assert middle.end < len(case.calls)
    with in_legs(faulty, jobs=1, fault=1) as runner:
        (whole,) = runner.run(case, [setting])
    with in_legs(faulty, jobs=3, fault=1) as runner:
        (legs,) = runner.run(case, [setting])
    assert not legs.passed
    assert legs.divergence is not None, legs.reasons
    assert whole.divergence is not None
    assert legs.divergence.seq == MIDDLE
    assert shown(legs.divergence) == shown(whole.divergence), "the page that why shows"
    assert legs.reasons == whole.reasons
    assert [c.architectural for c in legs.found] == [c.architectural for c in whole.found]


def test_a_credit_that_leaks_is_found_by_one_run_and_said_not_to_be_covered_by_legs(faulty: Design) -> None:
    case = long_case()
    with in_legs(faulty, jobs=1, fault=2) as runner:
        (whole,) = runner.run(case)
    assert not whole.passed
    assert f"instruction {8 * LEAK} " in whole.reasons[0]
    with in_legs(faulty, jobs=3, fault=2) as runner:
        (legs,) = runner.run(case)
        assert runner.ran is not None
        assert max(leg.end - leg.first for leg in runner.ran.legs) < 8 * LEAK, "each leg ends before the last credit is gone"
    assert legs.passed
    assert "not covered: what takes longer to build up than a leg" in legs.cut


def shown(divergence: Divergence) -> Divergence:
    """A divergence without the times that its replay took, and the clock of the run, which began at another leg's start."""
    account = divergence.account
    assert account is not None
    assert account.replayed is not None
    return replace(divergence, account=replace(account, replayed=replace(account.replayed, seconds=0.0)))


def killed(runs: list[int], times: int, number: int) -> object:
    """`Simulation.run` that kills the process of leg `number` in the middle of its first so many tries."""
    right = Simulation.run

    def run(self: Simulation, job: Job, progress: object = None) -> JobStatus:
        if f"/leg_{number}/" in str(job.script) and len(runs) < times:
            runs.append(self.pid)
            os.kill(self.pid, signal.SIGKILL)
        return right(self, job)

    return run


def test_a_process_that_is_lost_is_replaced(cut: StreamRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[int] = []
    monkeypatch.setattr(Simulation, "run", killed(runs, 1, 1))
    (outcome,) = cut.run(long_case())
    assert len(runs) == 1
    assert outcome.passed, outcome.reasons


def test_a_leg_that_dies_again_fails_the_run(cut: StreamRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[int] = []
    monkeypatch.setattr(Simulation, "run", killed(runs, 2, 1))
    (outcome,) = cut.run(long_case())
    assert len(set(runs)) == 2
    assert not outcome.passed
    assert "crashed" in outcome.reasons[0]
    (again,) = cut.run(long_case())
    assert again.passed, "the next stream has new processes"


def test_a_leg_that_was_left_out_fails_the_run(cut: StreamRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    right = legs_run.plan_legs

    def plan(*arguments: object, **options: int) -> tuple[Leg, ...]:
        first, _, *others = partial(right, *arguments)(**options)
        return (first, *others)

    monkeypatch.setattr(legs_run, "plan_legs", plan)
    (outcome,) = cut.run(long_case())
    assert not outcome.passed
    assert "the legs' instructions are not the run's, each once" in outcome.reasons[0]


def test_what_a_leg_leaves_beside_its_commits_fails_the_run(cut: StreamRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    right = legs_run.load_overlay

    def load(path: object, memory: object) -> object:
        found = right(path, memory)  # pyright: ignore[reportArgumentType]
        if "/leg_1/" in str(path):
            next(iter(found.parts.values()))[1][0, 17] ^= 4
        return found

    monkeypatch.setattr(legs_run, "load_overlay", load)
    (outcome,) = cut.run(long_case())
    assert not outcome.passed
    assert "differs after the last instruction of a leg although all commits agree" in outcome.reasons[0]
    assert "1 byte in all" in outcome.reasons[0]
