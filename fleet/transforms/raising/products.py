"""Represents matrix products, written as `@` or `einsum`, as sequences x heads x rows x columns."""

from __future__ import annotations

from typing import NamedTuple

from xdsl.ir import SSAValue

from fleet.ir import dialect as d
from fleet.ir.dialect import FleetOp
from fleet.ir.types import shape_of


class Factor(NamedTuple):
    """An operand: its value, and its axes for the sequences and the heads (None: one), the rows and the columns."""

    value: SSAValue
    sequences: int | None
    heads: int | None
    rows: int
    columns: int

    def turned(self) -> Factor:
        """Return the factor with rows and columns exchanged."""
        return self._replace(rows=self.columns, columns=self.rows)

    def size(self, axis: int | None) -> int:
        """Return the size of one of the axes; 1 for None."""
        return 1 if axis is None else shape_of(self.value.type)[axis]


class FoundProduct(NamedTuple):
    """`result[s, h, i, j] = sum over k of lhs[s, h, i, k] * rhs[s, h, k, j]`; `result` gives the axes of s, h, i and j."""

    op: FleetOp
    lhs: Factor
    rhs: Factor
    result: Factor

    def turned(self) -> FoundProduct:
        """Return the same product with both sides exchanged and transposed."""
        return FoundProduct(self.op, self.rhs.turned(), self.lhs.turned(), self.result.turned())


def product_of(value: SSAValue) -> FoundProduct | None:
    """Return the product that computes a value; None if there is none, or if it has more than two axes in front."""
    op = value.owner
    if isinstance(op, d.MatmulOp):
        factors = [_factor(v, shape_of(v.type)) for v in (op.lhs, op.rhs, op.result)]
        if any(f is None for f in factors):
            return None
        lhs, rhs, result = (f for f in factors if f is not None)
        fronts = {(f.size(f.sequences), f.size(f.heads)) for f in (lhs, rhs, result)}
        return FoundProduct(op, lhs, rhs, result) if len(fronts) == 1 else None
    return _einsum(op) if isinstance(op, d.EinsumOp) and len(op.inputs) == 2 else None


def _factor(value: SSAValue, shape: tuple[int, ...]) -> Factor | None:
    lead = [i for i, size in enumerate(shape[:-2]) if size != 1]
    sequences, heads = [None, None, *lead][-2:]
    return Factor(value, sequences, heads, len(shape) - 2, len(shape) - 1) if len(lead) <= 2 else None


def _einsum(op: d.EinsumOp) -> FoundProduct | None:
    inputs, _, out = op.subscripts.data.partition("->")
    first, _, second = inputs.partition(",")
    if any(len(set(labels)) != len(labels) for labels in (first, second, out)):
        return None
    shared, mine, other = set(first) & set(second), set(first) - set(second), set(second) - set(first)
    batch, summed = [c for c in out if c in shared], shared - set(out)
    if len(batch) > 2 or len(summed) != 1 or len(mine) != 1 or len(other) != 1 or not (mine | other) <= set(out):
        return None
    (k,), (i,), (j,) = summed, mine, other
    sequences, heads = [None, None, *batch][-2:]

    def factor(value: SSAValue, labels: str, rows: str, columns: str) -> Factor:
        s, h = (None if label is None else labels.index(label) for label in (sequences, heads))
        return Factor(value, s, h, labels.index(rows), labels.index(columns))

    lhs, rhs = op.inputs
    return FoundProduct(op, factor(lhs, first, i, k), factor(rhs, second, k, j), factor(op.result, out, i, j))
