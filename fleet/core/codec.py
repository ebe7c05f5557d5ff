"""Frozen dataclasses to JSON values and back, strictly: the type hints are the schema.

Unknown and missing keys, wrong types and wrong enum words are errors that name the path ("operations[3].error.max_abs").
JSON has no infinities and NaN, so those floats travel as the strings "inf", "-inf" and "nan".
"""

from __future__ import annotations

import math
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, TypeAlias, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from fleet.errors import ModelError

__all__ = ["Json", "decode", "encode"]

Json: TypeAlias = bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"] | None
"""A JSON value."""

T = TypeVar("T")
_SPECIAL = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def encode(value: Any) -> Any:
    """A JSON value of a dataclass tree (dataclasses, tuples, mappings, str, int, float, bool, None)."""
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: encode(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if math.isfinite(value):
            return float(value)
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    if isinstance(value, Mapping):
        items = cast("Mapping[Any, Any]", value)
        return {str(k): encode(v) for k, v in items.items()}
    if isinstance(value, Sequence):
        return [encode(v) for v in cast("Sequence[Any]", value)]
    raise TypeError(f"{type(value).__name__} has no place in a result")


def decode(cls: type[T], value: Any, where: str, path: str = "") -> T:
    """A `cls` out of JSON values. Raises ModelError naming file and path for anything that does not fit."""
    return cast("T", _decode(cls, value, where, path or cls.__name__))


@cache
def _hints(cls: type) -> dict[str, Any]:
    return get_type_hints(cls)


def _wrong(where: str, path: str, expected: str, got: Any) -> ModelError:
    return ModelError(
        f"{path}: expected {expected}, got {got!r:.60}", where=where, hint="the file is damaged or of another version"
    )


def _decode(hint: Any, value: Any, where: str, path: str) -> Any:
    origin, args = get_origin(hint), get_args(hint)
    if hint is Any:
        return value
    if origin in {Union, types.UnionType}:
        if value is None and type(None) in args:
            return None
        (inner,) = (a for a in args if a is not type(None))
        return _decode(inner, value, where, path)
    if origin is typing.Literal:
        if value not in args:
            raise _wrong(where, path, "one of " + ", ".join(map(str, args)), value)
        return value
    if origin in {tuple, list}:
        if not isinstance(value, list):
            raise _wrong(where, path, "a list", value)
        items = cast("list[Any]", value)
        if origin is list:
            return [_decode(args[0], v, where, f"{path}[{i}]") for i, v in enumerate(items)]
        if len(args) == 2 and args[1] is Ellipsis:
            return tuple(_decode(args[0], v, where, f"{path}[{i}]") for i, v in enumerate(items))
        if len(items) != len(args):
            raise _wrong(where, path, f"{len(args)} items", value)
        return tuple(_decode(a, v, where, f"{path}[{i}]") for i, (a, v) in enumerate(zip(args, items, strict=True)))
    if origin is not None and issubclass(origin, Mapping):
        if not isinstance(value, dict):
            raise _wrong(where, path, "a table", value)
        return {k: _decode(args[1], v, where, f"{path}.{k}") for k, v in cast("dict[str, Any]", value).items()}
    if is_dataclass(hint):
        return _decode_dataclass(cast("type", hint), value, where, path)
    return _decode_scalar(hint, value, where, path)


def _decode_dataclass(cls: type, value: Any, where: str, path: str) -> Any:
    if not isinstance(value, dict):
        raise _wrong(where, path, "a table", value)
    table = cast("dict[str, Any]", value)
    hints = {f.name: _hints(cls)[f.name] for f in fields(cls)}
    # A result that was stored before a part of it was thought of is still one.
    later = {f.name: None for f in fields(cls) if f.metadata.get("may_be_missing")}
    table = later | table
    if missing := hints.keys() - table.keys():
        raise _wrong(where, f"{path}.{sorted(missing)[0]}", "a value", None)
    if unknown := table.keys() - hints.keys():
        raise _wrong(where, f"{path}.{sorted(unknown)[0]}", "no such key", table[sorted(unknown)[0]])
    return cls(**{name: _decode(hint, table[name], where, f"{path}.{name}") for name, hint in hints.items()})


def _decode_scalar(hint: Any, value: Any, where: str, path: str) -> Any:
    if hint is float:
        if isinstance(value, str) and value in _SPECIAL:
            return _SPECIAL[value]
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
        raise _wrong(where, path, "a number", value)
    if hint is int and isinstance(value, int) and not isinstance(value, bool):
        return value
    if hint is not int and isinstance(value, hint):
        return value
    raise _wrong(where, path, hint.__name__, value)
