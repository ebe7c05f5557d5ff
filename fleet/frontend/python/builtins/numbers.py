"""Builtins that make Python numbers, and `math`."""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fleet.frontend.arrays import foreign
from fleet.frontend.arrays.emitting import builder_of, computed, read_off
from fleet.frontend.arrays.truths import condition
from fleet.frontend.python import complexes
from fleet.frontend.python.builtins.decimals import MOST_PLACES, to_decimals
from fleet.frontend.python.builtins.record import Builtin, RecordReader
from fleet.frontend.python.classes import objects
from fleet.frontend.python.operators import binary
from fleet.frontend.reading import stand_ins
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.plain import value_of
from fleet.frontend.reading.values import (
    Complex,
    Dict,
    DictView,
    ForeignArray,
    Lazy,
    List,
    NumberValue,
    TracedArray,
    Value,
    number_behind,
)
from fleet.frontend.reading.wording import words


def _complex(ev: Evaluator, node: ast.Call, args: list[Value], keywords: dict[str, Value]) -> Value:
    parts = [keywords.get("real", NumberValue(0)), keywords.get("imag", NumberValue(0))] if keywords else []
    return complexes.made(ev, node, [*args, *parts[len(args) :]])


def _abs(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
    if isinstance(args[0], ForeignArray):
        return foreign.call(ev, node, "numpy.abs", args, {})
    if isinstance(args[0], Complex):
        return NumberValue(abs(args[0].value))
    if (answer := objects.special(ev, node, args[0], "__abs__")) is not None:
        return answer[0]
    value = ev.operand(node, args[0])
    if isinstance(value, TracedArray):
        return ev.domain.unary(ev, node, "abs", value)
    return ev.domain.arithmetic(node, "abs", [value], None if value.symbolic else abs(value.value))


def _number(kind: Callable[[Any], Any]) -> RecordReader:
    def builtin(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
        if not args:
            return NumberValue(kind(0))
        value = number_behind(ev.settled(args[0]))
        if kind is not bool and (answer := objects.special(ev, node, value, f"__{kind.__name__}__")) is not None:
            return answer[0]
        if kind is not bool and (isinstance(value, Complex) or (isinstance(value, TracedArray) and value.dtype.kind == "c")):
            ev.fail("F703", node, f"{kind.__name__} of {words(value)}", "take .real")
        if isinstance(value, NumberValue) and value.symbolic and (kind is float or (kind is int and value.whole)):
            return value if kind is int else ev.domain.arithmetic(node, "mul", [value, NumberValue(1.0)], None)
        if kind is bool:
            held = condition(ev, node, value)
            return NumberValue(held) if isinstance(held, bool) else NumberValue(None, held)
        known = value if isinstance(value, str) and len(value) < 400 else None
        if isinstance(value, TracedArray | NumberValue):
            # A float stays one of the run also where it could be known: else a script that logs its loss would compute nothing.
            late = kind is float and isinstance(value, TracedArray) and computed(ev, value)
            known = None if late else ev.static(value)
            if known is None and (made := _late_number(ev, node, value, kind.__name__)) is not None:
                return made
        if known is None:
            hint = "keep it an array: .astype(...), or arithmetic on the array itself"
            ev.fail("F407", node, f"a Python number out of {words(value)} is not supported", hint)
        try:
            found = kind(known)
        except (ArithmeticError, ValueError) as error:
            return ev.fail("F703", node, f"{known!r}: {error}")
        return read_off(ev, node, value, found) if kind is int and isinstance(value, TracedArray) else NumberValue(found)

    return builtin


def _late_number(ev: Evaluator, node: ast.AST, value: TracedArray | NumberValue, kind: str) -> NumberValue | None:
    """A run-time Python number from a one-element array or a number; None for an array of several elements."""
    if isinstance(value, TracedArray) and (any(d < 0 for d in value.shape) or math.prod(value.shape) != 1):
        return None
    ssa = value.ssa
    return None if ssa is None else NumberValue(None, builder_of(ev).emit(node, "item", [ssa], number=kind))


def _rounded(ev: Evaluator, node: ast.Call, value: NumberValue, digits: Value) -> Value:
    """Round a run-time number: an integer stays, a float goes to the nearest integer or decimal, ties to even."""
    if value.whole and digits is None:
        return value
    array = ev.domain.call(ev, node, "numpy.asarray", [value], {})
    if digits is not None:
        places = ev.integer(node, digits, "the digits of round")
        if value.whole or not 0 <= places <= MOST_PLACES:
            what = f"round of {words(value)} to {places} digits"
            ev.fail("F407", node, what, f"floats can be rounded to 0 to {MOST_PLACES} digits")
        rounded = to_decimals(lambda name, *args: ev.domain.call(ev, node, f"numpy.{name}", list(args), {}), array, places)
        return _FLOAT(ev, node, [rounded], {})
    return _INT(ev, node, [ev.domain.call(ev, node, "numpy.rint", [array], {})], {})


def _ord(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
    if not isinstance(args[0], str) or len(args[0]) != 1:
        what = f"ord of {words(args[0])}"
        if isinstance(args[0], str):
            cause = TypeError(f"ord() expected a character, but string of length {len(args[0])} found")
            ev.refuse("F408", node, what, cause, "it takes one character")
        stand_ins.refuse(ev, "F408", node, what, ord, args[0], hint="it takes one character")
    return NumberValue(ord(args[0]))


def _chr(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
    at = ev.integer(node, args[0], "a character's number")
    if not 0 <= at < 0x110000:
        ev.fail("F703", node, f"chr of {at}: there is no such character")
    return chr(at)


def _round(ev: Evaluator, node: ast.Call, args: list[Value], keywords: dict[str, Value]) -> Value:
    value, digits = args[0], args[1] if len(args) > 1 else keywords.get("ndigits")
    if (answer := objects.special(ev, node, value, "__round__", *([] if digits is None else [digits]))) is not None:
        return answer[0]
    if isinstance(value, TracedArray) and value.scalar and value.dtype.kind == "f":
        if digits is not None:
            return ev.domain.call(ev, node, "numpy.round", [value, digits], {})
        whole = ev.domain.call(ev, node, "numpy.rint", [value], {})
        return _INT(ev, node, [whole], {})
    if isinstance(value, NumberValue) and value.symbolic and not value.sized:
        return _rounded(ev, node, value, digits)
    known = ev.static(value)
    if known is None or isinstance(value, TracedArray):
        ev.fail("F407", node, f"round of {words(value)}", "use np.rint")
    try:
        return NumberValue(round(known) if digits is None else round(known, ev.integer(node, digits, "the digits of round")))
    except (ArithmeticError, ValueError) as error:
        return ev.fail("F703", node, f"{known!r}: {error}")


def _divmod(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
    return binary(ev, node, ast.FloorDiv(), *args), binary(ev, node, ast.Mod(), *args)


def _pow(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
    if len(args) == 3:
        base, exponent, modulus = (ev.integer(node, a, "an argument of pow with a modulus") for a in args)
        try:
            return NumberValue(pow(base, exponent, modulus))
        except ValueError as error:
            ev.fail("F703", node, f"pow: {error}")
    return binary(ev, node, ast.Pow(), *args)


def _digits(name: str) -> RecordReader:
    """`bin`, `hex` and `oct`."""

    def builtin(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
        return getattr(builtins, name)(ev.integer(node, args[0], f"the argument of {name}"))

    return builtin


def math_call(ev: Evaluator, node: ast.Call, name: str, args: list[Value], keywords: Mapping[str, Value]) -> Value:
    """`math.NAME(...)` of known numbers."""
    if keywords.keys() - _MATH_KEYWORDS.get(name, set[str]()):
        ev.fail("F506", node, f"math.{name} with `{next(iter(keywords))}=` is not supported")
    named = {k: ev.static(v) for k, v in keywords.items()}
    if None in named.values():
        ev.fail("F407", node, f"math.{name} with a keyword that only the run knows")
    sequences = [
        ev.collect(node, a) if name in _OF_MANY and isinstance(a, Lazy | List | Dict | DictView) else ev.sequence(a) for a in args
    ]
    values: list[Any] = []
    for a, parts in zip(args, sequences, strict=True):
        known: Any = ev.static(a) if parts is None else [ev.static(p) for p in parts]
        if known is None or (isinstance(known, list) and None in known):
            ev.fail("F407", node, f"math.{name} of {words(a)}", f"use np.{name}, which takes arrays" if hasattr(np, name) else None)
        values.append(known)
    try:
        if name in ("factorial", "comb", "perm") and any(isinstance(v, int) and v > 100 for v in values):
            ev.fail("F605", node, f"math.{name} of numbers above 100")
        return value_of(getattr(math, name)(*values, **named))
    except (ArithmeticError, ValueError, TypeError) as error:
        return ev.fail("F703", node, f"math.{name}: {error}")


_OF_MANY = frozenset({"prod", "fsum", "dist", "hypot"})
"""Functions of `math` that take whatever gives numbers."""
_MATH_KEYWORDS: Mapping[str, set[str]] = {"isclose": {"rel_tol", "abs_tol"}, "prod": {"start"}}
MATH = frozenset(
    {
        *("sqrt", "exp", "log", "log2", "log10", "log1p", "expm1", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh"),
        *("cosh", "tanh", "floor", "ceil", "trunc", "fabs", "fmod", "pow", "hypot", "gcd", "lcm", "isqrt", "prod", "fsum"),
        *("copysign", "isnan", "isinf", "isfinite", "isclose", "erf", "erfc", "gamma", "lgamma", "factorial", "comb", "perm"),
        *("radians", "degrees", "dist", "cbrt", "exp2", "remainder", "asinh", "acosh", "atanh", "ldexp"),
        *("modf", "frexp", "nextafter", "ulp"),
    }
)
"""Functions of `math`, computed while the source is read."""


_INT, _FLOAT = _number(int), _number(float)


def _int(ev: Evaluator, node: ast.Call, args: list[Value], keywords: dict[str, Value]) -> Value:
    base = args[1] if len(args) > 1 else keywords.get("base")
    if base is None:
        return _INT(ev, node, args, {})
    if not args or not isinstance(args[0], str):
        ev.fail("F408", node, "int with a base takes a string known from the source")
    try:
        return NumberValue(int(args[0], ev.integer(node, base, "a base")))
    except ValueError as error:
        return ev.fail("F703", node, str(error))


NUMBERS: Mapping[str, Builtin] = {
    "abs": Builtin(_abs, 1, 1),
    "float": Builtin(_number(float), 0, 1),
    "int": Builtin(_int, 0, 2, ("base",)),
    "bool": Builtin(_number(bool), 0, 1),
    "complex": Builtin(_complex, 0, 2, ("real", "imag")),
    "round": Builtin(_round, 1, 2, ("ndigits",)),
    "ord": Builtin(_ord, 1, 1),
    "chr": Builtin(_chr, 1, 1),
    **{name: Builtin(_digits(name), 1, 1) for name in ("bin", "hex", "oct")},
    "divmod": Builtin(_divmod, 2, 2),
    "pow": Builtin(_pow, 2, 3),
}
