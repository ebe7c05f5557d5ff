"""One operation in one comparison: error figures, the bound held against every element, the worst element."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from fleet.cosim.metrics import absolute_error, error_stats, spacing_of, value_counts
from fleet.cosim.result import BoundStats, OperationRow, Worst
from fleet.cosim.tolerance import Array, Bound
from fleet.ir import dialect as d
from fleet.ir.dialect import FleetOp, op_id

__all__ = ["Basis", "bound_stats", "operation_row", "text_of"]


@dataclass(frozen=True)
class Basis:
    """The operation and what its values are held against; see `compare.ValueComparison` for the fields."""

    op: FleetOp
    index: int
    place: str
    bound: Bound | None = None
    local_bound: Bound | None = None
    own_bound: Bound | None = None
    classes_must_agree: bool = False
    ulp_dtype: np.dtype | None = None


def operation_row(
    basis: Basis,
    reference: Array,
    other: Array,
    *,
    local: tuple[Array, Array] | None = None,
    own: tuple[Array, Array] | None = None,
    kind: str,
) -> OperationRow:
    """The row, its verdict included.

    local, own: (reference, other) of the operation alone on the same operands; own: on the other side's. kind: "bound" demands
    a bound that holds, "info" nothing but the shape. Where no element has a finite accumulated bound, those of `own` decide,
    if all of its elements have one.
    """
    op = basis.op
    reasons: list[str] = []
    shape = tuple(int(n) for n in reference.shape)
    if reference.shape != other.shape:
        reasons.append(f"shape {list(other.shape)} instead of {list(shape)}")
        reference, other, local = np.zeros(0, reference.dtype), np.zeros(0, other.dtype), None
    elif local is not None and local[1].shape != shape:
        reasons.append(f"local run: shape {list(local[1].shape)} instead of {list(shape)}")
        local = None
    bound = local_bound = own_bound = worst = local_worst = None
    required = kind == "bound" and not reasons
    if required and basis.bound is None:
        reasons.append("no bound was derived for it")
    if reference.size:
        classes = isinstance(op, d.ArgmaxOp | d.ArgminOp)
        if required and own is not None and own[0].shape == shape and basis.own_bound is not None:
            own_bound = bound_stats(basis, basis.own_bound, *own)
            if own is not local:
                reasons += _violations(own_bound, "on its own operands: ", int(reference.size), classes)
        if required and basis.bound is not None:
            bound = bound_stats(basis, basis.bound, reference, other)
            proved = own_bound is not None and own is not None and _bounded(basis.own_bound, own[0])
            reasons += _violations(bound, "", int(reference.size), classes, proved=proved)
        worst = _worst(reference, other, basis.bound)
        if local is not None:
            if required and basis.local_bound is not None:
                local_bound = bound_stats(basis, basis.local_bound, *local)
                reasons += _violations(local_bound, "alone, on the same inputs: ", int(reference.size), classes)
            local_worst = _worst(*local, basis.local_bound)
    verdict: Literal["pass", "fail", "info"] = "fail" if reasons else ("pass" if kind == "bound" else "info")
    return OperationRow(
        op=op_id(op),
        name=op.name.removeprefix("fleet."),
        var=text_of(op, "var"),
        at=text_of(op, "at"),
        index=basis.index,
        place=basis.place,
        shape=shape,
        reference_dtype=reference.dtype.name,
        other_dtype=other.dtype.name,
        cumulative=error_stats(reference, other, basis.ulp_dtype),
        local=None if local is None else error_stats(*local, basis.ulp_dtype),
        bound=bound,
        local_bound=local_bound,
        worst=worst,
        local_worst=local_worst,
        reference_counts=value_counts(reference),
        other_counts=value_counts(other, basis.ulp_dtype),
        verdict=verdict,
        reason="; ".join(reasons),
        own_bound=own_bound,
    )


def bound_stats(basis: Basis, bound: Bound, reference: Array, other: Array) -> BoundStats:
    """The bound held against every element.

    Where the reference is NaN or infinite, or the other side is while the reference is finite and bounded, both must be the
    same special value. An argmax is held against its candidates instead of a distance.
    """
    error = absolute_error(reference, other)
    undecided = 0
    if bound.candidates is not None:
        violating, undecided = _argmax_violations(basis, bound.candidates, reference, other)
        limit = np.where(error > 0, np.where(violating, 0.0, np.inf), 0.0)
    else:
        limit = bound.array
        violating = error > limit
        if reference.dtype.kind == "f":
            violating = violating | (~np.isfinite(reference) & (error > 0))
    bounded = np.isfinite(limit)
    ratio = np.where(error == 0, 0.0, np.inf)
    np.divide(error, limit, out=ratio, where=bounded & (limit > 0) & (error > 0))
    ratio = np.where(violating & ~bounded, np.inf, np.where(bounded, ratio, 0.0))
    dtype = basis.ulp_dtype or reference.dtype
    finite = limit[bounded]
    ulps = np.zeros(0)
    if dtype.kind == "f" and reference.dtype.kind == "f":
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            ulps = finite / spacing_of(reference, dtype)[bounded]
        ulps = ulps[np.isfinite(ulps)]
    return BoundStats(
        bound_max=float(finite.max()) if finite.size else float("inf"),
        bound_median=float(np.median(finite)) if finite.size else float("inf"),
        ulp_max=float(ulps.max()) if ulps.size else 0.0,
        ulp_median=float(np.median(ulps)) if ulps.size else 0.0,
        worst_ratio=float(ratio.max()),
        violations=int(np.count_nonzero(violating)),
        unbounded=0 if bound.candidates is not None else int(np.count_nonzero(~bounded)),
        undecided=undecided,
        rule=bound.rule,
    )


def _argmax_violations(basis: Basis, candidates: Array, reference: Array, other: Array) -> tuple[Array, int]:
    """(violating rows, undecided rows). A class out of range is a violation."""
    assert isinstance(basis.op, d.ArgmaxOp | d.ArgminOp)
    axis = int(basis.op.axis.value.data)
    classes = candidates.shape[axis]
    differs = np.asarray(reference != other)
    if basis.classes_must_agree:
        return differs, 0
    inside = (other >= 0) & (other < classes)
    index = np.expand_dims(np.where(inside, other, 0).astype(np.int64), axis)
    possible = np.take_along_axis(candidates, index, axis=axis).reshape(other.shape) & inside
    return differs & ~possible, int(np.count_nonzero(differs & possible))


def _bounded(bound: Bound | None, reference: Array) -> bool:
    """Whether every element that is a number has a finite bound: half of them would prove half of it."""
    if bound is None or bound.candidates is not None:
        return bound is not None
    return bool(np.all(np.isfinite(bound.array) | ~np.isfinite(reference.astype(np.float64))))


def _violations(stats: BoundStats, prefix: str, size: int, is_argmax: bool, *, proved: bool = False) -> list[str]:
    """proved: something else says that the operation is right where this bound says nothing."""
    if stats.violations and is_argmax:
        return [f"{prefix}{stats.violations} of {size} classes differ though the margin decides them"]
    if stats.violations:
        return [f"{prefix}{stats.violations} of {size} elements beyond the bound, worst {stats.worst_ratio:.3g} times"]
    if stats.unbounded == size and not proved:
        return [f"{prefix}no element has a finite bound, so nothing is proved"]
    return []


def _worst(reference: Array, other: Array, bound: Bound | None) -> Worst | None:
    error = absolute_error(reference, other)
    key = error
    if bound is not None and bound.candidates is None:
        with np.errstate(divide="ignore", invalid="ignore"):
            key = np.where(error == 0, 0.0, np.where(bound.array == 0, np.inf, error / bound.array))
            # inf / inf: a special value on one side only, where nothing is proved
            key = np.where(np.isnan(key), np.inf, key)
    at = np.unravel_index(int(np.argmax(key)), reference.shape) if reference.ndim else ()
    index = tuple(int(i) for i in at)
    limit = float(bound.array[index]) if bound is not None and bound.candidates is None else None
    return Worst(index, float(reference[index]), float(other[index]), float(error[index]), limit)


def text_of(op: FleetOp, name: str) -> str:
    """A text property of an operation ("at", "var"), empty where it has none."""
    attr = op.properties.get(name)
    return str(getattr(attr, "data", "")) if attr is not None else ""
