"""What an instruction set may say of its coverage, in `InstructionSet.extra["coverage"]`; a set that says nothing has defaults."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import cast

import numpy as np

from fleet.isa.conformance import Place
from fleet.isa.contract import Call, Device, InstructionSet, Write

__all__ = ["CoverageHints", "hints_of"]

_LEAST, _MOST = 4, 128


def _blocks(device: Device) -> tuple[int, ...]:
    """Powers of two among the device's parameters, from 4 to 128, ascending: what its arrays and groups are wide."""
    found = {v for v in device.parameters.values() if _LEAST <= v <= _MOST and v & (v - 1) == 0}
    return tuple(sorted(found)) or (_LEAST,)


@dataclass(frozen=True)
class CoverageHints:
    """What the description cannot say.

    Attributes:
        blocks: the natural blocks of a device's sizes, ascending.
        dtypes: instruction -> NumPy dtype ("<f2") of the elements that it writes, where the writes themselves do not say it.
        fill: calls that fill every memory which only instructions reach, and the blocks that they read; None where draws do not read
            what is not theirs.
        impossible: (pattern of bins' keys as `fnmatch` reads it, why no legal stream falls into one). A run that meets one of them
            says so and fails: the reason is wrong.
    """

    blocks: Callable[[Device], tuple[int, ...]] = _blocks
    dtypes: Mapping[str, str] = field(default_factory=dict[str, str])
    fill: Callable[[Device, np.random.Generator, Place], tuple[Sequence[Call], Sequence[Write]]] | None = None
    impossible: tuple[tuple[str, str], ...] = ()

    def reason(self, key: str) -> str | None:
        """Why the set says that a bin is impossible; None where it does not."""
        return next((why for pattern, why in self.impossible if fnmatchcase(key, pattern)), None)


def hints_of(instruction_set: InstructionSet) -> CoverageHints:
    """The set's hints, or those of a set without any."""
    return cast("CoverageHints", instruction_set.extra.get("coverage", CoverageHints()))
