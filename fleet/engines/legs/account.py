"""The account of a run in legs: a text on what it proved."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fleet.engines.legs.request import LegsRan, SampleRan

_PLACES = 6
"""Largest number of cuts that are named."""
_CLOCKS = {
    "timed": "cycles: approximate, each leg's refreshes come at the time that the cost model gives its start",
    "stall": "cycles: not those of one run, whose random stalls follow its whole history",
}


APPROXIMATE = frozenset(_CLOCKS)
"""Memory models with which the cycles of a run in legs differ from those of an uncut run."""


@dataclass
class CutAccount:
    """Sums the runs of one engine. runs: how many. legs, cuts: of all of them. fewest: instructions repeated at a cut."""

    runs: int = 0
    legs: int = 0
    cuts: tuple[int, ...] = ()
    agreed: int = 0
    fewest: int = 0

    def add(self, ran: LegsRan) -> None:
        """Add a run."""
        first = ran.commits[0].seq
        overlaps = [leg.warm_up for leg in ran.legs[1:]]
        self.runs, self.legs, self.agreed = self.runs + 1, self.legs + len(ran.legs), self.agreed + ran.agreed
        if overlaps:
            self.fewest = min(self.fewest, *overlaps) if self.cuts else min(overlaps)
        self.cuts += tuple(first + leg.own for leg in ran.legs[1:])

    def words(self, model: str) -> str:
        """Return one line; empty if nothing ran in legs. model: memory model, as the bench names it."""
        if not self.runs:
            return ""
        if not self.cuts:
            return "not cut: too short, or the set does not say where its RTL keeps its state"
        places = ", ".join(map(str, self.cuts[:_PLACES])) + (", ..." if len(self.cuts) > _PLACES else "")
        same = f"at {self.agreed} of {len(self.cuts)} cuts both legs ran the last of them at the same pace"
        clock = _CLOCKS.get(model.partition(":")[0])
        if clock is None:
            apart = len(self.cuts) - self.agreed
            clock = "cycles: put together at the cuts" + (f", approximate at {apart} of them" if apart else "")
        return (
            f"cut into {self.legs} legs, before instruction{'s' if len(self.cuts) > 1 else ''} {places}; architecturally checked: "
            "every commit, and memory and declared state behind each leg; hidden state: overlap of "
            f"{self.fewest} instructions or more ({same}), not covered: what takes longer to build up than a leg; {clock}"
        )


@dataclass
class SampleAccount:
    """Sums the sampled runs of one engine: runs, commits in RTL and in total, stretches, the estimate and its variance.

    alike: calls for which only their instruction's own estimate is used; alike_cycles: their cycles. diverged: whether a run did.
    """

    runs: int = 0
    commits: int = 0
    of: int = 0
    stretches: int = 0
    simulated: int = 0
    cycles: float = 0.0
    square: float = 0.0
    groups: int = 0
    alike: int = 0
    alike_cycles: float = 0.0
    diverged: bool = False

    def add(self, ran: SampleRan) -> None:
        """Add a run."""
        self.runs, self.commits, self.of = self.runs + 1, self.commits + len(ran.commits), self.of + ran.of
        self.stretches, self.simulated = self.stretches + ran.stretches, self.simulated + ran.cycles
        if ran.estimate is None:
            self.diverged = True
            return
        e = ran.estimate
        self.cycles, self.square, self.groups = self.cycles + e.cycles, self.square + e.half**2, self.groups + e.groups
        self.alike, self.alike_cycles = self.alike + e.alike, self.alike_cycles + e.share * e.cycles

    def counters(self) -> dict[str, float]:
        """Return figures of the sample; their names differ from those of a whole run."""
        found: dict[str, float] = {"sampled.commits": self.commits, "sampled.of_commits": self.of, "sampled.cycles": self.simulated}
        if self.runs and not self.diverged:
            half = math.sqrt(self.square)
            found |= {"sampled.estimate": self.cycles, "sampled.low": self.cycles - half, "sampled.high": self.cycles + half}
        return found

    def words(self) -> str:
        """Return one line; empty if nothing ran."""
        if not self.runs:
            return ""
        text = (
            f"sampled: bits: {_share(self.commits / self.of)} of commits in RTL ({self.commits:,} of {self.of:,}, in "
            f"{self.stretches} stretch{'es' if self.stretches != 1 else ''}), all on iss"
        )
        if self.diverged:
            return text
        half = math.sqrt(self.square)
        text += (
            f"; cycles of the whole, to the last commit: {self.cycles:,.0f} estimated, 95 % interval {self.cycles - half:,.0f} to "
            f"{self.cycles + half:,.0f}, from {self.simulated:,} simulated, warm-ups included"
        )
        if self.alike:
            text += (
                f"; {_share(self.alike_cycles / self.cycles)} of them by the cost model: none like {self.alike} of the "
                "instructions is in the sample"
            )
        return text


def _share(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 0.995 else f"{100 * share:.0f} %"
