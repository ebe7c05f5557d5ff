"""Raises GELU (tanh and erf), SiLU and sigmoid, by their normal forms."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from xdsl.ir import SSAValue

from fleet.ir import dialect as d
from fleet.ir.dialect import FleetOp, kind_of
from fleet.ir.types import numpy_dtype
from fleet.transforms.edit import Edit
from fleet.transforms.passes import plain
from fleet.transforms.raising import polynomial as p
from fleet.transforms.raising.normal import Normal, forward_cone
from fleet.transforms.raising.polynomial import Poly
from fleet.transforms.raising.search import RaisingSite, backward_cone, tolerance_of

_DEPTH = 8


class _Formula(NamedTuple):
    name: str
    attributes: Mapping[str, Any]
    normal: Poly


def _x() -> Poly:
    return p.atom(p.X)


def _one_plus(inner: Poly) -> Poly:
    return p.add(p.constant(1.0), inner)


def _gelu(inner: Poly) -> Poly:
    return p.multiply(p.scale(_x(), 0.5), _one_plus(inner))


def _tanh_argument() -> Poly:
    return p.scale(p.add(_x(), p.power(_x(), 3), 0.044715), math.sqrt(2 / math.pi))


def _sigmoids() -> list[Poly]:
    """Return 1 / (1 + exp(-x)), exp(x) / (1 + exp(x)) and (1 + tanh(x / 2)) / 2."""
    falling, rising = p.function("exp", p.scale(_x(), -1)), p.function("exp", _x())
    return [
        p.power(_one_plus(falling), -1),
        p.multiply(rising, p.power(_one_plus(rising), -1)),
        p.scale(_one_plus(p.function("tanh", p.scale(_x(), 0.5))), 0.5),
    ]


def _formulas() -> list[_Formula]:
    found = [
        _Formula("gelu", {"approximate": "tanh"}, _gelu(p.function("tanh", _tanh_argument()))),
        _Formula("gelu", {"approximate": "erf"}, _gelu(p.function("erf", p.scale(_x(), math.sqrt(0.5))))),
    ]
    for normal in _sigmoids():
        found += [_Formula("silu", {}, p.multiply(_x(), normal)), _Formula("sigmoid", {}, normal)]
    return found


_FORMULAS = _formulas()


def raise_activations(site: RaisingSite) -> None:
    """Replace computations of gelu, silu and sigmoid."""
    forms = _Forms(site)
    for anchor in site.operations(d.TanhOp, d.ErfOp, d.ExpOp, d.SigmoidOp):
        while site.alive(anchor) and _raise_at(site, anchor, forms):
            pass


class _Forms:
    """Caches normal forms by the value that they are relative to, until the program changes: neighbouring anchors share them.

    Nested functions are not expanded, because no formula contains them.
    """

    def __init__(self, site: RaisingSite) -> None:
        self._edit = site.edit
        self._changes = -1
        self._found: dict[SSAValue, Normal] = {}

    def of(self, x: SSAValue) -> Normal:
        """Return the normal forms relative to x."""
        if self._changes != self._edit.changes:
            self._found, self._changes = {}, self._edit.changes
        if x not in self._found:
            self._found[x] = Normal(x, nested=1)
        return self._found[x]


def _raise_at(site: RaisingSite, anchor: FleetOp, known: _Forms) -> bool:
    """Replace the last function in program order that contains the anchor; return whether there was one."""
    order = site.order()
    roots = sorted(
        (v for v in forward_cone(anchor.results[0], _DEPTH, 32) if isinstance(v.owner, FleetOp)),
        key=lambda v: -order[v.owner],  # pyright: ignore[reportArgumentType]
    )
    inputs = [v for v in backward_cone(anchor.operands[0], _DEPTH - 2) if numpy_dtype(v.type).kind == "f"]
    forms = [known.of(x) for x in inputs]
    near: tuple[str, FleetOp, str] | None = None
    for root in roots:
        op = root.owner
        assert isinstance(op, FleetOp)
        for form in forms:
            if root not in form.cone:
                continue
            normal = form.of(root)
            if any(one[0] == "value" for monomial in normal for one, _ in monomial):
                continue  # a formula depends on x alone
            tolerance = max(tolerance_of(numpy_dtype(v.type)) for v in (root, form.x))
            for formula in _FORMULAS:
                if len(normal) != len(formula.normal):
                    continue  # the forms differ in more than numbers
                if kind_of(op) == formula.name:
                    continue
                if not p.close(normal, formula.normal, tolerance):
                    if near is None and (why := _difference(normal, formula.normal)):
                        near = (_title(formula), op, why)
                    continue
                why = site.compose(op, formula.name, _operand(site, op, form.x), **formula.attributes)
                if why is None:
                    return True
                site.miss(_title(formula), op, why)
    if near is not None:
        site.miss(*near)
    return False


def _operand(site: RaisingSite, place: FleetOp, x: SSAValue) -> Callable[[Any], list[SSAValue]]:
    return lambda dtype: [site.widened(place, x, dtype)]


def _title(formula: _Formula) -> str:
    return " ".join([formula.name, *(str(v) for v in formula.attributes.values())])


def _difference(found: Poly, wanted: Poly) -> str | None:
    """Return the first pair of numbers in which two normal forms differ, the idiom's second; None if they differ in more."""
    if not p.close(found, wanted, math.inf):
        return None
    a, b = list(p.numbers(found)), list(p.numbers(wanted))
    pairs = [(x, y) for x, y in zip(a, b, strict=True) if abs(x - y) > 1e-12 * max(abs(x), abs(y))]
    if not pairs or any(x * y <= 0 or not 0.5 < x / y < 2 for x, y in pairs):
        return None
    x, y = max(pairs, key=lambda c: abs(c[0] / c[1] - 1))
    return f"a coefficient of {x:.10g} where the formula has {y:.10g}"


def _apply(edit: Edit) -> None:
    raise_activations(RaisingSite(edit))


PASS = plain("raise-activation", "find GELU, SiLU and sigmoid", "rounding", _apply, adds_weights=False)
