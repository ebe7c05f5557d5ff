"""Multi-head attention, sequence by sequence and head by head: scores in scratch memory, softmax there, product with the values.

Queries, keys and values are read in place, without transposing or splitting. Scores are (q k) scale + mask, each step rounded;
positions that `causal` excludes get the number of the composite's definition.
"""

from __future__ import annotations

from dataclasses import dataclass

from llvmlite import ir

from fleet.ir.expand import MASKED
from fleet.targets.riscv.isa import Isa
from fleet.targets.riscv.kernels.composite import ElementRow, lanes_for, softmax_row
from fleet.targets.riscv.kernels.kernel import (
    I64,
    ArrayOperand,
    Builder,
    Value,
    broadcast_strides,
    index,
    load,
    load_spread,
    number,
    spread,
    store,
    vector,
)
from fleet.targets.riscv.kernels.loops import fold, loop, moved, pieces
from fleet.targets.riscv.kernels.matmul import ProductShape, emit_product


@dataclass(frozen=True)
class Attention:
    """One attention: queries, keys, elements of a head and of a value's head, heads, and the parameters of the scores."""

    out: ArrayOperand
    q: ArrayOperand
    k: ArrayOperand
    v: ArrayOperand
    heads: int
    kv_heads: int
    scale: float
    causal: bool
    isa: Isa

    @property
    def sequences(self) -> int:
        """Number of sequences."""
        return self.q.shape[0] if len(self.q.shape) == 3 else 1

    @property
    def queries(self) -> int:
        """Rows of q in a sequence."""
        return self.q.shape[-2]

    @property
    def keys(self) -> int:
        """Rows of k and v in a sequence."""
        return self.k.shape[-2]

    @property
    def scores(self) -> ProductShape:
        """Shape of q k^T for one head."""
        depth = self.q.shape[-1] // self.heads
        left, right = (self.q.strides[-2], self.q.strides[-1]), (self.k.strides[-1], self.k.strides[-2])
        return ProductShape(self.queries, depth, self.keys, left, right, self.out.dtype, self.k.dtype, self.isa)

    @property
    def context(self) -> ProductShape:
        """Shape of scores @ v for one head."""
        columns = self.v.shape[-1] // self.kv_heads
        left, right = (self.keys, 1), (self.v.strides[-2], self.v.strides[-1])
        return ProductShape(self.queries, self.keys, columns, left, right, self.out.dtype, self.v.dtype, self.isa)

    @property
    def score_bytes(self) -> int:
        """Bytes of the scores, rounded up to 64."""
        return -(-self.queries * self.keys * self.out.dtype.itemsize // 64) * 64

    @property
    def workspace(self) -> int:
        """Bytes of scratch."""
        return self.score_bytes + max(self.scores.workspace, self.context.workspace)


def emit_attention(b: Builder, a: Attention, mask: ArrayOperand | None, scratch: Value) -> None:
    """Emit all heads of all sequences in a loop."""
    n, m = a.queries, a.keys
    dtype = a.out.dtype
    scores = ArrayOperand(scratch, dtype, (n, m))
    rest = b.gep(scratch, [index(a.score_bytes)], inbounds=True, source_etype=ir.IntType(8))
    width, group = a.q.shape[-1] // a.heads, a.heads // a.kv_heads
    out_width = a.v.shape[-1] // a.kv_heads
    steps = broadcast_strides(mask, (a.sequences, n, m)) if mask is not None else None

    def head(s: Value, h: Value) -> None:
        def start(array: ArrayOperand, head_of: Value, columns: int) -> Value:
            sequence = index(0) if a.sequences == 1 else moved(b, index(0), s, array.strides[0])
            return moved(b, sequence, head_of, columns * array.strides[-1])

        shared = h if group == 1 else b.udiv(h, index(group))
        emit_product(b, a.scores, (scores, index(0)), (a.q, start(a.q, h, width)), (a.k, start(a.k, shared, width)), rest)

        def row(i: Value) -> None:
            line = ElementRow(b, scores, moved(b, index(0), i, m), 1, m)
            added = None
            if mask is not None and steps is not None:
                added = ElementRow(b, mask, moved(b, moved(b, index(0), s, steps[0]), i, steps[1]), steps[2], m)
            finish_scores(b, a, line, i, added)
            softmax_row(b, line, line)

        loop(b, n, row)
        out = start(a.out, h, out_width)
        emit_product(b, a.context, (a.out, out), (scores, index(0)), (a.v, start(a.v, shared, out_width)), rest)

    if a.sequences == 1:
        loop(b, a.heads, lambda h: head(index(0), h))
    else:
        loop(b, a.sequences, lambda s: loop(b, a.heads, lambda h: head(s, h)))


def finish_scores(b: Builder, a: Attention, line: ElementRow, i: Value, mask: ElementRow | None) -> None:
    """Apply scale, mask and the causal limit to one row."""
    dtype = a.out.dtype
    if a.scale == 1.0 and mask is None and not a.causal:
        return
    rows = [line] if mask is None else [line, mask]
    last = b.add(i, index(a.keys - a.queries))
    for first, width, times in pieces(a.keys, lanes_for(b, rows, 8), overlap=False):

        def step(t: Value, first: int = first, width: int = width) -> None:
            j = moved(b, index(first), t, width)
            value = load(b, line.array, line.place(j), dtype, width)
            if a.scale != 1.0:
                value = b.fmul(value, number(dtype, a.scale, width))
            if len(rows) > 1:
                value = b.fadd(value, load_spread(b, rows[1].array, rows[1].place(j), dtype, width, rows[1].stride))
            if a.causal:
                lanes = ir.Constant(vector(I64, width), list(range(width)) if width > 1 else 0)
                key = b.add(spread(b, j, width), lanes)
                seen = b.icmp_signed("<=", key, spread(b, last, width))
                value = b.select(seen, value, number(dtype, MASKED[dtype.name], width))
            store(b, line.array, line.place(j), value)

        fold(b, times, [], lambda t, _, step=step: [step(t)][:0], 4 if width == 1 else 1)
