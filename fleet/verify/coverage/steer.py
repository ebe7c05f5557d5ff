"""Chooses the next program: without steering as a fuzz run does, else aimed at bins that are not met yet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from fleet.core.plugins import raised_by_code
from fleet.core.scratch import Scratch
from fleet.isa.codec import description_of
from fleet.sdk import Call, NoRoomError, Write
from fleet.streams.case import StreamCase, StreamOutcome
from fleet.streams.images import Images, images_home
from fleet.streams.model_side import execute
from fleet.verify.conformance.fuzz import case_name
from fleet.verify.coverage.account import CoverageAccount, Tried
from fleet.verify.coverage.aimed import aimer
from fleet.verify.coverage.aims import field_of, text_of
from fleet.verify.coverage.bins import BinSpace, family, mode_values
from fleet.verify.coverage.observe import Observer

_FREE = 0.15
"""Share of programs without an aim, to find unforeseen behaviour."""
_ATTEMPTS = 4
"""Programs drawn until one reaches a bin; then the last one is run."""
_TOURNAMENT = 6
_SAMPLE = 32
_TOGETHER = 8
"""Number of aimed calls per program."""
_ALONE = frozenset({"refused", "hazard"})
"""Families of which a program aims at one bin only."""
_STRIDE = 10_000_000


def _group(key: str) -> str:
    """Return the group of a bin; one program may aim at several bins of a group (a family, or crosses with one saturation)."""
    return f"cross:{key.split(':')[5]}" if family(key) == "cross" else family(key)


def _by_field(modes: Sequence[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for mode in modes:
        found.setdefault(field_of(mode), []).append(mode)
    return found


class Steering:
    """A `Chooser` (`fleet.verify.conformance.fuzz`) that keeps the account. steer=False: it does not aim."""

    def __init__(self, space: BinSpace, account: CoverageAccount, seed: int, *, steer: bool) -> None:
        self.space, self.account, self.seed, self.steer = space, account, seed, steer
        self.observer = Observer(space)
        self._aimer = aimer(space.instruction_set, space.device)
        self._holes: dict[str, list[str]] = {}
        self._where: dict[str, int] = {}
        for key in space.open:
            if key not in account.met:
                group = self._holes.setdefault(_group(key), [])
                self._where[key] = len(group)
                group.append(key)
        self._aimed: dict[str, frozenset[str]] = {}  # name of a chosen case -> bins that it should meet
        self._modes = {n: _by_field(mode_values(space, n)) for n in space.places}
        self._told = False
        words = description_of(space.instruction_set).instructions
        self._has_form = {n for n, w in words.items() if w.beats > 0}
        self._images: Images | None = None
        self._folder: Scratch | None = None
        self.unknown: set[str] = set()
        """Bins that were met but are not in the space, or are impossible there."""

    @property
    def holes(self) -> int:
        """Number of bins that count and were not met."""
        return len(self._where)

    def choose(self, number: int) -> str:
        """Return the name of case `number`."""
        rng = np.random.default_rng([self.seed, number, 1])
        device = self.space.device.name
        plain = case_name(device, self.seed, number)
        if not self.steer or rng.random() < _FREE or not self._where:
            return plain
        name = plain
        for attempt in range(_ATTEMPTS):
            keys = self._pick(rng)
            count = (self.seed * _STRIDE + number) * _ATTEMPTS + attempt
            if family(keys[0]) == "refused":
                name = f"{device}/{keys[0].split(':', 1)[0]}/illegal/{count}"
                self._aimed[name] = frozenset(keys)
                return name
            text = text_of(keys)
            try:
                aimed = self._aimer.draw(text, count)
            except BaseException as error:
                if isinstance(error, NoRoomError):
                    for key in keys:
                        self._missed(key, error.what)
                    continue
                if not raised_by_code(error):
                    raise
                return f"{device}/{keys[0].split(':')[0]}/aimed/{text}/{count}"  # the worker reports the same error by name
            name = f"{device}/{aimed.draws[-1].call.instruction}/aimed/{text}/{count}"
            for key in keys:
                if key not in aimed.reached:
                    self._missed(key, aimed.why)
            if aimed.reached:
                self._aimed[name] = aimed.reached
                return name
        return name

    def _pick(self, rng: np.random.Generator) -> list[str]:
        """Choose bins for a program: a group, weighted by the root of its holes; then bins of it, each the least tried of a few."""
        groups = [g for g in self._holes.values() if g]
        weights = np.sqrt([self._hope(g, rng) for g in groups])
        group = groups[int(rng.choice(len(groups), p=weights / weights.sum()))]
        found: dict[str, None] = {}
        for _ in range(_TOGETHER):
            some = [group[int(rng.integers(len(group)))] for _ in range(_TOURNAMENT)]
            key = min(some, key=self._draws)
            if family(key) in _ALONE:
                return [key]
            if key not in found:
                found |= dict.fromkeys([key, *self._beside(key, rng)])
        return list(found)

    def _hope(self, group: Sequence[str], rng: np.random.Generator) -> float:
        """Estimate the number of holes from a sample; bins that were aimed at in vain count less."""
        some = [group[int(i)] for i in rng.integers(len(group), size=_SAMPLE)]
        return len(group) * sum(1 / (1 + self._draws(k)) for k in some) / len(some)

    def _draws(self, key: str) -> int:
        return self.account.tried[key].draws if key in self.account.tried else 0

    def _beside(self, key: str, rng: np.random.Generator) -> list[str]:
        """Return holes that the same call may meet: crosses that differ only in the mode, one for each mode field."""
        if family(key) != "cross":
            return []
        parts = key.split(":")
        found: list[str] = []
        for p in self.space.modes[parts[0]]:
            if p.label != field_of(parts[2]):
                holes = [
                    k for m in self._modes[parts[0]].get(p.label, ()) if (k := ":".join([*parts[:2], m, *parts[3:]])) in self._where
                ]
                if holes:
                    found.append(holes[int(rng.integers(len(holes)))])
        return found

    def _missed(self, key: str, why: str) -> None:
        tried = self.account.tried.setdefault(key, Tried(0))
        tried.draws += 1
        tried.why = why or tried.why

    def wrote(self, place: int, call: Call, writes: Sequence[Write]) -> None:
        """Record what the functional model wrote for the case passed to `met` next. Optional: else `met` runs the case again."""
        if not self._told:
            self.observer.forget()
        self._told = True
        self.observer.wrote(place, call, writes)

    def met(self, case: StreamCase, outcomes: Sequence[StreamOutcome]) -> None:
        """Add the bins of a case that was run."""
        if not self._told:
            self._execute(case)
        for o in outcomes:
            memory = o.setting.memory.partition(":")[0]
            found = self.observer.stream(case.calls, o.expected, memory, o.setting.issue, self._has_form)
            self.unknown |= {k for k in found if self.space.bins.get(k, "unknown") is not None}
            self.account.add(found & self.space.bins.keys(), case.name, o.setting.name)
            self.seen(found)
            self.account.instructions += len(o.expected)
        self.account.programs += 1
        for key in self._aimed.pop(case.name, ()):
            if key in self._where:
                self._missed(key, "")
        self._told = False

    def _execute(self, case: StreamCase) -> None:
        """Run the functional model again, if another process ran the case."""
        if self._images is None:
            self._folder = Scratch("steer", images_home(self.space.device))
            self._images = Images(self.space.device, self._folder.path)
        self._images.fill(case.blocks, case.parameters)
        execute(self.space.instruction_set, self.space.device, self._images.memory, case.calls, self.wrote)

    def seen(self, keys: Iterable[str]) -> None:
        """Remove these bins from the holes."""
        for key in keys:
            at = self._where.pop(key, None)
            if at is not None:
                group = self._holes[_group(key)]
                last = group.pop()
                if last != key:
                    group[at] = last
                    self._where[last] = at
