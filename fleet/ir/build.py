"""Making operations by name, result types inferred: for front ends and passes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from xdsl.ir import Attribute, SSAValue

from fleet.ir import dialect as d
from fleet.ir.infer import result_type

__all__ = ["make"]

_Values = Sequence[SSAValue]
_Attributes = Mapping[str, Any]
_Make = Callable[[_Values, _Attributes, Attribute], d.FleetOp]


def _plain(cls: Callable[..., d.FleetOp]) -> _Make:
    return lambda values, _attributes, type_: cls(*values, type_)


def _reduce(cls: Callable[..., d.FleetOp]) -> _Make:
    return lambda values, attributes, type_: cls(values[0], attributes["axes"], attributes["keepdims"], type_)


def _axis(cls: Callable[..., d.FleetOp]) -> _Make:
    return lambda values, attributes, type_: cls(values[0], attributes["axis"], type_)


def _linear(values: _Values, a: _Attributes, type_: Attribute) -> d.FleetOp:
    rest = list(values[2:])
    bias = rest.pop(0) if a["bias"] else None
    return d.LinearOp(values[0], values[1], bias, rest.pop(0) if a["residual"] else None, a["activation"], type_)


def _attention(values: _Values, a: _Attributes, type_: Attribute) -> d.FleetOp:
    q, k, v, *mask = values
    return d.AttentionOp(q, k, v, mask[0] if mask else None, a["heads"], a["kv_heads"], a["scale"], a["causal"], type_)


def _by_name(how: Callable[[Callable[..., d.FleetOp]], _Make], *classes: type[d.FleetOp]) -> dict[str, _Make]:
    return {cls.name.removeprefix("fleet."): how(cast("Callable[..., d.FleetOp]", cls)) for cls in classes}


_ELEMENTWISE = [
    op for op in d.FLEET.operations if issubclass(op, d.BinaryOp | d.UnaryOp) and op not in (d.GatherOp,)
]  # matmul, cast, reshape and broadcast_to are made alike: operands and the inferred type are all they take

_CLASSES: Mapping[str, _Make] = {
    **_by_name(_plain, *_ELEMENTWISE, d.WhereOp, d.ClipOp, d.SiluOp, d.SigmoidOp),
    **_by_name(_reduce, *(op for op in d.FLEET.operations if issubclass(op, d.ReduceOp))),
    **_by_name(_axis, *(op for op in d.FLEET.operations if issubclass(op, d.AxisOp)), d.SoftmaxOp),
    "transpose": lambda values, a, type_: d.TransposeOp(values[0], a["permutation"], type_),
    "slice": lambda values, a, type_: d.SliceOp(values[0], a["start"], a["size"], type_, a.get("step")),
    "gather": lambda values, a, type_: d.GatherOp(values[0], values[1], type_, a.get("axis", 0)),
    "scatter": lambda values, a, type_: d.ScatterOp(values[0], values[1], values[2], a["reduction"], type_),
    "concat": lambda values, a, type_: d.ConcatOp(values, a["axis"], type_),
    "pad": lambda values, a, type_: d.PadOp(values[0], values[1], a["low"], a["high"], type_),
    "einsum": lambda values, a, type_: d.EinsumOp(values, a["subscripts"], type_),
    "dynamic_reshape": lambda values, _a, type_: d.DynamicReshapeOp(values[0], values[1:], type_),
    "dynamic_broadcast": lambda values, _a, type_: d.DynamicBroadcastOp(values[0], values[1:], type_),
    "dynamic_slice": lambda values, a, type_: d.DynamicSliceOp(values[0], values[1:], a["axes"], a["step"], type_),
    **_by_name(_plain, d.ArangeOp, d.TriOp),
    "gelu": lambda values, a, type_: d.GeluOp(values[0], a["approximate"], type_),
    "layer_norm": lambda values, a, type_: d.LayerNormOp(values[0], values[1], values[2], a["axis"], a["eps"], type_),
    "rms_norm": lambda values, a, type_: d.RmsNormOp(values[0], values[1], a["eps"], type_),
    "rope": lambda values, a, type_: d.RopeOp(values[0], values[1], values[2], a["interleaved"], type_),
    "linear": _linear,
    "attention": _attention,
}
_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "layer_norm": {"axis": -1},
    "rope": {"interleaved": False},
    "linear": {"activation": "none", "residual": False},
}


def make(name: str, operands: Sequence[SSAValue], **attributes: Any) -> d.FleetOp:
    """Operation `name` ("add") on these operands; `attributes` as in `fleet.ir.infer.result_type`. Not yet in a block.

    Of `linear`, bias and residual say which of the optional operands are given (a bias by default where there is a third).
    Raises InferenceError when the operands do not fit. The caller gives it its identity (`FleetOp.describe`).
    """
    attributes = {**_DEFAULTS.get(name, {}), **attributes}
    if name == "linear":
        attributes.setdefault("bias", len(operands) == 3 + attributes["residual"])
    type_ = result_type(name, [v.type for v in operands], attributes)
    return _CLASSES[name](operands, attributes, type_)
