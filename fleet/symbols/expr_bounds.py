"""Bounds of expressions by interval arithmetic: sound, but not always the tightest."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from fleet.symbols.expr_tree import MAX_SHIFT, Expr, ExprError, If, Numb, Var, post_order

Interval = tuple[float, float]
"""Least and greatest value: ints, or infinite. It covers the values wherever the expression has one."""

_HUGE = 1 << MAX_SHIFT


def bounds(e: Expr) -> Interval:
    """Return the least and greatest value with all variables within their bounds; infinite if an unbounded variable decides it."""
    if e.known_bounds is None:
        for part in post_order((e,), lambda x: () if x.known_bounds is not None else x.args):
            if part.known_bounds is None:
                part.known_bounds = _clip(_interval(part))
    found = e.known_bounds
    assert found is not None
    return found


def infinite(bound: float) -> bool:
    """True if a bound is infinite. (`math.isinf` fails for large ints.)"""
    return bound in (inf, -inf)


def lower_bound(e: Expr) -> int:
    """Compute `Expr.lower`."""
    return _finite(e, bounds(e)[0], "lower")


def upper_bound(e: Expr) -> int:
    """Compute `Expr.upper`."""
    return _finite(e, bounds(e)[1], "upper")


def _finite(e: Expr, bound: float, which: str) -> int:
    if infinite(bound):
        open_ = [v.name for v in e.variables if v.max_data is None]
        if open_:
            raise ExprError(f"({e}) has no {which} bound: variable {open_[0]} has no max_data",
                            hint=f'give it one: Var("{open_[0]}", max_data=...)')  # fmt: skip
        raise ExprError(f"({e}) has no {which} bound below 2 to the {MAX_SHIFT}")
    return int(bound)


def _clip(interval: Interval) -> Interval:
    """Replace very large bounds by infinity, and an empty interval (of an expression without a value) by an unbounded one."""
    low, high = interval
    low = -inf if low < -_HUGE else _HUGE if low > _HUGE else low
    high = inf if high > _HUGE else -_HUGE if high < -_HUGE else high
    return (low, high) if low <= high else (-inf, inf)


def _times(a: float, b: float) -> float:
    return 0 if a == 0 or b == 0 else a * b if not (infinite(a) or infinite(b)) else inf if (a > 0) == (b > 0) else -inf


def _plus(a: float, b: float) -> float:
    return a if infinite(a) else b if infinite(b) else a + b


def _over(a: float, b: float) -> float:
    if infinite(b):
        return 0 if infinite(a) or a == 0 or (a > 0) == (b > 0) else -1
    return (a if b > 0 else -a) if infinite(a) else a // b


def _interval(e: Expr) -> Interval:
    if isinstance(e, Numb):
        return e.data, e.data
    if isinstance(e, Var):
        return e.min_data, inf if e.max_data is None else e.max_data
    parts = [p for p in (a.known_bounds for a in e.args) if p is not None]
    if isinstance(e, If):
        return _choice(e, parts)
    if len(parts) == 1:
        low, high = parts[0]
        if e.op == "neg":
            return -high, -low
        return int(max(low, 1)).bit_length() - 1, high if infinite(high) else max(int(high), 1).bit_length() - 1
    (a0, a1), (b0, b1) = parts
    match e.op:
        case "+":
            return _plus(a0, b0), _plus(a1, b1)
        case "-":
            return _plus(a0, -b1), _plus(a1, -b0)
        case "*":
            return _corners(_times(x, y) for x in (a0, a1) for y in (b0, b1))
        case "//":
            return _quotient((a0, a1), (b0, b1))
        case "%":
            return _modulo((a0, a1), (b0, b1))
        case "<<":
            powers = _powers(b0, b1)
            return _corners(_times(x, y) for x in (a0, a1) for y in powers)
        case ">>":
            return _corners(_over(x, y) for x in (a0, a1) for y in _powers(b0, b1))
        case "&" | "|":
            return _bits(e.op, (a0, a1), (b0, b1))
        case "<":
            return int(a1 < b0), int(a0 < b1)
        case "<=":
            return int(a1 <= b0), int(a0 <= b1)
        case "==":
            return int(a0 == a1 == b0 == b1), int(a0 <= b1 and b0 <= a1)
        case _:
            return int(a1 < b0 or b1 < a0), int(not a0 == a1 == b0 == b1)


def _corners(values: Iterable[float]) -> Interval:
    found = list(values)
    return min(found), max(found)


def _powers(low: float, high: float) -> tuple[float, float]:
    """Return 2 to the bounds of the shift."""

    def power(n: float) -> float:
        return inf if n > MAX_SHIFT else 1 << int(n)

    return power(max(low, 0)), power(max(high, 0))


def _quotient(a: Interval, b: Interval) -> Interval:
    found: list[float] = []
    for low, high in ((b[0], min(b[1], -1)), (max(b[0], 1), b[1])):
        if low <= high:
            found += [_over(x, y) for x in a for y in (low, high)]
    return (min(found), max(found)) if found else (-inf, inf)


def _modulo(a: Interval, b: Interval) -> Interval:
    low: list[float] = []
    high: list[float] = []
    if b[1] >= 1:
        if a[0] >= 0 and a[1] < max(b[0], 1):
            low.append(a[0])
            high.append(a[1])
        else:
            low.append(0)
            high.append(min(b[1] - 1, a[1]) if a[0] >= 0 else b[1] - 1)
    if b[0] <= -1:
        low.append(b[0] + 1)
        high.append(0)
    return (min(low), max(high)) if low else (-inf, inf)


def _bits(op: str, a: Interval, b: Interval) -> Interval:
    if a[0] >= 0 and b[0] >= 0:
        if op == "&":
            return 0, min(a[1], b[1])
        most = max(a[1], b[1])
        return max(a[0], b[0]), inf if infinite(most) else (1 << int(most).bit_length()) - 1
    if op == "&" and (a[0] >= 0 or b[0] >= 0):
        return 0, a[1] if a[0] >= 0 else b[1]
    ends = (*a, *b)
    if any(infinite(x) for x in ends):
        return -inf, inf
    width = max(int(x if x >= 0 else ~int(x)).bit_length() for x in ends)
    return -(1 << width), (1 << width) - 1


def _choice(e: If, parts: list[Interval]) -> Interval:
    (c0, c1), then, otherwise = parts
    if c0 > 0 or c1 < 0:
        return then
    if c0 == c1 == 0:
        return otherwise
    condition = e.args[0]
    if condition.op in {"<", "<="} and len(condition.args) == 2:  # the bounds of a minimum or maximum are tighter than the union
        if condition.args == e.args[1:]:
            return min(then[0], otherwise[0]), min(then[1], otherwise[1])
        if condition.args == (e.args[2], e.args[1]):
            return max(then[0], otherwise[0]), max(then[1], otherwise[1])
    return min(then[0], otherwise[0]), max(then[1], otherwise[1])
