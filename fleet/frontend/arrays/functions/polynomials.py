"""`np.poly1d`: a polynomial as an object."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from fleet.frontend.arrays.arguments import to_array
from fleet.frontend.arrays.functions import printing
from fleet.frontend.arrays.truths import check, condition
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import Class, Descriptor, Library, NumberValue, ObjectInstance, Partial, TracedArray, Value
from fleet.frontend.reading.wording import words

_PATH = "numpy.poly1d"
_COEFFICIENTS = ("coeffs", "c", "coef", "coefficients")
_METHODS = ("__call__", "__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__neg__", "deriv", "integ",
            "__str__", "__repr__")  # fmt: skip
_OPERATORS: Mapping[str, tuple[str, bool]] = {
    "__add__": ("polyadd", False), "__radd__": ("polyadd", True), "__sub__": ("polysub", False), "__rsub__": ("polysub", True),
    "__mul__": ("polymul", False), "__rmul__": ("polymul", True),
}  # fmt: skip
"""Method -> the function of the coefficients, and whether its sides change places."""


def _of(ev: Evaluator, node: ast.Call, coefficients: Value) -> ObjectInstance:
    """The polynomial of these coefficients, the highest power first, without leading zeros."""
    array = to_array(ev, node, coefficients)
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
    return _of(ev, node, _plain(args[0]))


def _plain(value: Value) -> Value:
    """The coefficients of a polynomial; any other value as it is."""
    polynomial = isinstance(value, ObjectInstance) and value.kind.name == "poly1d" and "coeffs" in value.attributes
    return value.attributes["coeffs"] if isinstance(value, ObjectInstance) and polynomial else value


def _method(name: str) -> Callable[..., Value]:
    def run(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        own, rest = _plain(args[0]), [_plain(a) for a in args[1:]]
        if keywords.keys() - ({"m", "k"} if name == "integ" else {"m"} if name == "deriv" else set()):
            ev.fail("F506", node, f"poly1d.{name} with `{next(iter(keywords))}=` is not supported")
        if name in ("__str__", "__repr__"):
            plain = ev.domain.elements_of(own) if isinstance(own, TracedArray) else None
            if plain is None:
                return ev.fail("F404", node, "the text of a poly1d whose coefficients only the run knows", "print its coefficients")
            with np.printoptions(**printing.options(ev, node)):
                return str(np.poly1d(plain)) if name == "__str__" else repr(np.poly1d(plain))
        if name == "roots":
            return ev.domain.call(ev, node, "numpy.roots", [own], {})
        if name == "__neg__":
            return _of(ev, node, ev.domain.unary(ev, node, "neg", ev.operand(node, own)))  # pyright: ignore[reportArgumentType] -- an array
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
        function, turned = _OPERATORS[name]
        sides = [rest[0], own] if turned else [own, rest[0]]
        return _of(ev, node, ev.domain.call(ev, node, f"numpy.{function}", sides, {}))

    return run


POLYNOMIALS: Mapping[str, Callable[..., Value]] = {
    _PATH: _made,
    **{f"{_PATH}.{name}": _method(name) for name in (*_METHODS, "roots")},
}
"""Function -> what it does, of the evaluator, the call, its arguments and its keywords."""
