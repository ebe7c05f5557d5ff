"""The plan of a run in legs: its cuts."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass
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
_UNSURE = 0.1
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
    can_start = sorted({0, *starts})

    def first(own: int) -> int:
        latest = min(own - WARM_UP, bisect_right(total, total[own] - _WARM_CYCLES) - 1)
        return can_start[max(0, bisect_right(can_start, latest) - 1)]

    def repeated(own: int) -> int:
        return total[own] - total[first(own)]

    def plan(count: int) -> tuple[Leg, ...]:
        cuts: set[int] = set()
        each = total[-1] / count
        for n in range(1, count):
            near = [p for p in ends if abs(total[p] - each * n) <= _NEAR * each]
            if near:
                cuts.add(min(near, key=lambda p: (repeated(p), abs(total[p] - each * n))))
        borders = [0, *sorted(cuts), len(costs)]
        return tuple(Leg(first(own) if own else 0, own, end) for own, end in pairwise(borders))

    whole = (Leg(0, 0, len(costs)),)
    most = min(_EACH * jobs, total[-1] // max(1, shortest)) if jobs > 1 else 1
    plans = [whole, *(p for p in map(plan, range(2, most + 1)) if sum(repeated(g.own) for g in p[1:]) <= _REPEATED * total[-1])]
    return min(plans, key=lambda p: (_ends([total[g.end] - total[g.first] for g in p], jobs), len(p)))


def _ends(costs: Sequence[int], jobs: int) -> float:
    """Return when the last leg ends if each free process takes the next one and the costliest takes longer than estimated."""
    free = [0] * jobs
    for cost in costs:
        heapreplace(free, free[0] + cost)
    return max(free) + _UNSURE * max(costs)
