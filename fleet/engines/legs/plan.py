"""The plan of a run in legs: its cuts."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache
from heapq import heapreplace
from itertools import accumulate, pairwise

WARM_UP = 3
"""Minimum number of instructions that a leg repeats of the one before it."""
_WARM_CYCLES = 1_000
"""Minimum number of their cycles, by their own cost, so that queues and prefetch reach their steady state."""

_EACH = 4
"""Maximum number of legs per process: legs end at different times, and several per process keep all busy."""
SHORTEST = 50_000
"""Minimum cycles of a leg, by the instructions' own cost: below it, the repetition costs more than it gains."""
_NEAR = 0.3
"""Share of a leg by which a cut may move to a position that repeats less."""
_REPEATED = 0.08
"""Maximum share of a run that may be repeated."""
_BEGIN = 1 / 16
"""Share of the shortest leg that could be simulated in the time that it takes to prepare a leg and to compare what it left."""
_TRIED = 3
"""Number of even plans whose cuts are moved."""
_MOVES = 3_000
"""Maximum number of plans that moving the cuts of one may look at."""
_UNSURE = 0.05
"""Share by which a leg may take longer than its instructions' own estimates."""


@dataclass(frozen=True)
class Leg:
    """Calls [first, end) of a run; those from `own` on are its own, the others are its warm-up."""

    first: int
    own: int
    end: int

    @property
    def warm_up(self) -> int:
        """Number of warm-up calls before its own."""
        return self.own - self.first


def warmed(total: Sequence[int], start: int) -> int:
    """Return the first call that a leg from `start` on may count as its own. total: cycles before each call, and of all."""
    return max(start + WARM_UP, bisect_left(total, total[start] + _WARM_CYCLES))


def plan_legs(
    costs: Sequence[int], jobs: int, starts: Collection[int], ends: Collection[int], *, shortest: int = SHORTEST
) -> tuple[Leg, ...]:
    """Cut a run so that it ends as early as possible, and little is repeated.

    Args:
        costs: cycles of each call, as its instruction estimates them.
        jobs: how many run at a time.
        starts: calls with which the hardware can start. ends: calls before which a leg may end.
        shortest: minimum cycles of a leg.

    Returns:
        The legs in order; every call is the own call of exactly one leg.
    """
    total = [0, *accumulate(max(1, c) for c in costs)]
    can_start, can_end = sorted({0, *starts}), sorted(ends)
    reached = [total[p] for p in can_end]

    def first(own: int) -> int:
        latest = min(own - WARM_UP, bisect_right(total, total[own] - _WARM_CYCLES) - 1)
        return can_start[max(0, bisect_right(can_start, latest) - 1)]

    @cache
    def repeated(own: int) -> int:
        return total[own] - total[first(own)]

    def legs(cuts: Sequence[int]) -> tuple[Leg, ...]:
        return tuple(Leg(first(own) if own else 0, own, end) for own, end in pairwise((0, *cuts, len(costs))))

    def time(cuts: Sequence[int]) -> tuple[float, int]:
        """Return when the legs end and how many there are, the first infinite if they repeat too much."""
        again = [0, *map(repeated, cuts)]
        if sum(again) > _REPEATED * total[-1]:
            return math.inf, len(cuts)
        own = (total[b] - total[a] for a, b in pairwise((0, *cuts, len(costs))))
        return _ends([cost + more + _BEGIN * shortest for cost, more in zip(own, again, strict=True)], jobs), len(cuts)

    def even(count: int) -> list[int]:
        found: set[int] = set()
        each = total[-1] / count
        for n in range(1, count):
            near = can_end[bisect_left(reached, each * (n - _NEAR)) : bisect_right(reached, each * (n + _NEAR))]
            if near:
                found.add(min(near, key=lambda p: (repeated(p), abs(total[p] - each * n))))
        return sorted(found)

    # Cuts that repeat no more than they must; with the even ones, from which the search starts.
    most = min(_EACH * jobs, total[-1] // max(1, shortest)) if jobs > 1 else 1
    plans = [even(count) for count in range(2, most + 1)]
    able = {warmed(total, p) for p in can_start if warmed(total, p) < len(costs)} & set(ends)
    tried = sorted(plans, key=time)[:_TRIED]
    near = sorted(able.union(*tried))
    return legs(min([[], *(_moved(plan, near, time) for plan in tried)], key=time))


def _moved(cuts: list[int], able: Sequence[int], time: Callable[[Sequence[int]], tuple[float, int]]) -> list[int]:
    """Move one cut after the other to another place in `able`, as long as the legs end earlier and not too many were tried."""
    best, left, moved = time(cuts), _MOVES, True
    while moved and left > 0:
        moved = False
        for n in range(len(cuts)):
            low, high = cuts[n - 1] if n else 0, cuts[n + 1] if n + 1 < len(cuts) else able[-1] + 1
            at = bisect_left(able, cuts[n])
            steps = (s << k for k in range(len(able).bit_length()) for s in (-1, 1))
            for p in [able[at + s] for s in steps if 0 <= at + s < len(able) and low < able[at + s] < high]:
                other, left = [*cuts[:n], p, *cuts[n + 1 :]], left - 1
                if (found := time(other)) < best:
                    cuts, best, moved = other, found, True
    return cuts


def _ends(costs: Sequence[float], jobs: int) -> float:
    """Return when the last leg ends if each free process takes the next one and the costliest takes longer than estimated."""
    free = [0.0] * jobs
    for cost in costs:
        heapreplace(free, free[0] + cost)
    return max(free) + _UNSURE * max(costs)
