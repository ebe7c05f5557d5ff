"""Parses the keys of bins into aims of a draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fleet.errors import DeviceError
from fleet.verify.coverage.bins import NO_MODE, BinSpace, family

SEPARATOR, TOGETHER = ",", "+"
"""Separators: between the bins of a program; between the modes of crosses that agree in all other parts (one call)."""


@dataclass(frozen=True)
class Aim:
    """Target of one call; empty fields are free.

    keys: the bins. modes: one per cross, of crosses that agree in all other parts; other aims have one bin. saturation: of the
    result. distance: class of the distance to the nearest hazard. side: "read" or "write", whose stride counts; "" for the wider
    one. kind, earlier: of a hazard, and the instruction to wait for.
    """

    keys: tuple[str, ...]
    instruction: str
    modes: tuple[str, ...] = ()
    shape: str = ""
    stride: str = ""
    saturation: str = ""
    side: str = ""
    distance: str = ""
    field: str = ""
    value: str = ""
    block: int = 0
    kind: str = ""
    earlier: str = ""


def field_of(mode: str) -> str:
    """Return the field of "field=value"."""
    return mode.partition("=")[0]


def same_call(a: Aim, b: Aim) -> bool:
    """Return whether one call may meet both bins: crosses that differ only in the mode, in different mode fields."""
    return (
        bool(a.modes and b.modes)
        and replace(a, keys=(), modes=()) == replace(b, keys=(), modes=())
        and not {field_of(m) for m in a.modes} & {field_of(m) for m in b.modes}
    )


def aims_of(space: BinSpace, text: str) -> tuple[Aim, ...]:
    """Return the aims of a program's text, one for each call. `text_of` describes the text.

    Raises DeviceError if a key is not a bin.
    """
    found: list[Aim] = []
    for key in keys_of(text):
        aim = _aim_of(space, key)
        if found and same_call(found[-1], aim):
            found[-1] = replace(found[-1], keys=(*found[-1].keys, key), modes=(*found[-1].modes, *aim.modes))
        else:
            found.append(aim)
    return tuple(found)


def keys_of(text: str) -> list[str]:
    """Return the bins of a program's text."""
    found: list[str] = []
    for part in text.split(SEPARATOR):
        if ":cross:" in part:
            first, kind, modes, rest = part.split(":", 3)
            found += [f"{first}:{kind}:{mode}:{rest}" for mode in modes.split(TOGETHER)]
        else:
            found.append(part)
    return found


def text_of(keys: Sequence[str]) -> str:
    """Return the text of a program's bins, part of its name. Neighbouring crosses that differ only in the mode become one part."""
    found: list[str] = []
    for key in keys:
        parts, before = key.split(":"), found[-1].split(":") if found else []
        if ":cross:" in key and [*parts[:2], *parts[3:]] == [*before[:2], *before[3:]]:
            found[-1] = ":".join([*parts[:2], before[2] + TOGETHER + parts[2], *parts[3:]])
        else:
            found.append(key)
    return SEPARATOR.join(found)


def _aim_of(space: BinSpace, key: str) -> Aim:
    parts = key.split(":")
    if key not in space.bins:
        raise DeviceError("there is no such bin", where=key, hint="`fleet isa coverage` lists them")
    name, kind, keys = parts[0], family(key), (key,)
    if kind == "hazard":
        if len(parts) == 4:
            return Aim(keys, parts[3], kind=parts[1], earlier=parts[2])
        return Aim(keys, "", kind=parts[1], distance=parts[2])
    if kind == "cross":
        modes = (parts[2],) if parts[2] != NO_MODE else ()
        return Aim(keys, name, modes=modes, shape=parts[3], stride=parts[4], saturation=parts[5], distance=parts[6])
    if kind == "field":
        return Aim(keys, name, field=parts[2], value=parts[3])
    if kind == "remainder":
        label, block = parts[2].split("/")
        return Aim(keys, name, field=label, value=parts[3], block=int(block))
    if kind == "stride":
        return Aim(keys, name, stride=parts[3], side=parts[2])
    return Aim(keys, name)
