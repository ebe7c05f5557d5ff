"""Finds the pass that breaks a program: run the pipeline pass by pass, interpret after each pass, compare with the first results.

As long as all passes so far preserve results, every bit must stay. After the first pass that may change results, a result may be
off by `ALWAYS` roundings of the tensor's largest value, because a fused operation may round at other points than its parts. A
larger error must stay within the bound that `fleet.compare.bounds.tolerance` derives for the operation, and below `MOST` roundings
of the coarsest dtype that the value was computed in: after some layers the derived bound is so wide that wrong results pass it too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from fleet.compare.bounds.golden_values import Values
from fleet.compare.bounds.sides import FloatArithmetic
from fleet.compare.bounds.tolerance import cumulative_bounds
from fleet.compare.metrics import absolute_error
from fleet.engines.interp import interpret
from fleet.errors import ComparisonFailure, FleetError
from fleet.ir.dialect import ConstantOp, PrintOp, op_id
from fleet.ir.program import Program
from fleet.ir.types import is_tensor, numpy_dtype
from fleet.transforms.edit import Edit, text_of
from fleet.transforms.pipeline import Pipeline

ALWAYS, MOST = 64.0, 4096.0
"""Allowed error in roundings, relative to the tensor's largest magnitude: always allowed (of its own dtype), and upper limit."""


@dataclass(frozen=True)
class Stage:
    """A pass that was checked.

    exact: "bits" or "rounding", how results were compared; compared: number of results; worst: largest error / limit.
    """

    name: str
    exact: str
    compared: int
    worst: float


@dataclass(frozen=True)
class FaultyPass:
    """The first pass after which a result differs. op, at: the operation and its source place; what: the difference."""

    name: str
    op: str
    at: str
    what: str


@dataclass(frozen=True)
class Bisection:
    """The stages that were checked, up to the faulty pass. fault: None if every pass agrees."""

    stages: tuple[Stage, ...]
    fault: FaultyPass | None


def bisect_pass(program: Program, inputs: Mapping[str, np.ndarray], pipeline: Pipeline) -> Bisection:
    """Run the pipeline until a result differs. Raises ComparisonFailure if a pass leaves nothing to compare."""
    outputs, golden = interpret(program, inputs, echo=_quiet)
    references = {**golden, **{f"output {name}": value for name, value in outputs.items()}}
    limits: dict[str, np.ndarray] | None = None
    exact = True
    stages: list[Stage] = []
    edit = Edit(program)
    for one in pipeline.passes:
        try:
            one.everywhere(edit)
            edit.module.verify()
            edit.check()
            snapshot = edit.snapshot()
            results, tensors = interpret(snapshot, inputs, echo=_quiet)
        except (FleetError, VerifyException, ValueError) as error:
            reason = str(error).strip().splitlines()[-1].strip()
            return Bisection(tuple(stages), FaultyPass(one.name, "", "", f"leaves a program that does not run: {reason}"))
        exact = exact and one.exact == "bits"
        if not exact and limits is None:
            limits = _limits(program, inputs, golden)
        fault, stage = _look(program, snapshot, references, tensors, results, None if exact else limits, one.name)
        if fault is not None:
            return Bisection(tuple(stages), fault)
        if stage.compared == 0:
            raise ComparisonFailure("left no result to compare", where=f"pass {one.name}")
        stages.append(stage)
    return Bisection(tuple(stages), None)


def _quiet(*_values: object, **_how: object) -> None:
    """Discard what the program prints."""


def _limits(program: Program, inputs: Mapping[str, np.ndarray], golden: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    bounds = cumulative_bounds(Values(program, inputs, golden), FloatArithmetic())
    coarsest, found = _coarsest(program), dict[str, np.ndarray]()
    for name, value in golden.items():
        if value.dtype.kind != "f":
            found[name] = np.zeros(value.shape)
            continue
        largest = float(np.abs(value[np.isfinite(value)]).astype(np.float64).max(initial=0.0))
        own = float(np.finfo(value.dtype).eps)
        least, most = (count * eps * largest for count, eps in ((ALWAYS, own), (MOST, max(own, coarsest.get(name, own)))))
        found[name] = np.clip(bounds[name].array, least, most)
    for name, value in zip(program.outputs, program.returned(), strict=True):
        owner = value.owner
        if hasattr(owner, "properties") and "id" in owner.properties and op_id(owner) in found:  # pyright: ignore
            found[f"output {name}"] = found[op_id(owner)]  # pyright: ignore
    return found


def _coarsest(program: Program) -> dict[str, float]:
    """Operation -> the largest rounding unit among the operations that lead to it: a float64 may hold what float32 computed."""
    units: dict[SSAValue, float] = {}
    for op in program.operations():
        for result in op.results:
            dtype = numpy_dtype(result.type) if is_tensor(result.type) else None
            own = float(np.finfo(dtype).eps) if dtype is not None and dtype.kind == "f" else 0.0
            units[result] = max([own, *(units.get(value, 0.0) for value in op.operands)])
    return {op_id(op): units[op.results[0]] for op in program.operations() if op.results}


def _look(
    program: Program,
    after: Program,
    references: Mapping[str, np.ndarray],
    tensors: Mapping[str, np.ndarray],
    outputs: Mapping[str, np.ndarray],
    limits: Mapping[str, np.ndarray] | None,
    name: str,
) -> tuple[FaultyPass | None, Stage]:
    compared, worst = 0, 0.0
    left = {op_id(op) for op in after.operations()}
    for op in program.operations():
        key = op_id(op)
        if isinstance(op, PrintOp):
            if key not in left:
                return FaultyPass(name, key, text_of(op, "at") or "", "a print is gone"), Stage(name, "", 0, 0.0)
            continue
        if isinstance(op, ConstantOp) or key not in tensors:
            if key not in left and key not in after.fates and not isinstance(op, ConstantOp):
                why = "is gone, and no pass has said what became of it"
                return FaultyPass(name, key, text_of(op, "at") or "", why), Stage(name, "", 0, 0.0)
            continue
        why, ratio = _difference(references[key], tensors[key], None if limits is None else limits[key])
        if why is not None:
            return FaultyPass(name, key, text_of(op, "at") or "", why), Stage(name, "", 0, 0.0)
        compared, worst = compared + 1, max(worst, ratio)
    for output, value in outputs.items():
        key = f"output {output}"
        limit = None if limits is None else limits.get(key, np.zeros(value.shape))
        why, ratio = _difference(references[key], value, limit)
        if why is not None:
            return FaultyPass(name, key, "", why), Stage(name, "", 0, 0.0)
        compared, worst = compared + 1, max(worst, ratio)
    return None, Stage(name, "bits" if limits is None else "rounding", compared, worst)


def _difference(reference: np.ndarray, found: np.ndarray, limit: np.ndarray | None) -> tuple[str | None, float]:
    """Return the difference of two results (None if they agree) and the largest error divided by its limit."""
    if reference.dtype != found.dtype or reference.shape != found.shape:
        return f"is {found.dtype}{list(found.shape)}, was {reference.dtype}{list(reference.shape)}", 0.0
    if np.ascontiguousarray(reference).tobytes() == np.ascontiguousarray(found).tobytes():
        return None, 0.0
    error = absolute_error(reference, found)
    if limit is None:
        bad = np.argwhere((reference != found) & ~(np.isnan(reference) & np.isnan(found)))
        at = tuple(int(i) for i in bad[0]) if len(bad) else (0,) * reference.ndim
        return f"differs in its bits, first at {list(at)}: {found[at]!r} instead of {reference[at]!r}", 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(error == 0, 0.0, error / limit)
    worst = np.unravel_index(int(np.argmax(ratio)), ratio.shape) if ratio.ndim else ()
    largest = float(ratio[worst]) if ratio.size else 0.0
    if largest > 1:
        at = [int(i) for i in worst]
        return f"is off by {largest:.3g} times its limit, worst at {at}: {found[worst]!r} instead of {reference[worst]!r}", largest
    return None, largest
