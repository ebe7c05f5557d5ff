"""Masks of values without signal: zero except for rounding.

The high frequencies of a constant block are zero. A transform leaves there the rounding error of large numbers that cancel: 1e-15
where the numbers were 100. In decibels this is a ratio of two rounding errors and says nothing of either engine (-283.5 dB for a
codec whose pictures agree). So each operation has a floor, the magnitude that rounding alone may leave of a zero. A reference
whose root mean square is not above the floor has no SQNR.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from xdsl.ir import BlockArgument, SSAValue

from fleet.compare.metrics import root_mean_square
from fleet.ir import dialect as d
from fleet.ir.constants import constant_value
from fleet.ir.dialect import FleetOp, op_id
from fleet.ir.program import Program
from fleet.ir.types import numpy_dtype, shape_of

_MOVES = (
    d.SliceOp, d.ReshapeOp, d.TransposeOp, d.BroadcastToOp, d.ConcatOp, d.PadOp, d.GatherOp, d.CastOp, d.NegOp, d.AbsOp, d.WhereOp,
    d.DynamicReshapeOp, d.DynamicBroadcastOp, d.DynamicSliceOp, d.AddOp, d.SubOp, d.ReduceMaxOp, d.ReduceMinOp, d.MeanOp,
)  # fmt: skip
"""Operations that pass a floor on to their result unchanged."""

_SUMS = (d.AddOp, d.SubOp, d.MatmulOp, d.EinsumOp, d.ReduceSumOp, d.MeanOp)
"""Operations in which large numbers may cancel."""


@dataclass
class Floors:
    """The floors of a trace's operations; ask in program order.

    program: with its weights. inputs: as far as they are known. tensors: of the reference, by operation id.
    """

    program: Program
    inputs: Mapping[str, np.ndarray]
    tensors: Mapping[str, np.ndarray]
    _floor: dict[SSAValue, float] = field(default_factory=dict[SSAValue, float])
    _size: dict[SSAValue, float | None] = field(default_factory=dict[SSAValue, float | None])

    def of(self, op: FleetOp) -> float:
        """Return the root mean square that rounding alone may leave in the operation's result; 0 if unknown."""
        if not op.results or (dtype := numpy_dtype(op.results[0].type)).kind != "f":
            return 0.0
        known = [self._sized(v) for v in op.operands]
        if None in known:
            return 0.0
        sizes = [size for size in known if size is not None]
        floors = [self._floor.get(v, 0.0) for v in op.operands]
        taken = 0.0
        if isinstance(op, _MOVES):
            taken = max(floors, default=0.0)
        elif isinstance(op, d.MatmulOp | d.EinsumOp | d.MulOp) and len(sizes) == 2:
            taken = (floors[0] * sizes[1] + floors[1] * sizes[0]) * self._terms(op) ** 0.5
        elif isinstance(op, d.DivOp) and sizes[1] > 0:
            taken = floors[0] / sizes[1]
        elif isinstance(op, d.ReduceSumOp):
            taken = floors[0] * self._terms(op) ** 0.5
        if isinstance(op, _SUMS):
            size = float(np.prod(sizes)) if isinstance(op, d.MatmulOp | d.EinsumOp) else max(sizes, default=0.0)
            # n terms of one size, cancelling: rounding errors of random sign add up by the square root of n.
            taken += float(np.finfo(dtype).eps) * size * self._terms(op) ** 0.5
        self._floor[op.results[0]] = taken
        return taken

    def _sized(self, value: SSAValue) -> float | None:
        """Return the root mean square of a value; None if the trace lacks it."""
        if value not in self._size:
            owner = value.owner
            if isinstance(owner, d.ConstantOp):
                self._size[value] = abs(float(constant_value(owner)))
            else:
                array = self._array(value)
                self._size[value] = None if array is None else root_mean_square(array, integers=True)
        return self._size[value]

    def _array(self, value: SSAValue) -> np.ndarray | None:
        if isinstance(value, BlockArgument):
            name = self.program.arguments[value.index].name
            found = self.program.weights.get(name, self.inputs.get(name))
        else:
            found = self.tensors.get(op_id(value.owner)) if isinstance(value.owner, FleetOp) else None
        return None if found is None else np.asarray(found)

    @staticmethod
    def _terms(op: FleetOp) -> float:
        """Return the number of terms of a sum."""
        if isinstance(op, d.MatmulOp):
            return float(shape_of(op.lhs.type)[-1])
        if isinstance(op, d.EinsumOp | d.ReduceSumOp | d.MeanOp):
            inside = max(int(np.prod(shape_of(v.type), dtype=np.int64)) for v in op.operands)
            return max(1.0, inside / max(1, int(np.prod(shape_of(op.results[0].type), dtype=np.int64))))
        return 1.0
