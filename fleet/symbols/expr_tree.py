"""The trees of number expressions: building, interning, walking. `fleet.symbols.expr` is the public module and defines semantics.

Bounds, evaluation, simplification and export are modules above this one; an expression's methods reach them through `METHODS`.
"""

from __future__ import annotations

import keyword
import operator
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, SupportsIndex, cast
from weakref import WeakValueDictionary

from fleet.errors import FleetError

MAX_SHIFT = 4096
"""Larger shifts are refused: their value would exceed any address, and fill memory."""


class ExprError(FleetError):
    """An expression cannot be built, bounded, evaluated or exported."""


_ARITY = {**dict.fromkeys(("+", "-", "*", "//", "%", "<<", ">>", "&", "|", "<", "<=", "==", "!="), 2), "neg": 1, "log2": 1}
"""Operators and their number of operands."""

_INTERNED: WeakValueDictionary[tuple[Any, ...], Expr] = WeakValueDictionary()
_LOCK = threading.RLock()


class Expr:
    """Base class of all expressions.

    Attributes:
        op: "var", "numb", "if", or the operator as Python spells it ("+", "//", "neg", "log2", ...).
        args: operands.
    """

    __slots__ = ("__weakref__", "args", "known_bounds", "known_simple", "op")
    op: str
    args: tuple[Expr, ...]
    known_bounds: tuple[float, float] | None  # cached by expr_bounds
    known_simple: Expr | Literal[True] | None  # cached by expr_simplify; True: itself, without a reference to itself

    # Building.
    def __add__(self, other: Number) -> Expr:
        return Operation("+", self, other)

    def __radd__(self, other: Number) -> Expr:
        return Operation("+", other, self)

    def __sub__(self, other: Number) -> Expr:
        return Operation("-", self, other)

    def __rsub__(self, other: Number) -> Expr:
        return Operation("-", other, self)

    def __mul__(self, other: Number) -> Expr:
        return Operation("*", self, other)

    def __rmul__(self, other: Number) -> Expr:
        return Operation("*", other, self)

    def __floordiv__(self, other: Number) -> Expr:
        return Operation("//", self, other)

    def __rfloordiv__(self, other: Number) -> Expr:
        return Operation("//", other, self)

    __truediv__ = __floordiv__
    __rtruediv__ = __rfloordiv__

    def __mod__(self, other: Number) -> Expr:
        return Operation("%", self, other)

    def __rmod__(self, other: Number) -> Expr:
        return Operation("%", other, self)

    def __lshift__(self, other: Number) -> Expr:
        return Operation("<<", self, other)

    def __rlshift__(self, other: Number) -> Expr:
        return Operation("<<", other, self)

    def __rshift__(self, other: Number) -> Expr:
        return Operation(">>", self, other)

    def __rrshift__(self, other: Number) -> Expr:
        return Operation(">>", other, self)

    def __and__(self, other: Number) -> Expr:
        return Operation("&", self, other)

    def __rand__(self, other: Number) -> Expr:
        return Operation("&", other, self)

    def __or__(self, other: Number) -> Expr:
        return Operation("|", self, other)

    def __ror__(self, other: Number) -> Expr:
        return Operation("|", other, self)

    def __neg__(self) -> Expr:
        return Operation("neg", self)

    def __pos__(self) -> Expr:
        return self

    def __lt__(self, other: Number) -> Expr:
        return Operation("<", self, other)

    def __le__(self, other: Number) -> Expr:
        return Operation("<=", self, other)

    def __gt__(self, other: Number) -> Expr:
        return Operation("<", other, self)

    def __ge__(self, other: Number) -> Expr:
        return Operation("<=", other, self)

    def equals(self, other: Number) -> Expr:
        """Return an expression that is 1 if both have the same value; `==` tests whether both are the same expression."""
        return Operation("==", self, other)

    # Queries.
    def same(self, other: Number) -> bool:
        """True if both have the same structure."""
        return self is as_expr(other)

    def __bool__(self) -> bool:
        low, high = METHODS[0].bounds(self)
        if low > 0 or high < 0:
            return True
        if low == high == 0:
            return False
        raise ExprError(f"({self}) has no truth value before its variables are bound",
                        hint="use If, minimum or maximum, or evaluate it first")  # fmt: skip

    def __int__(self) -> int:
        return self.evaluate({})

    @property
    def variables(self) -> tuple[Var, ...]:
        """The variables of the expression, each once, in order of first appearance."""
        return tuple(e for e in post_order((self,)) if isinstance(e, Var))

    def evaluate(self, bindings: Mapping[str, int] | None = None, **named: int) -> int:
        """Return its value. Raises ExprError naming a variable without a value or out of its bounds, or a division by zero."""
        return METHODS[0].evaluate((self,), {**(bindings or {}), **named})[0]

    def substitute(self, bindings: Mapping[str, Number] | None = None, **named: Number) -> Expr:
        """Return the expression with variables replaced, by name. Raises ExprError if a number is out of a variable's bounds."""
        return METHODS[0].substitute(self, {**(bindings or {}), **named})

    def simplify(self) -> Expr:
        """Return a shorter expression with the same value, for every binding within bounds for which this one has a value."""
        known = self.known_simple
        return METHODS[0].simplify(self) if known is None else self if known is True else known

    def lower(self) -> int:
        """Return a lower bound. Raises ExprError naming an unbounded Var that it depends on."""
        return METHODS[0].lower(self)

    def upper(self) -> int:
        """Return an upper bound, with every variable within its bounds; raises as `lower` does."""
        return METHODS[0].upper(self)

    def to_python(self) -> str:
        """Return Python text with the same value, over the variables' names."""
        return METHODS[0].to_python(self)

    def to_cpp(self, wide: Iterable[str] = ()) -> str:
        """Return C++11 text with the same value in 64 bits. wide: variables declared as 64-bit; others are cast."""
        return METHODS[0].to_cpp(self, wide)

    def export(self, language: str) -> str:
        """Return text in a language: "cpp" or "python". Raises ExprError for other languages."""
        if language not in ("cpp", "python"):
            raise ExprError(f"no text of an expression in {language!r}", hint="there are cpp and python")
        return self.to_cpp() if language == "cpp" else self.to_python()

    def __str__(self) -> str:
        return METHODS[0].show(self)

    def __repr__(self) -> str:
        return f"<{self}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _unflatten, (_flatten(self),)


Number = int | Expr
"""A number in a graph: known, or an expression."""


@dataclass(frozen=True)
class Methods:
    """Implementations of the expression methods of the same names."""

    bounds: Callable[[Expr], tuple[float, float]]
    evaluate: Callable[[Sequence[Expr], Mapping[str, int]], list[int]]
    substitute: Callable[[Expr, Mapping[str, Number]], Expr]
    simplify: Callable[[Expr], Expr]
    lower: Callable[[Expr], int]
    upper: Callable[[Expr], int]
    to_python: Callable[[Expr], str]
    to_cpp: Callable[[Expr, Iterable[str]], str]
    show: Callable[[Expr], str]


METHODS: list[Methods] = []
"""One element, inserted by `fleet.symbols.expr`."""


class Var(Expr):
    """A variable between `min_data` and `max_data`, both included. max_data None (or -1): unbounded, such as an address."""

    __slots__ = ("max_data", "min_data", "name")
    name: str
    max_data: int | None
    min_data: int

    def __new__(cls, name: str, max_data: int | None = None, min_data: int = 0) -> Var:
        """Raises ExprError if the name is not valid, or the maximum is below the minimum."""
        if not isinstance(cast("object", name), str) or not name.isidentifier() or keyword.iskeyword(name):
            raise ExprError(f"{name!r} is not the name of a variable", hint="use letters, digits and _, and no word of Python's")
        try:
            least = operator.index(min_data)
            most = None if max_data is None or (max_data == -1 and least >= 0) else operator.index(max_data)
        except TypeError:
            raise ExprError(f"variable {name}: max_data {max_data!r} and min_data {min_data!r}, expected integers") from None
        if most is not None and most < least:
            raise ExprError(f"variable {name} has max_data {most} below min_data {least}")

        def fill(e: Var) -> None:
            e.name, e.max_data, e.min_data = name, most, least

        return _intern(cls, "var", (), (name, most, least), fill)


class Numb(Expr):
    """A constant integer."""

    __slots__ = ("data",)
    data: int

    def __new__(cls, data: SupportsIndex) -> Numb:
        """Raises TypeError if the value is not an integer."""
        value = operator.index(data)

        def fill(e: Numb) -> None:
            e.data = value

        return _intern(cls, "numb", (), value, fill)


class If(Expr):
    """`then` if `condition` is not 0, else `otherwise`."""

    __slots__ = ()

    def __new__(cls, condition: Number, then: Number, otherwise: Number) -> If:
        """Make it from numbers or expressions."""
        return _intern(cls, "if", (as_expr(condition), as_expr(then), as_expr(otherwise)))


class Operation(Expr):
    """An operator on one or two operands; see `fleet.symbols.expr_evaluate.OPERATORS`."""

    __slots__ = ()

    def __new__(cls, op: str, *args: Number) -> Operation:
        """Raises ExprError if the operator does not exist."""
        if _ARITY.get(op) != len(args):
            raise ExprError(f"no operator '{op}' of {len(args)} operands", hint=f"there are {' '.join(_ARITY)}")
        return _intern(cls, op, tuple(as_expr(a) for a in args))


def _intern(
    kind: type[Any], op: str, args: tuple[Expr, ...], data: object = None, fill: Callable[[Any], None] | None = None
) -> Any:
    key = (op, args, data)
    with _LOCK:
        found = _INTERNED.get(key)
        if found is None:
            found = cast("Expr", object.__new__(kind))
            found.op, found.args, found.known_bounds, found.known_simple = op, args, None, None
            if fill:
                fill(found)
            _INTERNED[key] = found
        return found


def as_expr(value: Number) -> Expr:
    """Return the number as an expression. Raises ExprError if it is not an integer."""
    if isinstance(value, Expr):
        return value
    try:
        return Numb(value)
    except TypeError:
        raise ExprError(f"{value!r} is neither an integer nor an expression") from None


def post_order(roots: Iterable[Expr], enter: Callable[[Expr], Sequence[Expr]] | None = None) -> Iterator[Expr]:
    """Yield every expression below the roots once, operands first. enter: returns the operands to visit of each; default all."""
    seen: set[Expr] = set()
    stack = [(r, False) for r in reversed(list(roots))]
    while stack:
        e, done = stack.pop()
        if done:
            yield e
        elif e not in seen:
            seen.add(e)
            stack.append((e, True))
            stack += [(a, False) for a in reversed(enter(e) if enter else e.args) if a not in seen]


def _flatten(root: Expr) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    place: dict[Expr, int] = {}
    for e in post_order((root,)):
        place[e] = len(rows)
        if isinstance(e, Var):
            rows.append(("var", e.name, e.max_data, e.min_data))
        elif isinstance(e, Numb):
            rows.append(("numb", e.data))
        else:
            rows.append((e.op, *(place[a] for a in e.args)))
    return rows


def _unflatten(rows: Sequence[tuple[Any, ...]]) -> Expr:
    made: list[Expr] = []
    for op, *rest in rows:
        if op == "var":
            made.append(Var(*rest))
        elif op == "numb":
            made.append(Numb(rest[0]))
        else:
            args = [made[i] for i in rest]
            made.append(If(*args) if op == "if" else Operation(op, *args))
    return made[-1]
