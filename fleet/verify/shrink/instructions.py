"""Removes instructions: those after the first divergence, those that it does not depend on, then every other unneeded one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from fleet.isa.codec import description_of
from fleet.streams.case import Setting
from fleet.verify.conformance.hazards import hazards
from fleet.verify.shrink.oracle import Attempt, ShrinkOracle
from fleet.verify.shrink.record import RecordedStream, record

_PRODUCERS, _LONGEST = 3, 10
_MEMORIES = ("ideal", "fixed:37", "stall:1", "stall:2")


def fewer_instructions(oracle: ShrinkOracle, seq: int | None) -> None:
    """Leave as few instructions as possible in `oracle.best`. seq: number of the failing instruction, if known.

    The data that removed instructions wrote stay in memory as blocks. Only hazards, and memories that blocks cannot fill, keep an
    instruction.
    """
    base = oracle.best
    whole = record(oracle.runner.set, oracle.runner.device, base.case, oracle.runner.expected)
    last = len(base.case.calls) - 1 if seq is None else seq
    kept = list(range(last + 1)) if last + 1 < len(base.case.calls) and _try(oracle, base, whole, range(last + 1)) else None
    kept = kept if kept is not None else list(range(len(base.case.calls)))
    overlapping = _overlapping(oracle, base, whole, last) if base.setting.issue != "regs" and len(kept) > 3 else None
    if overlapping is not None:
        kept, base = overlapping, replace(base, setting=oracle.best.setting)
    for guess in _guesses(whole, kept, last):
        if len(guess) < len(kept) and _try(oracle, base, whole, guess):
            kept = list(guess)
            break
    _one_by_one(oracle, base, whole, kept)


def _guesses(whole: RecordedStream, kept: Sequence[int], last: int) -> Iterator[Sequence[int]]:
    """Yield growing tails of the stream, and the instructions that the last one depends on, if they are fewer."""
    end = [i for i in kept if i <= last]
    rest = [i for i in kept if i > last]
    needed = whole.needed(last)
    told = False
    for n in (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128):
        if n >= len(end):
            break
        if not told and len(needed) <= n:
            told = True
            yield [*needed, *rest]
        yield [*end[-n:], *rest]


def _overlapping(oracle: ShrinkOracle, base: Attempt, whole: RecordedStream, last: int) -> list[int] | None:
    """Return the failing instruction, one that it depends on, and perhaps one or two that delay the latter; try several timings.

    A failure caused by overlapping instructions depends on how long each waits. Removing one instruction shifts all others in time,
    so one by one all seem to be needed. Long instructions, first those of the producer's unit, delay it as well.
    """
    instruction_set, device = oracle.runner.set, oracle.runner.device
    calls, description = base.case.calls[: last + 1], description_of(instruction_set)
    units = [description.instructions[c.instruction].unit for c in calls]
    costs = [0 if not s.reads and not s.writes else instruction_set.instructions[c.instruction].cost(device, c.fields)
             for c, s in zip(calls, whole.steps, strict=False)]  # fmt: skip
    found = [h for h in hazards(instruction_set, device, calls) if h.later == last]
    for producer in list(dict.fromkeys(h.earlier for h in sorted(found, key=lambda h: (h.kind != "raw", h.distance))))[:_PRODUCERS]:
        ordered = sorted(range(producer), key=lambda i: (units[i] != units[producer], -costs[i]))
        longest = sorted(range(producer), key=lambda i: -costs[i])[:_LONGEST]
        keepers: list[tuple[int, ...]] = [(), *((i,) for i in dict.fromkeys([*ordered[:_LONGEST], *longest]))]
        keepers += combinations(longest[:4], 2)
        for setting in _timings(oracle):
            for keeper in keepers:
                chosen = [*sorted(keeper), producer, last]
                if _try(oracle, replace(base, setting=setting), whole, chosen, wide=(False,)):
                    return chosen
    return None


def _timings(oracle: ShrinkOracle) -> list[Setting]:
    """Return the failing setting and, if instructions may overlap or memory may stall, others with the same way of issue."""
    now = oracle.best.setting
    if now == Setting():
        return [now]
    return list(dict.fromkeys([now, *(Setting(m, now.issue) for m in _MEMORIES)]))


def _one_by_one(oracle: ShrinkOracle, base: Attempt, whole: RecordedStream, kept: list[int]) -> None:
    """Delta debugging with shrinking parts; the last parts first, because producers are free once nothing reads their results."""
    size = max(1, len(kept) // 2)
    while True:
        changed, at = False, len(kept)
        while at > 0:
            low = max(0, at - size)
            fewer = [*kept[:low], *kept[at:]]
            if fewer and _try(oracle, base, whole, fewer):
                kept, changed = fewer, True
            at = low
        if size > 1:
            size //= 2
        elif not changed:
            return


def _try(
    oracle: ShrinkOracle, base: Attempt, whole: RecordedStream, kept: Sequence[int], wide: Sequence[bool] = (False, True)
) -> bool:
    """Try with the memory that the instructions declare to read, then with all memory: hardware may read elsewhere."""
    for w in wide:
        case = whole.part(kept, wide=w)
        if oracle.improves(replace(base, case=case, origins=tuple(base.origins[i] for i in kept))):
            return True
    return False
