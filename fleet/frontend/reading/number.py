"""A Python number while the source is read: known, computed by the run, or both."""

from __future__ import annotations

import ast

from xdsl.ir import Attribute, SSAValue

from fleet.ir.types import numpy_dtype


class SizeUsed(Exception):
    """Raised if the value of a number is needed that only the run knows; the evaluator makes it F510."""


class NumberValue:
    """A Python number. Operations are made for it when it is used.

    Attributes:
        ssa: the operation's result that computed it, once it was needed.
        constants: constants made so far, by type: the same number can take part in float32 and in int64 arithmetic.
        place: where its constants belong. variable: depth of calls and name of the variable that it was first bound to.
        formula: operation, operands and result type that computed it, for a number that the source computes out of others.
        length: number of operations that compute it, its operands' included.
        dim: array and axis, for a dimension that is not known before the run.
        origin: the one-element array that a known number was taken from; None for others, and outside the loop body or branch
            that computes the array.
        sized: only sizes went into it: whoever fixes the dimensions knows it before the run.
    """

    __slots__ = ("__weakref__", "_value", "constants", "dim", "formula", "length", "origin", "place", "sized", "ssa", "variable")

    def __init__(
        self,
        value: bool | int | float | None,
        ssa: SSAValue | None = None,
        *,
        place: ast.AST | None = None,
        length: int = 0,
        dim: tuple[SSAValue, int] | None = None,
        origin: SSAValue | None = None,
    ) -> None:
        self._value = value
        self.ssa = ssa
        self.constants: dict[Attribute, SSAValue] = {}
        self.place = place
        self.variable: tuple[int, str] | None = None
        self.formula: tuple[str, tuple[NumberValue, ...], Attribute] | None = None
        self.length = length
        self.dim = dim
        self.origin = origin
        self.sized = dim is not None

    @property
    def symbolic(self) -> bool:
        """True for a number that only the run knows: a dimension's size, or a number computed from it."""
        return self._value is None

    @property
    def computed(self) -> bool:
        """True if the run computes the number, known or not; prints then show the run's result."""
        inner = () if self.formula is None else self.formula[1]
        return self.symbolic or self.origin is not None or any(v.computed for v in inner)

    @property
    def whole(self) -> bool:
        """True for an integer (and bool)."""
        if self._value is None:
            return self.ssa is None or numpy_dtype(self.ssa.type).kind == "i"
        return isinstance(self._value, int)

    @property
    def truth(self) -> bool:
        """True for True and False."""
        return isinstance(self._value, bool)

    @property
    def value(self) -> bool | int | float:
        """The number. Raises SizeUsed if only the run knows it."""
        if self._value is None:
            raise SizeUsed
        return self._value
