"""Value classes of fields, and which of them a description allows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from fleet.isa.conformance import value_class
from fleet.isa.description import Description, Field, Register
from fleet.sdk import CoverageHints, Device, Limit

REMAINDERS = ("whole", "over", "short", "other")
"""Remainder of a size by a block: none, one over, one short, another."""

_PERIOD = 4096  # twice the largest block of `value_class`
_EXAMPLES = 48


@dataclass(frozen=True)
class FieldPlace:
    """A field of an instruction. label: the register's name, plus the field's if the register has several."""

    label: str
    register: Register
    field: Field
    free: bool
    """True if calls of the instruction may differ in it; false for bits of a start register that the instruction fixes."""
    limit: Limit | None = None
    """The limit that the set states for it."""


def places(description: Description, instruction: str, hints: CoverageHints, device: Device) -> tuple[FieldPlace, ...]:
    """Return all fields of the registers that an instruction writes, in order. Raises KeyError."""
    word = description.instructions[instruction]
    found: list[FieldPlace] = []
    for r in description.words(instruction):
        for f in r.fields:
            label = r.name if len(r.fields) == 1 else f"{r.name}.{f.name}"
            free = r.role != "start" or bool(word.start_optional & f.mask)
            found.append(FieldPlace(label, r, f, free, hints.limit(device, instruction, label)))
    return tuple(found)


def class_of(f: Field, value: int) -> str:
    """Return `value_class` without blanks, for use in a bin's key."""
    return value_class(f, value).replace(" + ", "+").replace(" - ", "-").replace(" ", "_")


def remainder(value: int, block: int) -> str:
    """Return one of `REMAINDERS`."""
    left = value % block
    return "whole" if left == 0 else "over" if left == 1 else "short" if left == block - 1 else "other"


def _end(f: Field, device: Device) -> int:
    """Return the end of an address field's space; a number beyond all values for other fields and spaces without a size."""
    return device.memory.get(f.space or "", 1 << 64) if f.kind == "address" else 1 << 64


def _legal_values(f: Field, device: Device) -> Iterator[int]:
    """Yield values allowed by the field's list, alignment, width and the memory size: all up to a period, odd ones above."""
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
    """Select a few small values and some others."""
    if len(values) <= _EXAMPLES:
        return values
    rest = values[8:]
    return values[:8] + rest[:: max(1, len(rest) // (_EXAMPLES - 8))]


class _Hashed:
    """A device as a cache key: devices with the same memories are equal."""

    def __init__(self, device: Device) -> None:
        self.device = device

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Hashed) and self.device.memory == other.device.memory

    def __hash__(self) -> int:
        return hash(tuple(sorted(self.device.memory.items())))


def examples(p: FieldPlace, device: Device) -> dict[str, tuple[int, ...]]:
    """Return class -> some of its values, for every class that description, device and the set's limits allow."""
    return _examples(p.field, p.limit, _Hashed(device))


def fitting(f: Field) -> list[int]:
    """Return values of every class that fit into the field, even if the description forbids them; ascending."""
    top = (1 << f.width) - 1
    return sorted({v for v in (*range(min(_PERIOD, top) + 1), 1 << 16, 1 << 20, 1 << 30, top) if v <= top})


def possible(p: FieldPlace, device: Device) -> dict[str, str | None]:
    """Return class of values that fit into the field -> None, or why description, device or the set's limit forbid all of it.

    A field that an instruction ignores may still have any value; `bins` finds these fields.
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
