"""Derives dependency flags from what instructions read and write: modules may overlap, the result equals program order.

A step states the spans that it touches. If a step conflicts with an earlier step of another module (they overlap and one writes),
it waits for a token that the latest such step pushes. Tokens have no names: the n-th pop of a queue takes the n-th push. That
works, because a step waits only for a step that is later than all those that its module has waited for. There is no queue between
load and store; if nothing else orders two of them, a FINISH does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from fleet.sdk import Call, DeviceError
from fleet.sets.vgemm.legality import module_of
from fleet.sets.vgemm.operands import FinishOperands
from fleet.sets.vgemm.shapes import Loops, Transfer

MAX_TOKENS = 63
"""Maximum number of tokens in a queue, counted in program order."""

QUEUES: Mapping[tuple[str, str], tuple[str, str]] = {
    ("load", "compute"): ("push_next", "pop_prev"),
    ("compute", "load"): ("push_prev", "pop_next"),
    ("compute", "store"): ("push_next", "pop_prev"),
    ("store", "compute"): ("push_prev", "pop_next"),
}
"""(from, to) -> the flags of the pushing and the popping side."""

_MODULES = ("load", "compute", "store")


@dataclass(frozen=True)
class ByteSpan:
    """Elements [start, end) of a scratchpad ("uop", "inp", "wgt", "acc") or bytes of "ddr"."""

    space: str
    start: int
    end: int

    def meets(self, other: ByteSpan) -> bool:
        """Return whether the spans overlap."""
        return self.space == other.space and self.start < other.end and other.start < self.end


@dataclass(frozen=True)
class ScheduledStep:
    """One instruction without flags, and the spans that it touches. body None: a FINISH."""

    name: str
    body: Transfer | Loops | None
    reads: tuple[ByteSpan, ...] = ()
    writes: tuple[ByteSpan, ...] = ()

    def after(self, earlier: ScheduledStep) -> bool:
        """Return whether it must wait for an earlier step."""
        pairs = ((self.reads, earlier.writes), (self.writes, earlier.reads), (self.writes, earlier.writes))
        return any(a.meets(b) for mine, its in pairs for a in mine for b in its)


FINISH = ScheduledStep("finish", None)


@dataclass
class _Placed:
    """A step in the schedule. knew: module -> its latest step that had finished when this one began."""

    step: ScheduledStep
    module: str
    knew: dict[str, int]
    flags: set[str]


class _Schedule:
    def __init__(self) -> None:
        self.placed: list[_Placed] = []
        self.of: dict[str, list[int]] = {}
        self.knows: dict[str, dict[str, int]] = {}
        self._restart()

    def _restart(self) -> None:
        self.of = {m: [] for m in _MODULES}
        self.knows = {m: dict.fromkeys(_MODULES, -1) for m in _MODULES}

    def add(self, step: ScheduledStep) -> None:
        """Append a step."""
        if step.body is None:
            self.placed.append(_Placed(step, "", {}, set()))
            self._restart()
            return
        module = module_of(step.body)
        waits = self._waits(step, module)
        if waits is None:
            self.add(FINISH)
            waits = {}
        flags = set[str]()
        for other, giver in waits.items():
            push, pop = QUEUES[other, module]
            self.placed[giver].flags.add(push)
            flags.add(pop)
            self.knows[module] = _later(self.knows[module], {**self.placed[giver].knew, other: giver})
        self.placed.append(_Placed(step, module, dict(self.knows[module]), flags))
        self.of[module].append(len(self.placed) - 1)

    def _waits(self, step: ScheduledStep, module: str) -> dict[str, int] | None:
        """Return module -> the step whose token to wait for; None if queues cannot express the dependence."""
        knows, waits = dict(self.knows[module]), dict[str, int]()
        needs = {other: self._latest(step, other, knows[other]) for other in _MODULES if other != module}
        # The latest one first: its module may already have waited for the other one.
        for other in sorted(needs, key=lambda m: -needs[m]):
            if needs[other] <= knows[other]:
                continue
            if (other, module) not in QUEUES:
                continue
            waits[other] = needs[other]
            knows = _later(knows, {**self.placed[needs[other]].knew, other: needs[other]})
        return waits if all(needs[m] <= knows[m] for m in needs) else None

    def _latest(self, step: ScheduledStep, other: str, since: int) -> int:
        for i in reversed(self.of[other]):
            if i <= since:
                break
            if step.after(self.placed[i].step):
                return i
        return -1


def _later(a: Mapping[str, int], b: Mapping[str, int]) -> dict[str, int]:
    return {m: max(a[m], b.get(m, -1)) for m in _MODULES}


def synchronised(steps: Sequence[ScheduledStep], ops: tuple[str, ...] = ()) -> list[Call]:
    """Return the calls of the steps with their flags, and a FINISH where no queue can order two of them.

    Raises DeviceError if a queue would hold too many tokens.
    """
    schedule = _Schedule()
    for step in steps:
        schedule.add(step)
    tokens = dict.fromkeys(QUEUES, 0)
    calls: list[Call] = []
    for p in schedule.placed:
        if p.step.body is None:
            tokens = dict.fromkeys(QUEUES, 0)
            calls.append(Call("finish", FinishOperands().encode(), ops))
            continue
        for (giver, taker), (push, pop) in QUEUES.items():
            tokens[giver, taker] += (giver == p.module and push in p.flags) - (taker == p.module and pop in p.flags)
        if max(tokens.values()) > MAX_TOKENS:
            raise DeviceError(f"more than {MAX_TOKENS} tokens of a queue are under way", where=p.step.name)
        calls.append(Call(p.step.name, replace(p.step.body, **dict.fromkeys(p.flags, True)).encode(), ops))
    return calls
