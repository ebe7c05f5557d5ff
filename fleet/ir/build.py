"""Making operations by name, result types inferred: for front ends and passes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.ir import Attribute, SSAValue

from fleet.ir import dialect as d
from fleet.ir.infer import result_type

__all__ = ["make"]

_Make = Callable[[Sequence[SSAValue], Mapping[str, Any], Attribute], d.FleetOp]


def _plain(cls: Callable[..., d.FleetOp]) -> _Make:
    return lambda values, _attributes, type_: cls(*values, type_)


def _reduce(cls: Callable[..., d.FleetOp]) -> _Make:
    return lambda values, attributes, type_: cls(values[0], attributes["axes"], attributes["keepdims"], type_)


_CLASSES: Mapping[str, _Make] = {
    **{
        cls.name.removeprefix("fleet."): _plain(cls)
        for cls in (
            *(d.AddOp, d.SubOp, d.MulOp, d.DivOp, d.PowOp, d.MaximumOp, d.MinimumOp, d.MatmulOp, d.GatherOp),
            *(d.NegOp, d.AbsOp, d.SqrtOp, d.ExpOp, d.LogOp, d.TanhOp, d.CastOp, d.ReshapeOp),
        )
    },
    **{cls.name.removeprefix("fleet."): _reduce(cls) for cls in (d.ReduceSumOp, d.ReduceMaxOp, d.MeanOp, d.VarOp)},
    "argmax": lambda values, attributes, type_: d.ArgmaxOp(values[0], attributes["axis"], type_),
    "transpose": lambda values, attributes, type_: d.TransposeOp(values[0], attributes["permutation"], type_),
    "slice": lambda values, attributes, type_: d.SliceOp(values[0], attributes["start"], attributes["size"], type_),
    "concat": lambda values, attributes, type_: d.ConcatOp(values, attributes["axis"], type_),
}


def make(name: str, operands: Sequence[SSAValue], **attributes: Any) -> d.FleetOp:
    """Operation `name` ("add") on these operands; `attributes` as in `fleet.ir.infer.result_type`. Not yet in a block.

    Raises InferenceError when the operands do not fit. The caller gives it its identity (`FleetOp.describe`).
    """
    type_ = result_type(name, [v.type for v in operands], attributes)
    return _CLASSES[name](operands, attributes, type_)
