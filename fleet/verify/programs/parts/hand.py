"""What an operation's drawing has at hand: random choices, values drawn so far, and numbers that fit beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from fleet.verify.programs.parts.values import ProgramArray, number_text

__all__ = ["MOST_ELEMENTS", "Hand", "KnownExpression", "Redraw"]

T = TypeVar("T")

MOST_ELEMENTS = 2048
"""Of one value: what is larger is drawn again."""


class Redraw(Exception):
    """No call of the operation can be made of this operand."""


@dataclass(frozen=True)
class KnownExpression:
    """An expression and what CPython makes of it. value: an array, or NumPy's scalar as an array without dimensions."""

    text: str
    value: ProgramArray

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the value."""
        return self.value.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the value."""
        return self.value.shape

    @property
    def ndim(self) -> int:
        """Of the value."""
        return self.value.ndim


class Hand:
    """rng: of the program; pool: exact values that have a name, oldest first."""

    def __init__(self, rng: np.random.Generator, pool: list[KnownExpression]) -> None:
        self.rng, self.pool = rng, pool

    def chance(self, share: float) -> bool:
        """True in that share of the calls."""
        return bool(self.rng.random() < share)

    def one(self, choices: Sequence[T]) -> T:
        """One of them. Raises Redraw where there is none."""
        if not choices:
            raise Redraw
        return choices[int(self.rng.integers(len(choices)))]

    def integer(self, low: int, high: int) -> int:
        """low <= n < high. Raises Redraw where there is none."""
        if high <= low:
            raise Redraw
        return int(self.rng.integers(low, high))

    def number(self, x: KnownExpression) -> str:
        """A number beside `x`."""
        return number_text(self.rng, x.dtype)

    def dtype(self) -> str:
        """Of a named value, so that programs do not mix all dtypes."""
        return self.one(self.pool).dtype.name

    def axis(self, x: KnownExpression) -> int:
        """An axis, counted from either end."""
        return self.integer(-x.ndim, x.ndim)

    def axes(self, x: KnownExpression, *, several: bool = True) -> str:
        """Arguments of a reduction: nothing, an axis, several ones; keepdims."""
        kind = self.rng.random()
        if x.ndim == 0 or kind < 0.3:
            text = ", axis=None" if kind < 0.03 else self.one((", axis=0", ", axis=-1")) if x.ndim == 0 and kind > 0.85 else ""
        elif several and x.ndim > 1 and kind < 0.4:
            text = f", axis=({', '.join(map(str, sorted(self.rng.choice(x.ndim, 2, replace=False).tolist())))})"
        else:
            text = f", axis={self.axis(x)}"
        return text + (", keepdims=True" if self.chance(0.25) else "")

    def beside(self, x: KnownExpression) -> str:
        """A second operand that broadcasts with `x`: a number, another value, or a part of one."""
        if self.chance(0.35):
            return self.number(x)
        fitting = [k.text for k in self.pool if fits(k.shape, x.shape)]
        if fitting and self.chance(0.7):
            return self.one(fitting)
        return self.part_of(x) if x.ndim else self.number(x)

    def part_of(self, x: KnownExpression) -> str:
        """Something of `x` that broadcasts with it."""
        if x.ndim == 0:
            return x.text
        return self.one([f"{x.text}[::-1]", f"{x.text}[:1]", f"{x.text}[..., :1]", f"np.flip({x.text})", x.text])

    def like(self, x: KnownExpression, *, same_dtype: bool = False) -> str:
        """A value of the same shape."""
        same = [k.text for k in self.pool if k.shape == x.shape and (not same_dtype or k.dtype == x.dtype)]
        return self.one([*same, x.text, *([f"{x.text}[::-1]"] if x.ndim else [])])

    def index(self, x: KnownExpression) -> str:
        """A basic index: slices with steps of either sign, numbers, ..., None."""
        parts: list[str] = []
        dots = False
        for n in x.shape:
            kind = self.rng.random()
            if kind < 0.12 and not dots:
                parts.append("...")
                dots = True
                break
            if kind < 0.22:
                parts.append("None")
            parts.append(str(self.integer(-n, n)) if kind > 0.78 and n else self.slice(n))
            if kind > 0.6 and kind < 0.7:
                break
        return ", ".join(parts) or "..."

    def slice(self, n: int) -> str:
        """Of a dimension of n."""
        kind = self.rng.random()
        if kind < 0.2:
            return ":"
        if kind < 0.4:
            return self.one(("::2", "::-1", "1::2", "::-2", "::3"))
        ends = [str(self.integer(-n - 2, n + 3)) if self.chance(0.7) else self.one(("", "", "None")) for _ in range(2)]
        step = self.one(("", "", ":1", ":2", ":-1", ":-2", ":3"))
        return f"{ends[0]}:{ends[1]}{step}"

    def numbers(self, n: int) -> str:
        """A literal list of indices into a dimension of n."""
        if n == 0:
            raise Redraw
        return "[" + ", ".join(str(self.integer(-n, n)) for _ in range(self.integer(1, 4))) + "]"

    def known_mask(self, n: int) -> str:
        """A mask of a dimension that is known from the source."""
        return f"np.arange({n}) % {self.integer(1, 4)} == {self.integer(0, 3)}"


def fits(shape: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Whether both broadcast."""
    return all(a == b or 1 in (a, b) for a, b in zip(reversed(shape), reversed(other), strict=False))
