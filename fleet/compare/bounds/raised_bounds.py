"""Cumulative bounds of an engine that computes in the program's own dtypes, derived through the composites that raising finds.

With x the golden's operands and x' the other side's, f the operation in real arithmetic:

    |other(x') - golden(x)| <= |other(x') - f(x')| + |f(x') - f(x)| + |f(x) - golden(x)|

The outer two terms are the rounding of each side on its own operands: local bounds, which that side is also checked against. The
middle term is the effect of operand errors. For a whole layer norm, softmax or attention it is known far better than for the chain
of its steps (`fleet.compare.rules.units`): a chain soon proves nothing, for instance when a variance is within its error of zero.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import numpy as np
from xdsl.ir import SSAValue

from fleet.compare.bounds.bound import Bound, Bounds
from fleet.compare.bounds.fates import FusedArithmetic, fused_groups
from fleet.compare.bounds.golden_values import Values
from fleet.compare.bounds.shared_steps import alone, shared
from fleet.compare.bounds.sides import FloatArithmetic
from fleet.compare.bounds.tolerance import bounded_operations, last_readers, local_bounds
from fleet.compare.rules.steps import Arithmetic, Array, BoundStep, clean, none, row_norm, some, total
from fleet.compare.rules.table import split_of
from fleet.compare.settled import outside_groups
from fleet.ir.dialect import ArgmaxOp, ArgminOp, ConstantOp, ElementOp, FleetOp, RegionOp, op_id
from fleet.ir.operations.composite import entering
from fleet.ir.program import Program
from fleet.ir.types import numpy_dtype, shape_of
from fleet.targets.bytecode.evaluate import apply
from fleet.transforms.pipeline import run_pipeline

_RULE = "what each side rounds on its own operands, and what operand errors do to the operation as a whole"
_EXACTLY = Arithmetic(dtype=np.dtype(np.float64))


def raised_bounds(
    program: Program,
    inputs: Mapping[str, np.ndarray],
    golden: Mapping[str, np.ndarray],
    other: Mapping[str, np.ndarray],
    other_side: FloatArithmetic,
    equal: Collection[str] = (),
) -> Mapping[str, Bound]:
    """Return operation id -> bound, for the operations of the raised program; empty if raising finds nothing.

    Args:
        golden, other: tensors of both sides by operation id, for each operation of the program.
        other_side: how the other side computes.
        equal: operations whose values are the same on both sides (`cumulative_bounds`).

    Raises:
        FleetError: a tensor is missing.
    """
    raised = run_pipeline(program, "raise")
    # A twin of an operation of a group (x * 1) belongs to the group too: otherwise its error would be lost.
    groups = fused_groups(program, raised.fates)
    between = shared(program, entering(raised.operations(), program.operations()), groups)
    if not groups and not between:
        return {}
    side = FusedArithmetic(other_side.ulp, other_side.absolute, other_side.unrounded, groups)
    exact = outside_groups(equal, [op for op in program.operations() if op.results], side.group)
    on_golden = _own(program, inputs, golden, between, side, [op for op in program.operations() if op_id(op) not in exact])
    on_other = _own(program, inputs, other, between, side, _apart(program, inputs, (golden, other), side, exact))
    values = Values(raised, inputs, _with_new(raised, inputs, golden))
    operations = [op for op in bounded_operations(raised.operations()) if not isinstance(op, ConstantOp | ArgmaxOp | ArgminOp)]
    last = last_readers(operations)

    def steps() -> Iterator[Bound]:
        errors: dict[SSAValue, Array] = {}
        norms: dict[SSAValue, Array] = {}
        for op in operations:
            name, result = op_id(op), op.results[0]
            shape = shape_of(result.type)
            if name in exact:
                yield Bound(none(shape), None, _RULE)
                continue
            spread, row = _spread(op, values, errors, norms)
            rounding = none(shape)
            if name in on_golden:
                first = on_golden[name].array
                rounding = total(first, on_other[name].array) if name in on_other else 2.0 * first if some(first) else first
            with np.errstate(all="ignore"):
                array = spread
                if some(rounding):
                    array = np.asarray(np.broadcast_to(clean(total(spread, rounding)), shape))
                if some(array) and shape and numpy_dtype(result.type).kind == "f":
                    norm = row_norm(array)
                    norms[result] = np.fmin(row + row_norm(array - spread), norm) if some(spread) else norm
                    array = np.fmin(array, norms[result][..., None])
            errors[result] = array
            yield Bound(array, None, _RULE)
            for value in last.get(op, ()):
                errors.pop(value, None)
                norms.pop(value, None)

    return Bounds(operations, steps)


def _own(
    program: Program, inputs: Mapping[str, np.ndarray], tensors: Mapping[str, np.ndarray], between: Mapping[str, Sequence[str]],
    side: FusedArithmetic, only: Iterable[FleetOp],
) -> Bounds:  # fmt: skip
    """Return one side's rounding in operations on its own operands. between: composites with steps that others need."""
    composites = alone(program, inputs, tensors, between, side)
    own = {name: bound for name, (_, bound) in composites.items()}
    return local_bounds(Values(program, inputs, tensors), side, only=only).but(own)


def _apart(
    program: Program, inputs: Mapping[str, np.ndarray], sides: Sequence[Mapping[str, np.ndarray]], side: FusedArithmetic,
    exact: Collection[str],
) -> list[FleetOp]:  # fmt: skip
    """Return the operations of groups with an operand whose values are not the same on both sides: of others the rounding is.

    exact: operations that are known to be the same.
    """
    first, second = (Values(program, inputs, tensors) for tensors in sides)
    known: dict[SSAValue, bool] = {}

    def same(value: SSAValue) -> bool:
        if value not in known:
            owner = value.owner
            known[value] = not isinstance(owner, RegionOp) and (
                (isinstance(owner, FleetOp) and op_id(owner) in exact) or _same(first.of(value), second.of(value))
            )
        return known[value]

    operations = [op for op in program.operations() if op.results]
    groups = {side.group(op) for op in operations if not all(map(same, op.operands))}
    return [op for op in operations if side.group(op) in groups]


def _same(a: Array, b: Array) -> bool:
    return a is b or np.array_equal(a, b)


def _spread(op: FleetOp, values: Values, errors: Mapping[SSAValue, Array], norms: Mapping[SSAValue, Array]) -> tuple[Array, Array]:
    """Return the effect of the operands' errors: (elementwise, norm per row)."""
    if isinstance(op, ElementOp):  # nothing is proved here of values that a body computed
        shape = shape_of(op.results[0].type)
        return np.full(shape, np.inf), np.full(shape[:-1], np.inf)
    shape = shape_of(op.results[0].type)
    if not any(v in errors and some(errors[v]) for v in op.operands):
        return none(shape), none(shape[:-1])
    x = [values.of(v).astype(np.float64) for v in op.operands]
    e = [errors.get(v, none(a.shape)) for v, a in zip(op.operands, x, strict=True)]
    with np.errstate(all="ignore"):
        rows = [norms.get(v, row_norm(a)) for v, a in zip(op.operands, e, strict=True)]
        dtype = np.dtype(np.float64) if numpy_dtype(op.results[0].type).kind == "f" else numpy_dtype(op.results[0].type)
        split = split_of(BoundStep(op, x, e, dtype, _EXACTLY, norms=rows))
    if split is None:
        return np.full(shape, np.inf), np.full(shape[:-1], np.inf)
    return np.broadcast_to(split.spread, shape), split.row


def _with_new(raised: Program, inputs: Mapping[str, np.ndarray], tensors: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the tensors, completed by those of operations that raising added as parts of others."""
    found = dict(tensors)
    values = Values(raised, inputs, found)
    for op in raised.operations():
        if op.results and op_id(op) not in found and not isinstance(op, ConstantOp | RegionOp):
            found[op_id(op)] = np.asarray(apply(op, [values.of(v) for v in op.operands]))
    return found
