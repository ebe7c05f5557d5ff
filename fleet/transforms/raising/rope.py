"""Raises rotary embedding in its three forms: concatenated halves, interleaved pairs, and x cos + rotated(x) sin."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from fleet.ir import dialect as d
from fleet.ir.dialect import FleetOp, op_id
from fleet.ir.operations.operation import attributes_of
from fleet.ir.types import is_tensor, numpy_dtype, shape_of
from fleet.transforms.edit import Edit
from fleet.transforms.passes import plain
from fleet.transforms.raising import polynomial as p
from fleet.transforms.raising.masks import known_array
from fleet.transforms.raising.normal import Normal
from fleet.transforms.raising.search import RaisingSite, backward_cone
from fleet.transforms.simplify.numbers import known_number


def raise_rope(site: RaisingSite) -> None:
    """Replace computations of rope."""
    for op in site.operations(d.ConcatOp):
        if site.alive(op):
            _put_together(site, op)
    for op in site.operations(d.AddOp, d.SubOp):
        if site.alive(op):
            _rotated(site, op)


def _put_together(site: RaisingSite, concat: FleetOp) -> None:
    """Match `concat(a cos - b sin, a sin + b cos)` of halves; for pairs with a new last axis and a reshape after it."""
    shape = shape_of(concat.results[0].type)
    parts = list(concat.operands)
    axis = attributes_of(concat)["axis"] % len(shape)
    if len(parts) != 2 or axis != len(shape) - 1 or -1 in shape:
        return
    root, interleaved = concat, False
    if shape[-1] == 2 and all(isinstance(v.owner, d.ReshapeOp) and shape_of(v.type)[-1] == 1 for v in parts):
        users = [use.operation for use in concat.results[0].uses]
        if len(users) == 1 and isinstance(users[0], d.ReshapeOp):
            parts = [v.owner.operands[0] for v in parts]  # pyright: ignore[reportAttributeAccessIssue]
            root, interleaved = users[0], True
    found = _turned(parts, interleaved)
    if found is None:
        return
    x, cos, sin = found
    if isinstance(cos, str):
        site.miss("rope", root, cos)
        return
    why = site.compose(root, "rope", lambda dtype: [site.widened(root, x, dtype), cos, sin], interleaved=interleaved)
    if why is not None:
        site.miss("rope", root, why)


def _turned(parts: Sequence[SSAValue], interleaved: bool) -> tuple[SSAValue, SSAValue | str, SSAValue] | None:
    """Return (x, cos, sin) if the parts are a cos - b sin and a sin + b cos of the halves or pairs a, b of x; else None."""
    windows = [v for v in backward_cone(parts[0], 4) if isinstance(v.owner, d.SliceOp)]
    for a in windows:
        for b in windows:
            if a is b or _part(a, interleaved) != 0 or _part(b, interleaved) != 1:
                continue
            x = a.owner.operands[0]  # pyright: ignore[reportAttributeAccessIssue]
            if b.owner.operands[0] is not x:  # pyright: ignore[reportAttributeAccessIssue]
                continue
            form = Normal(a, b)
            left, right = form.of(parts[0]), form.of(parts[1])
            ((b_atom, _),) = next(iter(form.opaque(b)))
            factors = _factors(left, b_atom)
            if factors is None or abs(factors[0][0]) != 1 or abs(factors[1][0]) != 1:
                continue
            (c_sign, cos), (s_sign, sin) = factors
            wanted = p.add(
                p.multiply(p.atom(p.X), p.scale(p.atom(sin), -s_sign)), p.multiply(p.atom(b_atom), p.scale(p.atom(cos), c_sign))
            )
            values = form.value(cos), form.value(sin)
            if (c_sign, s_sign) != (1, -1) or not p.close(right, wanted, 0.0):
                return x, "the halves turn in other ways than a cos - b sin, a sin + b cos", values[1]
            return x, *values
    return None


def _factors(left: p.Poly, b: p.PolynomialAtom) -> tuple[tuple[float, p.PolynomialAtom], tuple[float, p.PolynomialAtom]] | None:
    """Return the factors of a and b, each as coefficient and value, or None."""
    of_a = of_b = None
    for monomial, c in left.items():
        factors = dict(monomial)
        if len(factors) != 2 or any(e != 1 for e in factors.values()):
            return None
        if factors.pop(p.X, None):
            of_a = (c, next(iter(factors)))
        elif factors.pop(b, None):
            of_b = (c, next(iter(factors)))
    if of_a is None or of_b is None or len(left) != 2 or of_a[1][0] != "value" or of_b[1][0] != "value":
        return None
    return of_a, of_b


def _part(value: SSAValue, interleaved: bool) -> int | None:
    """Return 0 or 1 if the value is the first or second half (even or odd elements) along the last axis only; else None."""
    op = value.owner
    assert isinstance(op, d.SliceOp)
    shape, a = shape_of(op.operand.type), attributes_of(op)
    rank = len(shape)
    steps = a.get("step") or [1] * rank
    if shape[-1] % 2 or -1 in shape or any(a["size"][i] != shape[i] or steps[i] != 1 for i in range(rank - 1)):
        return None
    half, start = shape[-1] // 2, a["start"][-1]
    if a["size"][-1] != half or steps[-1] != (2 if interleaved and half > 1 else 1):
        return None
    unit = 1 if interleaved else half
    return start // unit if start in (0, unit) else None


def _rotated(site: RaisingSite, op: FleetOp) -> None:
    """Match `x * cos + concat(-x2, x1) * sin` with cos and sin as wide as x and with equal halves."""
    for rotated in backward_cone(op.results[0], 3):
        concat = rotated.owner
        if not isinstance(concat, d.ConcatOp) or (x := _rotation_of(concat)) is None:
            continue
        normal = Normal(x, rotated)
        form = normal.of(op.results[0])
        ((turned, _),) = next(iter(normal.opaque(rotated)))
        factors = _factors(form, turned)
        if factors is None or shape_of(op.results[0].type) != shape_of(x.type):
            continue
        (c_sign, cos), (s_sign, sin) = factors
        if (c_sign, s_sign) != (1, 1):
            site.miss("rope", op, "cos and sin have other signs than x cos + rotated(x) sin")
            return
        values = normal.value(cos), normal.value(sin)
        if not all(_halves_alike(site.edit, v) for v in values):
            site.miss("rope", op, "the halves of cos or sin are not known to be alike")
            return
        halves = [_first_half(site, op, v) for v in values]
        why = site.compose(op, "rope", lambda dtype, x=x, halves=halves: [site.widened(op, x, dtype), *halves], interleaved=False)
        if why is not None:
            site.miss("rope", op, why)
        return


def _rotation_of(concat: d.ConcatOp) -> SSAValue | None:
    """Return x if the concatenation is (-second half of x, first half of x) along the last axis, else None."""
    shape = shape_of(concat.result.type)
    if len(concat.inputs) != 2 or attributes_of(concat)["axis"] % len(shape) != len(shape) - 1:
        return None
    minus, first = concat.inputs
    if not isinstance(minus.owner, FleetOp) or not isinstance(first.owner, d.SliceOp) or _part(first, False) != 0:
        return None
    for second in backward_cone(minus, 1)[1:]:
        if isinstance(second.owner, d.SliceOp) and _part(second, False) == 1 and second.owner.operand is first.owner.operand:
            return first.owner.operand if p.close(Normal(second).of(minus), p.scale(p.atom(p.X), -1.0), 0.0) else None
    return None


def _halves_alike(edit: Edit, value: SSAValue) -> bool:
    """Return whether both halves of the last axis are equal: one value concatenated with itself, or known numbers."""
    op = value.owner
    if isinstance(op, d.ConcatOp):
        rank = len(shape_of(value.type))
        parts = list(op.inputs)
        return attributes_of(op)["axis"] % rank == rank - 1 and len(parts) == 2 and parts[0] is parts[1]
    known = known_array(edit, value)
    if known is not None and known.ndim and known.shape[-1] % 2 == 0:
        half = known.shape[-1] // 2
        return bool((known[..., :half] == known[..., half:]).all())
    if isinstance(op, d.ReshapeOp) and shape_of(op.operand.type)[-1:] == shape_of(value.type)[-1:]:
        return _halves_alike(edit, op.operand)
    if isinstance(op, d.UnaryOp):
        return _halves_alike(edit, op.operand)
    if isinstance(op, d.MulOp | d.AddOp):
        return all(known_number(v) is not None or _halves_alike(edit, v) for v in op.operands)
    return False


def _first_half(site: RaisingSite, place: FleetOp, value: SSAValue) -> SSAValue:
    """Return the first half of the last axis, or the value that was concatenated with itself."""
    if isinstance(value.owner, d.ConcatOp):
        return value.owner.inputs[0]
    shape = shape_of(value.type)
    assert is_tensor(value.type)
    assert numpy_dtype(value.type).kind == "f"
    size = [*shape[:-1], shape[-1] // 2]
    return site.new(place, f"{op_id(place)}.half", "slice", value, start=[0] * len(shape), size=size)


def _apply(edit: Edit) -> None:
    raise_rope(RaisingSite(edit))


PASS = plain("raise-rope", "find rotary embedding, of halves or of pairs", "rounding", _apply, adds_weights=False)
