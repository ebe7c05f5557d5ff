"""What an expression of the source can be while it is turned into IR."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from xdsl.ir import Attribute, SSAValue

from fleet.ir.types import numpy_dtype, shape_of


@dataclass(frozen=True, eq=False)
class Tensor:
    """An array or NumPy scalar: a value of the IR with tensor type."""

    ssa: SSAValue

    @property
    def shape(self) -> tuple[int, ...]:
        """Static shape."""
        return shape_of(self.ssa.type)

    @property
    def dtype(self) -> np.dtype:
        """Element type."""
        return numpy_dtype(self.ssa.type)


@dataclass(eq=False)
class Number:
    """A Python number. Its value is always known; operations are made for it only where it is used.

    ssa: the operation that computes it, for a number that the source computes out of others.
    constants: constants made so far, by type: the same number can take part in float32 and in int64 arithmetic.
    """

    value: bool | int | float
    ssa: SSAValue | None = None
    constants: dict[Attribute, SSAValue] = field(default_factory=dict)
    place: ast.AST | None = None
    variable: tuple[int, str] | None = None
    """Depth of calls and name of the variable that it was first bound to."""


@dataclass(frozen=True)
class Library:
    """A name out of a supported library: "numpy", "numpy.maximum", "math.pi", or a builtin "builtins.len"."""

    path: str


@dataclass(frozen=True, eq=False)
class Function:
    """A function of the same file."""

    node: ast.FunctionDef


@dataclass(frozen=True, eq=False)
class Method:
    """A bound method of an array: `x.sum`."""

    tensor: Tensor
    name: str


@dataclass(frozen=True)
class Slice:
    """`start:stop` with static bounds."""

    start: int | None
    stop: int | None


@dataclass(frozen=True)
class Poison:
    """Stands for what could not be evaluated; its error has been recorded."""


Value: TypeAlias = "Tensor | Number | Library | Function | Method | Slice | Poison | np.dtype | str | tuple[Value, ...] | None"


def words(value: Value) -> str:
    """What a value is, for messages."""
    match value:
        case Tensor():
            return f"an array {value.dtype}{list(value.shape)}"
        case Number():
            return f"the number {value.value!r}"
        case Library() | Method():
            return f"`{value.path.removeprefix('builtins.')}`" if isinstance(value, Library) else f"the method `{value.name}`"
        case Function():
            return f"the function `{value.node.name}`"
        case None:
            return "None"
        case str():
            return "a string"
        case tuple():
            return f"a tuple of {len(value)}"
        case _:
            return f"a {type(value).__name__.lower()}"
