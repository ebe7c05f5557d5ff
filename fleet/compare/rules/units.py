"""Error of operations that an accelerator's unit computes as a whole (see `table`).

Chaining the rules of the textbook sequence would prove less: the denominator of a softmax moves together with its numerators, and
a normalised row cannot exceed the square root of its length, whatever its input's error is. So the error is split in two, with f
the operation in real arithmetic, x' what the unit reads and x the golden's operands:
  spread    |f(x') - f(x)|, from bounds on x' - x, by element and as a vector: the Euclidean norm of a row's error
            (`BoundStep.norms`) bounds a product far better than its elements do, which cannot all be at their worst at once
  rounding  |unit(x') - f(x')|, from the instruction set's statement of the unit (`Arithmetic`: how often a term of a sum is
            rounded, in which dtype inner tensors are stored, how far a table is from the function that it replaces)
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import sqrt
from typing import NamedTuple

import numpy as np

from fleet.compare.rules.arithmetic import product_parts
from fleet.compare.rules.steps import Arithmetic, Array, BoundStep, RuleSplit, clean, gamma, rounded_store, row_norm, some, unit
from fleet.ir.dialect import FleetOp, TanhOp
from fleet.ir.operations import composite as c
from fleet.ir.types import shape_of
from fleet.targets.bytecode.erf import erf

_SLACK = 64 * float(np.finfo(np.float64).eps)
"""Covers the error of the functions below, which are computed in binary64 themselves."""


def _sigmoid(x: Array) -> Array:
    return 0.5 * (1.0 + np.tanh(0.5 * x))


def _gelu_tanh(x: Array) -> Array:
    return 0.5 * x * (1.0 + np.tanh(sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def _gelu(x: Array) -> Array:
    return 0.5 * x * (1.0 + erf(x / sqrt(2)))


class Activation(NamedTuple):
    """An activation function.

    lowest: where it has its minimum; None if it is monotone. slope: the steepest. inner: elementary function inside it.
    """

    function: Callable[[Array], Array]
    lowest: float | None
    slope: float
    inner: str


ACTIVATIONS: Mapping[str, Activation] = {
    "gelu_tanh": Activation(_gelu_tanh, -0.7524614, 1.13, "tanh"),
    "gelu": Activation(_gelu, -0.7517916, 1.13, "erf"),
    "silu": Activation(lambda x: x * _sigmoid(x), -1.2784645, 1.1, "exp"),
    "sigmoid": Activation(_sigmoid, None, 0.25, "exp"),
    "tanh": Activation(np.tanh, None, 1.0, "tanh"),
    "relu": Activation(lambda x: np.maximum(x, 0.0), None, 1.0, ""),
}

_STEPS = 8
"""Roundings of the textbook sequence of an activation, except its elementary function: polynomial, sum, products."""


def activation_split(name: str, x: Array, e: Array, row: Array, dtype: np.dtype, how: Arithmetic) -> RuleSplit:
    """Split the error of activation `name` at x, computed at a point within e of x. row: norm of a row's error."""
    f, lowest, slope, inner = ACTIVATIONS[name]
    value = f(x)
    ends = np.maximum(np.abs(f(x + e) - value), np.abs(f(x - e) - value))
    if lowest is not None:
        ends = np.where(np.abs(x - lowest) <= e, np.maximum(ends, np.abs(f(np.asarray(lowest)) - value)), ends)
    spread = np.where(e == 0, 0.0, np.fmin(ends, slope * e) + _SLACK * (np.abs(x) + 1.0))
    if name == "relu":
        rounding: Array = np.zeros_like(x)
    elif name in how.absolute:
        rounding = np.full(x.shape, how.absolute[name])
    else:
        u, half = unit(dtype)
        # 1 + tanh (erf, exp) has an absolute error of a few u, which x multiplies; the argument's own rounding moves the inner
        # function by at most its relative error, for x f'(x) is bounded by 1.5 for all of them (4 |x| exp(-|x|) for exp).
        steps = (_STEPS + 2 * how.ulp.get(inner, 0.5)) * u
        growth = np.abs(x) + e + 1.0 if name in {"gelu", "gelu_tanh", "silu"} else np.ones_like(x)
        rounding = steps * growth * 1.5 + half
    return RuleSplit(spread, rounding, slope * row + row_norm(np.where(e == 0, 0.0, _SLACK * (np.abs(x) + 1.0))))


def _activation(name: str) -> Callable[[BoundStep], RuleSplit]:
    return lambda s: activation_split(name, s.x[0], s.e[0], s.norm(0), s.dtype, s.how)


def _gelu_unit(s: BoundStep) -> RuleSplit:
    assert isinstance(s.op, c.GeluOp)
    name = "gelu_tanh" if s.op.approximate.data == "tanh" else "gelu"
    return activation_split(name, s.x[0], s.e[0], s.norm(0), s.dtype, s.how)


def _roundings(s: BoundStep, count: int) -> int:
    """Return the roundings of a term of a sum: as stated, else for any order."""
    return max(count - 1, 0) if s.how.roundings is None else s.how.roundings


def _products(s: BoundStep, count: int) -> int:
    """Return the roundings of a term of an attention's sum of products: as stated, else as those of its other sums."""
    return _roundings(s, count) if s.how.products is None else s.how.products


def _normalised(s: BoundStep, eps: float, gain: Array, shift: Array, centre: bool) -> RuleSplit:
    """Bound (x - mean) * rsqrt(var + eps) * gamma + beta over the last axis, or without mean and beta; gamma and beta are exact.

    z = sqrt(n) d / sqrt(|d|^2 + n eps) moves by at most sqrt(n) |d' - d| / (the smallest value of the root in between).
    """
    x, e, norm = s.x[0], s.e[0], s.norm(0)[..., None]
    n = x.shape[-1]
    d = x - x.mean(axis=-1, keepdims=True) if centre else x
    length = np.sqrt((d * d).sum(axis=-1, keepdims=True))
    root, least = np.sqrt(length**2 + n * eps), np.sqrt(np.maximum(length - norm, 0.0) ** 2 + n * eps)
    z, steepest = sqrt(n) * d / root, sqrt(n) / least
    ed = e + np.fmin(e.mean(axis=-1, keepdims=True), norm / sqrt(n)) if centre else e
    row = np.fmin(steepest * norm, 2 * sqrt(n))
    spread = np.fmin(np.fmin(ed * steepest + np.abs(d) * (steepest - sqrt(n) / root), row), np.abs(z) + sqrt(n))
    # The unit's own error, at any point within the spread.
    u, half = unit(s.dtype)
    g = gamma(_roundings(s, n) + 3, s.dtype) + s.how.relative.get("reciprocal", 0.0)
    size = np.fmin(np.abs(z) + spread, sqrt(n))
    shifted = g * (np.abs(x) + e).mean(axis=-1, keepdims=True) * steepest if centre else np.zeros_like(length)
    shifted = shifted + u * size + half * steepest
    widest = shifted.max(axis=-1, keepdims=True)
    relative = 2 * widest + widest**2 + g + 2 * u
    # |1 / sqrt(1 + r) - 1| <= r for |r| <= 1/2. Beyond that, the unit still divides its own deviations by their own root, so none
    # of its results exceeds sqrt(n) except by the last roundings.
    own = (4 + 2 * s.how.ulp.get("rsqrt", 1.0)) * u
    relative = np.where(relative < 0.5, relative, np.inf) + own
    rounding = np.fmin(shifted * (1 + relative) + size * relative + 2 * u * size, np.abs(z) + sqrt(n) * (1 + 2 * g + own) - spread)
    rounding = np.abs(gain) * rounding + 2 * u * (np.abs(gain) * size + np.abs(shift)) + half
    return RuleSplit(spread * np.abs(gain), rounding, (np.abs(gain).max() * row)[..., 0])


def _layer_norm(s: BoundStep) -> RuleSplit | None:
    op = s.op
    assert isinstance(op, c.LayerNormOp)
    if s.e[1].any() or s.e[2].any() or int(op.axis.value.data) not in {-1, s.x[0].ndim - 1}:
        return None
    return _normalised(s, float(op.eps.value.data), s.x[1], s.x[2], centre=True)


def _rms_norm(s: BoundStep) -> RuleSplit | None:
    assert isinstance(s.op, c.RmsNormOp)
    return None if s.e[1].any() else _normalised(s, float(s.op.eps.value.data), s.x[1], np.zeros(()), centre=False)


def softmax_spread(z: Array, e: Array, axis: int) -> tuple[Array, Array]:
    """Return (probabilities, how far they may move) of a softmax of z, at points within e of z.

    Each probability lies between its value with its own number low and all others high, and the reverse.
    """
    top = np.max(np.where(np.isfinite(z), z, -np.inf), axis=axis, keepdims=True)
    t = z - top
    mid = np.exp(t)
    p = mid / mid.sum(axis=axis, keepdims=True)
    high, low = np.exp(np.minimum(t + e, 700.0)), np.exp(np.minimum(t - e, 700.0))
    high, low = np.where(np.isnan(high), np.inf, high), np.where(np.isnan(low), 0.0, low)
    # Infinite errors give 0 / 0 below; then only the range of a probability is known.
    p_high = high / (high + np.maximum(low.sum(axis=axis, keepdims=True) - low, 0.0))
    p_low = low / (low + np.maximum(high.sum(axis=axis, keepdims=True) - high, 0.0))
    p_high, p_low = np.where(np.isnan(p_high), 1.0, p_high), np.where(np.isnan(p_low), 0.0, p_low)
    moved = np.maximum(p_high - p, p - p_low)
    if not e.any():
        return p, np.zeros_like(p)
    return p, np.minimum(np.where(p_high > 0, moved + _SLACK, 0.0), 1.0)


def _softmax_rounding(z: Array, e: Array, p: Array, axis: int, dtype: np.dtype, how: Arithmetic) -> Array:
    """Return what a unit adds to probabilities of at most p, for numbers within e of z."""
    u, half = unit(dtype)
    # An exponent is rounded once (x - max), its exponential within its ULPs; the large terms dominate the sum.
    below = np.max(np.where(np.isfinite(z), z + e, -np.inf), axis=axis, keepdims=True) - np.where(np.isfinite(z), z - e, np.inf)
    exponent = (np.clip(below, 0.0, 104.0) + 1.0) * u + 2 * how.ulp.get("exp", 0.5) * u
    n = z.shape[axis]
    in_sum = np.fmin((p * exponent).sum(axis=axis, keepdims=True), exponent.max(axis=axis, keepdims=True))
    k = max(n - 1, 0) if how.roundings is None else how.roundings
    relative = exponent + in_sum + gamma(k, dtype) + (2 * how.ulp.get("recip", 0.5) + 2) * u
    relative = relative / np.maximum(1 - relative, 0.5)
    return relative * p + np.where(p > 0, np.exp(-87.0) + 2 * half, 0.0)


def _softmax(s: BoundStep) -> RuleSplit:
    assert isinstance(s.op, c.SoftmaxOp)
    axis = int(s.op.axis.value.data)
    p, moved = softmax_spread(s.x[0], s.e[0], axis)
    rounding = _softmax_rounding(s.x[0], s.e[0], np.minimum(p + moved, 1.0), axis, s.dtype, s.how)
    # The Jacobian diag(p) - p p' has no eigenvalue above one half.
    last = axis in {-1, s.x[0].ndim - 1}
    return RuleSplit(moved, rounding, 0.5 * s.norm(0) + row_norm(np.full(p.shape, _SLACK)) if last else row_norm(moved))


class _Part(NamedTuple):
    """An operand of one head: values [rows, channels], elementwise errors, norms of a row's error."""

    x: Array
    e: Array
    norm: Array


def _attention(s: BoundStep) -> RuleSplit:
    if s.x[0].ndim == 2:
        return _attention_of_one(s)
    parts = [_attention_of_one(_sequence(s, i)) for i in range(s.x[0].shape[0])]
    spread, rounding, rows = (np.stack(arrays) for arrays in zip(*parts, strict=True))
    return RuleSplit(spread, rounding, rows)


def _sequence(s: BoundStep, i: int) -> BoundStep:
    """Return the step of sequence i alone. A mask without an axis of sequences is of them all."""

    def of(arrays: Sequence[Array], rank: int) -> list[Array]:
        return [a[i if len(a) > 1 else 0] if a.ndim == rank else a for a in arrays]

    return replace(s, x=of(s.x, 3), e=of(s.e, 3), norms=of([s.norm(j) for j in range(len(s.x))], 2), kept={})


def _attention_of_one(s: BoundStep) -> RuleSplit:
    op = s.op
    assert isinstance(op, c.AttentionOp)
    heads, kv_heads = int(op.heads.value.data), int(op.kv_heads.value.data)
    q, k = s.x[:2]
    (n, m), d = (q.shape[0], k.shape[0]), k.shape[1] // kv_heads
    hidden = np.triu(np.ones((n, m), bool), m - n + 1) if op.causal.value.data else np.zeros((n, m), bool)
    mask = (s.x[3], s.e[3]) if op.mask is not None else (np.zeros(()), np.zeros(()))
    spread, rounding, rows = np.zeros_like(q), np.zeros_like(q), np.zeros((n, heads))
    shared = np.zeros((n, m))
    for head in range(heads):
        mine = slice(head * d, (head + 1) * d)
        kv = head // (heads // kv_heads)
        theirs = slice(kv * d, (kv + 1) * d)
        parts = [_part(s, i, at) for i, at in enumerate((mine, theirs, theirs))]
        one = _head(s, parts, mask, hidden, float(op.scale.value.data))
        spread[:, mine], rounding[:, mine], rows[:, head] = one.spread, one.rounding, one.row
        shared = np.maximum(shared, one.weights)
    # The effect of errors of the values, over all heads: by Jensen's inequality no more than with the largest weight of any head. A
    # value that several heads read counts once for each.
    values = np.sqrt((heads // kv_heads) * (shared @ (s.norm(2) ** 2)))
    return RuleSplit(spread, rounding, np.sqrt((rows**2).sum(axis=1)) + values)


def _part(s: BoundStep, i: int, at: slice) -> _Part:
    e = s.e[i][:, at]
    return _Part(s.x[i][:, at], e, np.fmin(s.norm(i), row_norm(e)))


class _Head(NamedTuple):
    """The bound of one head.

    spread, rounding: [n, d]. row: norm of the part of the spread that comes from moved weights, [n]. weights: upper bounds, [n, m].
    """

    spread: Array
    rounding: Array
    row: Array
    weights: Array


def _head(s: BoundStep, parts: list[_Part], mask: tuple[Array, Array], hidden: Array, scale: float) -> _Head:
    q, k, v = parts
    u, half = unit(s.dtype)
    size = abs(scale)
    lengths = (row_norm(q.x)[:, None], row_norm(k.x)[None, :])
    moved_score = size * np.fmin(
        q.e @ np.abs(k.x).T + (np.abs(q.x) + q.e) @ k.e.T,
        q.norm[:, None] * lengths[1] + (lengths[0] + q.norm[:, None]) * k.norm[None, :],
    )
    score = scale * (q.x @ k.x.T)
    z, ez = np.where(hidden, -np.inf, score + mask[0]), np.where(hidden, 0.0, moved_score + mask[1])
    p, moved = softmax_spread(z, ez, 1)
    seen = p + moved > 0
    weights = np.minimum(p + moved, 1.0)
    y = p @ v.x
    # The weights sum to 1 before and after, so what they move counts only relative to the mean; and the result stays within the
    # range of the values whatever the weights become.
    spread, row = np.zeros_like(y), np.zeros(y.shape[0])
    for i in range(y.shape[0]):
        far = np.abs(v.x[seen[i]] - y[i])
        spread[i] = np.fmin(moved[i, seen[i]] @ far, np.max(far, axis=0, initial=0.0))
        distance = row_norm(v.x[seen[i]] - y[i])
        row[i] = np.fmin(moved[i, seen[i]] @ distance, np.max(distance, initial=0.0))
    spread = spread + np.fmin(weights @ v.e, np.max(np.where(seen[:, :, None], v.e[None], 0.0), axis=1))
    # The unit's own error: its scores are within `ec` of the exact scores of its operands, which changes its weights by a factor.
    g = gamma(_products(s, q.x.shape[1]) + 2, s.dtype) + s.how.relative.get("scale", 0.0)
    ec = g * size * ((np.abs(q.x) + q.e) @ (np.abs(k.x) + k.e).T) + half
    if s.how.inner is not None:
        ec = rounded_store(np.abs(score) + moved_score, ec, s.how.inner)
    if mask[0].ndim:
        ec = ec + u * (np.abs(score + mask[0]) + moved_score + ec)
    ec = np.where(hidden, 0.0, ec)
    loose = weights * np.expm1(np.minimum(ec + np.max(np.where(seen, ec, 0.0), axis=1, keepdims=True), 700.0))
    loose = np.fmin(loose, 1.0)
    loose = loose + _softmax_rounding(z, ez + ec, np.minimum(weights + loose, 1.0), 1, s.dtype, s.how)
    if s.how.inner is not None:
        loose = rounded_store(weights, loose, s.how.inner)
    loose = np.where(seen, loose, 0.0)
    largest = np.abs(v.x) + v.e
    g = gamma(_products(s, k.x.shape[0]) + 1, s.dtype)
    return _Head(spread, loose @ largest + g * ((weights + loose) @ largest) + half, row, weights)


def _rope(s: BoundStep) -> RuleSplit:
    assert isinstance(s.op, c.RopeOp)
    (x, cos, sin), (e, ec, es) = s.x[:3], s.e[:3]
    u, half = unit(s.dtype)
    width = x.shape[-1] // 2
    pairs = (slice(0, None, 2), slice(1, None, 2)) if s.op.interleaved.value.data else (slice(0, width), slice(width, None))
    spread, rounding = np.zeros_like(x), np.zeros_like(x)
    for mine, other in (pairs, pairs[::-1]):
        a, b, ea, eb = x[..., mine], x[..., other], e[..., mine], e[..., other]
        size = (np.abs(a) + ea) * (np.abs(cos) + ec) + (np.abs(b) + eb) * (np.abs(sin) + es)
        spread[..., mine] = ea * (np.abs(cos) + ec) + np.abs(a) * ec + eb * (np.abs(sin) + es) + np.abs(b) * es
        rounding[..., mine] = 2 * u * (1 + u) * size + 2 * half
    return RuleSplit(spread, rounding, row_norm(spread))


def _linear(s: BoundStep) -> RuleSplit:
    """Bound a linear operation. The weights have no errors: the device's are the golden's."""
    op = s.op
    assert isinstance(op, c.LinearOp)
    at = 2
    first = BoundStep(op, s.x[:2], s.e[:2], s.dtype, s.how, norms=s.norms[:2])
    value = s.x[0] @ s.x[1]
    spread, rounding, row = product_split(first)
    if op.bias is not None:
        value = value + s.x[at]
        spread = spread + s.e[at]
        rounding = rounded_store(value, spread + rounding, s.dtype) - spread
        at += 1
    name = op.activation.data
    if name != "none":
        if s.how.inner is not None and name != "relu":
            rounding = rounded_store(value, spread + rounding, s.how.inner) - spread
        f, slope = ACTIVATIONS[name].function, ACTIVATIONS[name].slope
        inner = activation_split(name, value, spread + rounding, row + row_norm(rounding), s.dtype, s.how)
        rounding = inner.rounding + slope * rounding
        spread, row, value = slope * spread, slope * row, f(value)
        if s.how.inner is not None and op.residual is not None:
            rounding = rounded_store(value, spread + rounding, s.how.inner) - spread
    if op.residual is not None:
        value, spread, row = value + s.x[at], spread + s.e[at], row + s.norm(at)
        rounding = rounded_store(value, spread + rounding, s.dtype) - spread
    shape = shape_of(op.results[0].type)
    return RuleSplit(np.broadcast_to(spread, shape), np.broadcast_to(clean(rounding), shape), row)


def product_split(s: BoundStep) -> RuleSplit:
    """Split the error of x @ w: a row's error grows at most by the largest singular value, an element's by its column's length."""
    spread, rounding = product_parts(s)
    if s.x[1].ndim != 2 or some(s.e[1]) or not some(s.e[0]):
        return RuleSplit(spread, rounding, row_norm(spread))
    norm = s.norm(0)
    tight = np.fmin(spread, norm[..., None] * np.sqrt((s.x[1] ** 2).sum(axis=0)))
    row = row_norm(tight)
    return RuleSplit(tight, rounding, np.fmin(row, norm * _largest_singular_value(s.x[1])) if s.norms else row)


_KEPT = 4096

_MOST = 1 << 23
"""Number of matrix elements above which the Frobenius norm replaces the largest singular value."""


_singular_values: dict[bytes, float] = {}
"""By the hash of a matrix: every comparison of a model meets the same weights."""


def _largest_singular_value(w: Array) -> float:
    key = hashlib.blake2b(np.ascontiguousarray(w).data, digest_size=16, key=repr(w.shape).encode()).digest()
    if key not in _singular_values:
        if len(_singular_values) >= _KEPT:
            _singular_values.clear()
        _singular_values[key] = _singular_value(w)
    return _singular_values[key]


def _singular_value(w: Array) -> float:
    if w.size > _MOST or not np.isfinite(w).all():
        return float(np.linalg.norm(w))
    gram = w @ w.T if w.shape[0] <= w.shape[1] else w.T @ w
    # The eigenvalue's own error is a few eps of the matrix's norm times its size.
    return float(np.sqrt(np.linalg.eigvalsh(gram)[-1] + _SLACK * gram.shape[0] * np.trace(gram)))


UNITS: Mapping[type[FleetOp], Callable[[BoundStep], RuleSplit | None]] = {
    c.SoftmaxOp: _softmax,
    c.LayerNormOp: _layer_norm,
    c.RmsNormOp: _rms_norm,
    c.GeluOp: _gelu_unit,
    c.SiluOp: _activation("silu"),
    c.SigmoidOp: _activation("sigmoid"),
    TanhOp: _activation("tanh"),
    c.RopeOp: _rope,
    c.LinearOp: _linear,
    c.AttentionOp: _attention,
}
"""Each composite, and primitive operations that a table may replace. None: nothing is known."""
