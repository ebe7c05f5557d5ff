"""The loops of a kernel: which indices they run over, and which operations they can compute."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.ir import SSAValue

from fleet.ir.operations.composite import ActivationOp, CompositeOp
from fleet.ir.operations.movement import ReshapeOp
from fleet.ir.operations.operation import ElementwiseOp, FleetOp, ReduceOp, attributes_of
from fleet.ir.operations.reductions import MatmulOp
from fleet.ir.types import is_tensor, shape_of


def is_elementwise(op: FleetOp) -> bool:
    """True if each element of the result depends on one element of every operand."""
    return isinstance(op, ActivationOp) or (isinstance(op, ElementwiseOp) and not isinstance(op, CompositeOp | MatmulOp))


@dataclass(frozen=True)
class KernelSpace:
    """Loops over the indices of `shape`; those of the axes `reduced` are the inner ones, and together they are a row.

    Values have one element an index (shape `shape`) or one a row: `shape` with the reduced axes 1 (`kept`) or gone (`removed`).
    """

    shape: tuple[int, ...]
    reduced: tuple[int, ...] = ()

    @property
    def kept(self) -> tuple[int, ...]:
        """The shape of one value a row, as `keepdims` has it."""
        return tuple(1 if i in self.reduced else n for i, n in enumerate(self.shape))

    @property
    def removed(self) -> tuple[int, ...]:
        """The shape of one value a row, without the reduced axes."""
        return tuple(n for i, n in enumerate(self.shape) if i not in self.reduced)

    def is_row(self, shape: tuple[int, ...]) -> bool:
        """True if values of that shape have one element a row."""
        return bool(self.reduced) and shape in (self.kept, self.removed)

    def takes(self, op: FleetOp, inside: Callable[[SSAValue], bool]) -> bool:
        """True if the loops compute the operation, each value where it is needed. inside: they compute an operand of it."""
        result = shape_of(op.results[0].type)
        if not is_tensor(op.results[0].type):
            return False
        if isinstance(op, ReduceOp):
            same = shape_of(op.operand.type) == self.shape and bool(self.reduced)
            return same and tuple(attributes_of(op)["axes"]) == self.reduced
        own = [shape_of(v.type) for v in op.operands if inside(v)]
        if isinstance(op, ReshapeOp):
            return bool(own) and self.is_row(result) and self.is_row(own[0])
        if not is_elementwise(op) or not (result == self.shape or self.is_row(result)):
            return False
        return all(shape == result or (self.is_row(shape) and self._aligned(shape, result)) for shape in own)

    def _aligned(self, shape: tuple[int, ...], result: tuple[int, ...]) -> bool:
        """True if NumPy broadcasts one value a row along that row."""
        leading = self.reduced == tuple(range(len(self.reduced)))
        return result != self.removed and (shape == self.kept or leading)


def space_of(op: FleetOp) -> KernelSpace | None:
    """Return the loops that an operation alone needs; None if it is not part of kernels. Shapes may be unknown.

    A reduction of rows of one element, or of no axes, does not count: its rows and its elements have one shape.
    """
    type_ = op.results[0].type
    if isinstance(op, ReduceOp):
        shape, axes = shape_of(op.operand.type), tuple(attributes_of(op)["axes"])
        row = [shape[a] for a in axes]
        return KernelSpace(shape, axes) if min(shape, default=0) > 0 and max(row, default=1) > 1 else None
    if not is_elementwise(op) or not is_tensor(type_) or min(shape_of(type_), default=1) <= 0:
        return None
    return KernelSpace(shape_of(type_))
