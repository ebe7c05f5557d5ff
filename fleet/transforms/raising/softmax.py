"""Raises softmax: exponentials over their sum along one axis, with or without subtracting the maximum first."""

from __future__ import annotations

from xdsl.ir import SSAValue

from fleet.ir import dialect as d
from fleet.ir.dialect import FleetOp
from fleet.ir.types import numpy_dtype, shape_of
from fleet.transforms.edit import Edit
from fleet.transforms.passes import plain
from fleet.transforms.raising import polynomial as p
from fleet.transforms.raising.normal import Normal
from fleet.transforms.raising.search import RaisingSite, backward_cone, tolerance_of


def raise_softmax(site: RaisingSite) -> None:
    """Replace computations of softmax."""
    for exp in site.operations(d.ExpOp):
        if site.alive(exp) and numpy_dtype(exp.results[0].type).kind == "f":
            _raise_at(site, exp)


def _raise_at(site: RaisingSite, exp: FleetOp) -> None:
    """Match e / (length * mean(e)), the softmax relative to the exponential e, and replace it."""
    e = exp.results[0]
    form = Normal(e)
    order = site.order()
    for root in sorted((v for v in form.cone if v is not e), key=lambda v: -order[v.owner]):  # pyright: ignore[reportArgumentType]
        op = root.owner
        normal = form.of(root)
        if not isinstance(op, FleetOp) or len(normal) != 1 or shape_of(root.type) != shape_of(e.type):
            continue
        ((monomial, c),) = normal.items()
        means = [a for a, exponent in monomial if a[0] == "mean" and a[2] == ((((p.X, 1.0),), 1.0),) and exponent == -1]
        lengths = [a for a, exponent in monomial if a[0] == "length" and exponent == -1]
        if len(means) != 1 or len(monomial) != 2 + len(lengths) or (p.X, 1.0) not in monomial:
            continue
        axes = means[0][1]
        if len(axes) != 1:
            site.miss("softmax", op, f"the sum goes along {len(axes)} axes, a softmax has one")
            continue
        length = shape_of(e.type)[axes[0]]
        if length < 0 and lengths == [("length", axes[0])]:
            length = 1
        if abs(c * length - 1) > tolerance_of(numpy_dtype(root.type)):
            site.miss("softmax", op, f"the exponentials' sum is {1 / (c * length):.6g} times what it divides by")
            continue
        x = _under_maximum(exp.operands[0], axes[0])
        rank = len(shape_of(e.type))
        why = site.compose(op, "softmax", lambda dtype, x=x, op=op: [site.widened(op, x, dtype)], axis=axes[0] % rank)
        if why is None:
            return
        site.miss("softmax", op, why)


def _under_maximum(argument: SSAValue, axis: int) -> SSAValue:
    """Return x if the argument is x minus its maximum along the axis (which does not change the softmax), else the argument."""
    for x in backward_cone(argument, 2)[1:]:
        if shape_of(x.type) != shape_of(argument.type):
            continue
        maximum = p.atom(("max", (axis,), p.key(p.atom(p.X))))
        if p.close(Normal(x).of(argument), p.add(p.atom(p.X), maximum, -1.0), 0.0):
            return x
    return argument


def _apply(edit: Edit) -> None:
    raise_softmax(RaisingSite(edit))


PASS = plain("raise-softmax", "find softmax, stable or plain", "rounding", _apply, adds_weights=False)
