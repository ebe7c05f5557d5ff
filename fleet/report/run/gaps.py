"""Gaps of the comparison: one line per reason, with all operations that share it."""

from __future__ import annotations

from dataclasses import dataclass

from fleet.compare.verdict import NotCompared
from fleet.core.codec import Json, encode_record, is_list, is_table
from fleet.cosim.result import CosimResult
from fleet.cosim.what_ran import EngineRun
from fleet.report.frame.text import engine_title

NOT_ASKED = "not asked for"
_NAMES, _LINES = 6, 6


@dataclass(frozen=True)
class Gap:
    """Things that were not compared for one reason.

    comparisons: titles of those that lack them ("iss against vm"); empty for the run as a whole.
    things: all of them, in program order. why: the reason, in words.
    """

    comparisons: tuple[str, ...]
    things: tuple[str, ...]
    why: str

    @property
    def where(self) -> str:
        """The comparisons in words; "" for the run as a whole."""
        return ", ".join(self.comparisons)

    @property
    def size(self) -> int:
        """Number of things that were not compared."""
        return len(self.things)

    @property
    def cut(self) -> bool:
        """True if `names` leaves something out."""
        return len(self.things) > _NAMES

    @property
    def names(self) -> str:
        """The first few things, and how many there are: "matmul.0, add.0, ... (24)"."""
        if self.cut:
            return f"{', '.join(self.things[: _NAMES - 1])}, ... ({len(self.things):,})"
        return ", ".join(self.things) + (f" ({len(self.things)})" if len(self.things) > 2 else "")

    def text(self) -> str:
        """Return the gap as one line."""
        return f"{self.where}: {self.names}: {self.why}" if self.comparisons else f"{self.names}: {self.why}"

    def to_json(self) -> dict[str, Json]:
        """Return JSON values."""
        return encode_record(self)


def gaps(result: CosimResult) -> tuple[Gap, ...]:
    """Return all gaps: those of the run first, then by comparison. Comparisons that lack the same things for one reason share a
    gap.

    Older results list a comparison's operations a second time for the run; these are dropped.
    """
    within = {(n.what, n.why) for c in result.comparisons for n in c.not_compared}
    found = [Gap((), things, why) for why, things in _by_reason([n for n in result.not_compared if (n.what, n.why) not in within])]
    shared: dict[tuple[tuple[str, ...], str], list[str]] = {}
    for c in result.comparisons:
        for why, things in _by_reason(c.not_compared):
            shared.setdefault((things, why), []).append(f"{engine_title(c.other)} against {engine_title(c.reference)}")
    return (*found, *(Gap(tuple(comparisons), things, why) for (things, why), comparisons in shared.items()))


@dataclass(frozen=True)
class GapGroup:
    """Gaps of one place in the page. folded: whether the page shows them folded (many lines, or engines that nobody asked for)."""

    title: str
    gaps: tuple[Gap, ...]
    folded: bool


def grouped(result: CosimResult) -> tuple[GapGroup, ...]:
    """Return the gaps of a result in groups: the run's, one group per set of comparisons, engines that nobody asked for."""
    found = gaps(result)
    run = tuple(g for g in found if not g.comparisons and g.why != NOT_ASKED)
    unasked = tuple(g for g in found if not g.comparisons and g.why == NOT_ASKED)
    made = [GapGroup("", run, False)] if run else []
    for where in dict.fromkeys(g.where for g in found if g.comparisons):
        mine = tuple(g for g in found if g.where == where)
        made.append(GapGroup(where, mine, len(mine) > _LINES))
    return (*made, *([GapGroup("Engines that were not asked for", unasked, True)] if unasked else []))


def _by_reason(missing: list[NotCompared] | tuple[NotCompared, ...]) -> list[tuple[str, tuple[str, ...]]]:
    found: dict[str, dict[str, None]] = {}
    for n in missing:
        found.setdefault(n.why, {})[n.what] = None
    return [(why, tuple(things)) for why, things in found.items()]


def fused_into(engine: EngineRun | None) -> dict[str, str]:
    """Return operation -> the operation whose value its device group leaves instead, for operations without a value.

    From the groups that an accelerator engine states in `meta["groups"]`; empty without them.
    """
    found: dict[str, str] = {}
    groups = engine.meta.get("groups") if engine else None
    for group in groups if is_list(groups) else ():
        if not is_table(group):
            continue
        ops, results = (list(map(str, names)) if is_list(names := group.get(key)) else [] for key in ("ops", "results"))
        for i, op in enumerate(ops):
            later = next((name for name in ops[i + 1 :] if name in results), None)
            if op not in results and later is not None:
                found[op] = later
    return found
