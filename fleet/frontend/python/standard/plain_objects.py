"""Fractions, decimals, dates, hashes, packed bytes, CSV: Python's own objects of what is known while a source is read."""

from __future__ import annotations

import ast
import base64
import binascii
import csv
import datetime
import decimal
import fractions
import hashlib
import string
import struct
import unicodedata
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from fleet.frontend.python.flow import exceptions
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.plain import known, value_of
from fleet.frontend.reading.values import (
    NOT_IMPLEMENTED,
    Class,
    Dict,
    ForeignArray,
    Lazy,
    Library,
    List,
    NumberValue,
    ObjectInstance,
    Partial,
    TracedArray,
    Value,
)
from fleet.frontend.reading.wording import words

_HELD = "<held>"
"""The attribute that holds the object; no source can name it."""
_DATE = "year month day weekday isoweekday isoformat strftime replace toordinal isocalendar timetuple ctime"
_NAMES: Mapping[type, str] = {
    fractions.Fraction: "numerator denominator limit_denominator as_integer_ratio",
    decimal.Decimal: "quantize sqrt ln log10 exp normalize to_integral_value as_integer_ratio is_nan is_zero is_signed",
    datetime.date: _DATE,
    datetime.datetime: f"{_DATE} hour minute second microsecond date",
    datetime.timedelta: "days seconds microseconds total_seconds",
    string.Template: "substitute safe_substitute",
    type(hashlib.sha256()): "hexdigest digest update copy name digest_size block_size",
}
"""Class -> its attributes that are followed, beside those that operators and builtins ask for."""
_OPERATORS = frozenset(
    {
        *(f"__{side}{name}__" for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow") for side in ("", "r")),
        *("__neg__", "__pos__", "__abs__", "__eq__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__", "__str__", "__repr__"),
        *("__format__", "__float__", "__int__", "__bool__", "__round__", "__floor__", "__ceil__", "__trunc__"),
    }
)
_MOST = 1 << 16


def _class(kind: type) -> Class:
    asked = [*_OPERATORS, *_NAMES[kind].split()]
    methods = [n for n in asked if callable(getattr(kind, n, None))]
    return Class(kind.__name__, names={n: Partial(Library("builtins.held.called"), (n,), binds=True) for n in methods})


_CLASSES: Mapping[type, Class] = {kind: _class(kind) for kind in _NAMES}


def held(value: Value) -> Any:
    """Return the object of Python's that a value stands for, or None."""
    inner = value.attributes.get(_HELD) if isinstance(value, ObjectInstance) else None
    return inner.array.item() if isinstance(inner, ForeignArray) else None


def _value(ev: Evaluator, node: ast.AST, plain: object) -> Value:
    if plain is NotImplemented:
        return NOT_IMPLEMENTED
    kind = next((k for k in (type(plain), *type(plain).__mro__) if k in _CLASSES), None)
    if kind is None:
        try:
            return value_of(tuple(plain) if isinstance(plain, tuple) else plain)
        except TypeError:
            ev.fail("F506", node, f"a result of type {type(plain).__name__} is not supported")
    array = np.empty((), dtype=object)
    array[()] = plain
    made = ObjectInstance(_CLASSES[kind], {_HELD: ForeignArray(array)})
    for name in _NAMES[kind].split():
        if not callable(getattr(kind, name)):
            made.attributes[name] = _value(ev, node, getattr(plain, name))
    return made


def _plain(ev: Evaluator, node: ast.AST, value: Value, what: str) -> Any:
    found = held(value)
    if isinstance(value, TracedArray):
        ev.fail("F506", node, f"{what} of {words(value)} is not supported", "give Python's number: float(x), x.tolist()")
    return known(ev, node, value, f"an argument of {what}") if found is None else found


def _made(
    function: Callable[..., object], path: str, ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]
) -> Value:
    """A call of a function of Python's library on what is known."""
    given = [_plain(ev, node, a, path) for a in args]
    named = {k: _plain(ev, node, v, path) for k, v in keywords.items()}
    if any(isinstance(g, str | bytes) and len(g) > _MOST for g in given):
        ev.fail("F607", node, f"{path} of more than {_MOST} characters")
    try:
        with decimal.localcontext(decimal.Context()) as context:
            _set_context(ev, node, context)
            return _value(ev, node, function(*given, **named))
    except (ArithmeticError, ValueError, TypeError, struct.error, LookupError) as error:
        plain = ValueError(str(error)) if isinstance(error, struct.error) else error
        return ev.refuse("F703", node, f"{path}: {error}", plain)


def _context(ev: Evaluator, _node: ast.Call, _args: Sequence[Value], _keywords: Mapping[str, Value]) -> Value:
    """`decimal.getcontext()`: one object, whose `prec` and `rounding` hold for what follows."""
    if ev.decimals is None:
        usual = decimal.DefaultContext
        ev.decimals = ObjectInstance(Class("Context"), {"prec": NumberValue(usual.prec), "rounding": usual.rounding})
    return ev.decimals


def _set_context(ev: Evaluator, node: ast.AST, context: decimal.Context) -> None:
    for name, value in ({} if ev.decimals is None else ev.decimals.attributes).items():
        plain = known(ev, node, value, f"`{name}` of decimal's context")
        try:
            if name not in ("prec", "rounding"):
                raise AttributeError(f"decimal's context with `{name}` is not supported")
            setattr(context, name, plain)
        except (ValueError, TypeError, AttributeError) as error:
            ev.fail("F506", node, f"decimal: {error}", "set prec and rounding")


def _called(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """A method of an object that is held. args: its name, the object, its arguments."""
    name, own, *rest = args
    assert isinstance(name, str)
    if name == "update" and ev.inside:
        ev.fail("F511", node, "a hash is updated in a part that only the run enters or repeats", "update it before")
    if name == "__pow__" and not isinstance(held(own), decimal.Decimal) and isinstance(e := _plain(ev, node, rest[0], name), int):
        ev.bounded(node, abs(e), "an exponent")
    method = getattr(held(own), name)
    if name.startswith("__") and any(held(r) is None and isinstance(r, ObjectInstance | TracedArray) for r in rest):
        return NOT_IMPLEMENTED
    return _made(method, f"{type(held(own)).__name__}.{name}", ev, node, rest, keywords)


def _rows(named: bool, ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """`csv.reader` and `csv.DictReader` of known lines."""
    if len(args) != 1 or keywords.keys() - {"delimiter", "quotechar", "skipinitialspace", "fieldnames"}:
        ev.fail("F506", node, "csv with these arguments is not supported", "give a file or lines, and a delimiter")
    lines = known(ev, node, args[0] if isinstance(args[0], List) else List(ev.collect(node, args[0])), "the lines of csv")
    if isinstance(args[0], List) and args[0].kind == "StringIO":
        lines, args[0].at = lines[args[0].at :], len(lines)
    options = {k: known(ev, node, v, k) for k, v in keywords.items()}
    try:
        rows: list[Any] = list(csv.DictReader(lines, **options) if named else csv.reader(lines, **options))
    except (csv.Error, TypeError) as error:
        exceptions.throw(ev, "F703", node, f"csv: {error}", exceptions.made(ev, "ValueError", str(error)))
    made: list[Value] = [Dict({k: value_of(v) for k, v in r.items()}) if named else value_of(r) for r in rows]
    return Lazy(iter(made), "iterator")


_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "fractions.Fraction": fractions.Fraction,
    "decimal.Decimal": decimal.Decimal,
    "string.Template": string.Template,
    "datetime.date": datetime.date,
    "datetime.datetime": datetime.datetime,
    "datetime.timedelta": datetime.timedelta,
    "datetime.date.fromisoformat": datetime.date.fromisoformat,
    "datetime.date.fromordinal": datetime.date.fromordinal,
    "datetime.datetime.fromisoformat": datetime.datetime.fromisoformat,
    "datetime.datetime.strptime": datetime.datetime.strptime,
    **{f"hashlib.{n}": getattr(hashlib, n) for n in ("md5", "sha1", "sha224", "sha256", "sha384", "sha512")},
    **{f"struct.{n}": getattr(struct, n) for n in ("pack", "unpack", "calcsize", "unpack_from")},
    **{f"zlib.{n}": getattr(zlib, n) for n in ("crc32", "adler32")},
    **{f"base64.{n}": getattr(base64, n) for n in ("b64encode", "b64decode", "b32encode", "b16encode", "urlsafe_b64encode")},
    **{f"binascii.{n}": getattr(binascii, n) for n in ("hexlify", "unhexlify", "crc32")},
    **{f"unicodedata.{n}": getattr(unicodedata, n) for n in ("normalize", "category", "name", "combining", "numeric", "lookup")},
    "builtins.int.from_bytes": int.from_bytes,
}
KINDS: Mapping[str, type] = {path: made for path, made in _FUNCTIONS.items() if isinstance(made, type)}
"""Path -> a class whose objects are held."""
CALLS: Mapping[str, Callable[..., Value]] = {
    **{path: partial(_made, function, path) for path, function in _FUNCTIONS.items()},
    "builtins.held.called": _called,
    "decimal.getcontext": _context,
    "csv.reader": partial(_rows, False),
    "csv.DictReader": partial(_rows, True),
}
"""Function -> what it does, of the evaluator, the call, its arguments and its keywords."""
