"""Dependency flags: whatever the modules' speeds, what must not overlap does not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.errors import DeviceError
from fleet.sdk import Call
from fleet.sets.vgemm.legality import module_of
from fleet.sets.vgemm.lower.schedule import QUEUES, ByteSpan, ScheduledStep, synchronised
from fleet.sets.vgemm.operands import GemmOperands, LoadOperands, MemoryType, StoreOperands
from fleet.sets.vgemm.shapes import FLAGS, OPERANDS

PLACE = {"sram_base": 0, "address": 0, "y_size": 1, "x_size": 1, "x_stride": 1}
KINDS = {
    "load": LoadOperands(memory_type=MemoryType.INP, **PLACE),
    "compute": GemmOperands(uop_begin=0, uop_end=1, iter_out=1, iter_in=1),
    "store": StoreOperands(**PLACE),
}
NAMES = {"load": "load", "compute": "gemm", "store": "store"}


def step(module: str, reads: list[int], writes: list[int]) -> ScheduledStep:
    spans = [tuple(ByteSpan("acc", n, n + 2) for n in places) for places in (reads, writes)]
    return ScheduledStep(NAMES[module], KINDS[module], *spans)


PLACES = st.lists(st.integers(0, 12), max_size=2)
STEPS = st.lists(st.builds(step, st.sampled_from(sorted(KINDS)), PLACES, PLACES), max_size=25)


def runs(calls: list[Call], rng: np.random.Generator) -> list[tuple[int, int]]:
    """(begin, end) times of a run with random durations, as the hardware has it: modules in order, tokens, finish."""
    tokens: dict[tuple[str, str], list[int]] = {q: [] for q in QUEUES}
    free = dict.fromkeys(KINDS, 0)
    times: list[tuple[int, int]] = []
    barrier = 0
    for call in calls:
        if call.instruction == "finish":
            barrier = max([barrier, *(end for _, end in times)])
            tokens = {q: [] for q in QUEUES}
            times.append((barrier, barrier))
            continue
        flags = OPERANDS[call.instruction].decode(call.fields)
        module = module_of(flags)
        begin = max(free[module], barrier)
        for (giver, taker), (_, pop) in QUEUES.items():
            if taker == module and getattr(flags, pop):
                begin = max(begin, tokens[giver, taker].pop(0))  # a pop without a push would fail here
        end = begin + int(rng.integers(1, 50))
        for (giver, taker), (push, _) in QUEUES.items():
            if giver == module and getattr(flags, push):
                tokens[giver, taker].append(end)
        free[module] = end
        times.append((begin, end))
    return times


def conflict(later: ScheduledStep, earlier: ScheduledStep) -> bool:
    """Whether two steps touch an element that one of them writes, element by element: the check must not ask `after`."""

    def elements(spans: tuple[ByteSpan, ...]) -> set[tuple[str, int]]:
        return {(s.space, n) for s in spans for n in range(s.start, s.end)}

    written = elements(later.writes) & (elements(earlier.writes) | elements(earlier.reads))
    return bool(written | elements(later.reads) & elements(earlier.writes))


def overlapping(steps: list[ScheduledStep], calls: list[Call], rng: np.random.Generator) -> list[tuple[int, int]]:
    """Pairs of steps that must not overlap and did. Finishes that were put in are told apart by their place."""
    times = [t for t, c in zip(runs(calls, rng), calls, strict=True) if c.instruction != "finish"]
    assert len(times) == len(steps)
    return [(i, j) for j in range(len(steps)) for i in range(j) if conflict(steps[j], steps[i]) and times[j][0] < times[i][1]]


@settings(max_examples=300, deadline=None)
@given(STEPS, st.integers(0, 1000))
def test_what_must_not_overlap_does_not(steps: list[ScheduledStep], seed: int) -> None:
    calls = synchronised(steps)
    for run in range(3):
        assert overlapping(steps, calls, np.random.default_rng([seed, run])) == []


def test_without_flags_it_does() -> None:
    """The check above can fail: a product that does not wait for its input begins too early."""
    steps = [step("load", [], [0]), step("compute", [0], [4]), step("store", [4], [8])]
    calls = synchronised(steps)
    assert overlapping(steps, calls, np.random.default_rng(0)) == []
    bare = [Call(c.instruction, {k: v & ~0x78 if k.endswith("_w0") else v for k, v in c.fields.items()}) for c in calls]
    assert overlapping(steps, bare, np.random.default_rng(0)) != []


def test_independent_steps_have_no_flags() -> None:
    calls = synchronised([step("load", [], [0]), step("compute", [2], [4]), step("store", [6], [8])])
    assert not any(getattr(OPERANDS[c.instruction].decode(c.fields), flag) for c in calls for flag in FLAGS)


def test_load_and_store_meet_by_a_finish() -> None:
    calls = synchronised([step("store", [], [0]), step("load", [0], [])])
    assert [c.instruction for c in calls] == ["store", "finish", "load"]


def test_more_tokens_than_a_queue_holds_are_refused() -> None:
    loads = [step("load", [], [2 * n]) for n in range(64)]
    with pytest.raises(DeviceError, match="tokens"):
        synchronised([*loads, *(step("compute", [2 * n], []) for n in range(64))])
