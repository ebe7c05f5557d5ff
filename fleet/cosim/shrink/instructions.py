"""Takes instructions away: what comes after the first divergence, what it does not depend on, then every one that is not missed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from fleet.cosim.shrink.oracle import Attempt, Oracle
from fleet.cosim.shrink.record import Record, record

__all__ = ["fewer_instructions"]


def fewer_instructions(oracle: Oracle, seq: int | None) -> None:
    """Leaves as few instructions as it can in `oracle.best`. seq: number of the instruction that fails, if one is named.

    Instructions that go leave what they wrote in memory: only hazards and memories that no block fills keep them.
    """
    base = oracle.best
    whole = record(oracle.runner.set, oracle.runner.device, base.case, oracle.runner.expected)
    last = len(base.case.calls) - 1 if seq is None else seq
    kept = list(range(last + 1)) if last + 1 < len(base.case.calls) and _try(oracle, base, whole, range(last + 1)) else None
    kept = kept if kept is not None else list(range(len(base.case.calls)))
    for guess in _guesses(whole, kept, last):
        if len(guess) < len(kept) and _try(oracle, base, whole, guess):
            kept = list(guess)
            break
    _one_by_one(oracle, base, whole, kept)


def _guesses(whole: Record, kept: Sequence[int], last: int) -> Iterator[Sequence[int]]:
    """Ever longer ends of the stream, and what the last instruction depends on where that is shorter."""
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


def _one_by_one(oracle: Oracle, base: Attempt, whole: Record, kept: list[int]) -> None:
    """Delta debugging: ever smaller parts are left out, the last ones first, since producers are free once nobody reads them."""
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


def _try(oracle: Oracle, base: Attempt, whole: Record, kept: Sequence[int]) -> bool:
    """First on the memory that the instructions say they read, then on all that was there: hardware may read elsewhere."""
    for wide in (False, True):
        case = whole.part(kept, wide=wide)
        if oracle.improves(replace(base, case=case, origins=tuple(base.origins[i] for i in kept))):
            return True
    return False
