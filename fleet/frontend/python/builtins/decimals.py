"""Python's `round(x, n)` of a float of the run, out of NumPy's operations.

Python rounds the exact value of x to n decimals, ties to even, and gives the float nearest to that decimal. `np.round` is another
function: it rounds the float nearest to x * 10**n.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fleet.frontend.reading.values import NumberValue, Value

MOST_PLACES = 22
"""Largest n: powers of ten up to 10**22 are floats, so that one division gives the float nearest to a decimal."""
_SPLIT = 2.0**27 + 1
_WHOLE = 2.0**53
"""From here on the floats near x lie no closer than its decimals: the one nearest to the decimal is x."""


def to_decimals(call: Callable[..., Value], x: Value, places: int) -> Value:
    """Return a float64 array without dimensions, rounded to `places` decimals.

    The product p = x * 10**places is exact as p + e (Dekker's product, without fused operations). rint(p) is the whole number
    nearest to p + e too, unless p is a tie that e decides. Up to 2**53 it is exact, so its quotient by 10**places is the float
    nearest to the decimal.

    Args:
        call: calls the NumPy function of a name. x: the array. places: 0 to `MOST_PLACES`.
    """

    def number(value: float) -> NumberValue:
        return NumberValue(value)

    def split(value: float) -> tuple[float, float]:
        high = _SPLIT * value - (_SPLIT * value - value)
        return high, value - high

    def subtract(a: Any, b: Any) -> Value:
        return call("subtract", a, b)

    def multiply(a: Any, b: Any) -> Value:
        return call("multiply", a, b)

    scale = 10.0**places
    scale_high, scale_low = (number(part) for part in split(scale))
    p = multiply(x, number(scale))
    wide = multiply(x, number(_SPLIT))
    high = subtract(wide, subtract(wide, x))
    low = subtract(x, high)
    left = subtract(subtract(p, multiply(high, scale_high)), multiply(low, scale_high))
    e = subtract(multiply(low, scale_low), subtract(left, multiply(high, scale_low)))
    whole = call("rint", p)
    rest = subtract(p, whole)
    zero, half, one = number(0.0), number(0.5), number(1.0)
    up = call("logical_and", call("equal", rest, half), call("greater", e, zero))
    down = call("logical_and", call("equal", rest, number(-0.5)), call("less", e, zero))
    whole = call("where", up, call("add", whole, one), call("where", down, subtract(whole, one), whole))
    return call("where", call("less", call("abs", p), number(_WHOLE)), call("divide", whole, number(scale)), x)
