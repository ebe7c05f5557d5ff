"""The streams that mutants of hardware and functional model must survive: those of the nightly regression.

One stream of every instruction comes first, then streams that found other mutants of the same file, then all others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from fleet.sdk import Device, InstructionSet
from fleet.streams.case import Setting, StreamCase, StreamCommit
from fleet.streams.images import Images, touched
from fleet.streams.locate import disagreement
from fleet.streams.model_side import execute
from fleet.verify.conformance.settings import settings
from fleet.verify.conformance.suite import names

Effort = Literal["quick", "usual", "all"]
"""Number of streams: the most effective ones; up to 12 of every kind and instruction; all kinds of the regression."""

_USUAL = 12
_RANDOM, _ILLEGAL, _PROGRAMS = range(10), range(8), range(40)
_PAGE = 1 << 12
_FIRST = ("/directed/0", "/directed/7", "/illegal/0", "/random/0")


@dataclass(frozen=True)
class Probe:
    """A case of the conformance suite under one setting."""

    case: str
    setting: Setting

    @property
    def name(self) -> str:
        """ "<case> <memory>/<issue>", for example "... ideal/regs"."""
        return f"{self.case} {self.setting.name}"


@dataclass(frozen=True)
class Expected:
    """The result of the unchanged functional model: commits, and a digest over every nonzero byte of memory."""

    commits: tuple[StreamCommit, ...]
    memory: str


def probes(device: str, effort: Effort = "usual") -> list[Probe]:
    """Return the probes of a device, most effective first: one of every kind and instruction, programs, then the others.

    A case runs on ideal memory or with the other memory model and way of issue chosen by its seed, in turn; the first ones on both.
    """
    every = names(device, random=_RANDOM, illegal=_ILLEGAL, programs=_PROGRAMS)
    first = [n for n in every if n.endswith(_FIRST)] + [n for n in every if "/program/" in n][:6]
    found: list[Probe] = []
    for n in first:
        found += [Probe(n, s) for s in _ways(device, n)]
    if effort == "quick":
        return found
    groups: dict[str, list[str]] = {}
    for n in every:
        if n not in set(first):
            groups.setdefault(n.rpartition("/")[0], []).append(n)
    for group in groups.values():
        most = len(group) if effort == "all" else min(len(group), _USUAL)
        for i in range(most):
            n = group[i * len(group) // most]
            found.append(Probe(n, _ways(device, n)[i % 2]))
    return found


def _ways(device: str, name: str) -> list[Setting]:
    return settings(device, int(name.rpartition("/")[2]), every=False)


def image_digest(images: Images) -> str:
    """Return a digest of every nonzero byte: equal for equal memories."""
    digest = hashlib.sha256()
    for (space, bank), path in sorted(images.memory.paths.items()):
        size, done = path.stat().st_size, 0
        for start, end in touched(path, path, size):
            for page in range(max(done, start // _PAGE * _PAGE), end, _PAGE):
                content = images.memory.view(space, page, min(_PAGE, size - page), bank)
                if content.any():
                    digest.update(f"{space} {bank} {page} ".encode() + content.tobytes())
                done = page + _PAGE
    return digest.hexdigest()[:16]


def differs(expected: Expected, found: Sequence[StreamCommit], memory: str) -> str:
    """Describe the difference in one clause; empty if there is none. memory: from `image_digest`."""
    for i, (a, b) in enumerate(zip(expected.commits, found, strict=True)):
        if why := disagreement(a, b):
            return f"commit {i} ({a.instruction}): {why}"
    return "" if memory == expected.memory else "memory differs at the end"


def left_by_model(instruction_set: InstructionSet, device: Device, case: StreamCase, images: Images) -> Expected:
    """Run the functional model on `images`, which are cleared first."""
    images.fill(case.blocks, case.parameters)
    commits = execute(instruction_set, device, images.memory, case.calls)
    return Expected(tuple(commits), image_digest(images))
