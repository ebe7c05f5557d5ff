"""Canonicalises: identities disappear, and consecutive movements become one.

`canonicalise` runs on every program that a front end makes: it removes dead code, duplicate constants, and casts and reshapes that
change nothing. The pass `canonicalise` also applies the rules of `_RULES` until none applies. Every rule keeps every bit of every
result, NaN and the sign of zero included; an operation bound to a variable stays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from xdsl.ir import Attribute, SSAValue

from fleet.ir import dialect as d
from fleet.ir.build import make
from fleet.ir.dialect import ConstantOp, FleetOp
from fleet.ir.operations.operation import attributes_of
from fleet.ir.program import Program
from fleet.ir.types import is_tensor, numpy_dtype, shape_of
from fleet.transforms.edit import Edit, text_of
from fleet.transforms.passes import plain
from fleet.transforms.simplify.numbers import known_number


def canonicalise(program: Program, *, copy: bool = True) -> Program:
    """Return a new program without dead operations, duplicate unnamed constants, and casts and reshapes that change nothing.

    Operations keep their identity (`id`, `var`, `at`). Anything printed or returned, and what it needs, stays. copy: False if
    nobody else uses the program's module any more.
    """
    edit = Edit(program, copy=copy)
    _tidy(edit)
    return replace(edit.program(), fates=program.fates)  # nobody has seen the operations removed here


def _tidy(edit: Edit) -> None:
    for op in edit.operations():
        if isinstance(op, d.CastOp | d.ReshapeOp) and op.operand.type == op.result.type and text_of(op, "var") is None:
            edit.replace(op, op.operand)
    _merge_constants(edit)
    edit.sweep()


def _merge_constants(edit: Edit) -> None:
    seen: dict[tuple[Attribute, Attribute], SSAValue] = {}
    for op in edit.operations():
        if not isinstance(op, ConstantOp):
            continue
        key = (op.properties["value"], op.result.type)
        if key not in seen:
            seen[key] = op.result
        elif text_of(op, "var") is None:
            edit.replace(op, seen[key])


def _apply(edit: Edit) -> None:
    _tidy(edit)
    changed = True
    while changed:
        changed = False
        edit.sweep()  # unused operations of the last round would count as users
        for op in edit.operations():
            if text_of(op, "var") is not None or not op.results:
                continue
            for rule in _RULES.get(type(op), ()):
                value = rule(op, edit)
                if value is not None and value.type == op.results[0].type:
                    edit.replace(op, value)
                    changed = True
                    break
    _tidy(edit)


Rule = Callable[[FleetOp, Edit], SSAValue | None]
"""Returns a value with the same bits as the operation's result, or None if the rule does not apply."""


def _operand(op: FleetOp, index: int = 0) -> SSAValue:
    return op.operands[index]


def _same_kind(value: SSAValue, kind: type[FleetOp]) -> FleetOp | None:
    return value.owner if isinstance(value.owner, kind) else None


def _is(value: SSAValue, number: float, kinds: str, *, negative_zero: bool = False) -> bool:
    """Return whether a value is known to be this number, in a dtype of one of these kinds."""
    known = known_number(value)
    if known is None or isinstance(known, bool) or known != number or numpy_dtype(value.type).kind not in kinds:
        return False
    return number != 0 or not isinstance(known, float) or (math.copysign(1.0, known) < 0) == negative_zero


def _times_one(op: FleetOp, _edit: Edit) -> SSAValue | None:
    lhs, rhs = op.operands
    return lhs if _is(rhs, 1, "fi") else rhs if _is(lhs, 1, "fi") else None


def _right_one(op: FleetOp, _edit: Edit) -> SSAValue | None:
    return _operand(op) if _is(_operand(op, 1), 1, "fi") else None


def _plus_nothing(op: FleetOp, _edit: Edit) -> SSAValue | None:
    """Remove an addition of 0 for integers, of -0.0 for floats (-0.0 + 0.0 is 0.0)."""
    lhs, rhs = op.operands
    for value, other in ((lhs, rhs), (rhs, lhs)):
        if _is(other, 0, "i") or _is(other, 0, "f", negative_zero=True):
            return value
    return None


def _minus_nothing(op: FleetOp, _edit: Edit) -> SSAValue | None:
    lhs, rhs = op.operands
    return lhs if _is(rhs, 0, "i") or _is(rhs, 0, "f") else None


def _twice(kind: type[FleetOp]) -> Rule:
    """Return a rule for f(f(x)) = x."""

    def rule(op: FleetOp, _edit: Edit) -> SSAValue | None:
        inner = _same_kind(_operand(op), kind)
        return inner.operands[0] if inner is not None else None

    return rule


def _new(op: FleetOp, edit: Edit, name: str, operand: SSAValue, **attributes: object) -> SSAValue:
    """Make a new operation in the old one's place, with its id."""
    made = make(name, [operand], **attributes)
    made.describe(id=text_of(op, "id") or "", var=text_of(op, "var"), at=text_of(op, "at"))
    made.attributes.update(op.attributes)
    return edit.insert_before(op, made)


def _nothing_moves(op: FleetOp, _edit: Edit) -> SSAValue | None:
    """Remove a movement that returns its operand."""
    operand = _operand(op)
    if operand.type != op.results[0].type:
        return None
    a = attributes_of(op)
    if isinstance(op, d.TransposeOp):
        return operand if list(a["permutation"]) == sorted(a["permutation"]) else None
    if isinstance(op, d.SliceOp):
        whole = -1 not in shape_of(operand.type) and not any(a["start"]) and set(a.get("step") or [1]) == {1}
        return operand if whole else None
    return operand


def _moved(op: FleetOp, kind: type[FleetOp]) -> FleetOp | None:
    """Return the preceding movement of the same kind, if nothing else uses the value in between; else None."""
    inner = _same_kind(_operand(op), kind)
    return inner if inner is not None and text_of(inner, "var") is None and _operand(op).has_one_use() else None


def _reshape_of_reshape(op: FleetOp, edit: Edit) -> SSAValue | None:
    inner = _moved(op, d.ReshapeOp)
    if inner is None or -1 in shape_of(op.results[0].type):
        return None
    return _new(op, edit, "reshape", inner.operands[0], shape=list(shape_of(op.results[0].type)))


def _transpose_of_transpose(op: FleetOp, edit: Edit) -> SSAValue | None:
    inner = _moved(op, d.TransposeOp)
    if inner is None:
        return None
    first, second = attributes_of(inner)["permutation"], attributes_of(op)["permutation"]
    return _new(op, edit, "transpose", inner.operands[0], permutation=[first[p] for p in second])


def _slice_of_slice(op: FleetOp, edit: Edit) -> SSAValue | None:
    inner = _moved(op, d.SliceOp)
    if inner is None or -1 in (*shape_of(inner.operands[0].type), *shape_of(op.results[0].type)):
        return None
    a, b = attributes_of(inner), attributes_of(op)
    rank = len(a["start"])
    one, two = (list(x.get("step") or [1] * rank) for x in (a, b))
    start = [a["start"][i] + b["start"][i] * one[i] for i in range(rank)]
    step = [one[i] * two[i] for i in range(rank)]
    steps = {} if set(step) == {1} else {"step": step}
    return _new(op, edit, "slice", inner.operands[0], start=start, size=list(b["size"]), **steps)


def _cast_of_cast(op: FleetOp, edit: Edit) -> SSAValue | None:
    """If the first cast is exact, apply the second cast to its operand."""
    inner = _same_kind(_operand(op), d.CastOp)
    if inner is None or is_tensor(inner.operands[0].type) != is_tensor(op.results[0].type):
        return None
    source, middle = numpy_dtype(inner.operands[0].type), numpy_dtype(inner.results[0].type)
    bits = {"float16": 11, "float32": 24, "float64": 53}
    if middle.kind == "f" and source.kind == "i":
        lossless = 8 * source.itemsize <= bits[middle.name]
    else:
        lossless = source.kind == "b" or (source.kind == middle.kind and source.itemsize <= middle.itemsize)
    if not lossless:
        return None
    if inner.operands[0].type == op.results[0].type:
        return inner.operands[0]
    return _new(op, edit, "cast", inner.operands[0], dtype=numpy_dtype(op.results[0].type))


def _parts_of_one(op: FleetOp, _edit: Edit) -> SSAValue | None:
    """Remove a concatenation of one part, or of slices that together are the whole of one value, in order."""
    parts = list(op.operands)
    if len(parts) == 1:
        return parts[0]
    axis = int(attributes_of(op)["axis"]) % max(1, len(shape_of(parts[0].type)))
    return _whole(parts, axis)


def _whole(parts: Sequence[SSAValue], axis: int) -> SSAValue | None:
    position, base = 0, None
    for part in parts:
        piece = _same_kind(part, d.SliceOp)
        if piece is None or (base is not None and piece.operands[0] is not base):
            return None
        base = piece.operands[0]
        a, shape = attributes_of(piece), shape_of(base.type)
        if -1 in shape or set(a.get("step") or [1]) != {1}:
            return None
        if any(s != 0 or n != whole for i, (s, n, whole) in enumerate(zip(a["start"], a["size"], shape, strict=True)) if i != axis):
            return None
        if a["start"][axis] != position:
            return None
        position += a["size"][axis]
    return base if base is not None and position == shape_of(base.type)[axis] else None


def _known_choice(op: FleetOp, _edit: Edit) -> SSAValue | None:
    condition = known_number(_operand(op))
    return None if condition is None else _operand(op, 1 if condition else 2)


_RULES: Mapping[type[FleetOp], tuple[Rule, ...]] = {
    d.MulOp: (_times_one,),
    d.DivOp: (_right_one,),
    d.PowOp: (_right_one,),
    d.AddOp: (_plus_nothing,),
    d.SubOp: (_minus_nothing,),
    d.NegOp: (_twice(d.NegOp),),
    d.ReshapeOp: (_nothing_moves, _reshape_of_reshape),
    d.TransposeOp: (_nothing_moves, _transpose_of_transpose),
    d.SliceOp: (_nothing_moves, _slice_of_slice),
    d.BroadcastToOp: (_nothing_moves,),
    d.CastOp: (_nothing_moves, _cast_of_cast),
    d.ConcatOp: (_parts_of_one,),
    d.WhereOp: (_known_choice,),
}
"""Operation -> rules, tried in order. A rule does not apply if its value has another type than the operation."""

PASS = plain("canonicalise", "one form for identities and for movements of movements", "bits", _apply, adds_weights=False)
