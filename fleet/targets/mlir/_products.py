"""Matrix products and einsum: loops that multiply and add.

The last dimension of the result is the innermost loop, so that the right operand is read along its rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from fleet.ir import dialect as d
from fleet.ir.dialect import FleetOp
from fleet.ir.operations.operation import attributes_of
from fleet.ir.types import numpy_dtype, shape_of
from fleet.targets.mlir import _scalar as scalar
from fleet.targets.mlir._elementwise import cast_to
from fleet.targets.mlir._emitter import Dim, MlirEmitter, fixed
from fleet.targets.mlir._reductions import accumulator


def matmul(e: MlirEmitter, op: FleetOp, values: Sequence[SSAValue]) -> SSAValue:
    """One `linalg.generic` that multiplies and adds, the columns innermost; float16 is summed in float32."""
    left, right = (len(shape_of(v.type)) for v in values)
    lead = max(left, right) - 2 if max(left, right) > 2 else 0
    batch = "".join(chr(ord("A") + n) for n in range(lead))
    lhs = batch[lead - (left - 2) :] + "mk" if left > 1 else "k"
    rhs = batch[lead - (right - 2) :] + "kn" if right > 1 else "k"
    out = batch + ("m" if left > 1 else "") + ("n" if right > 1 else "")
    return product(e, op, values, [lhs, rhs], out)


def einsum(e: MlirEmitter, op: FleetOp, values: Sequence[SSAValue]) -> SSAValue:
    """One `linalg.generic`, a loop a letter, the last letter of the result innermost."""
    left, _, out = str(attributes_of(op)["subscripts"]).partition("->")
    return product(e, op, values, left.split(","), out)


def product(e: MlirEmitter, op: FleetOp, values: Sequence[SSAValue], terms: Sequence[str], out: str) -> SSAValue:
    """Return the sum, over the letters that `out` lacks, of the product of the operands; one loop per letter."""
    result = op.results[0].type
    dtype = numpy_dtype(result)
    carried = accumulator(dtype)
    sizes = _sizes(e, values, terms)
    reduced = [c for c in dict.fromkeys("".join(terms)) if c not in out]
    loops = [*out[:-1], *reduced, *out[-1:]]
    place = {letter: n for n, letter in enumerate(loops)}
    dims = [sizes[c] for c in out]
    start = e.filled(e.constant(0, carried), dims)
    reads = [(value, _walk(value, term, sizes, place)) for value, term in zip(values, terms, strict=True)]

    def body(elements: list[SSAValue], outs: list[SSAValue]) -> list[SSAValue]:
        factors = [
            scalar.convert(e, element, numpy_dtype(value.type), carried) for element, value in zip(elements, values, strict=True)
        ]
        total = factors[0]
        for factor in factors[1:]:
            total = scalar.binary(e, d.MulOp, total, factor, carried)
        return [scalar.binary(e, d.AddOp, outs[0], total, carried)]

    outputs = [(start, [AffineExpr.dimension(place[c]) for c in out])]
    doc = "numpy.einsum" if isinstance(op, d.EinsumOp) else None  # its sums have an order of their own
    found = e.generic(reads, outputs, len(loops), body, [place[c] for c in reduced], doc)[0]
    return cast_to(e, found, np.dtype(dtype))


def _sizes(e: MlirEmitter, values: Sequence[SSAValue], terms: Sequence[str]) -> Mapping[str, Dim]:
    sizes: dict[str, Dim] = {}
    for value, term in zip(values, terms, strict=True):
        for axis, letter in enumerate(term):
            size = shape_of(value.type)[axis]
            known = sizes.get(letter)
            if known is None or known == 1 or (size > 1 and not isinstance(known, int)):
                sizes[letter] = e.dim(value, axis)
    return sizes


def _walk(value: SSAValue, term: str, sizes: Mapping[str, Dim], place: Mapping[str, int]) -> list[AffineExpr]:
    shape = shape_of(value.type)
    return [
        fixed(0) if size == 1 and sizes[letter] != 1 else AffineExpr.dimension(place[letter])
        for letter, size in zip(term, shape, strict=True)
    ]
