"""Classes of the values of fields, and which of them a description leaves possible."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from fleet.isa.conformance import value_class
from fleet.isa.description import Description, Field, Register
from fleet.sdk import CoverageHints, Device, Limit

__all__ = ["REMAINDERS", "FieldPlace", "class_of", "examples", "fitting", "places", "possible", "remainder"]

REMAINDERS = ("whole", "over", "short", "other")
"""Of a size by a block: none, one over, one short, another."""

_PERIOD = 4096  # twice the largest block of `value_class`
_EXAMPLES = 48


@dataclass(frozen=True)
class FieldPlace:
    """A field of an instruction. label: the register's name, with the field's where there are several."""

    label: str
    register: Register
    field: Field
    free: bool
    """Whether an instruction's calls may differ in it: false for a start register's bits that the instruction fixes."""
    limit: Limit | None = None
    """What the set states of it."""


def places(description: Description, instruction: str, hints: CoverageHints, device: Device) -> tuple[FieldPlace, ...]:
    """All fields of what an instruction writes, in order. Raises KeyError."""
    word = description.instructions[instruction]
    found: list[FieldPlace] = []
    for r in description.words(instruction):
        for f in r.fields:
            label = r.name if len(r.fields) == 1 else f"{r.name}.{f.name}"
            free = r.role != "start" or bool(word.start_optional & f.mask)
            found.append(FieldPlace(label, r, f, free, hints.limit(device, instruction, label)))
    return tuple(found)


def class_of(f: Field, value: int) -> str:
    """`value_class` without blanks, so that it can stand in a bin's key."""
    return value_class(f, value).replace(" + ", "+").replace(" - ", "-").replace(" ", "_")


def remainder(value: int, block: int) -> str:
    """One of `REMAINDERS`."""
    left = value % block
    return "whole" if left == 0 else "over" if left == 1 else "short" if left == block - 1 else "other"


def _end(f: Field, device: Device) -> int:
    """Where an address field's space ends; beyond all values for other fields, and for spaces without a size."""
    return device.memory.get(f.space or "", 1 << 64) if f.kind == "address" else 1 << 64


def _legal_values(f: Field, device: Device) -> Iterator[int]:
    """Values that allowed values, alignment, width and the size of memory leave: all up to a period, and odd ones above."""
    top = (1 << f.width) - 1
    if f.allowed is not None:
        yield from (v for v in f.allowed if v <= top)
        return
    if f.kind == "constant":
        yield f.reset
        return
    end = min(top + 1, _end(f, device))
    step = max(1, f.align)
    yield from range(0, min(end, _PERIOD + 1), step)
    for base in (1 << 16, 1 << 20, 1 << 30):
        first = -(-base // step) * step
        yield from (v for v in range(first, min(end, first + step * 8), step))
    if top < end and top % step == 0:
        yield top


@lru_cache(maxsize=4096)
def _examples(f: Field, limit: Limit | None, device: _Hashed) -> dict[str, tuple[int, ...]]:
    found: dict[str, list[int]] = {}
    stated = () if limit is None else (*range(limit.low, min(limit.high, limit.low + _PERIOD) + 1), limit.high)
    for v in (*_legal_values(f, device.device), *stated):
        if limit is None or (limit.low <= v <= limit.high and v % max(1, f.align) == 0):
            found.setdefault(class_of(f, v), []).append(v)
    return {name: tuple(_spread(values)) for name, values in found.items()}


def _spread(values: list[int]) -> list[int]:
    """A few small ones and some of all."""
    if len(values) <= _EXAMPLES:
        return values
    rest = values[8:]
    return values[:8] + rest[:: max(1, len(rest) // (_EXAMPLES - 8))]


class _Hashed:
    """A device as a cache's key: two are equal when their memories are."""

    def __init__(self, device: Device) -> None:
        self.device = device

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Hashed) and self.device.memory == other.device.memory

    def __hash__(self) -> int:
        return hash(tuple(sorted(self.device.memory.items())))


def examples(p: FieldPlace, device: Device) -> dict[str, tuple[int, ...]]:
    """Class -> some values of it, for every class of which description, device and the set's limits leave any."""
    return _examples(p.field, p.limit, _Hashed(device))


def fitting(f: Field) -> list[int]:
    """Values of every class that fit into the field, whatever the description allows; ascending."""
    top = (1 << f.width) - 1
    return sorted({v for v in (*range(min(_PERIOD, top) + 1), 1 << 16, 1 << 20, 1 << 30, top) if v <= top})


def possible(p: FieldPlace, device: Device) -> dict[str, str | None]:
    """Class of values that fit into the field -> None, or why the description, the device or the set's limit leave none of it.

    A field that an instruction ignores may have any value all the same; `bins` looks for that.
    """
    f, left = p.field, examples(p, device)
    found: dict[str, str | None] = {}
    if f.kind == "constant" or (f.allowed is not None and p.limit is None):
        return dict.fromkeys(left, None)
    for v in fitting(f) if f.allowed is None else f.allowed:
        name = class_of(f, v)
        if name in found or name in left:
            continue
        if v >= _end(f, device):
            found[name] = f"{f.space} ends at {_end(f, device):#x}"
        elif p.limit is not None and not p.limit.low <= v <= p.limit.high:
            found[name] = f"{p.limit.low:,} to {p.limit.high:,}: {p.limit.why}"
        else:
            found[name] = f"no multiple of {f.align} is in it"
    return dict.fromkeys(left, None) | found
