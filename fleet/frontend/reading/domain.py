"""What the reading of a source asks of whoever knows arrays."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Generic, TypeVar

import numpy as np
from xdsl.ir import SSAValue

from fleet.errors import SourceError
from fleet.frontend.reading.static import Made, Static
from fleet.frontend.reading.values import Generator, NumberValue, TracedArray, Value, ValueOperand

Ev = TypeVar("Ev")
"""The evaluator that asks (`fleet.frontend.reading.evaluator`, which is built on this module)."""

Index = Sequence[Value]
"""One item a dimension: Number, Slice, None, Marker("Ellipsis"), Tensor, or List and tuple of numbers."""


class Domain(ABC, Generic[Ev]):
    """What reading a source does with arrays: one class turns it into IR, another computes with NumPy at once.

    In its methods `ev` is the evaluator that asks, `node` the place of an error.

    Attributes:
        made: the arrays that the source makes.
        deferred: whether arrays get their values in the run; else they are there.
    """

    made: Made
    deferred: ClassVar[bool] = True

    @abstractmethod
    def binary(self, ev: Ev, node: ast.expr, op: str, lhs: ValueOperand, rhs: ValueOperand) -> Value:
        """An operator with an array on at least one side; `op` is an operation's name, or bit_and, bit_or, bit_xor."""

    @abstractmethod
    def unary(self, ev: Ev, node: ast.expr, op: str, value: TracedArray) -> Value:
        """`op` is pos, neg, invert or abs."""

    @abstractmethod
    def arithmetic(self, node: ast.expr, op: str, operands: Sequence[NumberValue], value: bool | int | float | None) -> NumberValue:
        """An operator of Python numbers; value: its result, or None if only the run knows it."""

    @abstractmethod
    def call(self, ev: Ev, node: ast.Call, path: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        """A function of a library."""

    @abstractmethod
    def method(
        self, ev: Ev, node: ast.Call, owner: TracedArray, name: str, args: Sequence[Value], keywords: Mapping[str, Value]
    ) -> Value:
        """A method of an array."""

    @abstractmethod
    def draw(
        self, ev: Ev, node: ast.Call, owner: Generator, name: str, args: Sequence[Value], keywords: Mapping[str, Value]
    ) -> Value:
        """A method of a random generator."""

    @abstractmethod
    def single(self, ev: Ev, node: ast.AST, value: TracedArray) -> Value:
        """A drawn NumPy scalar as Python's number, which operations take from the draw."""

    @abstractmethod
    def drawn(self, made: Static) -> TracedArray:
        """The array of a draw."""

    @abstractmethod
    def attribute(self, ev: Ev, node: ast.Attribute, owner: TracedArray) -> Value:
        """`x.shape`, `x.T`."""

    @abstractmethod
    def convert(self, ev: Ev, node: ast.expr, value: Value, dtype: np.dtype) -> Value:
        """`np.float32(x)`."""

    @property
    @abstractmethod
    def spent(self) -> str:
        """Advice for a value that is unknown because too much was computed while the source was read; "" below that limit."""

    @abstractmethod
    def elements_of(self, value: TracedArray) -> np.ndarray | None:
        """The elements of an array if they are known while the source is read, or None."""

    @abstractmethod
    def literal(self, ev: Ev, node: ast.AST, value: np.ndarray | np.generic) -> TracedArray:
        """An array or NumPy scalar that is known."""

    @abstractmethod
    def replace(self, owner: TracedArray, array: np.ndarray) -> None:
        """Give an array that `literal` made other elements."""

    @abstractmethod
    def load(self, ev: Ev, node: ast.Subscript, owner: TracedArray, index: Index) -> Value:
        """`x[...]`."""

    @abstractmethod
    def store(self, ev: Ev, node: ast.expr, owner: TracedArray, index: Index, value: Value) -> None:
        """`x[...] = value`."""

    @abstractmethod
    def update(self, ev: Ev, node: ast.AugAssign, op: str, owner: TracedArray, value: ValueOperand) -> Value:
        """`x += value`: what the name is bound to afterwards."""

    @abstractmethod
    def elements(self, ev: Ev, node: ast.expr, owner: TracedArray) -> Iterator[Value]:
        """Iteration over the first dimension."""

    @abstractmethod
    def known(self, owner: TracedArray) -> bool | int | float | None:
        """The value of an array of one element if it is known while the source is read, or None."""

    def known_number(self, value: NumberValue) -> bool | int | float | None:
        """A number of the run if all that it is computed of is known while the source is read, or None."""
        return None

    @abstractmethod
    def print(self, ev: Ev, node: ast.expr, parts: Sequence[Value], separator: str, end: str) -> None:
        """`print(...)`."""

    def operations(self) -> int:
        """Operations that have been made so far."""
        return 0

    def too_many(self, since: int, times: int, *, parted: bool = False) -> bool:
        """Whether the operations after the first `since`, repeated `times` times, should be a loop of the run.

        parted: rounds that print can stay apart.
        """
        return False

    def in_rounds(self, value: SSAValue, rounds: Mapping[SSAValue, tuple[int, int]]) -> tuple[SSAValue, list[bool]] | None:
        """The number of a round that alone decides a truth value, and the truth in each round; None for other values.

        rounds: numbers of rounds, and the first and last value of each.
        """
        del value, rounds
        return None

    def stays_unrolled(self, error: SourceError) -> None:
        """Note why a long loop cannot become a loop of the run."""
        del error

    @abstractmethod
    def named(self, value: Value, variable: str, depth: int) -> None:
        """A variable is bound to `value`, `depth` calls deep."""
