"""Composites as textbook sequences of primitive operations, which define what each computes.

Used by targets without their own code for a composite, by error bounds, and by tests of targets that have such code.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from xdsl.dialects.builtin import TupleType, i64
from xdsl.ir import SSAValue

from fleet.ir import dialect as d
from fleet.ir.dialect import FleetOp, kind_of
from fleet.ir.expansion import Expansion, known_shape
from fleet.ir.library.expand import expand_call
from fleet.ir.operations.operation import attributes_of
from fleet.ir.shapes import InferenceError
from fleet.ir.types import Attributes, is_tensor, numpy_dtype, tensor_type

MASKED: Mapping[str, float] = {"float16": -3e4, "float32": -1e30, "float64": -1e30}
"""The score of a key that a causal query must not see: its exponential is 0, and no difference with it overflows."""


def _is_complex(value: SSAValue) -> bool:
    return not isinstance(value.type, TupleType) and numpy_dtype(value.type).kind == "c"


def expand(op: FleetOp) -> list[FleetOp]:
    """Return the primitive operations that compute `op`, in order, on its own operands; the last one has its result.

    They are outside any block and have ids "ID/1", "ID/2" ...; [] for an operation without such a sequence. The caller inserts
    them and replaces `op`. Raises InferenceError if a needed dimension is unknown (rope, attention).
    The sequences are for real numbers: there is none for complex ones.
    """
    rule = _RULES.get(type(op))
    if rule is None or any(_is_complex(v) for v in (*op.operands, *op.results)):
        return []
    sequence = Expansion()
    try:
        result = rule(sequence, op, attributes_of(op))
    except InferenceError:
        sequence.drop()
        raise
    if result is None:
        sequence.drop()
        return []
    sequence.end(result)
    made = [part for one in sequence.ops for part in _flat(one)]
    name, at = op.properties.get("id"), op.properties.get("at")
    base = getattr(name, "data", kind_of(op))
    for i, part in enumerate(made, 1):
        part.describe(id=f"{base}/{i}", at=getattr(at, "data", None))
    return made


def _flat(op: FleetOp) -> list[FleetOp]:
    """Return an operation of a sequence, or the sequence that replaces it."""
    inner = expand(op)
    if not inner:
        return [op]
    op.results[0].replace_all_uses_with(inner[-1].results[0])
    op.drop_all_references()
    return inner


_Rule = Callable[[Expansion, Any, Attributes], SSAValue | None]


def _softmax_of(s: Expansion, x: SSAValue, axis: int) -> SSAValue:
    e = s("exp", s("sub", x, s.reduce("reduce_max", x, axis)))
    return s("div", e, s.reduce("reduce_sum", e, axis))


def _softmax(s: Expansion, op: d.SoftmaxOp, a: Attributes) -> SSAValue:
    return _softmax_of(s, op.operand, a["axis"])


def _layer_norm(s: Expansion, op: d.LayerNormOp, a: Attributes) -> SSAValue:
    x, axis = op.operand, a["axis"]
    centred = s("sub", x, s.reduce("mean", x, axis))
    normal = s("div", centred, s("sqrt", s("add", s.reduce("var", x, axis), a["eps"])))
    return s("add", s("mul", normal, op.gamma), op.beta)


def _rms_norm(s: Expansion, op: d.RmsNormOp, a: Attributes) -> SSAValue:
    x = op.operand
    root = s("sqrt", s("add", s.reduce("mean", s("mul", x, x), -1), a["eps"]))
    return s("mul", s("div", x, root), op.gamma)


def _gelu_of(s: Expansion, x: SSAValue, approximate: str) -> SSAValue:
    if approximate == "erf":
        inner = s("erf", s("div", x, math.sqrt(2)))
    else:
        cube = s("mul", s("mul", x, x), x)
        inner = s("tanh", s("mul", s("add", x, s("mul", cube, 0.044715)), math.sqrt(2 / math.pi)))
    return s("mul", s("mul", x, 0.5), s("add", inner, 1.0))


def _gelu(s: Expansion, op: d.GeluOp, a: Attributes) -> SSAValue:
    return _gelu_of(s, op.operand, a["approximate"])


def _one_plus_exp(s: Expansion, x: SSAValue) -> SSAValue:
    return s("add", s("exp", s("neg", x)), 1.0)


def _silu(s: Expansion, op: d.SiluOp, _a: Attributes) -> SSAValue:
    return s("div", op.operand, _one_plus_exp(s, op.operand))


def _sigmoid(s: Expansion, op: d.SigmoidOp, _a: Attributes) -> SSAValue:
    return s("div", 1.0, _one_plus_exp(s, op.operand))


def _rope(s: Expansion, op: d.RopeOp, a: Attributes) -> SSAValue:
    x, cos, sin = op.operand, op.cos, op.sin
    shape = known_shape(x, "rope")
    half = shape[-1] // 2
    if a["interleaved"]:
        first, second = s.window(x, 0, half, 2), s.window(x, 1, half, 2)
    else:
        first, second = s.window(x, 0, half), s.window(x, half, half)
    left = s("sub", s("mul", first, cos), s("mul", second, sin))
    right = s("add", s("mul", first, sin), s("mul", second, cos))
    if not a["interleaved"]:
        return s("concat", left, right, axis=len(shape) - 1)
    pairs = [s("reshape", v, shape=[*shape[:-1], half, 1]) for v in (left, right)]
    return s("reshape", s("concat", *pairs, axis=len(shape)), shape=list(shape))


def _linear(s: Expansion, op: d.LinearOp, a: Attributes) -> SSAValue:
    y = s("matmul", op.operand, op.weight)
    if op.bias is not None:
        y = s("add", y, op.bias)
    match a["activation"]:
        case "gelu_tanh":
            y = _gelu_of(s, y, "tanh")
        case "silu":
            y = s("div", y, _one_plus_exp(s, y))
        case "relu":
            y = s("maximum", y, 0.0)
        case _:
            pass
    return y if op.residual is None else s("add", y, op.residual)


def _attention(s: Expansion, op: d.AttentionOp, a: Attributes) -> SSAValue:
    heads, kv_heads = a["heads"], a["kv_heads"]
    (*lead, n, columns), (*_, m, _) = known_shape(op.q, "attention"), known_shape(op.k, "attention")
    known_shape(op.v, "attention")
    width, group = columns // heads, heads // kv_heads
    # [kv_heads, group, rows, width] of each sequence: consecutive heads of q share a head of k and v
    first = len(lead)
    front, rows = list(range(first)), [first + axis for axis in (1, 2, 0, 3)]
    q = s("transpose", s("reshape", op.q, shape=[*lead, n, kv_heads, group, width]), permutation=[*front, *rows])
    turned = [first + axis for axis in (1, 2, 3, 0)]
    k = s("transpose", s("reshape", op.k, shape=[*lead, m, kv_heads, 1, width]), permutation=[*front, *turned])
    v = s("transpose", s("reshape", op.v, shape=[*lead, m, kv_heads, 1, width]), permutation=[*front, *rows])
    scores = s("mul", s("matmul", q, k), a["scale"])
    mask = op.mask
    if mask is not None:
        if len(shape := known_shape(mask, "attention")) == 3:
            mask = s("reshape", mask, shape=[shape[0], 1, 1, *shape[1:]])
        scores = s("add", scores, mask)
    if a["causal"]:
        row = s("cumsum", s.number(1, tensor_type((n, 1), np.int64)), axis=0)
        column = s("cumsum", s.number(1, tensor_type((1, m), np.int64)), axis=1)
        seen = s("less_equal", column, s("add", row, s.number(m - n, i64)))
        scores = s("where", seen, scores, MASKED[numpy_dtype(scores.type).name])
    out = s("matmul", _softmax_of(s, scores, -1), v)
    beside = [first + axis for axis in (2, 0, 1, 3)]
    return s("reshape", s("transpose", out, permutation=[*front, *beside]), shape=[*lead, n, columns])


def _operands(s: Expansion, op: FleetOp) -> list[SSAValue]:
    """Cast the operands to the dtypes in which NumPy computes."""
    dtypes = op.compute_types([v.type for v in op.operands])
    pairs = zip(op.operands, dtypes, strict=False)
    return [s("cast", v, dtype=t) if is_tensor(v.type) and numpy_dtype(v.type) != t else v for v, t in pairs]


def _scaled_log(base: float) -> _Rule:
    def rule(s: Expansion, op: FleetOp, _a: Attributes) -> SSAValue:
        return s("div", s("log", *_operands(s, op)), math.log(base))

    return rule


def _exp2(s: Expansion, op: d.Exp2Op, _a: Attributes) -> SSAValue:
    return s("pow", 2.0, *_operands(s, op))


def _sinh(s: Expansion, op: d.SinhOp, _a: Attributes) -> SSAValue:
    """(e + e / (e + 1)) / 2 with e = expm1(|x|), which is accurate near zero."""
    (x,) = _operands(s, op)
    far = s("abs", x)
    e = s("expm1", far)
    near = s("mul", s("add", e, s("div", e, s("add", e, 1.0))), 0.5)
    half = s("where", s("equal", e, math.inf), _half_exp(s, far), near)
    return s("where", s("equal", x, 0.0), x, s("mul", half, s("sign", x)))


def _half_exp(s: Expansion, x: SSAValue) -> SSAValue:
    """exp(x) / 2, also if exp(x) overflows."""
    root = s("exp", s("mul", x, 0.5))
    return s("mul", s("mul", root, 0.5), root)


def _cosh(s: Expansion, op: d.CoshOp, _a: Attributes) -> SSAValue:
    far = s("abs", *_operands(s, op))
    e = s("exp", far)
    return s("where", s("equal", e, math.inf), _half_exp(s, far), s("mul", s("add", e, s("div", 1.0, e)), 0.5))


def _tan(s: Expansion, op: d.TanOp, _a: Attributes) -> SSAValue:
    (x,) = _operands(s, op)
    return s("div", s("sin", x), s("cos", x))


def _hypot(s: Expansion, op: d.HypotOp, _a: Attributes) -> SSAValue:
    """The larger one times the root of 1 plus the quotient's square, so that no square overflows."""
    a, b = (s("abs", v) for v in _operands(s, op))
    high, low = s("maximum", a, b), s("minimum", a, b)
    q = s("div", low, s("where", s("equal", high, 0.0), 1.0, high))
    found = s("mul", high, s("sqrt", s("add", s("mul", q, q), 1.0)))
    return s("where", s("logical_or", s("equal", a, math.inf), s("equal", b, math.inf)), math.inf, found)


def _logaddexp(s: Expansion, op: d.LogaddexpOp, _a: Attributes) -> SSAValue:
    """max + log1p(exp(-|a - b|)), and a + log 2 where both are equal (infinite ones included): NumPy's own steps."""
    a, b = _operands(s, op)
    high = s("maximum", a, b)
    tail = s("log1p", s("exp", s("neg", s("abs", s("sub", a, b)))))
    return s("where", s("equal", a, b), s("add", high, math.log(2)), s("add", high, tail))


def _quiet(name: str) -> _Rule:
    def rule(s: Expansion, op: FleetOp, _a: Attributes) -> SSAValue:
        a, b = _operands(s, op)
        found = s(name, a, b)
        if numpy_dtype(found.type).kind != "f":
            return found
        return s("where", s("isnan", a), b, s("where", s("isnan", b), a, found))

    return rule


def _clip(s: Expansion, op: d.ClipOp, _a: Attributes) -> SSAValue:
    x, low, high = _operands(s, op)
    return s("minimum", s("maximum", x, low), high)


def _nan_reduction(name: str, far: float) -> _Rule:
    def rule(s: Expansion, op: FleetOp, a: Attributes) -> SSAValue:
        (x,) = op.operands
        if numpy_dtype(x.type).kind != "f":
            return s(name, x, **a)
        absent = s("isnan", x)
        found = s(name, s("where", absent, far, x), **a)
        return s("where", s("reduce_all", absent, **a), math.nan, found)

    return rule


_RULES: Mapping[type[FleetOp], _Rule] = {
    d.NumpyOp: expand_call,
    d.SoftmaxOp: _softmax,
    d.LayerNormOp: _layer_norm,
    d.RmsNormOp: _rms_norm,
    d.GeluOp: _gelu,
    d.SiluOp: _silu,
    d.SigmoidOp: _sigmoid,
    d.RopeOp: _rope,
    d.LinearOp: _linear,
    d.AttentionOp: _attention,
    d.Log2Op: _scaled_log(2),
    d.Log10Op: _scaled_log(10),
    d.Exp2Op: _exp2,
    d.SinhOp: _sinh,
    d.CoshOp: _cosh,
    d.TanOp: _tan,
    d.HypotOp: _hypot,
    d.LogaddexpOp: _logaddexp,
    d.FmaxOp: _quiet("maximum"),
    d.FminOp: _quiet("minimum"),
    d.ClipOp: _clip,
    d.NanMaxOp: _nan_reduction("reduce_max", -math.inf),
    d.NanMinOp: _nan_reduction("reduce_min", math.inf),
}
