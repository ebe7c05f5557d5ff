"""Whether a mean over phases moved, where single phases scatter: a test on the ratios of paired phases, and what it can find.

A run with a memory that refreshes meets another phase of the refresh with every seed, and so takes other cycles. Seeds that are in
both nights are paired: what a phase does in both cancels.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist, fmean, stdev

__all__ = ["FALSE_ALARMS", "LEAST", "LOSS", "POWER", "MeanMove", "compare_means"]

LEAST = 8
"""Phases below which nothing is said of a mean."""

FALSE_ALARMS = 0.01
"""False alarms a night, of all groups together."""

LOSS = 0.01
"""The loss that is to be found."""

POWER = 0.9
"""With which probability."""


@dataclass(frozen=True)
class MeanMove:
    """Two means over the same phases. ratio: now over then (geometric mean of the pairs); low, high: its interval.

    finds: the smallest loss that this test finds with probability `POWER`, as a fraction.
    needs: phases with which it would find `LOSS`.
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
        """Whether the interval leaves out 1."""
        return not self.low <= 1.0 <= self.high

    def __str__(self) -> str:
        enough = "" if self.finds <= LOSS else f"; {100 * LOSS:g} % would need {self.needs:,}"
        return (
            f"mean over {self.phases} phases {self.ratio - 1:+.2%} ({self.low - 1:+.2%} to {self.high - 1:+.2%}); "
            f"finds a loss of {self.finds:.2%} with probability {POWER:g}{enough}"
        )


def compare_means(before: Mapping[int, float], after: Mapping[int, float], groups: int = 1) -> MeanMove | None:
    """before, after: seed -> cycles, above 0; groups: how many means of the night are tested, which share the false alarms.

    Returns: None with fewer than `LEAST` seeds in both.
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
    """Quantile of Student's t, p >= 0.5, by bisection of its distribution function."""
    low, high = 0.0, 1.0
    while _below(high, freedom) < p:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _below(middle, freedom) < p else (low, middle)
    return high


def _below(t: float, freedom: int) -> float:
    """Student's distribution function at t >= 0, by the finite series of Abramowitz and Stegun 26.7.3 and 26.7.4."""
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
