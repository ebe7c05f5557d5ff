"""Context of type inference: a call, its arguments' types, and the device's limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, isfinite
from numbers import Real
from typing import NoReturn

from xdsl.ir import Operation

from fleet.ir.accel.errors import GraphError
from fleet.ir.accel.types import AccelTensor, DataType, Dim, show_shape
from fleet.ir.types import Attributes
from fleet.symbols.expr import ExprError, as_expr, dim

FEATURE = DataType("float16", "ddr")
"""Element type and memory of activations."""


def same_dim(a: Dim, b: Dim) -> bool:
    """Return whether simplification shows that two sizes are the same for every binding."""
    if a is b or (type(a) is int and type(b) is int):
        return a == b
    return dim(as_expr(a) - as_expr(b)) == 0


@dataclass(frozen=True)
class Inference:
    """A call whose arguments' types are known: the input of an operator's type inference.

    Attributes:
        roles: of the arguments, in order; the last one repeats.
        types: of the arguments, in order. nodes: the arguments themselves. attrs: of the call.
        limits: the device's parameters ("MaxToken", "Tout", ...); empty if no device is known.
    """

    roles: tuple[str, ...]
    types: tuple[AccelTensor, ...]
    nodes: tuple[Operation, ...]
    attrs: Attributes
    limits: Mapping[str, int] = field(default_factory=dict[str, int])

    def fail(self, reason: str, hint: str | None = None) -> NoReturn:
        """Refuse the call. Raises GraphError."""
        raise GraphError(reason, hint=hint)

    def feature(self, index: int) -> AccelTensor:
        """Argument `index`, which must be a feature: float16 in DDR or on chip, of three dimensions."""
        found = self.typed(index, ("float16",), ("ddr", "onchip"))
        if len(found.shape) != 3:
            self.fail(f"{self.role(index)} has shape {show_shape(found.shape)}, expected (heads, tokens, channels)")
        return found

    def typed(self, index: int, dtypes: Sequence[str], spaces: Sequence[str]) -> AccelTensor:
        """Argument `index`, which must be of one of the dtypes in one of the spaces."""
        found = self.types[index]
        if found.dtype.dtype not in dtypes or found.dtype.mapped not in spaces:
            wanted = " or ".join(f"({d}, {s})" for d in dtypes for s in spaces)
            self.fail(f"{self.role(index)} is {found.dtype}, expected {wanted}")
        return found

    def role(self, index: int) -> str:
        """Return an argument's name in messages: "argument 1 (weight)"."""
        return f"argument {index} ({self.roles[min(index, len(self.roles) - 1)]})"

    def result(self, shape: Sequence[Dim], dtype: DataType = FEATURE) -> AccelTensor:
        """Return a type on the same accelerator, with its sizes in normal form."""
        return AccelTensor(shape, dtype, self.types[0].device)

    def number(self, name: str, default: Dim = 0) -> Dim:
        """Return an attribute that is a number or an expression; None counts as missing."""
        value = self.attrs.get(name)
        try:
            return dim(default if value is None else value)
        except ExprError as error:
            self.fail(f"attribute {name}: {error.what}")

    def real(self, name: str, least: float = -inf) -> float | None:
        """Return an attribute that is a finite number of at least `least`; None if it is missing."""
        value = self.attrs.get(name)
        if value is None:
            return None
        if not isinstance(value, Real) or not isfinite(value) or value < least:
            self.fail(f"attribute {name} is {value!r}, expected a number" + ("" if least == -inf else f" of at least {least:g}"))
        return float(value)

    def agree(self, what: str, a: Dim, b: Dim) -> None:
        """Raise GraphError if the sizes differ. what: the sizes' meaning, for the message."""
        if not same_dim(a, b):
            self.fail(f"{what}: {a} and {b} differ")
