"""`np.poly1d`: a polynomial as an object."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from fleet.frontend.arrays.arguments import to_array
from fleet.frontend.arrays.functions import print_options
from fleet.frontend.arrays.truths import check, condition
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import (
    NOT_IMPLEMENTED,
    Class,
    Descriptor,
    Library,
    NumberValue,
    ObjectInstance,
    Partial,
    TracedArray,
    Value,
)
from fleet.frontend.reading.wording import words

_PATH = "numpy.poly1d"
_COEFFICIENTS = ("coeffs", "c", "coef", "coefficients")
_METHODS = ("__call__", "__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__neg__", "__pos__", "deriv",
            "integ", "__str__", "__repr__", "__truediv__", "__rtruediv__", "__pow__", "__eq__", "__ne__", "__getitem__",
            "__len__")  # fmt: skip
_OPERATORS: Mapping[str, tuple[str, bool]] = {
    "__add__": ("polyadd", False), "__radd__": ("polyadd", True), "__sub__": ("polysub", False), "__rsub__": ("polysub", True),
    "__mul__": ("polymul", False), "__rmul__": ("polymul", True),
}  # fmt: skip
"""Method -> the function of the coefficients, and whether its sides change places."""


def _of(ev: Evaluator, node: ast.Call, coefficients: Value) -> ObjectInstance:
    """The polynomial of these coefficients, the highest power first, without leading zeros."""
    array = to_array(ev, node, coefficients)
    if isinstance(array, NumberValue):
        array = ev.domain.call(ev, node, "numpy.asarray", [array], {})
    if not isinstance(array, TracedArray) or len(array.shape) > 1:
        return ev.fail("F408", node, f"poly1d of {words(coefficients)}", "it takes coefficients in one dimension")
    if not array.shape:
        array = ev.domain.call(ev, node, "numpy.atleast_1d", [array], {})
        assert isinstance(array, TracedArray)
    known = ev.domain.elements_of(array)
    if known is not None:
        trimmed = np.trim_zeros(known, "f")
        array = ev.domain.literal(ev, node, trimmed if trimmed.size else known[:1] * 0)
    else:
        place = ast.copy_location(ast.Subscript(node.func, node.func, ast.Load()), node)
        first = ev.domain.load(ev, place, array, [NumberValue(0)])
        flag = condition(ev, node, ev.domain.binary(ev, node, "not_equal", ev.operand(node, first), NumberValue(0)))
        check(ev, node, flag, "the first coefficient of a poly1d is zero, and how many others are, only the run knows")
    made = ObjectInstance(Class("poly1d"))
    made.attributes |= dict.fromkeys(_COEFFICIENTS, array)
    made.attributes |= {name: NumberValue(array.shape[0] - 1) for name in ("order", "o")}
    made.kind.names |= {name: Partial(Library(f"{_PATH}.{name}"), (made,)) for name in _METHODS}
    made.kind.names |= {name: Descriptor("property", Library(f"{_PATH}.roots")) for name in ("roots", "r")}
    return made


def _made(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """`np.poly1d(coefficients)`."""
    if len(args) != 1 or keywords:
        ev.fail("F506", node, "poly1d with these arguments is not supported", "give coefficients")
    return _of(ev, node, plain(args[0]))


def plain(value: Value) -> Value:
    """The coefficients of a polynomial; any other value as it is."""
    polynomial = isinstance(value, ObjectInstance) and value.kind.name == "poly1d" and "coeffs" in value.attributes
    return value.attributes["coeffs"] if isinstance(value, ObjectInstance) and polynomial else value


def _order(coefficients: Value) -> int:
    assert isinstance(coefficients, TracedArray)
    return coefficients.shape[0] - 1


def _number(value: Value) -> bool:
    return isinstance(value, NumberValue) or (isinstance(value, TracedArray) and value.scalar)


def _divided(ev: Evaluator, node: ast.Call, own: Value, other: Value) -> Value:
    """By a number a polynomial; by a polynomial the quotient and the remainder."""
    if _number(other):
        return _of(ev, node, ev.domain.binary(ev, node, "div", ev.operand(node, own), ev.operand(node, other)))
    found = ev.domain.call(ev, node, "numpy.polydiv", [own, other], {})
    return tuple(_of(ev, node, part) for part in found) if isinstance(found, tuple) else found


def _divides(ev: Evaluator, node: ast.Call, own: Value, other: Value) -> Value:
    if _number(other):  # NumPy divides the number by each coefficient
        return _of(ev, node, ev.domain.binary(ev, node, "div", ev.operand(node, other), ev.operand(node, own)))
    return _divided(ev, node, other, own)


def _power(ev: Evaluator, node: ast.Call, own: Value, other: Value) -> Value:
    exponent = ev.integer(node, other, "the power of a poly1d")
    if not 0 <= exponent <= _MOST_POWER:
        ev.fail("F703", node, f"a poly1d to the power {exponent}", f"powers are 0 to {_MOST_POWER}")
    made: Value = ev.domain.literal(ev, node, np.array([1]))
    for _ in range(exponent):
        made = ev.domain.call(ev, node, "numpy.polymul", [own, made], {})
    return _of(ev, node, made)


def _same(ev: Evaluator, node: ast.Call, own: Value, other: Value) -> Value:
    if not isinstance(own, TracedArray) or not isinstance(other, TracedArray):
        return NOT_IMPLEMENTED
    if own.shape != other.shape:
        return NumberValue(False)
    return ev.domain.call(ev, node, "numpy.all", [ev.domain.binary(ev, node, "equal", own, other)], {})


def _differs(ev: Evaluator, node: ast.Call, own: Value, other: Value) -> Value:
    same = _same(ev, node, own, other)
    return same if same is NOT_IMPLEMENTED else NumberValue(not ev.truth(node, same))


def _coefficient(ev: Evaluator, node: ast.Call, own: Value, other: Value) -> Value:
    """The coefficient of a power; zero of powers that the polynomial lacks."""
    power = ev.integer(node, other, "the power of a coefficient")
    assert isinstance(own, TracedArray)
    if not 0 <= power <= _order(own):
        return ev.domain.literal(ev, node, own.dtype.type(0))
    place = ast.copy_location(ast.Subscript(node.func, node.func, ast.Load()), node)
    return ev.domain.load(ev, place, own, [NumberValue(_order(own) - power)])


_MOST_POWER = 64
_OTHERS: Mapping[str, Callable[[Evaluator, ast.Call, Value, Value], Value]] = {
    "__truediv__": _divided, "__rtruediv__": _divides, "__pow__": _power, "__eq__": _same, "__ne__": _differs,
    "__getitem__": _coefficient,
}  # fmt: skip
"""Operator -> what it does with the coefficients and the other side."""


def _method(name: str) -> Callable[..., Value]:
    def run(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        own, rest = plain(args[0]), [plain(a) for a in args[1:]]
        if keywords.keys() - ({"m", "k"} if name == "integ" else {"m"} if name == "deriv" else set()):
            ev.fail("F506", node, f"poly1d.{name} with `{next(iter(keywords))}=` is not supported")
        if name in ("__str__", "__repr__"):
            known = ev.domain.elements_of(own) if isinstance(own, TracedArray) else None
            if known is None:
                return ev.fail("F404", node, "the text of a poly1d whose coefficients only the run knows", "print its coefficients")
            with np.printoptions(**print_options.options(ev, node)):
                return str(np.poly1d(known)) if name == "__str__" else repr(np.poly1d(known))
        if name == "roots":
            return ev.domain.call(ev, node, "numpy.roots", [own], {})
        if name == "__neg__":
            return _of(ev, node, ev.domain.unary(ev, node, "neg", ev.operand(node, own)))  # pyright: ignore[reportArgumentType] -- an array
        if name == "__pos__":
            return args[0]
        if name == "__len__":
            return NumberValue(_order(own))
        if name in ("deriv", "integ"):
            return _of(
                ev, node, ev.domain.call(ev, node, f"numpy.poly{'der' if name == 'deriv' else 'int'}", [own, *rest], keywords)
            )
        if len(rest) != 1:
            ev.fail("F208", node, f"poly1d.{name} takes one argument, {len(rest)} are given")
        if name == "__call__":
            if rest[0] is not args[1]:
                ev.fail("F506", node, "a poly1d of a poly1d is not supported")
            return ev.domain.call(ev, node, "numpy.polyval", [own, rest[0]], {})
        if name in _OTHERS:
            return _OTHERS[name](ev, node, own, rest[0])
        function, turned = _OPERATORS[name]
        sides = [rest[0], own] if turned else [own, rest[0]]
        return _of(ev, node, ev.domain.call(ev, node, f"numpy.{function}", sides, {}))

    return run


POLYNOMIALS: Mapping[str, Callable[..., Value]] = {
    _PATH: _made,
    **{f"{_PATH}.{name}": _method(name) for name in (*_METHODS, "roots")},
}
"""Function -> what it does, of the evaluator, the call, its arguments and its keywords."""
