"""Measurements of one operation in one comparison: errors, bounds, special values, and the verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from fleet.compare.ways import HigherPrecision, Ways
from fleet.core.codec import MAY_BE_MISSING


@dataclass(frozen=True)
class ErrorStats:
    """Error of one array against its reference (`fleet.compare.metrics` defines each figure).

    Attributes:
        elements: number of elements compared.
        max_abs, mean_abs, rms: of the absolute error. max_rel: over elements with a non-zero finite reference.
        ulp_dtype: dtype in which ULPs are counted (the coarser of both); "" for integers and booleans (difference in units).
        ulp_max, ulp_p50, ulp_p99: distance in ULPs; inf if only one side is NaN or infinite.
        ulp_upper: inclusive upper edges of the histogram (0, 1, 2, 4, ...).
        ulp_counts: counts by bin; the additional last count is of distances beyond the last edge.
        sqnr_db: 10 log10(sum ref^2 / sum err^2); inf for no error, nan for no signal.
        cosine: cosine of both arrays as vectors; nan if one is zero.
        mismatches: number of elements that are not equal (NaN equals NaN, +0 equals -0).
        channel_max_abs: largest error by index of the last dimension; empty for scalars and for more than 4096 indices.
    """

    elements: int
    max_abs: float
    mean_abs: float
    rms: float
    max_rel: float
    ulp_dtype: str
    ulp_max: float
    ulp_p50: float
    ulp_p99: float
    ulp_upper: tuple[int, ...]
    ulp_counts: tuple[int, ...]
    sqnr_db: float
    cosine: float
    mismatches: int
    channel_max_abs: tuple[float, ...] = ()


@dataclass(frozen=True)
class BoundStats:
    """Error against its derived bound.

    bound_max, bound_median: of the elementwise bound. ulp_max, ulp_median: the bound in ULPs of the reference element.
    worst_ratio: largest error / bound (0 / 0 counts as 0); above 1 is a violation. violations: elements with error > bound.
    unbounded: elements with an infinite bound, which proves nothing (`Ways` says what does).
    undecided: argmax rows whose class differs while the top-2 margin is within the bound.
    rule: one clause that says what the bound was derived from.
    """

    bound_max: float
    bound_median: float
    ulp_max: float
    ulp_median: float
    worst_ratio: float
    violations: int
    unbounded: int
    undecided: int
    rule: str


@dataclass(frozen=True)
class Worst:
    """The element with the largest error / bound (without a bound: the largest error). Values as Python floats."""

    index: tuple[int, ...]
    reference: float
    other: float
    error: float
    bound: float | None


@dataclass(frozen=True)
class ValueCounts:
    """Counts of special values in one array.

    saturated: finite values at the dtype's largest magnitude (float16: infinities too).
    """

    elements: int
    saturated: int
    subnormal: int
    nan: int
    inf: int
    zero: int


@dataclass(frozen=True)
class OperationRow:
    """One operation in one comparison.

    Attributes:
        op: operation id. name: of the operation ("matmul"). var, at: variable and line of the source; "" if unknown.
        index: position in program order, from 0 (the x axis of pictures against depth).
        place: "device" or "host" on the accelerator, "" elsewhere.
        cumulative: error from the model's inputs to this operation.
        local: error of the operation (or its group) alone, both sides on the same inputs (the reference's own; off the
            accelerator, the other side's). None if it was not measured.
        bound, local_bound: bounds of these two errors; None for kind "info" and "bits".
        own_bound: bound of the operation (or its group) on the other side's own operands; None if it was not measured. It stays
            finite where accumulated errors have no bound, and decides there.
        reference_counts, other_counts: special values of both sides.
        verdict: "pass", "fail", "not proved", or "info" if nothing is required. reason: one clause, "" if it passes.
        ways: number of elements decided in each way; None for kind "info" and "bits".
        higher: what the third judge found; None if it was not asked.
        waiver: "owner: reason (until date)" if a waiver turned a failure into a pass, else None.
        parts: RMS of the parts of a device group's local error: "operands" (stored by the device), "result" (stored by the
            device) and "unit" (computed differently). Empty if it was not measured.
        causes: causes of these parts on this device, in words ("weights", "unit"), as its instruction set states them.
    """

    op: str
    name: str
    var: str
    at: str
    index: int
    place: str
    shape: tuple[int, ...]
    reference_dtype: str
    other_dtype: str
    cumulative: ErrorStats
    local: ErrorStats | None
    bound: BoundStats | None
    local_bound: BoundStats | None
    worst: Worst | None
    local_worst: Worst | None
    reference_counts: ValueCounts
    other_counts: ValueCounts
    verdict: Literal["pass", "fail", "not proved", "info"]
    reason: str
    waiver: str | None = None
    parts: Mapping[str, float] = field(default_factory=dict[str, float])
    causes: Mapping[str, str] = field(default_factory=dict[str, str])
    own_bound: BoundStats | None = None
    ways: Ways | None = field(default=None, metadata=MAY_BE_MISSING)
    higher: HigherPrecision | None = field(default=None, metadata=MAY_BE_MISSING)

    @property
    def by_step(self) -> bool:
        """True if no differing element has a finite accumulated bound, so that the step on its own operands decides."""
        if self.ways is not None:
            return self.own_bound is not None and self.ways.own > 0 and self.ways.accumulated == 0
        return self.own_bound is not None and self.bound is not None and 0 < self.bound.unbounded == self.cumulative.elements

    @property
    def held(self) -> BoundStats | None:
        """The bound that decides: the accumulated one, or the bound of the step alone."""
        return self.own_bound if self.by_step else self.bound

    @property
    def has_ulps(self) -> bool:
        """True if the values are floats; an index or a boolean has neither ULPs nor an SQNR."""
        return self.reference_dtype.startswith(("float", "bfloat")) and bool(self.cumulative.ulp_dtype)
