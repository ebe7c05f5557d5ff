"""Frozen dataclasses to JSON values and back, strictly: the type hints are the schema.

Unknown and missing keys, wrong types and wrong enum words are errors that name the path ("operations[3].error.max_abs").
JSON has no infinities and NaN, so those floats travel as the strings "inf", "-inf" and "nan".
"""

from __future__ import annotations

import math
import types
import typing
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

from fleet.errors import ModelError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Json: TypeAlias = bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"] | None
"""A JSON value."""

MAY_BE_MISSING: Mapping[str, bool] = MappingProxyType({"may_be_missing": True})
"""Metadata of a field that older files lack; it then has its default."""

NOT_STORED: Mapping[str, bool] = MappingProxyType({"not_stored": True})
"""Metadata of a field that JSON leaves out (arrays, stored in a file beside it); after reading it has its default."""

T = TypeVar("T")
_Read: TypeAlias = Callable[[object], object]
_PLAIN = frozenset({str, bool, int, type(None)})
"""Types whose values JSON has as they are; most values of a result are of these."""
_SPECIAL = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def is_table(value: object) -> typing.TypeGuard[dict[str, Json]]:
    """Return whether a value of `json.loads` is a JSON object."""
    return isinstance(value, dict)


def is_list(value: object) -> typing.TypeGuard[list[Json]]:
    """Return whether a value of `json.loads` is a JSON array."""
    return isinstance(value, list)


def encode(value: object) -> Json:
    """A JSON value of a dataclass tree (dataclasses, tuples, mappings, str, int, float, bool, None)."""
    if type(value) in _PLAIN:
        return value  # pyright: ignore[reportReturnType]
    if isinstance(value, str | bool) or value is None:
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if math.isfinite(value):
            return float(value)
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    if is_dataclass(value) and not isinstance(value, type):
        return encode_record(value)
    if isinstance(value, Mapping):
        items: Mapping[object, object] = value
        return {str(k): encode(v) for k, v in items.items()}
    if isinstance(value, Sequence):
        values: Sequence[object] = value
        return [v if type(v) is int else encode(v) for v in values]
    raise TypeError(f"{type(value).__name__} has no place in a result")


def encode_record(record: DataclassInstance) -> dict[str, Json]:
    """The JSON table of a dataclass, by field."""
    return {name: encode(getattr(record, name)) for name in _stored(type(record))}


@cache
def _stored(cls: type[DataclassInstance]) -> tuple[str, ...]:
    return tuple(f.name for f in fields(cls) if not f.metadata.get("not_stored"))


def decode(cls: type[T], value: object, where: str, path: str = "") -> T:
    """A `cls` (a dataclass) out of JSON values.

    where: the file; path: of the value in it, for messages (default: the class's name).
    Raises ModelError naming file and path for anything that does not fit.
    """
    try:
        found = _reader(cls)(value)
    except _MisfitError as misfit:
        raise ModelError(
            f"{path or cls.__name__}{misfit.path}: expected {misfit.expected}, got {misfit.got!r:.60}",
            where=where,
            hint="the file is damaged or of another version",
        ) from None
    assert isinstance(found, cls)
    return found


class _MisfitError(Exception):
    """A value that does not fit its hint; containers put their step in front of its path on the way up."""

    def __init__(self, expected: str, got: object, path: str = "") -> None:
        super().__init__(expected)
        self.expected, self.got, self.path = expected, got, path

    def below(self, step: str) -> _MisfitError:
        self.path = f"{step}{self.path}"
        return self


@cache
def _reader(hint: object) -> _Read:
    """Return the function that reads values of a type hint. A dataclass's is made when it is first called: it may hold itself."""
    origin, args = get_origin(hint), get_args(hint)
    if hint is Any or {bool, int, float, str} <= {*args}:  # the latter is Json
        return lambda value: value
    if origin in {Union, types.UnionType}:
        (inner,) = (a for a in args if a is not type(None))
        return _optional(_reader(inner)) if type(None) in args else _reader(inner)
    if origin is typing.Literal:
        return _one_of(args)
    if origin is list:
        return _items(_reader(args[0]), list)
    if origin is tuple:
        return _items(_reader(args[0]), tuple) if args[1:] == (Ellipsis,) else _each(tuple(map(_reader, args)))
    if origin is not None and issubclass(origin, Mapping):
        return _counts(_table(str, _reader(int))) if origin is Counter else _table(args[0], _reader(args[1]))
    if isinstance(hint, type) and is_dataclass(hint):
        return _record(hint)
    return _number if hint is float else _scalar(hint)


def _optional(read: _Read) -> _Read:
    return lambda value: None if value is None else read(value)


def _one_of(words: tuple[object, ...]) -> _Read:
    def read(value: object) -> object:
        if value not in words:
            raise _MisfitError("one of " + ", ".join(map(str, words)), value)
        return value

    return read


def _items(inner: _Read, into: Callable[[list[object]], object]) -> _Read:
    def read(value: object) -> object:
        if not is_list(value):
            raise _MisfitError("a list", value)
        found: list[object] = []
        try:
            for item in value:
                found.append(inner(item))
        except _MisfitError as misfit:
            raise misfit.below(f"[{len(found)}]") from None
        return into(found)

    return read


def _each(inner: tuple[_Read, ...]) -> _Read:
    def read(value: object) -> object:
        if not is_list(value):
            raise _MisfitError("a list", value)
        if len(value) != len(inner):
            raise _MisfitError(f"{len(inner)} items", value)
        found: list[object] = []
        try:
            for one, item in zip(inner, value, strict=True):
                found.append(one(item))
        except _MisfitError as misfit:
            raise misfit.below(f"[{len(found)}]") from None
        return tuple(found)

    return read


def _table(kind: object, inner: _Read) -> _Read:
    """Keys are texts in JSON; where the hint has integers, they are read as such."""
    number = kind is int

    def read(value: object) -> object:
        if not is_table(value):
            raise _MisfitError("a table", value)
        found: dict[object, object] = {}
        key = ""
        try:
            for key, item in value.items():
                found[int(key) if number else key] = inner(item)
        except ValueError:
            raise _MisfitError("an integer as key", key) from None
        except _MisfitError as misfit:
            raise misfit.below(f".{key}") from None
        return found

    return read


def _counts(read: _Read) -> _Read:
    def counted(value: object) -> object:
        found = read(value)
        assert isinstance(found, Mapping)
        return Counter(found)

    return counted


def _record(cls: type[DataclassInstance]) -> _Read:
    readers: dict[str, _Read] = {}
    needed: set[str] = set()

    def prepare() -> None:
        hints = get_type_hints(cls)
        readers.update({name: _reader(hints[name]) for name in _stored(cls)})
        # A result that was stored before a part of it was thought of is still one.
        needed.update(f.name for f in fields(cls) if f.name in readers and not f.metadata.get("may_be_missing"))

    def read(value: object) -> object:
        if not is_table(value):
            raise _MisfitError("a table", value)
        if not readers:
            prepare()
        if not needed <= value.keys():
            raise _MisfitError("a value", None, f".{min(needed - value.keys())}")
        if not value.keys() <= readers.keys():
            unknown = min(value.keys() - readers.keys())
            raise _MisfitError("no such key", value[unknown], f".{unknown}")
        found: dict[str, object] = {}
        key = ""
        try:
            for key, item in value.items():
                found[key] = readers[key](item)
        except _MisfitError as misfit:
            raise misfit.below(f".{key}") from None
        return cls(**found)

    return read


def _number(value: object) -> object:
    if type(value) is float or (isinstance(value, int | float) and not isinstance(value, bool)):
        return float(value)
    if isinstance(value, str) and value in _SPECIAL:
        return _SPECIAL[value]
    raise _MisfitError("a number", value)


def _scalar(kind: Any) -> _Read:
    def read(value: object) -> object:
        if isinstance(value, kind) and (kind is not int or not isinstance(value, bool)):
            return value
        raise _MisfitError(kind.__name__, value)

    return read
