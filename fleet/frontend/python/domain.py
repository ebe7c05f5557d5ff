"""What reading a source does with arrays: one class turns it into IR, another computes with NumPy at once."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from fleet.errors import SourceError
from fleet.frontend.python.values import Generator, Number, Operand, Tensor, Value

if TYPE_CHECKING:
    from fleet.frontend.arrays.static import Static
    from fleet.frontend.python.evaluator import Evaluator

Index = Sequence[Value]
"""One item a dimension: Number, Slice, None, Marker("Ellipsis"), Tensor, or List and tuple of numbers."""


class Domain(ABC):
    """The operations on arrays that the evaluator needs. `node` is where an error belongs."""

    ev: Evaluator

    @abstractmethod
    def binary(self, node: ast.expr, op: str, lhs: Operand, rhs: Operand) -> Value:
        """An operator with an array on at least one side; `op` is an operation's name, or bit_and, bit_or, bit_xor."""

    @abstractmethod
    def unary(self, node: ast.expr, op: str, value: Tensor) -> Value:
        """neg, invert or abs."""

    @abstractmethod
    def arithmetic(self, node: ast.expr, op: str, operands: Sequence[Number], value: bool | int | float | None) -> Number:
        """An operator of Python numbers, whose result is known to be `value`; None: only the run knows it."""

    @abstractmethod
    def call(self, node: ast.Call, path: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        """A function of a library."""

    @abstractmethod
    def method(self, node: ast.Call, owner: Tensor, name: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        """A method of an array."""

    @abstractmethod
    def draw(self, node: ast.Call, owner: Generator, name: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        """A method of a random generator."""

    @abstractmethod
    def single(self, node: ast.AST, value: Tensor) -> Value:
        """A drawn NumPy scalar as Python's number, which operations take from the draw."""

    @abstractmethod
    def drawn(self, made: Static) -> Tensor:
        """The array of a draw."""

    @abstractmethod
    def attribute(self, node: ast.Attribute, owner: Tensor) -> Value:
        """`x.shape`, `x.T`."""

    @abstractmethod
    def convert(self, node: ast.expr, value: Value, dtype: np.dtype) -> Value:
        """`np.float32(x)`."""

    @abstractmethod
    def load(self, node: ast.Subscript, owner: Tensor, index: Index) -> Value:
        """`x[...]`."""

    @abstractmethod
    def store(self, node: ast.expr, owner: Tensor, index: Index, value: Value) -> None:
        """`x[...] = value`."""

    @abstractmethod
    def update(self, node: ast.AugAssign, op: str, owner: Tensor, value: Operand) -> Value:
        """`x += value`: what the name is bound to afterwards."""

    @abstractmethod
    def elements(self, node: ast.expr, owner: Tensor) -> Iterator[Value]:
        """Iteration over the first dimension."""

    @abstractmethod
    def known(self, owner: Tensor) -> bool | int | float | None:
        """The value of an array of one element where it is known while the source is read."""

    @abstractmethod
    def print(self, node: ast.expr, parts: Sequence[Value], separator: str, end: str) -> None:
        """`print(...)`."""

    def operations(self) -> int:
        """Operations that have been made so far."""
        return 0

    def too_many(self, since: int, times: int) -> bool:
        """Whether the operations made since there were `since`, so many times more, are better a loop of the run."""
        return False

    def stays_unrolled(self, error: SourceError) -> None:
        """Notes why a long loop cannot be one of the run."""
        del error

    @abstractmethod
    def named(self, value: Value, variable: str, depth: int) -> None:
        """A variable is bound to `value`, `depth` calls deep."""
