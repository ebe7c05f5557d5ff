"""Operands of one instruction as a typed record; the classes are generated from the description by `fleet isa generate`."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from functools import cache, lru_cache
from typing import Any, ClassVar, Literal, NamedTuple, Self

from fleet.errors import DeviceError

__all__ = ["Bits", "Operand", "Operands", "Violation", "ceil_div"]

_WORD = 32


class Bits(NamedTuple):
    """Bits of a register or word, which carries the name that the description gives it."""

    register: str
    low: int
    width: int


class Operand(NamedTuple):
    """One operand and where it stands.

    Attributes:
        name: of the attribute. bits: its places, the one of the lowest bits first.
        signed: two's complement over all its bits. scale: what 1 in the register stands for.
        of: its type where it is not a plain integer. derived: others determine it; a property instead of an argument.
        align: it is a multiple of that. allowed: the values that it may have, None for all that fit.
    """

    name: str
    bits: tuple[Bits, ...]
    signed: bool = False
    scale: int = 1
    of: type[IntEnum] | type[bool] | None = None
    derived: bool = False
    align: int = 1
    allowed: tuple[int, ...] | None = None

    @property
    def width(self) -> int:
        """Bits of all places."""
        return sum(b.width for b in self.bits)


class Violation(NamedTuple):
    """A register of a call that contradicts the description: kind, register, and a line for people."""

    kind: Literal["bits", "value", "alignment", "derived"]
    register: str
    line: str


class Operands:
    """Base of the generated classes: frozen dataclasses whose attributes are the operands, in the order of the registers.

    A symbolic size or address may stand in an operand that fills one register.

    Attributes:
        INSTRUCTION: the instruction's name.
        FIXED: (register, bits that always have the same value); every register, in write order, the start register last.
        LAYOUT: the operands.
    """

    INSTRUCTION: ClassVar[str]
    FIXED: ClassVar[tuple[tuple[str, int], ...]]
    LAYOUT: ClassVar[tuple[Operand, ...]]

    def encode(self) -> dict[str, int]:
        """Register -> value, in write order: the `fields` of a `Call`. Raises DeviceError for a value that does not fit."""
        words = dict(self.FIXED)
        for operand in self.LAYOUT:
            value: Any = getattr(self, operand.name)  # of a subclass
            if not isinstance(value, int) and len(operand.bits) == 1 and operand.width == _WORD and operand.scale == 1:
                words[operand.bits[0].register] = value
                continue
            raw = self._raw(operand, value)
            for register, low, width in operand.bits:
                words[register] |= (raw & (1 << width) - 1) << low
                raw >>= width
        return words

    @classmethod
    def decode(cls, fields: Mapping[str, int]) -> Self:
        """The operands of a call; bits that no operand has are ignored, see `stray_bits`.

        A number that an enumeration does not have stays a plain integer: what is illegal can be decoded, too.

        Raises:
            DeviceError: a register is missing.
        """
        try:
            words = [fields[register] for register in _registers(cls)]
        except KeyError as error:
            raise DeviceError(f"no value for register {error}", where=cls.INSTRUCTION) from None
        found: Any = _decoded(cls, *words)  # of a subclass
        return found

    @classmethod
    def violations(cls, fields: Mapping[str, int]) -> list[Violation]:
        """Return where a call breaks the description: constant and reserved bits, values, multiples, and derived operands."""
        found = [
            Violation("bits", register, f"{register}: {fields[register]:#x}, expected {expected:#x} in bits {mask:#x}")
            for register, mask, expected in cls.stray_bits(fields)
        ]
        made = cls.decode(fields)
        for o, register, name in _checked(cls):
            value = _read(o, fields) if o.derived else int(getattr(made, o.name))
            raw = value // o.scale
            if o.allowed is not None and raw not in o.allowed:
                found.append(Violation("value", register, f"{name}: {raw:#x}, expected {' or '.join(map(hex, o.allowed))}"))
            if raw % o.align:
                found.append(Violation("alignment", register, f"{name}: {raw:#x}, expected a multiple of {o.align}"))
            if o.derived and value != (expected := _derived(made, o.name)):
                found.append(Violation("derived", register, f"{name}: {value}, expected {expected}"))
        return found

    @classmethod
    def stray_bits(cls, fields: Mapping[str, int]) -> list[tuple[str, int, int]]:
        """(register, mask, expected) of bits that are no operand's and differ from what they always are."""
        constants = _constants(cls)
        return [(r, wrong, fixed & wrong) for r, fixed, mask in constants if (wrong := (fields[r] ^ fixed) & mask)]

    def _raw(self, operand: Operand, value: object) -> int:
        where = f"{self.INSTRUCTION}.{operand.name}"
        if not isinstance(value, int):
            raise DeviceError(f"is {value!r}, expected an integer", where=where)
        raw, rest = divmod(value, operand.scale)
        least, most = (-1 << operand.width - 1, (1 << operand.width - 1) - 1) if operand.signed else (0, (1 << operand.width) - 1)
        if rest or not least <= raw <= most:
            of = f" in steps of {operand.scale}" if operand.scale > 1 else ""
            raise DeviceError(f"is {value}, expected {least * operand.scale} to {most * operand.scale}{of}", where=where)
        return raw


def ceil_div(a: int, b: int) -> int:
    """The quotient, rounded up; of symbolic sizes too."""
    return -(-a // b)


def _derived(made: Operands, name: str) -> int | str:
    try:
        return int(getattr(made, name))
    except ZeroDivisionError:
        return "operands that do not divide by 0"


@cache
def _registers(cls: type[Operands]) -> tuple[str, ...]:
    """Registers with operands."""
    return tuple(dict.fromkeys(b.register for operand in cls.LAYOUT for b in operand.bits))


@cache
def _constants(cls: type[Operands]) -> tuple[tuple[str, int, int], ...]:
    """(register, the bits that always have the same value, mask of the bits that are no operand's)."""
    free = dict.fromkeys(dict(cls.FIXED), 0)
    for operand in cls.LAYOUT:
        for register, low, width in operand.bits:
            free[register] |= (1 << width) - 1 << low
    return tuple((r, fixed, ~free[r]) for r, fixed in cls.FIXED)


@cache
def _checked(cls: type[Operands]) -> tuple[tuple[Operand, str, str], ...]:
    """(operand, its lowest register, its name for people) of operands that may not have every value."""
    checked = [o for o in cls.LAYOUT if o.derived or o.align > 1 or o.allowed is not None]
    places = [(o, o.bits[0].register) for o in checked]
    return tuple((o, register, register if o.width == _WORD else f"{register}.{o.name}") for o, register in places)


@lru_cache(maxsize=1024, typed=True)
def _decoded(cls: type[Operands], *words: int) -> Operands:
    """Of the values of `_registers`. An instruction's methods ask one after the other for the same operands, which are frozen."""
    fields = dict(zip(_registers(cls), words, strict=True))
    return cls(**{operand.name: _read(operand, fields) for operand in cls.LAYOUT if not operand.derived})


def _read(operand: Operand, fields: Mapping[str, int]) -> int:
    value, at = 0, 0
    for register, low, width in operand.bits:
        value |= (fields[register] >> low & (1 << width) - 1) << at
        at += width
    if operand.signed and value >> at - 1:
        value -= 1 << at
    return _typed(value * operand.scale, operand.of)


def _typed(value: int, of: type[IntEnum] | type[bool] | None) -> int:
    if of is None:
        return value
    try:
        return of(value)
    except ValueError:
        return value
