"""Number expressions (`ne`): integers that depend on dynamic dimensions, such as `(token + 31) // 32 * 2048`.

Expressions are immutable and interned: two of the same structure are one object. So `==` and `hash` are Python's own (identity,
a bool, safe in sets, dictionaries and dataclasses) and cost nothing however deep an expression is; `<`, `<=`, `>` and `>=` build
expressions that are 1 or 0, and so do `equal(a, b)` and `differ(a, b)`. An expression has a truth value only where its bounds
decide it; `if` on any other is an error, never a silent True.

Meaning is that of Python's unbounded integers: `/` and `//` both divide and round down, `%` has the divisor's sign, shifts are
multiplication and division by a power of two. `If` evaluates only the branch that it takes. Nothing here recurses, so depth is
bounded by memory alone.

Example:
    >>> token = Var("token", max_data=2048)
    >>> size = ceil_div(token, 32) * 2048
    >>> str(size), size.upper(), size.evaluate({"token": 33})
    ('(token + 31) // 32 * 2048', 131072, 4096)
"""

from __future__ import annotations

import keyword
import operator
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, SupportsIndex, cast
from weakref import WeakValueDictionary

from fleet.errors import FleetError

__all__ = [
    "Expr", "ExprError", "If", "Numb", "Number", "Operation", "Var", "as_expr", "cast_int", "ceil_div", "differ", "dim", "equal",
    "evaluate", "log2", "maximum", "minimum", "post_order", "upper",
]  # fmt: skip

MAX_SHIFT = 4096
"""Shifts beyond are refused: their value would not fit any address, but would fill memory."""


class ExprError(FleetError):
    """An expression cannot be built, bounded, evaluated or exported."""


_ARITY = {**dict.fromkeys(("+", "-", "*", "//", "%", "<<", ">>", "&", "|", "<", "<=", "==", "!="), 2), "neg": 1, "log2": 1}
"""Operators and how many operands they take."""

_INTERNED: WeakValueDictionary[tuple[Any, ...], Expr] = WeakValueDictionary()
_LOCK = threading.RLock()


class Expr:
    """What all expressions have.

    Attributes:
        op: "var", "numb", "if", or the operator as Python spells it ("+", "//", "neg", "log2", ...).
        args: operands.
    """

    __slots__ = ("__weakref__", "args", "known_bounds", "known_simple", "op")
    op: str
    args: tuple[Expr, ...]
    known_bounds: tuple[float, float] | None  # kept by expr_bounds
    known_simple: Expr | Literal[True] | None  # kept by expr_simplify; True: itself, without a reference to itself

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
        """The expression that is 1 where both have the same value; `==` asks whether both are the same expression."""
        return equal(self, other)

    # Asking.
    def same(self, other: Number) -> bool:
        """Whether both have the same structure."""
        return self is as_expr(other)

    def __bool__(self) -> bool:
        from fleet.symbols.expr_bounds import bounds

        low, high = bounds(self)
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
        """Its variables, each once, in the order of first appearance."""
        return tuple(e for e in post_order((self,)) if isinstance(e, Var))

    def evaluate(self, bindings: Mapping[str, int] | None = None, **named: int) -> int:
        """Its value. Raises ExprError naming a variable that has no value or is out of its bounds, or a division by zero."""
        return evaluate((self,), {**(bindings or {}), **named})[0]

    def substitute(self, bindings: Mapping[str, Number] | None = None, **named: Number) -> Expr:
        """The same with variables replaced, by name. Raises ExprError for a number out of a variable's bounds."""
        from fleet.symbols.expr_evaluate import substitute

        return substitute(self, {**(bindings or {}), **named})

    def simplify(self) -> Expr:
        """A shorter expression of the same value, for every binding within the variables' bounds that gives this one a value."""
        from fleet.symbols.expr_simplify import simplify

        return simplify(self)

    def lower(self) -> int:
        """A number that it never falls below. Raises ExprError naming a Var without a bound that this depends on."""
        from fleet.symbols.expr_bounds import lower_bound

        return lower_bound(self)

    def upper(self) -> int:
        """A number that it never exceeds, with every variable within its bounds; raises as `lower`."""
        from fleet.symbols.expr_bounds import upper_bound

        return upper_bound(self)

    def to_python(self) -> str:
        """Python text of the same value, over the variables' names."""
        from fleet.symbols.expr_export import to_python

        return to_python(self)

    def to_cpp(self, wide: Iterable[str] = ()) -> str:
        """C++11 text of the same value in 64 bits; `wide`: variables declared as 64-bit, others are cast."""
        from fleet.symbols.expr_export import to_cpp

        return to_cpp(self, wide)

    def export(self, language: str) -> str:
        """Text in a language: "cpp" or "python". Raises ExprError for another one."""
        if language not in ("cpp", "python"):
            raise ExprError(f"no text of an expression in {language!r}", hint="there are cpp and python")
        return self.to_cpp() if language == "cpp" else self.to_python()

    def __str__(self) -> str:
        from fleet.symbols.expr_export import show

        return show(self)

    def __repr__(self) -> str:
        return f"<{self}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _unflatten, (_flatten(self),)


Number = int | Expr
"""What stands for a number in a graph: known now, or an expression."""


class Var(Expr):
    """A variable between `min_data` and `max_data`, both included. max_data None (or -1): without a bound, such as an address."""

    __slots__ = ("max_data", "min_data", "name")
    name: str
    max_data: int | None
    min_data: int

    def __new__(cls, name: str, max_data: int | None = None, min_data: int = 0) -> Var:
        """Raises ExprError for a name that is none, or a maximum below the minimum."""
        if not isinstance(cast("object", name), str) or not name.isidentifier() or keyword.iskeyword(name):
            raise ExprError(f"{name!r} is no name of a variable", hint="use letters, digits and _, and no word of Python's")
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
    """A number."""

    __slots__ = ("data",)
    data: int

    def __new__(cls, data: SupportsIndex) -> Numb:
        """Raises TypeError for what is no integer."""
        value = operator.index(data)

        def fill(e: Numb) -> None:
            e.data = value

        return _intern(cls, "numb", (), value, fill)


class If(Expr):
    """`then` where `condition` is not 0, else `otherwise`."""

    __slots__ = ()

    def __new__(cls, condition: Number, then: Number, otherwise: Number) -> If:
        """Numbers or expressions."""
        return _intern(cls, "if", (as_expr(condition), as_expr(then), as_expr(otherwise)))


class Operation(Expr):
    """An operator on one or two operands; see `fleet.symbols.expr_evaluate.OPERATORS`."""

    __slots__ = ()

    def __new__(cls, op: str, *args: Number) -> Operation:
        """Raises ExprError for an operator that there is not."""
        if _ARITY.get(op) != len(args):
            raise ExprError(f"no operator '{op}' of {len(args)} operands", hint=f"there are {' '.join(_ARITY)}")
        return _intern(cls, op, tuple(as_expr(a) for a in args))


def _intern(kind: type[Any], op: str, args: tuple[Expr, ...], data: Any = None, fill: Callable[[Any], None] | None = None) -> Any:
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
    """The number as an expression. Raises ExprError for what is no integer."""
    if isinstance(value, Expr):
        return value
    try:
        return Numb(value)
    except TypeError:
        raise ExprError(f"{value!r} is no integer and no expression") from None


def dim(value: Number) -> Number:
    """Simplified; an int where it is one."""
    simple = as_expr(value).simplify()
    return simple.data if isinstance(simple, Numb) else simple


def upper(value: Number) -> int:
    """`Expr.upper`, of numbers too."""
    return as_expr(value).upper()


def equal(a: Number, b: Number) -> Expr:
    """1 where both have the same value, else 0."""
    return Operation("==", a, b)


def differ(a: Number, b: Number) -> Expr:
    """0 where both have the same value, else 1."""
    return Operation("!=", a, b)


def minimum(a: Number, b: Number) -> Expr:
    """The smaller of two."""
    return If(Operation("<", a, b), a, b)


def maximum(a: Number, b: Number) -> Expr:
    """The larger of two."""
    return If(Operation("<", a, b), b, a)


def ceil_div(a: Number, b: int) -> Expr:
    """`a / b` rounded up. Raises ExprError unless b is a positive number."""
    if b < 1:
        raise ExprError(f"ceil_div by {b}, expected a number above 0")
    return (as_expr(a) + (b - 1)) // b


def log2(a: Number) -> Expr:
    """The exponent of the largest power of two that is not above `a`."""
    return Operation("log2", a)


def cast_int(a: Number) -> Expr:
    """`a`: every expression is an integer already. There for the name."""
    return as_expr(a)


def evaluate(roots: Sequence[Expr], bindings: Mapping[str, int]) -> list[int]:
    """Values of several expressions that share parts; raises as `Expr.evaluate`."""
    from fleet.symbols.expr_evaluate import evaluate as evaluate_all

    return evaluate_all(roots, bindings)


def post_order(roots: Iterable[Expr], enter: Callable[[Expr], Sequence[Expr]] | None = None) -> Iterator[Expr]:
    """Every expression below the roots once, operands first. enter: the operands to descend into, of each; default all."""
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
