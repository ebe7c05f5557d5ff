"""Raises layer norm and RMS norm, by their normal forms.

Relative to x a layer norm is gamma x S^-1/2 - gamma mean(x) S^-1/2 + beta with S = mean(x^2) - mean(x)^2 + eps, an RMS norm is
gamma x S^-1/2 with S = mean(x^2) + eps. gamma and beta are values or numbers; a missing gamma is 1, a missing beta 0.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np
from xdsl.ir import SSAValue

from fleet.ir import dialect as d
from fleet.ir.constants import constant
from fleet.ir.dialect import FleetOp, op_id
from fleet.ir.types import is_tensor, numpy_dtype, shape_of, tensor_type
from fleet.transforms.edit import Edit
from fleet.transforms.passes import plain
from fleet.transforms.raising import polynomial as p
from fleet.transforms.raising.normal import Normal
from fleet.transforms.raising.polynomial import Monomial, Poly, PolynomialAtom
from fleet.transforms.raising.search import RaisingSite, backward_cone, tolerance_of


class _Norm(NamedTuple):
    """A norm. gamma, beta: a value or a number."""

    name: str
    axis: int
    eps: float
    gamma: PolynomialAtom | float
    beta: PolynomialAtom | float


def raise_norms(site: RaisingSite) -> None:
    """Replace computations of layer_norm and rms_norm."""
    done: set[SSAValue] = set()
    for anchor in site.operations(d.MeanOp, d.VarOp, d.ReduceSumOp):
        if not site.alive(anchor):
            continue
        for x in backward_cone(anchor.operands[0], 3):
            if not site.alive(anchor):
                break
            same = numpy_dtype(x.type).kind == "f" and shape_of(x.type) == shape_of(anchor.operands[0].type)
            if same and x not in done:
                done.add(x)
                while _raise_one(site, x):
                    pass


def _raise_one(site: RaisingSite, x: SSAValue) -> bool:
    """Replace the last norm of a value in program order; return whether there was one."""
    form = Normal(x)
    if not _squares(form.cone):
        return False
    order = site.order()
    roots = [v for v in form.cone if isinstance(v.owner, FleetOp) and shape_of(v.type) == shape_of(x.type) and v is not x]
    reason: tuple[FleetOp, str, str] | None = None
    for root in sorted(roots, key=lambda v: -order[v.owner]):  # pyright: ignore[reportArgumentType]
        op = root.owner
        if not isinstance(op, FleetOp) or not site.alive(op) or isinstance(op, d.LayerNormOp | d.RmsNormOp):
            continue
        found = _norm(form, form.of(root), max(tolerance_of(numpy_dtype(v.type)) for v in (root, x)))
        if isinstance(found, str):
            title = _title(form.of(root))
            reason = reason or (op, title, found)
        elif found is not None:
            why = site.compose(op, found.name, _Operands(site, op, form, found), **_attributes(found))
            if why is None:
                return True
            site.miss(found.name, op, why)
    if reason is not None:
        site.miss(reason[1], reason[0], reason[2])
    return False


def _squares(cone: Collection[SSAValue]) -> bool:
    """Return whether the values computed from x can include a square of x. Every norm has one, and normal forms are costly."""
    return any(
        isinstance(v.owner, d.VarOp | d.PowOp) or (isinstance(v.owner, d.MulOp) and all(o in cone for o in v.owner.operands))
        for v in cone
    )


def _title(root: Poly) -> str:
    """Return the name of the norm that nearly matched: layer_norm if it subtracts a mean, else rms_norm."""
    return "layer_norm" if any(_mean_of(a) == 1 for a in p.atoms_of(root)) else "rms_norm"


def _mean_of(one: PolynomialAtom) -> float | None:
    """Return the power of x whose mean the atom is; None for any other atom."""
    if one[0] != "mean" or len(one[2]) != 1:
        return None
    ((monomial, _),) = one[2]
    return monomial[0][1] if len(monomial) == 1 and monomial[0][0] == p.X else None


def _attributes(norm: _Norm) -> dict[str, Any]:
    return {"eps": norm.eps, "axis": norm.axis} if norm.name == "layer_norm" else {"eps": norm.eps}


class _Operands:
    """Makes x, gamma and, for a layer norm, beta."""

    def __init__(self, site: RaisingSite, place: FleetOp, form: Normal, norm: _Norm) -> None:
        self.site, self.place, self.form, self.norm = site, place, form, norm

    def __call__(self, dtype: np.dtype | None) -> list[SSAValue]:
        x = self.form.x
        parameters = [self._parameter("gamma", self.norm.gamma, dtype)]
        if self.norm.name == "layer_norm":
            parameters.append(self._parameter("beta", self.norm.beta, dtype))
        return [self.site.widened(self.place, x, dtype), *parameters]

    def _parameter(self, name: str, parameter: PolynomialAtom | float, dtype: np.dtype | None) -> SSAValue:
        if isinstance(parameter, tuple):
            return self.form.value(parameter)
        shape, own = shape_of(self.form.x.type), numpy_dtype(self.form.x.type)
        axis = self.norm.axis
        size = [shape[axis], *([1] * (-axis - 1))] if shape[axis] > 0 else []
        filled = constant(parameter, tensor_type(size, dtype or own))
        return self.site.insert(self.place, f"{op_id(self.place)}.{name}", filled)


def _norm(form: Normal, root: Poly, tolerance: float) -> _Norm | str | None:
    """Return the norm of a normal form; a reason if it nearly matches; None otherwise."""
    sums = {(a, e) for monomial in root for a, e in monomial if a[0] == "sum"}
    if len(sums) != 1:
        return None
    ((total, exponent),) = sums
    moments = _moments(p.unkey(total[1]), tolerance)
    if isinstance(moments, str):
        return moments
    if moments is None:
        return None
    axis, eps, centred, factor = moments
    if exponent != -0.5:
        return f"the variance has the exponent {exponent:g}, not -1/2" if exponent < 0 else None
    mean_x: PolynomialAtom = ("mean", (axis,), ((((p.X, 1.0),), 1.0),))
    x_terms, mean_terms, rest = _split(root, total, mean_x)
    if x_terms is None or len(x_terms) != 1:
        return None
    ((scale, c),) = x_terms.items()
    if centred:
        if mean_terms.keys() != x_terms.keys() or abs(mean_terms[scale] + c) > 8 * tolerance * abs(c):
            return "the mean is not taken from x, or not with the same factor"
    elif mean_terms:
        return "x is centred in the numerator but not in the variance"
    c /= factor**0.5
    gamma = _factor(form, scale, c, axis, tolerance)
    if gamma is None:
        return "gamma is a product of several values: multiply them first"
    if not centred:
        return _Norm("rms_norm", -1, eps, gamma, 0.0) if axis == -1 and not rest else None
    beta = _beta(form, rest, axis)
    if beta is None:
        return None
    return _Norm("layer_norm", axis, eps, gamma, beta)


def _moments(total: Poly, tolerance: float) -> tuple[int, float, bool, float] | str | None:
    """Return (axis, eps, whether the mean is subtracted, factor) of factor * (mean(x^2) [- mean(x)^2] + eps)."""
    squares = [m[0][0] for m in total if len(m) == 1 and m[0][1] == 1 and _mean_of(m[0][0]) == 2]
    if len(squares) != 1:
        roots = [a for m in total for a, e in m if e == 0.5]
        outside = any(_mean_of(a) == 2 or (a[0] == "sum" and isinstance(_moments(p.unkey(a[1]), tolerance), tuple)) for a in roots)
        return "eps is added to the square root, not to the variance under it" if outside else None
    (square,) = squares
    factor = total[((square, 1.0),)]
    eps = total.get((), 0.0) / factor
    mean_x: PolynomialAtom = ("mean", square[1], ((((p.X, 1.0),), 1.0),))
    off: Monomial = ((mean_x, 2.0),)
    known = {(), ((square, 1.0),), off}
    if set(total) - known or factor <= 0:
        return "under the square root there is more than a variance and a number"
    if len(square[1]) != 1:
        return f"the mean goes along {len(square[1])} axes, a norm has one"
    if eps < 0:
        return f"eps is {eps:g}, below zero"
    if off in total and abs(total[off] + factor) > tolerance * factor:
        return f"the square of the mean is taken off {-total[off] / factor:.6g} times"
    return square[1][0], eps, off in total, factor


def _split(root: Poly, total: PolynomialAtom, mean_x: PolynomialAtom) -> tuple[Poly | None, Poly, Poly]:
    """Return the factors of x and of the mean of x beside the root of the variance, and the monomials without it, or None."""
    x_terms: dict[Monomial, float] = {}
    mean_terms: dict[Monomial, float] = {}
    rest: dict[Monomial, float] = {}
    for monomial, c in root.items():
        factors = dict(monomial)
        if factors.pop(total, None) is None:
            rest[monomial] = c
        elif factors.get(p.X) == 1:
            del factors[p.X]
            x_terms[tuple(factors.items())] = c
        elif factors.get(mean_x) == 1:
            del factors[mean_x]
            mean_terms[tuple(factors.items())] = c
        else:
            return None, {}, {}
    return x_terms, mean_terms, rest


def _factor(form: Normal, monomial: Monomial, c: float, axis: int, tolerance: float) -> PolynomialAtom | float | None:
    """Return a factor as one value or a number, or None."""
    if not monomial:
        return c
    return _parameter(form, monomial, axis) if abs(c - 1) <= tolerance else None


def _beta(form: Normal, rest: Poly, axis: int) -> PolynomialAtom | float | None:
    """Return the term added at the end: nothing, a number, or one value."""
    if not rest:
        return 0.0
    if len(rest) != 1:
        return None
    ((monomial, c),) = rest.items()
    if not monomial:
        return c
    return _parameter(form, monomial, axis) if c == 1 else None


def _parameter(form: Normal, monomial: Monomial, axis: int) -> PolynomialAtom | None:
    """Return a single value that changes only along the norm's axis (a residual branch does not), or None."""
    if len(monomial) != 1 or monomial[0][0][0] != "value" or monomial[0][1] != 1:
        return None
    type_ = form.value(monomial[0][0]).type
    shape = shape_of(type_)
    flat = all(size == 1 for i, size in enumerate(shape, -len(shape)) if i != axis)
    return monomial[0][0] if is_tensor(type_) and flat else None


def _apply(edit: Edit) -> None:
    raise_norms(RaisingSite(edit))


PASS = plain("raise-norm", "find layer norm and RMS norm", "rounding", _apply, adds_weights=False)
