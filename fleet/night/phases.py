"""Test of the mean cycles over phases: Student's t on the logarithms of the ratios of paired phases, with its power.

With a refreshing memory every seed starts in another phase of the refresh and takes other cycles. Seeds that ran in both nights are
paired, so that the effect of the phase cancels.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist, fmean, stdev

LEAST = 8
"""Fewest paired phases for a test."""

FALSE_ALARMS = 0.01
"""Probability of a false alarm in a night, over all groups."""

LOSS = 0.01
"""Relative loss that the test should find."""

POWER = 0.9
"""Probability that the test finds a loss of `LOSS`."""


@dataclass(frozen=True)
class MeanMove:
    """Two means over the same phases.

    Attributes:
        phases: number of pairs. before, after: mean cycles. ratio: geometric mean of after / before. low, high: its interval.
        finds: smallest relative loss that this test finds with probability `POWER`. needs: phases needed to find `LOSS`.
    """

    phases: int
    before: float
    after: float
    ratio: float
    low: float
    high: float
    finds: float
    needs: int

    @property
    def moved(self) -> bool:
        """True if the interval excludes 1."""
        return not self.low <= 1.0 <= self.high

    def __str__(self) -> str:
        enough = "" if self.finds <= LOSS else f"; {100 * LOSS:g} % would need {self.needs:,}"
        return (
            f"mean over {self.phases} phases {self.ratio - 1:+.2%} ({self.low - 1:+.2%} to {self.high - 1:+.2%}); "
            f"finds a loss of {self.finds:.2%} with probability {POWER:g}{enough}"
        )


def compare_means(before: Mapping[int, float], after: Mapping[int, float], groups: int = 1) -> MeanMove | None:
    """Test the means over the seeds in both nights.

    before, after: seed -> cycles, above 0. groups: number of tests in the night, which share `FALSE_ALARMS`.
    Returns None with fewer than `LEAST` common seeds.
    """
    seeds = sorted(before.keys() & after.keys())
    if len(seeds) < LEAST:
        return None
    ratios = [math.log(after[s] / before[s]) for s in seeds]
    n, mean = len(seeds), fmean(ratios)
    error = stdev(ratios) / math.sqrt(n)
    alpha = FALSE_ALARMS / max(groups, 1)
    quantile = _student(1 - alpha / 2, n - 1)
    finds = math.expm1((quantile + _student(POWER, n - 1)) * error)
    half = quantile * error
    return MeanMove(
        n, fmean(before[s] for s in seeds), fmean(after[s] for s in seeds),
        math.exp(mean), math.exp(mean - half), math.exp(mean + half), finds, _needed(stdev(ratios), alpha),
    )  # fmt: skip


def _needed(scatter: float, alpha: float) -> int:
    normal = NormalDist()
    width = normal.inv_cdf(1 - alpha / 2) + normal.inv_cdf(POWER)
    return max(LEAST, math.ceil((width * scatter / math.log1p(LOSS)) ** 2))


def _student(p: float, freedom: int) -> float:
    """Return the quantile of Student's t, p >= 0.5, by bisection of its distribution function."""
    low, high = 0.0, 1.0
    while _below(high, freedom) < p:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _below(middle, freedom) < p else (low, middle)
    return high


def _below(t: float, freedom: int) -> float:
    """Return the distribution function of Student's t at t >= 0 (finite series of Abramowitz and Stegun 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    if freedom % 2:
        term = total = cosine if freedom > 1 else 0.0
        for k in range(2, freedom - 2, 2):
            term *= k / (k + 1) * cosine * cosine
            total += term
        inner = 2 / math.pi * (angle + sine * total)
    else:
        term = total = 1.0
        for k in range(1, freedom - 2, 2):
            term *= k / (k + 1) * cosine * cosine
            total += term
        inner = sine * total
    return 0.5 + inner / 2
