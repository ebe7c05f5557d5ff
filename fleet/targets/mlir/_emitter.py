"""Builds functions of upstream dialects with xDSL: constants, sizes, and `linalg.generic` with its maps and body."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import (
    AffineMapAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    StringAttr,
    UnregisteredOp,
)
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from fleet.ir.build import BlockAppender
from fleet.ir.types import element_type, numpy_dtype, shape_of, tensor_type

Dim: TypeAlias = "int | SSAValue"
"""A size or an offset: a number, or an `index` value if it is known only at run time."""

Read: TypeAlias = "tuple[SSAValue, Sequence[AffineExpr]]"
"""An operand of a `linalg.generic` with one expression of the loops for each of its dimensions."""

RegionBody: TypeAlias = Callable[[list[SSAValue], list[SSAValue]], Sequence[SSAValue]]
"""Elements of the operands and of the accumulators -> the yielded values."""

DYNAMIC = -1
"""An unknown size in shapes, as in `fleet.ir.types.shape_of`."""
_INDEX = IndexType()


def through(loops: Sequence[int]) -> list[AffineExpr]:
    """Return the expressions of dimensions that follow these loops."""
    return [AffineExpr.dimension(n) for n in loops]


def fixed(position: int) -> AffineExpr:
    """Return the expression of a dimension that stays at `position`."""
    return AffineExpr.constant(position)


class MlirEmitter(BlockAppender):
    """Appends operations to a block; `inside` switches to the block of a region's body."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self._constants: dict[tuple[Block, Any, Attribute], SSAValue] = {}

    def add(self, op: Operation) -> SSAValue:
        """Append an operation; return its first result."""
        self.block.add_op(op)
        return op.results[0]

    def unregistered(self, name: str, operands: Sequence[SSAValue], result: Attribute) -> SSAValue:
        """Append an operation that xDSL lacks, in MLIR's generic form."""
        return self.add(UnregisteredOp.with_name(name).create(operands=operands, result_types=[result]))

    # ---- numbers and sizes

    def constant(self, value: bool | int | float, dtype: np.dtype) -> SSAValue:
        """Return a number of a NumPy dtype."""
        element: Any = element_type(dtype)
        if dtype.kind == "f":
            with np.errstate(over="ignore"):
                return self._constant(FloatAttr(float(dtype.type(value)), element))
        return self._constant(IntegerAttr(int(value), element))

    def index(self, dim: Dim) -> SSAValue:
        """Return a size or offset as an `index` value."""
        return self._constant(IntegerAttr(dim, _INDEX)) if isinstance(dim, int) else dim

    def _constant(self, attribute: Any) -> SSAValue:
        key = (self.block, str(attribute), attribute.type)
        if key not in self._constants:
            self._constants[key] = self.add(arith.ConstantOp(attribute))
        return self._constants[key]

    def dims(self, value: SSAValue) -> list[Dim]:
        """Return the sizes of a tensor; `tensor.dim` for those that the type does not know."""
        return [self.dim(value, n) for n in range(len(shape_of(value.type)))]

    def dim(self, value: SSAValue, axis: int) -> Dim:
        """Return one size of a tensor."""
        size = shape_of(value.type)[axis]
        return size if size != DYNAMIC else self.add(tensor.DimOp(value, self.index(axis)))

    def fold(self, operation: Callable[[SSAValue, SSAValue], Operation], number: Callable[[int, int], int], a: Dim, b: Dim) -> Dim:
        """Compute with sizes: immediately if both are numbers."""
        if isinstance(a, int) and isinstance(b, int):
            return number(a, b)
        return self.add(operation(self.index(a), self.index(b)))

    def plus(self, a: Dim, b: Dim) -> Dim:
        """Return a + b."""
        return self.fold(arith.AddiOp, lambda x, y: x + y, a, b)

    def times(self, a: Dim, b: Dim) -> Dim:
        """Return a * b."""
        return self.fold(arith.MuliOp, lambda x, y: x * y, a, b)

    # ---- tensors

    def empty(self, dtype: np.dtype, dims: Sequence[Dim], type_: Attribute | None = None) -> SSAValue:
        """Return a tensor without contents. Its type is `type_`, or follows from `dims`."""
        shape = [d if isinstance(d, int) else DYNAMIC for d in dims] if type_ is None else list(shape_of(type_))
        sizes = [self.index(d) for d, size in zip(dims, shape, strict=True) if size == DYNAMIC]
        return self.add(tensor.EmptyOp(sizes, tensor_type(shape, dtype)))

    def filled(self, value: SSAValue, dims: Sequence[Dim], type_: Attribute | None = None) -> SSAValue:
        """Return a tensor filled with one number."""
        shape = [d if isinstance(d, int) else DYNAMIC for d in dims] if type_ is None else list(shape_of(type_))
        sizes = [self.index(d) for d, size in zip(dims, shape, strict=True) if size == DYNAMIC]
        empty = self.add(tensor.EmptyOp(sizes, tensor_type(shape, numpy_dtype(value.type))))
        return self.add(linalg.FillOp([value], [empty]))

    def element(self, value: SSAValue, indices: Sequence[Dim]) -> SSAValue:
        """Extract one element."""
        return self.add(tensor.ExtractOp(value, [self.index(i) for i in indices], element_type(numpy_dtype(value.type))))

    def loop_index(self, loop: int) -> SSAValue:
        """Return the position of a loop, within the body of a `linalg.generic`."""
        return self.add(linalg.IndexOp(loop))

    def generic(
        self,
        reads: Sequence[Read],
        outputs: Sequence[Read],
        loops: int,
        body: RegionBody,
        reduced: Sequence[int] = (),
        doc: str | None = None,
    ) -> list[SSAValue]:
        """Append a `linalg.generic`.

        Args:
            reads: operands; the body gets their elements.
            outputs: initial tensors, with the expressions by which results are written; the body gets their elements, too.
            loops: number of loops, outermost first.
            body: yields one element per output.
            reduced: loops that are not dimensions of the result.
            doc: what the loops compute, for readers of the text.
        """
        block = Block(arg_types=[element_type(numpy_dtype(value.type)) for value, _ in (*reads, *outputs)])
        with self.inside(block):
            elements: list[SSAValue] = list(block.args)
            yielded = body(elements[: len(reads)], elements[len(reads) :])
            block.add_op(linalg.YieldOp(*yielded))
        op = linalg.GenericOp(
            [value for value, _ in reads],
            [value for value, _ in outputs],
            Region(block),
            [AffineMapAttr(AffineMap(loops, 0, tuple(expressions))) for _, expressions in (*reads, *outputs)],
            [IteratorTypeAttr.reduction() if n in reduced else IteratorTypeAttr.parallel() for n in range(loops)],
            [value.type for value, _ in outputs],
            doc=None if doc is None else StringAttr(doc),
        )
        self.block.add_op(op)
        return list(op.results)

    def computed(self, dtype: np.dtype, dims: Sequence[Dim], type_: Attribute | None, body: Callable[[], SSAValue]) -> SSAValue:
        """Return a tensor whose elements `body` computes from the loops' positions (`loop_index`)."""
        empty = self.empty(dtype, dims, type_)
        rank = len(dims)
        return self.generic([], [(empty, through(range(rank)))], rank, lambda _reads, _outs: [body()])[0]
