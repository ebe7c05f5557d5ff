"""Reads the header of a bytecode file without trusting it: every field must have the type and range that `container.save` writes.

Other contents raise ValueError, KeyError or TypeError. No allocation depends on sizes in the header alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar, cast

import numpy as np

from fleet.ir.types import DTYPES
from fleet.ir.weights import Entry, RandomStream, Recipe, Weights, recipe_from_plain
from fleet.targets.bytecode.contents import ArgumentSlot, Contents, OutputSlot
from fleet.targets.bytecode.flow import MAX_SLOTS
from fleet.targets.bytecode.hints import parse_type
from fleet.targets.bytecode.instructions import Form, instructions
from fleet.targets.bytecode.opcodes import OpCode, TypeCode

T = TypeVar("T", bound=Contents)

_FIELDS: frozenset[str] = frozenset(
    ("target", "variable_size", "code", "consts", "invokes", "arguments", "outputs", "weights", "program_hash", "arrays")
)
_KINDS = ("input", "weight")
_WORD = 1 << 53
"""Upper limit of code words and dimensions."""


class Header:
    """The parsed JSON."""

    def __init__(self, fields: Any) -> None:
        if not isinstance(fields, dict) or _FIELDS ^ set(cast("dict[str, Any]", fields)):
            raise ValueError(f"expected an object with {', '.join(sorted(_FIELDS))}")
        self._fields = cast("dict[str, Any]", fields)

    def arrays(self) -> Iterator[tuple[np.dtype, tuple[int, ...]]]:
        """Yield dtype and shape of every array that follows the header."""
        for entry in _list(self._fields["arrays"]):
            name, shape = _items(entry, 2)
            if name not in DTYPES:
                raise ValueError(f"dtype {name}")
            yield np.dtype(name), _shape(shape)

    def contents(self, arrays: list[np.ndarray], kind: type[T]) -> T:
        """Return the module as a `kind`, with views of the file as its arrays."""
        f = self._fields
        slots = _integer(f["variable_size"], 0, MAX_SLOTS)
        return kind(
            [_constant(c, arrays) for c in _list(f["consts"])],
            _named([_integer(w, -_WORD, _WORD) for w in _list(f["code"])]),
            _text(f["target"]),
            slots,
            tuple(_text(i) for i in _list(f["invokes"])),
            tuple(_argument(a) for a in _list(f["arguments"])),
            tuple(_output(o, slots) for o in _list(f["outputs"])),
            _weights(_typed(f["weights"], dict), arrays),
            _text(f["program_hash"]),
        )


def _weights(fields: dict[Any, Any], arrays: list[np.ndarray]) -> Mapping[str, np.ndarray]:
    """Return arrays of the file, or recipes, whose arrays are made when a run needs them."""
    streams: dict[str, RandomStream] = {}
    entries: dict[str, Entry] = {
        _text(name): recipe_from_plain(cast("dict[str, Any]", w), streams) if isinstance(w, dict) else _array(w, arrays)
        for name, w in fields.items()
    }
    recipes = any(isinstance(e, Recipe) for e in entries.values())
    return Weights(entries) if recipes else cast("dict[str, np.ndarray]", entries)


def _typed(value: Any, type_: type) -> Any:
    if type(value) is not type_:
        raise TypeError(f"expected {type_.__name__}, found {type(value).__name__}")
    return value


def _text(value: Any) -> str:
    return _typed(value, str)


def _list(value: Any) -> list[Any]:
    return _typed(value, list)


def _items(value: Any, count: int) -> list[Any]:
    if len(_list(value)) != count:
        raise ValueError(f"expected {count} items, found {len(value)}")
    return value


def _integer(value: Any, low: int, high: int) -> int:
    if not low <= _typed(value, int) <= high:
        raise ValueError(f"expected {low} to {high}, found {value}")
    return value


def _shape(value: Any, low: int = 0) -> tuple[int, ...]:
    return tuple(_integer(d, low, _WORD) for d in _list(value))


def _array(value: Any, arrays: list[np.ndarray]) -> np.ndarray:
    return arrays[_integer(value, 0, len(arrays) - 1)]


def _argument(value: Any) -> ArgumentSlot:
    name, kind, shape, dtype, *rest = _list(value)
    (dims,) = [_names(r) for r in rest] or [()]
    if kind not in _KINDS or dtype not in DTYPES:
        raise ValueError(f"an argument of kind {kind!r} and dtype {dtype!r}")
    found = _shape(shape, -1)
    if dims and (len(dims) != len(found) or any(n and d >= 0 for n, d in zip(dims, found, strict=True))):
        raise ValueError(f"dimensions {dims} of an argument of shape {found}")
    return ArgumentSlot(_text(name), kind, found, dtype, dims)


def _names(value: Any) -> tuple[str, ...]:
    return tuple(_text(n) for n in _list(value))


def _output(value: Any, slots: int) -> OutputSlot:
    name, slot, type_, scalar = _items(value, 4)
    parse_type(_text(type_))
    return OutputSlot(_text(name), _integer(slot, 0, slots - 1), type_, _typed(scalar, bool))


def _constant(value: Any, arrays: list[np.ndarray]) -> Any:
    if isinstance(value, bool | int | str):
        return value
    ((kind, content),) = cast("dict[Any, Any]", _typed(value, dict)).items()
    if kind == "array":
        return _array(content, arrays)
    if kind != "float":
        raise ValueError(f"a constant of kind {kind!r}")
    number = float.fromhex(_text(content))
    if content != (number.hex() if math.isfinite(number) else str(number)):
        raise ValueError(f"a constant written {content}")
    return number


def _named(code: list[int]) -> list[int]:
    """Restore opcodes and type codes as enum members, so that a loaded module prints like the saved one."""
    named: list[int] = []
    for i in instructions(code):
        words = [OpCode(code[i.offset]), *code[i.offset + 1 : i.end]]
        if i.form is Form.ldc:
            words[1] = TypeCode(words[1])
            if i.shape is not None:
                words[-2] = TypeCode(words[-2])
        named += words
    return named
