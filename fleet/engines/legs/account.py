"""The account of a run in legs: what it proved, in words."""

from __future__ import annotations

from dataclasses import dataclass

from fleet.engines.legs.run import LegsRan

_PLACES = 6
"""Most cuts that are named."""
_CLOCKS = {
    "timed": "cycles: approximate, each leg's refreshes come at the time that the cost model gives its start",
    "stall": "cycles: not those of one run, whose random stalls follow its whole history",
}


APPROXIMATE = frozenset(_CLOCKS)
"""Memory models with which a run in legs does not have the cycles of one run."""


@dataclass
class CutAccount:
    """Adds up the runs of one engine. runs: how many. legs, cuts: of all of them. fewest: instructions repeated at a cut."""

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
        """One line; empty if nothing ran in legs. model: memory model, as the bench names it."""
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
