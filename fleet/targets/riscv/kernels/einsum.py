"""einsum: products of elements summed over the labels that the result lacks, in the order of their first appearance.

Two operands are summed by fused multiply-adds, sequentially; more than two are multiplied from left to right first.
"""

from __future__ import annotations

from collections.abc import Sequence

from fleet.ir import dialect as d
from fleet.ir.dialect import FleetOp
from fleet.targets.riscv.kernels.elementwise import compute
from fleet.targets.riscv.kernels.kernel import ArrayOperand, Builder, Value, fused, index, is_float, load, number, store
from fleet.targets.riscv.kernels.loops import Carried, nest_fold
from fleet.targets.riscv.plan import refuse


def emit_einsum(b: Builder, op: FleetOp, out: ArrayOperand, operands: Sequence[ArrayOperand], subscripts: str) -> None:
    """Emit `numpy.einsum` with an explicit result and without an ellipsis."""
    left, arrow, result = subscripts.replace(" ", "").partition("->")
    labels = left.split(",")
    if not arrow or "." in subscripts or len(labels) != len(operands):
        raise refuse(op, f"subscripts {subscripts!r}; expected labels of {len(operands)} operands, '->' and those of the result")
    sizes: dict[str, int] = {}
    for words, array in zip(labels, operands, strict=True):
        if len(words) != len(array.shape):
            raise refuse(op, f"labels {words!r} of shape {array.shape}")
        for label, size in zip(words, array.shape, strict=True):
            known = sizes.setdefault(label, size)
            if known == 1:
                sizes[label] = size
            elif size not in (1, known):
                raise refuse(op, f"label {label!r} has sizes {known} and {size}")
    if tuple(sizes[label] for label in result) != out.shape:
        raise refuse(op, f"result shape {out.shape}; expected {tuple(sizes[label] for label in result)}")
    summed = [label for label in sizes if label not in result]

    def steps(names: Sequence[str], words: str, array: ArrayOperand) -> list[int]:
        return [sum(s for w, s, n in zip(words, array.strides, array.shape, strict=True) if w == name and n > 1) for name in names]

    dtype = out.dtype
    outer = [steps(result, result, out), *(steps(result, w, a) for w, a in zip(labels, operands, strict=True))]
    inner = [steps(summed, w, a) for w, a in zip(labels, operands, strict=True)]

    def cell(offsets: list[Value], _: Carried) -> Carried:
        def step(places: list[Value], carried: Carried) -> Carried:
            values = [load(b, a, p, dtype) for a, p in zip(operands, places, strict=True)]
            if len(values) == 2 and is_float(dtype):
                return [fused(b, values[0], values[1], carried[0])]
            product = values[0]
            for value in values[1:]:
                product = compute(b, op, d.MulOp, product, value, dtype)
            return [compute(b, op, d.AddOp, carried[0], product, dtype)]

        shape = [sizes[label] for label in summed]
        total = nest_fold(b, shape, inner, offsets[1:], [number(dtype, 0)], step)
        store(b, out, offsets[0], total[0])
        return []

    nest_fold(b, out.shape, outer, [index(0)] * len(outer), [], cell, 1)
