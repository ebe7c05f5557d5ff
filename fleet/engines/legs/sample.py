"""The plan of a sampled run: which stretches are simulated, and the estimate of the whole run's cycles from theirs.

Calls are grouped by what determines their time: the instruction, its work as the cost model counts it (sizes and modes), its
neighbours, and whether the hardware fetches a block of the binary with it. The time of a call is that from the commit before it to
its own, so the times of all calls add up to the last commit's cycle. A group's mean, in units of its calls' own estimates,
is used for its calls that did not run. If no call of a group ran, the mean of calls with the same work but other neighbours is
used, then that of its instruction.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import NormalDist, mean, variance
from typing import Literal

import numpy as np

from fleet.engines.legs.plan import Leg, warmed
from fleet.errors import FleetError
from fleet.sdk import Call, Device, InstructionSet

_FORMS = "expected sample=5%, blocks=2 or ci=1%"
_CONFIDENCE = 0.95
_SPREAD = 0.01
_CYCLES = 10
"""Assumed standard deviation of a call's cycles: this share of its own estimate, at least one cycle and at most these."""
_EDGE = {"timed": 25, "stall": 25}
"""Additional assumed standard deviation of a stretch's cycles, by memory model: a refresh or stall cut off at its start or end."""
_ASSUMED = 4
"""Weight of the assumption, in stretches."""
_LIKE_LEVELS = 2
"""The coarsest grouping of calls with the same work; in later groupings only the instruction is the same."""
_STRETCH = 16
"""Calls of a stretch if the run has no period."""
_LIKE = 0.9
"""A shorter period is preferred if it has at least this share of the best period's matches."""
_LARGE = 0.005
"""A call without similar calls gets its own stretch from this share of the run on."""
_FEWEST = 2
"""Minimum number of stretches: one gives no variance."""


@dataclass(frozen=True)
class SampleChoice:
    """How much of a run is simulated.

    unit: "sample": `amount` is the share of the run's cycles, by the cost model and with warm-ups, at most; "blocks": the number of
    stretches, each of one period of the run (a block of a model); "ci": the wanted width of the interval, over the cycles.
    """

    unit: Literal["sample", "blocks", "ci"]
    amount: float
    seed: int = 0


def sample_choice(text: str, seed: int = 0) -> SampleChoice:
    """Read "sample=5%", "blocks=2" or "ci=1%". Raises FleetError for anything else."""
    unit, _, amount = text.partition("=")
    number = amount.removesuffix("%")
    if unit in ("sample", "ci") and number != amount and _decimal(number) and 0 < float(number) <= 100:
        return SampleChoice("sample" if unit == "sample" else "ci", float(number) / 100, seed)
    if unit == "blocks" and amount.isascii() and amount.isdecimal() and int(amount) >= _FEWEST:
        return SampleChoice("blocks", int(amount), seed)
    raise FleetError(f"'{text}' is no sample", where="--rtl", hint=f"{_FORMS} ({_FEWEST} blocks or more)")


def _decimal(text: str) -> bool:
    return text.isascii() and text.replace(".", "", 1).isdecimal()


@dataclass(frozen=True)
class SampleEstimate:
    """Cycles up to the last commit of a run, and half the width of their 95 % interval.

    groups: of calls. alike: calls that did not run and for which only their instruction's own estimate is used. share: their
    share of the cycles.
    """

    cycles: float
    half: float
    groups: int
    alike: int
    share: float


class SampledCalls:
    """The calls of a run as a sample sees them."""

    def __init__(
        self, instruction_set: InstructionSet, device: Device, calls: Sequence[Call], costs: Sequence[int],
        fetches: Collection[int] = (), model: str = "ideal",
    ) -> None:  # fmt: skip
        """Args:
        calls: resolved. costs: cycles of each, by its own estimate. fetches: calls with which a block of a binary is fetched.
        model: of memory, as the bench names it.
        """
        self._first = 1  # calls of the first stretch, if it is needed only for the start of the run
        self._edge = _EDGE.get(model.partition(":")[0], 0)
        classes = instruction_set.instructions
        work = [  # the first call's time includes the start of the run
            (
                n == 0,
                c.instruction,
                cost,
                classes[c.instruction].cost(device, c.fields),
                classes[c.instruction].macs(device, c.fields),
            )
            for n, (c, cost) in enumerate(zip(calls, costs, strict=True))
        ]
        number: dict[Hashable, int] = {}
        self.costs = [max(1, c) for c in costs]
        self.work = [number.setdefault(w, len(number)) for w in work]
        padded = [-1, *self.work, -1]
        around = [tuple(padded[i : i + 3]) for i in range(len(self.work))]
        self.levels: tuple[Sequence[Hashable], ...] = (
            [(a, i in fetches) for i, a in enumerate(around)], around, self.work, [c.instruction for c in calls], [""] * len(calls),
        )  # fmt: skip
        """Group of each call, from the finest grouping to the coarsest."""

    @property
    def period(self) -> int:
        """Return the period of the run in calls: those of a block of a model."""
        work, costs = np.array(self.work), np.array(self.costs, float)
        half = len(work) // 2
        found = [float((costs[:-d] * (work[:-d] == work[d:])).sum() / costs[:-d].sum()) for d in range(1, half + 1)]
        best = max(found, default=0.0)
        if best < 0.5:
            return min(_STRETCH, len(work))
        return 1 + next(d for d, share in enumerate(found) if share >= _LIKE * best)

    def stretches(self, starts: Collection[int], ends: Collection[int]) -> list[Leg]:
        """Return non-overlapping legs of one period each, with warm-ups, in program order. starts, ends: as `plan_legs`."""
        total = [0, *accumulate(self.costs)]
        last, length, found = len(self.work), self.period, list[Leg]()
        stops = sorted({*ends, last})
        self._first = stops[0]
        for start in sorted({0, *starts}):
            own = warmed(total, start) if start else 0
            end = next((e for e in stops if e >= own + length), last)
            if own < last and (not found or own >= found[-1].end):
                found.append(Leg(start, own, end))
        return found

    def draw(self, choice: SampleChoice, stretches: Sequence[Leg], taken: Sequence[Leg] = (), count: int = 0) -> list[Leg]:
        """Return more legs: with large calls without similar ones, then those whose groups were sampled least, and the first call.

        count: how many; 0: as many as the choice says.
        """
        order = np.random.default_rng([choice.seed, 0x5A3D]).permutation(len(stretches))
        begun = {leg.own for leg in taken}
        left = [stretches[i] for i in order if stretches[i].own not in begun]
        cost = {leg: sum(self.costs[leg.first : leg.end]) for leg in left}
        budget = choice.amount * sum(self.costs) if choice.unit == "sample" else math.inf
        many = count or (int(choice.amount) if choice.unit == "blocks" else _FEWEST if choice.unit == "ci" else len(left))
        groups, drawn = self.levels[0], list[Leg]()
        size = Counter(groups)
        seen = Counter(groups[i] for leg in taken for i in range(leg.own, leg.end))

        def wanted(leg: Leg) -> int:
            """Return the cycles of a leg's calls whose groups were sampled too rarely, among those with similar calls."""
            return sum(self.costs[i] for i in range(leg.own, leg.end) if seen[groups[i]] < min(_FEWEST, size[groups[i]] - 1))

        def take(leg: Leg) -> None:
            nonlocal budget
            left.remove(leg)
            drawn.append(leg)
            budget -= cost[leg]
            seen.update(groups[leg.own : leg.end])

        alone = Counter(self.work)
        large = {
            i for i, (w, c) in enumerate(zip(self.work, self.costs, strict=True)) if alone[w] == 1 and c > _LARGE * sum(self.costs)
        }
        for leg in [leg for leg in left if large & {*range(leg.own, leg.end)} and cost[leg] <= budget / 2]:
            take(leg)
        many += len(drawn)
        while left and len(drawn) < many:
            able = [leg for leg in left if cost[leg] <= budget and not large & {*range(leg.own, leg.end)}]
            if not able and len(drawn) < _FEWEST:
                able = [min(left, key=cost.__getitem__)]
            if not able:
                break
            take(max(able, key=wanted))
        if not any(leg.own == 0 for leg in (*taken, *drawn)):
            drawn.append(Leg(0, 0, self._first))
        return sorted(drawn, key=lambda leg: leg.own)

    def estimate(self, stretches: Sequence[Mapping[int, int]]) -> SampleEstimate:
        """Return the cycles of the whole. stretches: call -> cycles from the commit before it (of the first one: from reset), each.

        The variance is that between stretches, because calls of one stretch depend on each other. A few stretches give a poor
        estimate, so it is combined with an assumed one, which counts as `_ASSUMED` stretches and never reduces it.
        """
        times = {i: t for stretch in stretches for i, t in stretch.items()}
        known = [_collected(level, {i: t / self.costs[i] for i, t in times.items()}) for level in self.levels]
        # Representatives of the calls that did not run: (level, group) -> their costs.
        sets: dict[tuple[int, Hashable], list[int]] = {}
        for i, cost in enumerate(self.costs):
            if i not in times:
                sets.setdefault(self._stands(i, known), []).append(cost)
        cycles, assumed, unlike, alike, alike_cycles = float(sum(times.values())), 0.0, 0.0, 0, 0.0
        weights: dict[tuple[int, Hashable], float] = {}
        for (level, group), costs in sets.items():
            rates = known[level][group]
            weights[level, group] = sum(costs) / len(rates)
            part = sum(costs) * mean(rates)
            sure = [min(max(_SPREAD * c, 1), _CYCLES) ** 2 for c in costs]
            assumed += sum(sure) * (1 + len(costs) / len(rates))
            if level > _LIKE_LEVELS:
                # The error may scale with the estimate or be constant: take a value between the two.
                offset = [t - self.costs[i] for i, t in times.items() if self.levels[level][i] == group]
                other = sum(costs) + len(costs) * mean(offset)
                part, apart = (part + other) / 2, (part - other) / 2
                unlike += apart**2 + (len(costs) ** 2 / len(rates) + len(costs)) * (variance(offset) if len(offset) > 1 else 0.0)
                alike, alike_cycles = alike + len(costs), alike_cycles + part
            cycles += part
        sums = [
            sum(
                weights[n, level[i]] * (t / self.costs[i] - mean(known[n][level[i]]))
                for i, t in stretch.items()
                for n, level in enumerate(self.levels[: _LIKE_LEVELS + 1])
                if (n, level[i]) in weights
            )
            for stretch in stretches
            if 2 * len(stretch) > self.period
        ]
        count, missing = max(1, len(sums)), len(self.costs) - len(times)
        seen = sum(s * s for s in sums) * count / max(1, count - 1) * (1 + len(times) / max(1, missing))
        assumed += self._edge**2 * missing / self.period * (1 + missing / self.period / count)
        freedom = _ASSUMED + count - 1
        spread = max(seen, (_ASSUMED * assumed + (count - 1) * seen) / freedom) + unlike
        return SampleEstimate(cycles, _student(freedom) * math.sqrt(spread), len(set(self.levels[0])), alike, alike_cycles / cycles)

    def _stands(self, i: int, known: Sequence[Mapping[Hashable, Sequence[float]]]) -> tuple[int, Hashable]:
        """Return level and group that represent a call: the finest with two times, or with one among similar calls."""
        count = [len(known[n].get(level[i], ())) for n, level in enumerate(self.levels)]
        like = range(_LIKE_LEVELS + 1)
        order = [n for n in like if count[n] >= _FEWEST] + [n for n in like if count[n]]
        n = (order or [n for n, c in enumerate(count) if c >= _FEWEST] or [len(count) - 1])[0]
        return n, self.levels[n][i]


def _collected(level: Sequence[Hashable], rates: Mapping[int, float]) -> dict[Hashable, list[float]]:
    found: dict[Hashable, list[float]] = {}
    for i, rate in rates.items():
        found.setdefault(level[i], []).append(rate)
    return found


_FEW = (12.706, 4.303, 3.182, 2.776, 2.571)


def _student(freedom: float) -> float:
    """Quantile of Student's t for a two-sided interval of 95 %; between whole degrees of freedom, that of the lower one."""
    n = max(1, int(freedom))
    if n <= len(_FEW):
        return _FEW[n - 1]
    z = NormalDist().inv_cdf((1 + _CONFIDENCE) / 2)
    return z + (z**3 + z) / (4 * n) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n * n)
