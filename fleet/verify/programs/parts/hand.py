"""The tools for drawing an operation: random choices, values drawn so far, and suitable numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from fleet.verify.programs.parts.values import ProgramArray, number_text

T = TypeVar("T")

MOST_ELEMENTS = 2048
"""Maximum size of a value; larger ones are drawn again."""


class Redraw(Exception):
    """No call of the operation can be made with this operand."""


@dataclass(frozen=True)
class KnownExpression:
    """An expression with CPython's value. value: an array; a NumPy scalar becomes an array without dimensions."""

    text: str
    value: ProgramArray

    @property
    def dtype(self) -> np.dtype[Any]:
        """The value's dtype."""
        return self.value.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The value's shape."""
        return self.value.shape

    @property
    def ndim(self) -> int:
        """The value's number of dimensions."""
        return self.value.ndim


class Hand:
    """rng: of the program; pool: exact values with a name, oldest first."""

    def __init__(self, rng: np.random.Generator, pool: list[KnownExpression]) -> None:
        self.rng, self.pool = rng, pool

    def chance(self, share: float) -> bool:
        """Return True with that probability."""
        return bool(self.rng.random() < share)

    def one(self, choices: Sequence[T]) -> T:
        """Return one of the choices. Raises Redraw if there are none."""
        if not choices:
            raise Redraw
        return choices[int(self.rng.integers(len(choices)))]

    def integer(self, low: int, high: int) -> int:
        """Return n with low <= n < high. Raises Redraw if there is none."""
        if high <= low:
            raise Redraw
        return int(self.rng.integers(low, high))

    def number(self, x: KnownExpression) -> str:
        """Return a number that suits `x` as the other operand."""
        return number_text(self.rng, x.dtype)

    def dtype(self) -> str:
        """Return the dtype of a named value, so that a program does not mix all dtypes."""
        return self.one(self.pool).dtype.name

    def axis(self, x: KnownExpression) -> int:
        """Return an axis, counted from either end."""
        return self.integer(-x.ndim, x.ndim)

    def axes(self, x: KnownExpression, *, several: bool = True) -> str:
        """Return arguments of a reduction: none, an axis, several axes; keepdims."""
        kind = self.rng.random()
        if x.ndim == 0 or kind < 0.3:
            text = ", axis=None" if kind < 0.03 else self.one((", axis=0", ", axis=-1")) if x.ndim == 0 and kind > 0.85 else ""
        elif several and x.ndim > 1 and kind < 0.4:
            text = f", axis=({', '.join(map(str, sorted(self.rng.choice(x.ndim, 2, replace=False).tolist())))})"
        else:
            text = f", axis={self.axis(x)}"
        return text + (", keepdims=True" if self.chance(0.25) else "")

    def beside(self, x: KnownExpression) -> str:
        """Return a second operand that broadcasts with `x`: a number, another value, or part of one."""
        if self.chance(0.35):
            return self.number(x)
        fitting = [k.text for k in self.pool if fits(k.shape, x.shape)]
        if fitting and self.chance(0.7):
            return self.one(fitting)
        return self.part_of(x) if x.ndim else self.number(x)

    def part_of(self, x: KnownExpression) -> str:
        """Return a part of `x` that broadcasts with it."""
        if x.ndim == 0:
            return x.text
        return self.one([f"{x.text}[::-1]", f"{x.text}[:1]", f"{x.text}[..., :1]", f"np.flip({x.text})", x.text])

    def like(self, x: KnownExpression, *, same_dtype: bool = False) -> str:
        """Return a value of the same shape."""
        same = [k.text for k in self.pool if k.shape == x.shape and (not same_dtype or k.dtype == x.dtype)]
        return self.one([*same, x.text, *([f"{x.text}[::-1]"] if x.ndim else [])])

    def index(self, x: KnownExpression) -> str:
        """Return a basic index: slices with positive or negative steps, numbers, ..., None."""
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
        """Return a slice of a dimension of size n."""
        kind = self.rng.random()
        if kind < 0.2:
            return ":"
        if kind < 0.4:
            return self.one(("::2", "::-1", "1::2", "::-2", "::3"))
        ends = [str(self.integer(-n - 2, n + 3)) if self.chance(0.7) else self.one(("", "", "None")) for _ in range(2)]
        step = self.one(("", "", ":1", ":2", ":-1", ":-2", ":3"))
        return f"{ends[0]}:{ends[1]}{step}"

    def numbers(self, n: int) -> str:
        """Return a literal list of indices into a dimension of size n."""
        if n == 0:
            raise Redraw
        return "[" + ", ".join(str(self.integer(-n, n)) for _ in range(self.integer(1, 4))) + "]"

    def known_mask(self, n: int) -> str:
        """Return a mask of a dimension that is known from the source."""
        return f"np.arange({n}) % {self.integer(1, 4)} == {self.integer(0, 3)}"


def fits(shape: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Return whether two shapes broadcast."""
    return all(a == b or 1 in (a, b) for a, b in zip(reversed(shape), reversed(other), strict=False))
