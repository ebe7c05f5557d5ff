"""Error rules of operations that an accelerator's unit computes as a whole (see `_error_rules`).

Chaining the rules of the textbook sequence would prove less: the denominator of a softmax moves together with its
numerators, and a normalised row cannot grow beyond the square root of its length whatever its input's error is. So an operation
is bounded as the function that it is: first what operand errors can do to it, then the roundings of the unit, as its
instruction set states them (`Arithmetic`: how often a term of a sum is rounded, in which dtype inner tensors are stored, by how
much a table misses the function that it stands for).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import erf, sqrt

import numpy as np

from fleet.cosim._error_arithmetic import ARITHMETIC
from fleet.cosim._error_steps import Arithmetic, Array, Rule, Step, clean, gamma, rounded_store, unit
from fleet.ir import composite as c
from fleet.ir.dialect import FleetOp, MatmulOp, TanhOp
from fleet.ir.types import shape_of

__all__ = ["ACTIVATIONS", "UNITS", "activation_error", "softmax_error"]

_erf: Callable[[Array], Array] = np.vectorize(erf, otypes=[np.float64])


def _sigmoid(x: Array) -> Array:
    return 0.5 * (1.0 + np.tanh(0.5 * x))


def _gelu_tanh(x: Array) -> Array:
    return 0.5 * x * (1.0 + np.tanh(sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def _gelu(x: Array) -> Array:
    return 0.5 * x * (1.0 + _erf(x / sqrt(2)))


def _relu(x: Array) -> Array:
    return np.maximum(x, 0.0)


ACTIVATIONS: Mapping[str, tuple[Callable[[Array], Array], float | None, str]] = {
    "gelu_tanh": (_gelu_tanh, -0.7524614, "tanh"),
    "gelu": (_gelu, -0.7517916, "erf"),
    "silu": (lambda x: x * _sigmoid(x), -1.2784645, "exp"),
    "sigmoid": (_sigmoid, None, "exp"),
    "tanh": (np.tanh, None, "tanh"),
    "relu": (_relu, None, ""),
}
"""Name -> (function, where it has its minimum if it is not monotone, the elementary function inside)."""

_STEPS = 8
"""Roundings of the textbook sequence of an activation, beside its elementary function: polynomial, sum, products."""


def activation_error(name: str, x: Array, e: Array, dtype: np.dtype, how: Arithmetic) -> Array:
    """Error of activation `name` at x, computed at a point within e of it."""
    f, lowest, inner = ACTIVATIONS[name]
    with np.errstate(all="ignore"):
        value = f(x)
        ends = np.maximum(np.abs(f(x + e) - value), np.abs(f(x - e) - value))
        if lowest is not None:
            ends = np.where(np.abs(x - lowest) <= e, np.maximum(ends, np.abs(f(np.asarray(lowest)) - value)), ends)
        # The functions above are float64 themselves.
        spread = np.where(e == 0, 0.0, ends + 64 * np.finfo(np.float64).eps * (np.abs(x) + 1.0))
    if name == "relu":
        return clean(spread)
    if name in how.absolute:
        return clean(spread + how.absolute[name])
    u, half = unit(dtype)
    # 1 + tanh (erf, exp) has an absolute error of a few u, which x multiplies; the argument's own rounding moves the inner
    # function by at most its relative error, for x f'(x) is bounded by 1.5 for all of them (4 |x| exp(-|x|) for exp).
    steps = (_STEPS + 2 * how.ulp.get(inner, 0.5)) * u
    growth = np.abs(x) + e + 1.0 if name in {"gelu", "gelu_tanh", "silu"} else 1.0
    return clean(spread + steps * growth * 1.5 + half)


def _activation(name: str) -> Rule:
    return lambda s: activation_error(name, s.x[0], s.e[0], s.dtype, s.how)


def _gelu_rule(s: Step) -> Array:
    assert isinstance(s.op, c.GeluOp)
    return activation_error("gelu_tanh" if s.op.approximate.data == "tanh" else "gelu", s.x[0], s.e[0], s.dtype, s.how)


def _roundings(s: Step, count: int) -> int:
    """Roundings of a term of a sum: as stated, else any order."""
    return max(count - 1, 0) if s.how.roundings is None else s.how.roundings


def _normalised(s: Step, axis: int, eps: float, gain: tuple[Array, Array], shift: tuple[Array, Array], centre: bool) -> Array:
    """(x - mean) * rsqrt(var + eps) * gamma + beta, or without the mean."""
    x, e = s.x[0], s.e[0]
    n = x.shape[axis]
    u, half = unit(s.dtype)
    g = gamma(_roundings(s, n) + 3, s.dtype)
    reciprocal = s.how.relative.get("reciprocal", 0.0)
    d, ed = x, e
    if centre:
        mean = x.mean(axis=axis, keepdims=True)
        d = x - mean
        e_mean = e.mean(axis=axis, keepdims=True) + (g + reciprocal) * (np.abs(x) + e).mean(axis=axis, keepdims=True)
        ed = e + e_mean + u * (np.abs(d) + e + e_mean) + half
    s2 = (d * d).mean(axis=axis, keepdims=True) + eps
    e2 = (2 * np.abs(d) * ed + ed * ed).mean(axis=axis, keepdims=True)
    e2 = e2 + (g + reciprocal + 2 * u) * (s2 + e2) + half
    # Sums of squares are not negative, so eps stays below whatever happens to x.
    low = np.maximum(s2 - e2, eps * (1 - 8 * u))
    r = 1 / np.sqrt(s2)
    er = np.where(low > 0, 1 / np.sqrt(np.maximum(low, np.finfo(np.float64).tiny)) - r, np.inf)
    er = np.maximum(er, r - 1 / np.sqrt(s2 + e2))
    own = (4 + 2 * s.how.ulp.get("rsqrt", 1.0)) * u
    er = er + own * (r + er)
    z = d * r
    ez = np.abs(d) * er + r * ed + ed * er
    # A row of n numbers divided by its root mean square has no element beyond sqrt(n).
    ez = np.fmin(ez, np.abs(z) + sqrt(n) * (1 + (g + reciprocal + own)))
    ez = ez + 2 * u * (np.abs(z) + ez)
    (v, ev), (b, eb) = gain, shift
    ey = np.abs(v) * ez + np.abs(z) * ev + ez * ev
    product = np.abs(z * v) + ey
    return clean(ey + eb + 2 * u * (product + np.abs(b) + eb) + half)


def _layer_norm(s: Step) -> Array:
    assert isinstance(s.op, c.LayerNormOp)
    axis = int(s.op.axis.value.data)
    return _normalised(s, axis, float(s.op.eps.value.data), (s.x[1], s.e[1]), (s.x[2], s.e[2]), centre=True)


def _rms_norm(s: Step) -> Array:
    assert isinstance(s.op, c.RmsNormOp)
    nothing = np.zeros(())
    return _normalised(s, -1, float(s.op.eps.value.data), (s.x[1], s.e[1]), (nothing, nothing), centre=False)


def softmax_error(z: Array, e: Array, axis: int, dtype: np.dtype, how: Arithmetic) -> tuple[Array, Array, Array]:
    """(probabilities, what operand errors can do, what rounding adds) of a softmax of z, computed at points within e of it.

    Every probability is between what it is with its own number low and all others high, and the other way round.
    """
    u, half = unit(dtype)
    with np.errstate(all="ignore"):
        top = np.max(np.where(np.isfinite(z), z, -np.inf), axis=axis, keepdims=True)
        t = z - top
        mid = np.exp(t)
        p = mid / mid.sum(axis=axis, keepdims=True)
        high, low = np.exp(np.minimum(t + e, 700.0)), np.exp(np.minimum(t - e, 700.0))
        high, low = np.where(np.isnan(high), np.inf, high), np.where(np.isnan(low), 0.0, low)
        p_high = high / (high + np.maximum(low.sum(axis=axis, keepdims=True) - low, 0.0))
        p_low = low / (low + np.maximum(high.sum(axis=axis, keepdims=True) - high, 0.0))
        p_high, p_low = np.where(np.isnan(p_high), 1.0, p_high), np.where(np.isnan(p_low), 0.0, p_low)
        moved = np.where(e == 0, 0.0, np.maximum(p_high - p, p - p_low))
        if e.any():
            moved = moved + 64 * np.finfo(np.float64).eps
        n = z.shape[axis]
        # An exponent is rounded once (x - max) and its exponential within its ULPs; in the sum the large terms count most.
        seen = np.where(np.isfinite(t), np.abs(t), 0.0)
        exponent = (np.minimum(seen, 104.0) + 1.0) * u + 2 * how.ulp.get("exp", 0.5) * u
        in_sum = (p * exponent).sum(axis=axis, keepdims=True) + moved.sum(axis=axis, keepdims=True) * np.max(exponent)
        k = max(n - 1, 0) if how.roundings is None else how.roundings
        relative = exponent + in_sum + gamma(k, dtype) + (2 * how.ulp.get("recip", 0.5) + 2) * u
        relative = relative / np.maximum(1 - relative, 0.5)
        rounding = relative * np.minimum(p + moved, 1.0) + np.where(p + moved > 0, np.exp(-87.0) + 2 * half, 0.0)
    return p, np.minimum(moved, 1.0), rounding


def _softmax(s: Step) -> Array:
    assert isinstance(s.op, c.SoftmaxOp)
    _, moved, rounding = softmax_error(s.x[0], s.e[0], int(s.op.axis.value.data), s.dtype, s.how)
    return clean(moved + rounding)


def _attention(s: Step) -> Array:
    op = s.op
    assert isinstance(op, c.AttentionOp)
    heads, kv_heads = int(op.heads.value.data), int(op.kv_heads.value.data)
    q, k = s.x[:2]
    (n, m), d = (q.shape[0], k.shape[0]), k.shape[1] // kv_heads
    hidden = np.triu(np.ones((n, m), bool), m - n + 1) if op.causal.value.data else np.zeros((n, m), bool)
    mask = (s.x[3], s.e[3]) if op.mask is not None else (np.zeros(()), np.zeros(()))
    out = np.zeros_like(q)
    for head in range(heads):
        mine = slice(head * d, (head + 1) * d)
        kv = head // (heads // kv_heads)
        theirs = slice(kv * d, (kv + 1) * d)
        operands = [(a[:, at], b[:, at]) for a, b, at in zip(s.x[:3], s.e[:3], (mine, theirs, theirs), strict=True)]
        out[:, mine] = _head(s, operands[0], operands[1], operands[2], mask, hidden, float(op.scale.value.data))
    return clean(out)


_Pair = tuple[Array, Array]


def _head(s: Step, q: _Pair, k: _Pair, v: _Pair, mask: _Pair, hidden: Array, scale: float) -> Array:
    (xq, eq), (xk, ek), (xv, ev) = q, k, v
    u, half = unit(s.dtype)
    d, m = xq.shape[1], xk.shape[0]
    size = abs(scale)
    with np.errstate(all="ignore"):
        score = scale * (xq @ xk.T)
        spread = size * (eq @ np.abs(xk).T + (np.abs(xq) + eq) @ ek.T)
        # One rounding more for the scale; a product of 16-bit numbers is exact, and then counted all the same.
        g = gamma((d if s.how.roundings is None else s.how.roundings) + 2, s.dtype) + s.how.relative.get("scale", 0.0)
        spread = spread + g * size * ((np.abs(xq) + eq) @ (np.abs(xk) + ek).T) + half
        if s.how.inner is not None:
            spread = rounded_store(score, spread, s.how.inner)
        z, ez = score + mask[0], spread + mask[1]
        if mask[0].ndim:
            ez = ez + u * (np.abs(z) + ez)
        z = np.where(hidden, -np.inf, z)
        ez = np.where(hidden, 0.0, ez)
        p, moved, rounding = softmax_error(z, ez, 1, s.dtype, s.how)
        if s.how.inner is not None:
            rounding = rounding + rounded_store(p, moved + rounding, s.how.inner) - (moved + rounding)
        seen = p + moved + rounding > 0
        rounding = np.where(seen, rounding, 0.0)
        ep = moved + rounding
        g = gamma((m if s.how.roundings is None else s.how.roundings) + 1, s.dtype)
        y = p @ xv
        own = rounding @ np.abs(xv) + g * ((p + ep) @ (np.abs(xv) + ev)) + half
        error = moved @ np.abs(xv) + (p + ep) @ ev
        # Whatever the weights become, their sum stays 1 but for its rounding, so the result stays among the values.
        far = np.stack([np.max(np.abs(xv[seen[i]] - y[i]) + ev[seen[i]], axis=0, initial=0.0) for i in range(y.shape[0])])
        return np.fmin(error, far) + own


def _rope(s: Step) -> Array:
    assert isinstance(s.op, c.RopeOp)
    (x, cos, sin), (e, ec, es) = s.x[:3], s.e[:3]
    u, half = unit(s.dtype)
    width = x.shape[-1] // 2
    pairs = (slice(0, None, 2), slice(1, None, 2)) if s.op.interleaved.value.data else (slice(0, width), slice(width, None))
    out = np.zeros_like(x)
    for mine, other in (pairs, pairs[::-1]):
        a, b, ea, eb = x[..., mine], x[..., other], e[..., mine], e[..., other]
        size = (np.abs(a) + ea) * (np.abs(cos) + ec) + (np.abs(b) + eb) * (np.abs(sin) + es)
        moved = ea * (np.abs(cos) + ec) + np.abs(a) * ec + eb * (np.abs(sin) + es) + np.abs(b) * es
        out[..., mine] = moved + 2 * u * (1 + u) * size + 2 * half
    return clean(out)


def _linear(s: Step) -> Array:
    op = s.op
    assert isinstance(op, c.LinearOp)
    x, e = list(s.x), list(s.e)
    product = ARITHMETIC[MatmulOp](Step(op, x[:2], e[:2], s.dtype, s.how))
    value, error = x[0] @ x[1], product
    at = 2
    if op.bias is not None:
        value, error = value + x[at], rounded_store(value + x[at], error + e[at], s.dtype)
        at += 1
    name = op.activation.data
    if name != "none":
        if s.how.inner is not None and name != "relu":
            error = rounded_store(value, error, s.how.inner)
        error = activation_error(name, value, error, s.dtype, s.how)
        value = ACTIVATIONS[name][0](value)
        if s.how.inner is not None and op.residual is not None:
            error = rounded_store(value, error, s.how.inner)
    if op.residual is not None:
        error = rounded_store(value + x[at], error + e[at], s.dtype)
    return clean(np.broadcast_to(error, shape_of(op.results[0].type)))


UNITS: Mapping[type[FleetOp], Rule] = {
    c.SoftmaxOp: _softmax,
    c.LayerNormOp: _layer_norm,
    c.RmsNormOp: _rms_norm,
    c.GeluOp: _gelu_rule,
    c.SiluOp: _activation("silu"),
    c.SigmoidOp: _activation("sigmoid"),
    TanhOp: _activation("tanh"),
    c.RopeOp: _rope,
    c.LinearOp: _linear,
    c.AttentionOp: _attention,
}
"""Every composite, and primitive operations that a table may stand for."""
