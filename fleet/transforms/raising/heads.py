"""Matches one head, or one batch of heads and sequences, of attention: softmax(q k^T * scale + mask) v around a product."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from xdsl.ir import SSAValue

from fleet.ir import dialect as d
from fleet.ir.operations.operation import attributes_of
from fleet.ir.types import shape_of
from fleet.transforms.raising import polynomial as p
from fleet.transforms.raising.masks import NEVER
from fleet.transforms.raising.normal import Normal
from fleet.transforms.raising.products import Factor, FoundProduct, product_of
from fleet.transforms.raising.search import backward_cone
from fleet.transforms.simplify.numbers import known_number


class Mask(NamedTuple):
    """The mask of the scores: `factor * value` is added, or `value` (negated if `seen` is False) hides positions.

    The value broadcasts to the scores.
    """

    value: SSAValue
    factor: float
    kind: str
    """"add", "seen" (true where a key is seen) or "hidden" (true where it is not)."""


class Heads(NamedTuple):
    """q is sequences x number x n x d, k and v have m for n; result gives the axes of these in the product's result.

    sequence: the scores' axis of the sequences, counted from the last; None if there is one sequence.
    guarded: whether rows of NaN, which a mask that hides all keys leaves, become zeros.
    """

    q: Factor
    k: Factor
    v: Factor
    result: Factor
    scale: float
    mask: Mask | None
    sequences: int
    sequence: int | None
    number: int
    n: int
    m: int
    d: int
    guarded: bool


def heads_at(value: SSAValue) -> Heads | str | None:
    """Return the heads that compute `value`; a reason if it nearly matches; None otherwise."""
    product = product_of(value)
    if product is None:
        return None
    if _guarded(product.lhs.value) is None:
        product = product.turned()
    softmax = _guarded(product.lhs.value)
    if softmax is None:
        return None
    weights = product.lhs
    rank = len(shape_of(weights.value.type))
    if attributes_of(softmax)["axis"] % rank != weights.columns:
        return "the softmax does not go along the keys"
    if (weights.rows, weights.columns) != (rank - 2, rank - 1):
        return "the scores' last two axes are not queries and keys"
    scores, hidden = _selected(softmax.operand)
    reason = "no product of queries and keys under the softmax"
    for inner, scale, added in _scaled(scores):
        found = _fitting(product, inner, scale, hidden, added)
        if isinstance(found, Heads):
            return found
        reason = found
    return reason


def _fitting(product: FoundProduct, inner: FoundProduct, scale: float, hidden: Mask | None, added: Mask | None) -> Heads | str:
    """Return the heads of a product of scores and values over one of queries and keys, or why they do not fit."""
    weights = product.lhs
    if inner.result.rows != weights.rows:
        inner = inner.turned()
    if inner.result[1:] != weights[1:]:
        return "queries and keys stand in other axes than the softmax expects"
    if added is not None and hidden is not None:
        return "two masks"
    (q, of_q), (k, of_k) = _unscaled(inner.lhs), _unscaled(inner.rhs.turned())
    v, scale = product.rhs, scale * of_q * of_k
    if not np.isfinite(scale) or scale == 0:
        return f"a scale of {scale:g}"
    guarded = not isinstance(weights.value.owner, d.SoftmaxOp)
    sequences, number = weights.size(weights.sequences), weights.size(weights.heads)
    sequence = None if weights.sequences is None else weights.sequences - len(shape_of(weights.value.type))
    sizes = [shape_of(f.value.type) for f in (q, k, v)]
    n, m = sizes[0][q.rows], sizes[1][k.rows]
    width = sizes[0][q.columns]
    if sizes[2][v.columns] != width:
        return f"values have {sizes[2][v.columns]} columns a head, queries {width}"
    if -1 in (sequences, number, n, m, width):
        return "a dimension is unknown"
    return Heads(q, k, v, product.result, scale, hidden or added, sequences, sequence, number, n, m, width, guarded)


def _unscaled(factor: Factor) -> tuple[Factor, float]:
    """Return the operand of a product before it is multiplied by a number, and the number; the operand itself and 1 otherwise."""
    op = factor.value.owner
    if isinstance(op, d.MulOp):
        for kept, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
            number = known_number(other)
            if number is not None and kept.type == op.result.type:
                return factor._replace(value=kept), float(number)
    return factor, 1.0


def _guarded(value: SSAValue) -> d.SoftmaxOp | None:
    """Return the softmax p that a value is, also as `where(isnan(p), 0, p)`; None for others."""
    op = value.owner
    if isinstance(op, d.WhereOp):
        condition, zero, kept = op.operands
        test = condition.owner
        if isinstance(test, d.IsnanOp) and test.operand is kept and known_number(zero) == 0:
            op = kept.owner
    return op if isinstance(op, d.SoftmaxOp) else None


def _selected(scores: SSAValue) -> tuple[SSAValue, Mask | None]:
    """Match `where(seen, scores, -1e10)`: return the scores and the mask; else the scores themselves."""
    op = scores.owner
    if not isinstance(op, d.WhereOp):
        return scores, None
    condition, yes, no = op.operands
    for kind, kept, other in (("seen", yes, no), ("hidden", no, yes)):
        number = known_number(other)
        if number is not None and float(number) <= NEVER:
            return kept, Mask(condition, float(number), kind)
    return scores, None


def _scaled(scores: SSAValue) -> Iterator[tuple[FoundProduct, float, Mask | None]]:
    """Yield the products below the scores, each with its factor and the added mask."""
    for value in backward_cone(scores, 6):
        product = product_of(value)
        if product is None:
            continue
        form = Normal(value)
        normal = dict(form.of(scores))
        scale = normal.pop(((p.X, 1.0),), 0.0)
        if not np.isfinite(scale) or scale == 0 or len(normal) > 1:
            continue
        if not normal:
            yield product, scale, None
            continue
        ((monomial, factor),) = normal.items()
        if len(monomial) == 1 and monomial[0][0][0] == "value" and monomial[0][1] == 1:
            yield product, scale, Mask(form.value(monomial[0][0]), factor, "add")
