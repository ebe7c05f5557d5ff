"""Judge one operation in one comparison: error figures, the bound checked for each element, the worst element."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from fleet.compare.bounds.bound import Bound
from fleet.compare.measured import BoundStats, OperationRow, Worst
from fleet.compare.metrics import absolute_error, error_stats, root_mean_square, spacing_of, value_counts
from fleet.compare.rules.steps import Array, some
from fleet.compare.ways import HigherPrecision, Ways
from fleet.ir import dialect as d
from fleet.ir.dialect import FleetOp, kind_of, op_id


@dataclass(frozen=True)
class Basis:
    """The operation and the bounds of its values; `ValueComparison` explains the fields."""

    op: FleetOp
    index: int
    place: str
    bound: Bound | None = None
    local_bound: Bound | None = None
    own_bound: Bound | None = None
    classes_must_agree: bool = False
    ulp_dtype: np.dtype | None = None
    floor: float = 0.0
    """Root mean square up to which the reference is no signal (`signal.Floors`)."""
    unbounded_rows: Array | None = None
    """Rows of an argmax whose classes must agree: the operand has no finite bound, so no margin is known."""


@dataclass(frozen=True)
class Judgement:
    """A judge's decision on the elements of a row that no bound decides.

    held, beyond: boolean masks in the row's shape, disjoint. reason: why elements are beyond, one clause.
    """

    held: Array
    beyond: Array
    reason: str = ""
    higher: HigherPrecision | None = None


@dataclass(frozen=True)
class Measured:
    """A row before its final verdict. undecided: boolean, in the row's shape: differing elements that no bound decides."""

    row: OperationRow
    undecided: Array

    def decided(self, judgement: Judgement | None) -> OperationRow:
        """Return the row with its verdict. The judgement decides undecided elements; those that it leaves are not proved."""
        row, ways = self.row, self.row.ways
        if ways is None or not self.undecided.any():
            return row
        held = beyond = 0
        if judgement is not None:
            held = int(np.count_nonzero(judgement.held & self.undecided))
            beyond = int(np.count_nonzero(judgement.beyond & self.undecided & ~judgement.held))
        left = ways.not_proved - held - beyond
        ways = replace(ways, higher=held, beyond=ways.beyond + beyond, not_proved=left)
        reasons = [row.reason] if row.reason else []
        if judgement is not None and beyond:
            reasons.append(f"{beyond} of {row.cumulative.elements} elements {judgement.reason}")
        verdict = "fail" if row.verdict == "fail" or beyond else row.verdict
        if left:
            reasons.append(f"{left} of {row.cumulative.elements} elements not proved: {self._why(judgement)}")
            verdict = "not proved" if verdict == "pass" else verdict
        higher = None if judgement is None else judgement.higher
        return replace(row, ways=ways, higher=higher, verdict=verdict, reason="; ".join(reasons))

    def _why(self, judgement: Judgement | None) -> str:
        """Return why no way decides the elements that are left."""
        none = self.row.bound is None
        causes = ["no bound was derived for it" if none else "their accumulated bound is infinite or wider than they are"]
        if self.row.own_bound is not None:
            causes.append("so is the bound on their own operands")
        if judgement is not None and judgement.higher is not None and judgement.higher.why:
            causes.append(f"higher precision: {judgement.higher.why}")
        return ", ".join(causes)


def measured(
    basis: Basis,
    reference: Array,
    other: Array,
    *,
    local: tuple[Array, Array] | None = None,
    own: tuple[Array, Array] | None = None,
    kind: str,
) -> Measured:
    """Measure the operation; return its row and the elements that its bounds leave undecided.

    local, own: (reference, other) of the operation alone on the same operands; for own, on the other side's operands.
    kind: "bound" requires elements to be equal or within a finite bound; "info" requires the same shape only.
    Equal elements pass before any bound applies. Where an element's accumulated bound is infinite, or too wide to say anything, the
    bound of `own` decides.
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
    bound = local_bound = own_bound = worst = local_worst = ways = None
    if kind == "bound" and not _comparable(reference.dtype, other.dtype):
        reasons.append(f"dtype {other.dtype.name} instead of {reference.dtype.name}")
    required = kind == "bound" and not reasons
    undecided = np.zeros(reference.shape, bool)
    error = absolute_error(reference, other)
    same = not some(error) and reference.dtype == other.dtype
    alone_error = None if local is None else absolute_error(*local)
    step: _Held | None = None
    if reference.size:
        classes, size = isinstance(op, d.ArgmaxOp | d.ArgminOp), int(reference.size)
        equal = np.asarray(error == 0)
        if required:
            decided = np.zeros(shape, bool)
            if own is not None and own[0].shape == shape and basis.own_bound is not None:
                known = alone_error if own is local else None
                step = _held(replace(basis, unbounded_rows=None), basis.own_bound, *own, equal, error=known)
                own_bound = step.stats
                if own is not local:
                    reasons += _violations(own_bound, "on its own operands: ", size, classes)
                # A class that is right for its own operands may still differ from the golden's.
                decided = step.violating if classes and basis.classes_must_agree else step.decided
            none = Bound(np.broadcast_to(np.inf, shape), None, "none")
            within = _held(basis, basis.bound or none, reference, other, error=error, unbounded_fails=False)
            bound, beyond = within.stats if basis.bound is not None else None, within.violating
            reasons += _violations(within.stats, "", size, classes)
            undecided = ~equal & ~within.bounded & ~decided
            by_step = ~equal & ~within.bounded & decided
            wrong = by_step & step.violating if step is not None else by_step
            ways = Ways(
                equal=int(np.count_nonzero(equal)),
                accumulated=int(np.count_nonzero(~equal & within.bounded & ~beyond)),
                own=int(np.count_nonzero(by_step & ~wrong)),
                not_proved=int(np.count_nonzero(undecided)),
                beyond=int(np.count_nonzero(beyond)) + int(np.count_nonzero(wrong)),
            )
        worst = _worst(reference, other, basis.bound, error)
        if local is not None and alone_error is not None:
            if required and basis.local_bound is not None:
                alone = step if local is own and basis.local_bound is basis.own_bound else None
                if alone is None:
                    equally = equal if local is own else None
                    alone = _held(replace(basis, unbounded_rows=None), basis.local_bound, *local, equally, error=alone_error)
                local_bound = alone.stats
                reasons += _violations(local_bound, "alone, on the same inputs: ", size, classes)
            local_worst = _worst(*local, basis.local_bound, alone_error)
    verdict: Literal["pass", "fail", "info"] = "fail" if reasons else ("pass" if kind == "bound" else "info")
    counts = value_counts(reference)
    row = OperationRow(
        op=op_id(op),
        name=kind_of(op),
        var=text_of(op, "var"),
        at=text_of(op, "at"),
        index=basis.index,
        place=basis.place,
        shape=shape,
        reference_dtype=reference.dtype.name,
        other_dtype=other.dtype.name,
        cumulative=error_stats(reference, other, basis.ulp_dtype, basis.floor, error=error),
        local=None if local is None else error_stats(*local, basis.ulp_dtype, basis.floor, error=alone_error),
        bound=bound,
        local_bound=local_bound,
        worst=worst,
        local_worst=local_worst,
        reference_counts=counts,
        other_counts=counts if same and basis.ulp_dtype in (None, other.dtype) else value_counts(other, basis.ulp_dtype),
        verdict=verdict,
        reason="; ".join(reasons),
        own_bound=own_bound,
        ways=ways,
    )
    return Measured(row, undecided)


def _comparable(a: np.dtype, b: np.dtype) -> bool:
    """Return whether two sides may hold one operation in these: a device may store its floats in fewer bits, and nothing else."""
    return a == b or (a.kind == b.kind and a.kind in "fc")


@dataclass(frozen=True)
class _Held:
    """A bound checked against each element: figures, masks of the elements that violate it and of those whose bound is finite."""

    stats: BoundStats
    violating: Array
    bounded: Array

    @property
    def decided(self) -> Array:
        """Elements that this bound decides."""
        return self.bounded | self.violating


def _held(
    basis: Basis,
    bound: Bound,
    reference: Array,
    other: Array,
    equal: Array | None = None,
    *,
    error: Array | None = None,
    unbounded_fails: bool = True,
) -> _Held:
    """Check the bound against each element.

    Where the reference is NaN or infinite, or where only the other side is while the bound is finite, both must be the same special
    value. An argmax is checked against its candidates instead of a distance.
    equal: elements that are known to be right. error: result of `absolute_error` for both arrays, if it is known already.
    unbounded_fails: False if something else decides elements without a finite bound, special values included.
    """
    error = absolute_error(reference, other) if error is None else error
    if equal is not None and some(error):
        error = np.where(equal, 0.0, error)
    undecided = 0
    if bound.candidates is not None:
        violating, undecided = _argmax_violations(basis, bound.candidates, reference, other)
        violating = violating & (error > 0)
        limit = np.where(error > 0, np.where(violating, 0.0, np.inf), 0.0)
        bounded = np.ones(error.shape, bool) if basis.unbounded_rows is None else ~basis.unbounded_rows | (error == 0)
    else:
        limit = bound.array
        violating = error > limit
        bounded = np.isfinite(limit) | (error == 0)
        if not unbounded_fails and some(error):
            bounded = bounded & (violating | ~_says_nothing(limit, reference))
        if reference.dtype.kind == "f":
            violating = violating | (~np.isfinite(reference) & (error > 0))
    if not unbounded_fails:
        violating = violating & bounded
    finite_limit = np.isfinite(limit)
    every = bool(finite_limit.all())
    finite = limit.reshape(-1) if every else limit[finite_limit]
    dtype = basis.ulp_dtype or reference.dtype
    ulps = np.zeros(0)
    if dtype.kind == "f" and reference.dtype.kind == "f" and some(finite):
        spacing = spacing_of(reference, dtype)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            ulps = finite / (spacing.reshape(-1) if every else spacing[finite_limit])
        usable = np.isfinite(ulps)
        ulps = ulps if usable.all() else ulps[usable]
    stats = BoundStats(
        bound_max=float(finite.max()) if finite.size else float("inf"),
        bound_median=float(np.median(finite)) if finite.size else float("inf"),
        ulp_max=float(ulps.max()) if ulps.size else 0.0,
        ulp_median=float(np.median(ulps, overwrite_input=True)) if ulps.size else 0.0,
        worst_ratio=_worst_ratio(error, limit, finite_limit, violating),
        violations=int(np.count_nonzero(violating)),
        unbounded=0 if bound.candidates is not None else int(np.count_nonzero(~finite_limit)),
        undecided=undecided,
        rule=bound.rule,
    )
    return _Held(stats, np.asarray(violating), np.asarray(bounded))


def _worst_ratio(error: Array, limit: Array, finite: Array, violating: Array) -> float:
    """Return the largest error beside its limit; 0 without an error or a finite limit, inf where a limit of 0 is exceeded."""
    if not some(error):
        return 0.0
    ratio = np.where(error == 0, 0.0, np.inf)
    np.divide(error, limit, out=ratio, where=finite & (limit > 0) & (error > 0))
    return float(np.where(violating & ~finite, np.inf, np.where(finite, ratio, 0.0)).max())


def _says_nothing(limit: Array, reference: Array) -> Array:
    """Return whether the bound of a float exceeds both its magnitude and the operation's RMS: even a wrong sign is within it."""
    if reference.dtype.kind != "f":
        return np.zeros(limit.shape, bool)
    size = root_mean_square(reference)
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray((size > 0) & (limit > np.maximum(np.abs(reference.astype(np.float64)), size)))


def _argmax_violations(basis: Basis, candidates: Array, reference: Array, other: Array) -> tuple[Array, int]:
    """Return (violating rows, number of undecided rows). A class out of range is a violation."""
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


def _violations(stats: BoundStats, prefix: str, size: int, is_argmax: bool) -> list[str]:
    if stats.violations and is_argmax:
        return [f"{prefix}{stats.violations} of {size} classes differ though the margin decides them"]
    if stats.violations:
        times = f", worst {stats.worst_ratio:.3g} times" if np.isfinite(stats.worst_ratio) else ""  # a bound of 0 has no multiple
        return [f"{prefix}{stats.violations} of {size} elements beyond the bound{times}"]
    return []


def _number(value: np.generic) -> float:
    """Return the element; its magnitude if it is complex."""
    return float(np.abs(value) if np.iscomplexobj(value) else value)


def _worst(reference: Array, other: Array, bound: Bound | None, error: Array) -> Worst | None:
    key = error
    if bound is not None and bound.candidates is None and some(error):
        with np.errstate(divide="ignore", invalid="ignore"):
            key = np.where(error == 0, 0.0, np.where(bound.array == 0, np.inf, error / bound.array))
            # inf / inf: a special value on one side only, so nothing is proved
            key = np.where(np.isnan(key), np.inf, key)
    at = np.unravel_index(int(np.argmax(key)) if some(key) else 0, reference.shape) if reference.ndim else ()
    index = tuple(int(i) for i in at)
    limit = float(bound.array[index]) if bound is not None and bound.candidates is None else None
    return Worst(index, _number(reference[index]), _number(other[index]), float(error[index]), limit)


def text_of(op: FleetOp, name: str) -> str:
    """Return a text property of an operation ("at", "var"), or ""."""
    attr = op.properties.get(name)
    return str(getattr(attr, "data", "")) if attr is not None else ""
