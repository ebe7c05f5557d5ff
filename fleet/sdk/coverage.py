"""Statements of an instruction set on its coverage, beside its description; there are defaults."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

from fleet.sdk.conformance import Place
from fleet.sdk.hardware.device import Device
from fleet.sdk.instructions.instruction import Call, Write

__all__ = ["CoverageHints", "Limit"]

_LEAST, _MOST = 4, 128


def _blocks(device: Device) -> tuple[int, ...]:
    """Powers of two among the device's parameters, from 4 to 128, ascending: what its arrays and groups are wide."""
    found = {v for v in device.parameters.values() if _LEAST <= v <= _MOST and v & (v - 1) == 0}
    return tuple(sorted(found)) or (_LEAST,)


@dataclass(frozen=True)
class Limit:
    """A legal call's field is from low to high, both included. why: one line, where the specification or `legal` says so."""

    low: int
    high: int
    why: str


def _no_limits(_: Device) -> Mapping[str, Limit]:
    """The defaults, for a set that states nothing."""
    return {}


@dataclass(frozen=True)
class CoverageHints:
    """Facts for coverage that the description cannot express.

    Attributes:
        blocks: the natural blocks of a device's sizes, ascending.
        dtypes: instruction -> NumPy dtype ("<f2") of the elements that it writes (a write that carries one has its own). Results
            of other instructions are not counted.
        fill: calls that fill every memory which only instructions reach, and the blocks that they read; None where draws do not
            read what is not theirs.
        fills: instructions that write every byte of what their `writes` says; None: all do. Others may write less.
        barrier: a call that orders what stands before and after it and touches nothing; it goes before a call that was moved, and
            between calls to keep them apart. None where the order of the stream is enough.
        exclusions: TOML file with lines of the hardware that need not be met, and why (`fleet.verify.coverage.rtl`).
        limits: pattern of "<instruction>:<field>" -> the values that a legal call may have there; see `Limit`.
        impossible: (pattern of bins' keys as `fnmatch` reads it, why no legal stream falls into one). A run that meets one of them
            says so and fails: the reason is wrong.
        alike: name of an instruction that begins as another, and of its registers -> the other's. fleet fills it in
            (`fleet.sdk.likeness`): what is stated of the other holds for the new one unless its own name is stated.
    """

    blocks: Callable[[Device], tuple[int, ...]] = _blocks
    dtypes: Mapping[str, str] = field(default_factory=dict[str, str])
    fill: Callable[[Device, np.random.Generator, Place], tuple[Sequence[Call], Sequence[Write]]] | None = None
    fills: tuple[str, ...] | None = None
    barrier: Callable[[], Call] | None = None
    exclusions: Path | None = None
    limits: Callable[[Device], Mapping[str, Limit]] = _no_limits
    impossible: tuple[tuple[str, str], ...] = ()
    alike: Mapping[str, str] = field(default_factory=dict[str, str])

    def limit(self, device: Device, instruction: str, label: str) -> Limit | None:
        """Return the limit of a field, None if the set states none; `label` as in `fleet.verify.coverage.values`."""
        limits = self.limits(device)
        own = f"{instruction}:{label}"
        stated = {p: limit for p, limit in limits.items() if p.partition(":")[0] == instruction}
        for name, among in ((own, stated), (self._others(own), limits)):
            for pattern, limit in among.items():
                if fnmatchcase(name, pattern):
                    return limit
        return None

    def reason(self, key: str) -> str | None:
        """Return why the set declares a bin impossible; None if it does not."""
        keys = (key, self._others(key))
        return next((why for pattern, why in self.impossible if any(fnmatchcase(k, pattern) for k in keys)), None)

    def _others(self, key: str) -> str:
        """The key of the instruction that this one is like; the key itself where it is like none."""
        return re.sub(r"\w+", lambda m: self.alike.get(m[0], m[0]), key) if self.alike else key
