"""The task's own figure: predicted classes, accuracy with its interval, flipped predictions.

Intervals: Wilson (1927) for one proportion; Bonett and Price (2012), adjusted Wald, for the difference of paired proportions.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from xdsl.ir import Operation, SSAValue

from fleet.compare.verdict import Flip, TaskMetric
from fleet.engines.trace import Trace
from fleet.errors import ModelError
from fleet.ir import dialect as d
from fleet.ir.dialect import op_id
from fleet.ir.program import Program
from fleet.ir.types import shape_of

CONFIDENCE = 0.95
METRICS: tuple[str, ...] = ("accuracy",)


def wilson(successes: int, trials: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return Wilson's interval of a proportion; (0, 1) without trials."""
    if trials == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    p, n = successes / trials, trials
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return max(0.0, centre - half), min(1.0, centre + half)


def paired_difference(only_first: int, only_second: int, pairs: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return the interval of p_first - p_second from the discordant counts of paired trials (Bonett and Price 2012)."""
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    p, q = (only_first + 1) / (pairs + 2), (only_second + 1) / (pairs + 2)
    half = z * math.sqrt((p + q - (p - q) ** 2) / (pairs + 2))
    return max(-1.0, p - q - half), min(1.0, p - q + half)


def class_output(program: Program) -> tuple[str, str] | None:
    """Return (output name, operation id) of the last returned argmax; None if the model predicts no class."""
    found: tuple[str, str] | None = None
    for name, value in zip(program.outputs, program.returned(), strict=True):
        op = _through_movement(value)
        if isinstance(op, d.ArgmaxOp):
            found = (name, op_id(op))
    return found


def class_scores(program: Program) -> str | None:
    """Return the id of the operation whose [samples, classes] result the predicted class is the argmax of, or None."""
    output = class_output(program)
    if output is None:
        return None
    op = _through_movement(program.returned()[program.outputs.index(output[0])])
    if not isinstance(op, d.ArgmaxOp) or len(shape_of(op.operand.type)) != 2 or op.axis.value.data not in (-1, 1):
        return None
    owner = op.operand.owner
    return op_id(owner) if isinstance(owner, Operation) else None


def _through_movement(value: SSAValue) -> object:
    """Return the operation that made a value, behind reshapes and casts."""
    owner = value.owner
    while isinstance(owner, d.ReshapeOp | d.CastOp):
        owner = owner.operand.owner
    return owner


def check_labels(program: Program, labels: np.ndarray, where: str = "labels") -> None:
    """Raise ModelError unless each predicted class has one integer label that is a class of the model. where: the labels' file."""
    output = class_output(program)
    if output is None:
        raise ModelError(
            "labels were given, but the model returns no argmax", where=program.source_name, hint="return np.argmax(...)"
        )
    value = program.returned()[program.outputs.index(output[0])]
    if labels.shape != shape_of(value.type) or labels.dtype.kind not in "iu":
        what = f"labels are {labels.dtype.name} {list(labels.shape)}, the model predicts {list(shape_of(value.type))} classes"
        raise ModelError(what, where=where, hint="give one integer label an input row")
    op = _through_movement(value)
    assert isinstance(op, d.ArgmaxOp)
    classes = shape_of(op.operand.type)[op.axis.value.data]
    if labels.size and not 0 <= int(labels.min()) <= int(labels.max()) < classes:
        what = f"labels reach from {labels.min()} to {labels.max()}, the model's classes from 0 to {classes - 1}"
        raise ModelError(what, where=where, hint="give the classes' numbers")


def task_metric(
    program: Program, golden: Trace, trace: Trace, name: str, labels: np.ndarray | None, *, must_agree: bool
) -> TaskMetric | None:
    """Return the figure of one engine; None if the model predicts no class or the trace lacks the output."""
    output = class_output(program)
    if output is None or output[0] not in trace.outputs or output[0] not in golden.outputs:
        return None
    reference = np.asarray(golden.outputs[output[0]]).reshape(-1)
    predicted = np.asarray(trace.outputs[output[0]]).reshape(-1)
    if reference.shape != predicted.shape or reference.size == 0:
        return None
    truth = None if labels is None else np.asarray(labels).reshape(-1)
    n = int(reference.size)
    flips = tuple(
        Flip(int(i), None if truth is None else int(truth[i]), int(reference[i]), int(predicted[i]))
        for i in np.flatnonzero(reference != predicted)
    )
    correct = value = low = high = lost = lost_low = lost_high = None
    if truth is not None:
        right, right_golden = predicted == truth, reference == truth
        correct = int(right.sum())
        value = correct / n
        low, high = wilson(correct, n)
        lost = float(right_golden.mean() - right.mean())
        lost_low, lost_high = paired_difference(int((right_golden & ~right).sum()), int((~right_golden & right).sum()), n)
    return TaskMetric(
        name, "accuracy", output[1], n, correct, value, low, high, lost, lost_low, lost_high, CONFIDENCE,
        1 - len(flips) / n, flips, must_agree,
    )  # fmt: skip
