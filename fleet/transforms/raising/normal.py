"""Represents values of the IR as polynomials in one chosen value.

Only values that depend on the chosen value are expanded, and only a bounded part of them; all others are atoms. So the normal form
of a layer norm consists of x, gamma and beta, however x was computed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xdsl.ir import Operation, SSAValue

from fleet.ir import dialect as d
from fleet.ir.dialect import FleetOp, kind_of
from fleet.ir.operations.operation import attributes_of
from fleet.ir.types import is_tensor, numpy_dtype, shape_of
from fleet.transforms.raising import polynomial as p
from fleet.transforms.raising.polynomial import Poly, PolynomialAtom, TooLarge
from fleet.transforms.simplify.numbers import known_number

_FUNCTIONS = (d.ExpOp, d.TanhOp, d.ErfOp, d.LogOp, d.SinOp, d.CosOp, d.AbsOp, d.MaximumOp, d.MinimumOp)
_REDUCTIONS = (d.MeanOp, d.VarOp, d.ReduceSumOp, d.ReduceMaxOp)

_DEPTH, _WIDTH = 16, 96
_NESTED = 4


def forward_cone(start: SSAValue, depth: int = _DEPTH, width: int = _WIDTH) -> dict[SSAValue, int]:
    """Return what is computed from `start` by operations that normal forms expand, with the distance."""
    found: dict[SSAValue, int] = {start: 0}
    front = [start]
    for distance in range(1, depth + 1):
        following: list[SSAValue] = []
        for value in front:
            for use in value.uses:
                op = use.operation
                if type(op) in TRANSPARENT and op.results[0] not in found:
                    found[op.results[0]] = distance
                    following.append(op.results[0])
        front = following
        if len(found) > width:
            break
    return found


class Normal:
    """Normal forms relative to one value.

    Attributes:
        x: the chosen value (the atom `polynomial.X`); further chosen values are atoms ("value", n).
        cone: values that depend on them.
        values: n of an atom ("value", n) -> the value.
        nested: maximum nesting of functions; deeper ones are atoms.
    """

    def __init__(self, x: SSAValue, *others: SSAValue, nested: int = _NESTED) -> None:
        self.x = x
        self.nested = nested
        self.cone = forward_cone(x)
        for other in others:
            self.cone |= forward_cone(other)
        self.values: list[SSAValue] = []
        self._numbers: dict[SSAValue, int] = {}
        self._known: dict[SSAValue, Poly] = {x: p.atom(p.X)}
        self._known |= {other: self.opaque(other) for other in others}

    def of(self, value: SSAValue) -> Poly:
        """Return the normal form of a value."""
        if value not in self._known:
            self._known[value] = self._compute(value)
        return self._known[value]

    def opaque(self, value: SSAValue) -> Poly:
        """Return the value as an atom."""
        if value not in self._numbers:
            self._numbers[value] = len(self.values)
            self.values.append(value)
        return p.atom(("value", self._numbers[value]))

    def value(self, one: PolynomialAtom) -> SSAValue:
        """Return the value of an atom ("value", n)."""
        return self.values[one[1]]

    def _compute(self, value: SSAValue) -> Poly:
        number = known_number(value)
        if number is not None and not isinstance(number, bool):
            return p.constant(float(number))
        op = value.owner
        if value not in self.cone or not isinstance(op, FleetOp):
            return self.opaque(value)
        rule = _RULES.get(type(op))
        try:
            found = rule(self, op) if rule is not None else None
        except (TooLarge, OverflowError, ZeroDivisionError):
            found = None
        return self.opaque(value) if found is None else found

    def invariant(self, axes: tuple[int, ...]) -> Callable[[PolynomialAtom], bool]:
        """Return a test of whether an atom is constant along the axes."""

        def test(one: PolynomialAtom) -> bool:
            if one[0] in ("mean", "max"):
                return set(axes) <= set(one[1])
            if one[0] == "length":
                return True
            if one[0] in ("fn", "sum"):
                return all(test(a) for inner in p.inside(one) for monomial, _ in inner for a, _ in monomial)
            if one == p.X:  # also along an axis of size 1: an idiom is the same for every size
                return all(-axis > len(shape_of(self.x.type)) for axis in axes)
            shape = shape_of(self.value(one).type)
            return all(-axis > len(shape) or shape[axis] == 1 for axis in axes)

        return test


def _axes(op: FleetOp) -> tuple[int, ...]:
    """Return the axes of a reduction, counted from the end."""
    rank = len(shape_of(op.operands[0].type))
    return tuple(sorted(a - rank for a in attributes_of(op)["axes"]))


def _aligned(op: FleetOp) -> bool:
    """Return whether a reduction's result broadcasts back along the reduced axes."""
    return bool(attributes_of(op)["keepdims"]) or not shape_of(op.results[0].type)


def _reduced(n: Normal, op: FleetOp) -> Poly | None:
    """Return a reduction as if it had kept its axes."""
    axes, inner = _axes(op), n.of(op.operands[0])
    if isinstance(op, d.ReduceMaxOp):
        return p.atom(("max", axes, p.key(inner)))
    invariant = n.invariant(axes)
    if isinstance(op, d.VarOp):
        return p.add(p.mean(p.power(inner, 2), axes, invariant), p.power(p.mean(inner, axes, invariant), 2), -1.0)
    found = p.mean(inner, axes, invariant)
    if isinstance(op, d.MeanOp):
        return found
    for axis in axes:
        length = shape_of(op.operands[0].type)[axis]
        found = p.scale(found, float(length)) if length >= 0 else p.multiply(found, p.atom(("length", axis)))
    return found


def _reduction(n: Normal, op: FleetOp) -> Poly | None:
    return _reduced(n, op) if _aligned(op) else None


def _reshape(n: Normal, op: FleetOp) -> Poly | None:
    """Expand only a reshape that restores a reduction's lost axes, as `m[:, None]` does."""
    inner = op.operands[0].owner
    if not isinstance(inner, _REDUCTIONS):
        return None
    shape, axes = list(shape_of(inner.operands[0].type)), attributes_of(inner)["axes"]
    kept = [1 if i in axes else size for i, size in enumerate(shape)]
    return _reduced(n, inner) if kept == list(shape_of(op.results[0].type)) else None


def _cast(n: Normal, op: FleetOp) -> Poly | None:
    """Expand only a cast that widens a float, which is exact."""
    source, target = numpy_dtype(op.operands[0].type), numpy_dtype(op.results[0].type)
    wider = source.kind == target.kind == "f" and source.itemsize <= target.itemsize and is_tensor(op.operands[0].type)
    return n.of(op.operands[0]) if wider else None


def _power(n: Normal, op: FleetOp) -> Poly | None:
    exponent = known_number(op.operands[1])
    return None if exponent is None else p.power(n.of(op.operands[0]), float(exponent))


def _function(n: Normal, op: FleetOp) -> Poly:
    arguments = [n.of(v) for v in op.operands]
    if any(p.nesting(a) >= n.nested for a in arguments):
        raise TooLarge
    if isinstance(op, d.MaximumOp | d.MinimumOp):
        arguments.sort(key=p.key)
    return p.function(kind_of(op), *arguments)


def _sigmoid(n: Normal, op: FleetOp) -> Poly:
    exponential = p.function("exp", p.scale(n.of(op.operands[0]), -1.0))
    return p.power(p.add(p.constant(1.0), exponential), -1.0)


_RULES: Mapping[type[Operation], Callable[[Normal, FleetOp], Poly | None]] = {
    d.AddOp: lambda n, op: p.add(n.of(op.operands[0]), n.of(op.operands[1])),
    d.SubOp: lambda n, op: p.add(n.of(op.operands[0]), n.of(op.operands[1]), -1.0),
    d.MulOp: lambda n, op: p.multiply(n.of(op.operands[0]), n.of(op.operands[1])),
    d.DivOp: lambda n, op: p.multiply(n.of(op.operands[0]), p.power(n.of(op.operands[1]), -1.0)),
    d.NegOp: lambda n, op: p.scale(n.of(op.operands[0]), -1.0),
    d.PowOp: _power,
    d.SqrtOp: lambda n, op: p.power(n.of(op.operands[0]), 0.5),
    d.RsqrtOp: lambda n, op: p.power(n.of(op.operands[0]), -0.5),
    d.BroadcastToOp: lambda n, op: n.of(op.operands[0]),
    d.ReshapeOp: _reshape,
    d.CastOp: _cast,
    d.SigmoidOp: _sigmoid,
    **dict.fromkeys(_FUNCTIONS, _function),
    **dict.fromkeys(_REDUCTIONS, _reduction),
}

TRANSPARENT = _RULES.keys()
"""Operations that normal forms expand."""
