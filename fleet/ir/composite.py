"""Operations that stand for several: what raising finds in a program, and what an ONNX file has as one node (Softmax).

A composite carries the `id` of the last operation that it replaces, so that traces still align there, and `covers`: the
ids of all operations that it replaces. What each computes is defined by `fleet.ir.expand`: its textbook sequence in
primitive operations.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import ArrayAttr, BoolAttr, FloatAttr, IntegerAttr, StringAttr, f64, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from fleet.ir.operation import FleetOp, op_id

__all__ = [
    "AttentionOp",
    "CompositeOp",
    "GeluOp",
    "LayerNormOp",
    "LinearOp",
    "RmsNormOp",
    "RopeOp",
    "SigmoidOp",
    "SiluOp",
    "SoftmaxOp",
    "covered_ids",
    "entering",
]

_Value = SSAValue | Operation


def _float(value: float) -> FloatAttr:
    return FloatAttr(float(value), f64)


class CompositeOp(FleetOp, ABC):
    """Base of the composites."""

    covers = opt_prop_def(ArrayAttr)

    def cover(self, ids: Sequence[str]) -> None:
        """Notes which operations this one replaces, in program order; the last is the one whose `id` it carries."""
        self.properties["covers"] = ArrayAttr([StringAttr(i) for i in ids])


def covered_ids(op: FleetOp) -> tuple[str, ...]:
    """The ids of the operations that a composite replaces; () for a primitive, and for a composite that replaces none."""
    found = op.properties.get("covers")
    if not isinstance(found, ArrayAttr):
        return ()
    return tuple(a.data for a in found.data if isinstance(a, StringAttr))


def entering(operations: Iterable[FleetOp]) -> dict[str, tuple[str, ...]]:
    """Id of every composite -> ids of the operations whose results enter it; arguments are left out."""
    composites = [op for op in operations if isinstance(op, CompositeOp)]
    return {op_id(op): tuple(op_id(v.owner) for v in op.operands if isinstance(v.owner, FleetOp)) for op in composites}


@irdl_op_definition
class SoftmaxOp(CompositeOp):
    """`e / e.sum(axis)` with `e = exp(x - x.max(axis))`."""

    name = "fleet.softmax"
    operand = operand_def()
    axis = prop_def(IntegerAttr)
    result = result_def()
    traits = traits_def(Pure())

    def __init__(self, operand: _Value, axis: int, result: Attribute) -> None:
        super().__init__(operands=[operand], properties={"axis": IntegerAttr(axis, i64)}, result_types=[result])


@irdl_op_definition
class LayerNormOp(CompositeOp):
    """`(x - mean) / sqrt(var + eps) * gamma + beta` over `axis`, population variance."""

    name = "fleet.layer_norm"
    operand = operand_def()
    gamma = operand_def()
    beta = operand_def()
    axis = prop_def(IntegerAttr)
    eps = prop_def(FloatAttr)
    result = result_def()
    traits = traits_def(Pure())

    def __init__(self, operand: _Value, gamma: _Value, beta: _Value, axis: int, eps: float, result: Attribute) -> None:
        super().__init__(
            operands=[operand, gamma, beta],
            properties={"axis": IntegerAttr(axis, i64), "eps": _float(eps)},
            result_types=[result],
        )


@irdl_op_definition
class RmsNormOp(CompositeOp):
    """`x / sqrt(mean(x * x) + eps) * gamma` over the last axis."""

    name = "fleet.rms_norm"
    operand = operand_def()
    gamma = operand_def()
    eps = prop_def(FloatAttr)
    result = result_def()
    traits = traits_def(Pure())

    def __init__(self, operand: _Value, gamma: _Value, eps: float, result: Attribute) -> None:
        super().__init__(operands=[operand, gamma], properties={"eps": _float(eps)}, result_types=[result])


class ActivationOp(CompositeOp, ABC):
    """An elementwise function of one operand."""

    operand = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def __init__(self, operand: _Value, result: Attribute) -> None:
        super().__init__(operands=[operand], result_types=[result])


@irdl_op_definition
class GeluOp(ActivationOp):
    """`approximate` "tanh": `0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))`; "erf": `0.5 x (1 + erf(x / sqrt(2)))`."""

    name = "fleet.gelu"
    approximate = prop_def(StringAttr)

    def __init__(self, operand: _Value, approximate: str, result: Attribute) -> None:
        super().__init__(operand, result)
        self.properties["approximate"] = StringAttr(approximate)


@irdl_op_definition
class SiluOp(ActivationOp):
    """`x / (1 + exp(-x))`."""

    name = "fleet.silu"


@irdl_op_definition
class SigmoidOp(ActivationOp):
    """`1 / (1 + exp(-x))`."""

    name = "fleet.sigmoid"


@irdl_op_definition
class RopeOp(CompositeOp):
    """Rotary embedding of the last dimension (d, even); `cos` and `sin` broadcast to the leading dimensions and d / 2.

    With (a, b) the pairs of x, elements (2i, 2i + 1) when `interleaved`, else (i, i + d / 2): a' = a cos - b sin,
    b' = a sin + b cos, in the places of a and b.
    """

    name = "fleet.rope"
    operand = operand_def()
    cos = operand_def()
    sin = operand_def()
    interleaved = prop_def(BoolAttr)
    result = result_def()
    traits = traits_def(Pure())

    def __init__(self, operand: _Value, cos: _Value, sin: _Value, interleaved: bool, result: Attribute) -> None:
        super().__init__(
            operands=[operand, cos, sin], properties={"interleaved": BoolAttr.from_bool(interleaved)}, result_types=[result]
        )


@irdl_op_definition
class LinearOp(CompositeOp):
    """`activation(x @ w + bias) + residual`; activation is "none", "gelu_tanh", "silu" or "relu"."""

    name = "fleet.linear"
    operand = operand_def()
    weight = operand_def()
    bias = opt_operand_def()
    residual = opt_operand_def()
    activation = prop_def(StringAttr)
    result = result_def()
    traits = traits_def(Pure())
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self, operand: _Value, weight: _Value, bias: _Value | None, residual: _Value | None, activation: str, result: Attribute
    ) -> None:
        super().__init__(
            operands=[operand, weight, bias, residual],
            properties={"activation": StringAttr(activation)},
            result_types=[result],
        )


@irdl_op_definition
class AttentionOp(CompositeOp):
    """Multi-head attention of one sequence: `softmax(q_h @ k_h.T * scale + mask) @ v_h` for every head h, heads side by side.

    q is [n, heads * d], k and v [m, kv_heads * d]; heads is a multiple of kv_heads, consecutive heads share one of k and v.
    mask is additive and broadcasts to [n, m]. `causal`: query i sees keys up to i + m - n.
    """

    name = "fleet.attention"
    q = operand_def()
    k = operand_def()
    v = operand_def()
    mask = opt_operand_def()
    heads = prop_def(IntegerAttr)
    kv_heads = prop_def(IntegerAttr)
    scale = prop_def(FloatAttr)
    causal = prop_def(BoolAttr)
    result = result_def()
    traits = traits_def(Pure())

    def __init__(
        self,
        q: _Value,
        k: _Value,
        v: _Value,
        mask: _Value | None,
        heads: int,
        kv_heads: int,
        scale: float,
        causal: bool,
        result: Attribute,
    ) -> None:
        super().__init__(
            operands=[q, k, v, mask],
            properties={
                "heads": IntegerAttr(heads, i64),
                "kv_heads": IntegerAttr(kv_heads, i64),
                "scale": _float(scale),
                "causal": BoolAttr.from_bool(causal),
            },
            result_types=[result],
        )
