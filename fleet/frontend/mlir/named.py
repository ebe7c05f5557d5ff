"""Named operations of linalg that xDSL lacks: their loops and bodies, so that they are read as any `linalg.generic` is."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AffineMapAttr, AnyFloat, ArrayAttr
from xdsl.dialects.linalg.abstract_ops import NamedOperation
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.dialects.linalg.ops import YieldOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import irdl_op_definition

_PRODUCTS: Mapping[str, tuple[str, str, str, str]] = {
    "linalg.batch_matmul": ("bmnk", "bmk", "bkn", "bmn"),
    "linalg.matvec": ("mk", "mk", "k", "m"),
    "linalg.vecmat": ("nk", "k", "kn", "n"),
    "linalg.dot": ("k", "k", "k", ""),
}
"""Sums of products: the loops, outermost first, then those of the operands and of the result, a letter each."""

_ELEMENTWISE: Mapping[str, Callable[..., Operation]] = {
    "linalg.div": arith.DivfOp,
    "linalg.negf": arith.NegfOp,
    "linalg.abs": math.AbsFOp,
    "linalg.tanh": math.TanhOp,
    "linalg.rsqrt": math.RsqrtOp,
    "linalg.ceil": math.CeilOp,
    "linalg.floor": math.FloorOp,
    "linalg.erf": math.ErfOp,
}
"""One operation on elements of one shape."""


class _Named(NamedOperation, ABC):
    """An operation of linalg with a region that its text leaves out."""

    def get_indexing_maps(self) -> ArrayAttr[AffineMapAttr]:
        """Return the maps as an attribute."""
        return ArrayAttr(AffineMapAttr(one) for one in self.get_default_indexing_maps())


class _Product(_Named, ABC):
    @classmethod
    def get_hidden_region(cls, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]) -> Region:
        """Return the body: multiply and add."""
        block = Block(arg_types=cls.body_arg_types((*inputs, *outputs)))
        floats = isinstance(block.args[-1].type, AnyFloat)
        x, y, so_far = block.args
        product: Any = arith.MulfOp(x, y) if floats else arith.MuliOp(x, y)
        total: Any = arith.AddfOp(so_far, product) if floats else arith.AddiOp(so_far, product)
        block.add_ops([product, total, YieldOp(total)])
        return Region(block)

    def get_default_indexing_maps(self) -> Sequence[AffineMap]:
        """Return the maps of operands and result."""
        loops, *terms = _PRODUCTS[self.name]
        return [AffineMap(len(loops), 0, tuple(AffineExpr.dimension(loops.index(c)) for c in term)) for term in terms]

    def get_iterator_types(self) -> ArrayAttr[IteratorTypeAttr]:
        """Return the kinds of the loops."""
        loops, *_, out = _PRODUCTS[self.name]
        return ArrayAttr(IteratorTypeAttr.parallel() if c in out else IteratorTypeAttr.reduction() for c in loops)


class _Elementwise(_Named, ABC):
    @classmethod
    def get_hidden_region(cls, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]) -> Region:
        """Return the body."""
        block = Block(arg_types=cls.body_arg_types((*inputs, *outputs)))
        op = _ELEMENTWISE[cls.name](*block.args[: len(inputs)])
        block.add_ops([op, YieldOp(op)])
        return Region(block)

    def get_default_indexing_maps(self) -> Sequence[AffineMap]:
        """Return the maps of operands and result."""
        type_: Any = self.outputs[0].type
        return [AffineMap.identity(len(type_.get_shape()))] * (len(self.inputs) + 1)

    def get_iterator_types(self) -> ArrayAttr[IteratorTypeAttr]:
        """Return the kinds of the loops."""
        return ArrayAttr(IteratorTypeAttr.parallel() for _ in range(self.get_default_indexing_maps()[0].num_dims))


def _made(name: str, base: type[Operation]) -> type[Operation]:
    word = "".join(part.title() for part in name.partition(".")[2].split("_"))
    made: Any = type(f"{word}Op", (base,), {"name": name, "__doc__": f"`{name}`.", "__module__": __name__})
    return irdl_op_definition(made)


NAMED: Sequence[type[Operation]] = (
    *(_made(name, _Product) for name in _PRODUCTS),
    *(_made(name, _Elementwise) for name in _ELEMENTWISE),
)
"""The operations."""
