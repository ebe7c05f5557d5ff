"""Outcome of a comparison, and the figure of a task, as plain data; results consist of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from fleet.compare.diverged import CommitRow, Divergence
from fleet.compare.measured import OperationRow
from fleet.compare.ways import Ways
from fleet.core.codec import MAY_BE_MISSING

Verdict = Literal["pass", "fail", "not proved", "nothing compared"]
"""fail: something differs. not proved: no difference was found, but some results could not be decided."""
Kind = Literal["bits", "bound", "info"]


@dataclass(frozen=True)
class NotCompared:
    """A gap of the comparison with its reason, so that a reader does not take it for compared.

    what: an engine (`CosimResult.not_compared`, the run as a whole) or an operation (`Comparison.not_compared`).
    """

    what: str
    why: str


@dataclass(frozen=True)
class EnginesCompared:
    """Fields of every comparison of two engines.

    kind: "bits" (must be identical), "bound" (must be within the derived bound), "info" (measured, nothing required).
    question: what it answers, in words. elements: number of tensor elements compared.
    """

    name: str
    kind: Kind
    reference: str
    other: str
    question: str
    verdict: Verdict
    reasons: tuple[str, ...]
    elements: int


@dataclass(frozen=True)
class Comparison(EnginesCompared):
    """Two engines compared over one run.

    bytes: number of bytes covered by digests ("bits"). printed: lines that both printed alike.
    sampled: whether the commits are those of a sample ("bits").
    """

    bytes: int
    operations: tuple[OperationRow, ...] = ()
    commits: tuple[CommitRow, ...] = ()
    divergence: Divergence | None = None
    not_compared: tuple[NotCompared, ...] = ()
    printed: int = field(default=0, metadata=MAY_BE_MISSING)
    sampled: bool = field(default=False, metadata=MAY_BE_MISSING)

    @property
    def ways(self) -> Ways:
        """The number of elements of all operations by the way in which they were decided."""
        return Ways.total(row.ways for row in self.operations)


@dataclass(frozen=True)
class Flip:
    """A sample whose predicted class differs from the golden's."""

    index: int
    label: int | None
    golden: int
    other: int


@dataclass(frozen=True)
class TaskMetric:
    """The task's own figure for one engine.

    Attributes:
        metric: "accuracy". value, low, high: the figure and its Wilson interval at `confidence`; None without labels.
        lost, lost_low, lost_high: golden's value minus this one, paired interval (Bonett and Price 2012); None without labels.
        agreement: fraction of samples with the golden's class. flips: the other samples, in order.
        must_agree: whether a flip is a failure (vm against cpython, riscv against vm).
        op: the operation whose value is the predicted class.
    """

    engine: str
    metric: str
    op: str
    samples: int
    correct: int | None
    value: float | None
    low: float | None
    high: float | None
    lost: float | None
    lost_low: float | None
    lost_high: float | None
    confidence: float
    agreement: float
    flips: tuple[Flip, ...]
    must_agree: bool
