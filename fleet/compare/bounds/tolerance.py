"""Derived bounds: how far two correct implementations of a program may differ, element by element.

The bound of an operation is |other - golden| <= R_other(e) + R_golden(0), both from the rules of `fleet.compare.rules`, evaluated
at the golden's own operand values: R_other with the operands' bounds e (errors accumulated from the inputs on), R_golden with zero,
because the golden computes on exactly these operands. Nothing is fitted or measured; the only inputs are dtypes, reduction lengths
and the arithmetic that each side declares.

`fleet.compare.bounds.sides` states how each side computes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import numpy as np
from xdsl.ir import SSAValue

from fleet.compare.bounds.bound import Bound, Bounds
from fleet.compare.bounds.golden_values import Values, constant
from fleet.compare.bounds.sides import NUMPY_ULP, Side, result_dtype
from fleet.compare.rules.arithmetic import floor_of
from fleet.compare.rules.steps import Arithmetic, Array, BoundStep, clean, none, rounded_store, row_norm, some, total
from fleet.compare.rules.table import MOVES, RULES, split_of
from fleet.compare.settled import outside_groups
from fleet.ir import dialect as d
from fleet.ir.dialect import FleetOp, kind_of, op_id
from fleet.ir.types import is_tensor, numpy_dtype, shape_of
from fleet.sdk.error_model import FixedPoint

_MOVES = (d.SliceOp, d.ReshapeOp, d.TransposeOp)
"""Movements: a value that is read from memory and written back in the same dtype is not rounded again."""

_INFLATE = 1.0 + 2.0**-30
"""Covers the rounding of the bound's own float64 arithmetic (relative 2^-53 each)."""


def cumulative_bounds(
    values: Values,
    side: Side,
    golden: Mapping[str, float] = NUMPY_ULP,
    known: Mapping[str, Bound] | None = None,
    equal: Collection[str] = (),
) -> Bounds:
    """Return the bounds of all operations, with errors accumulated from the inputs on.

    golden: ULPs of the golden's functions.
    known: operation id -> a bound that was proved in another way. The smaller bound counts, element by element, also downstream.
    equal: operations whose values were compared and are the same on both sides (`settled.settled`): their error is zero.
    """
    operations = bounded_operations(values.program.operations())
    _check(values, side, operations)
    exact = outside_groups(equal, operations, side.group)
    last = last_readers(operations)

    def steps() -> Iterator[Bound]:
        errors = _Errors()
        errors.known = known or {}
        for op in operations:
            if op_id(op) in exact:
                yield _no_error(op, values, errors)
            else:
                yield _step(op, values, side, golden, errors, local=False)
            errors.forget(last.get(op, ()))

    return Bounds(operations, steps)


def local_bounds(
    values: Values,
    side: Side,
    golden: Mapping[str, float] = NUMPY_ULP,
    only: Iterable[FleetOp] | None = None,
    equal: Collection[str] = (),
) -> Bounds:
    """Return the bounds of each operation, or of `only` these in program order, for its group run on the golden's own values.

    equal: operations without a bound (`cumulative_bounds`).
    """
    asked = bounded_operations(values.program.operations() if only is None else only)
    exact = outside_groups(equal, asked, side.group)
    asked = [op for op in asked if op_id(op) not in exact]
    _check(values, side, asked)

    def steps() -> Iterator[Bound]:
        left = Counter(side.group(op) for op in asked)
        errors: dict[str, _Errors] = {}
        for op in asked:
            group = side.group(op)
            yield _step(op, values, side, golden, errors.setdefault(group, _Errors()), local=True)
            left[group] -= 1
            if not left[group]:
                del errors[group]

    return Bounds(asked, steps)


def bounded_operations(operations: Iterable[FleetOp]) -> list[FleetOp]:
    """Return those operations whose result is an array or a number."""
    return [op for op in operations if op.results and not isinstance(op, d.PrintOp | d.RegionOp)]


def last_readers(operations: Sequence[FleetOp]) -> dict[FleetOp, list[SSAValue]]:
    """Return operation -> the values that no later operation reads; its own result if nothing reads that."""
    last: dict[SSAValue, FleetOp] = {}
    for op in operations:
        last |= dict.fromkeys((*op.operands, op.results[0]), op)
    found: dict[FleetOp, list[SSAValue]] = {}
    for value, op in last.items():
        found.setdefault(op, []).append(value)
    return found


def _check(values: Values, side: Side, operations: Sequence[FleetOp]) -> None:
    """Raise ComparisonFailure if the golden lacks a tensor that a bound needs: before the comparison, not in the middle of it."""
    for op in operations:
        for value in op.operands if side.arithmetic(op).store is None else (*op.operands, *op.results):
            if isinstance(value.owner, FleetOp) and not isinstance(value.owner, d.ConstantOp | d.RegionOp):
                values.of(value)


class _Errors(dict[SSAValue, Array]):
    """Accumulated errors by value. floors: proven positive lower bounds (`floor_of`). norms: norm of each row's error."""

    def __init__(self) -> None:
        super().__init__()
        self.floors: dict[SSAValue, Array] = {}
        self.norms: dict[SSAValue, Array] = {}
        self.known: Mapping[str, Bound] = {}

    def forget(self, values: Sequence[SSAValue]) -> None:
        """Drop values that no operation will read again."""
        for value in values:
            for table in (self, self.floors, self.norms):
                table.pop(value, None)


def _no_error(op: FleetOp, values: Values, errors: _Errors) -> Bound:
    """Return the bound of an operation that is the same on both sides; a positive value is its own floor."""
    shape = shape_of(op.results[0].type)
    if result_dtype(op).kind == "f" and (value := values.of(op.results[0])).size and value.min() > 0:
        errors.floors[op.results[0]] = value.astype(np.float64)
    return Bound(none(shape), None, "the same numbers on both sides, from weights alone")


def _step(op: FleetOp, values: Values, side: Side, golden: Mapping[str, float], errors: _Errors, local: bool) -> Bound:
    """Return the bound of one operation and store it in `errors` for its users."""
    shape, dtype = shape_of(op.results[0].type), result_dtype(op)
    moves = isinstance(op, MOVES)
    # Nothing is proved here of values that a body computed.
    operands = [] if isinstance(op, d.ElementOp) else list(op.operands)
    if any(numpy_dtype(v.type).kind == "c" for v in (*operands, op.results[0])):  # the rules are for real numbers
        errors[op.results[0]] = np.full(shape, np.inf)
        return Bound(errors[op.results[0]], None, "none")
    x = [values.of(v) if moves else _as_used(values.of(v), v, dtype) for v in operands]
    with np.errstate(all="ignore"):
        e = [_operand_error(op, v, xv, side, errors, local) for v, xv in zip(operands, x, strict=True)]
        candidates = None
        if isinstance(op, d.ConstantOp):
            array: Array = none(shape)
            if (number := constant(op)).dtype.kind == "f" and (number > 0).all():
                errors.floors[op.results[0]] = np.broadcast_to(number.astype(np.float64), shape)
        elif isinstance(op, d.ArgmaxOp | d.ArgminOp):
            candidates = _candidates(x[0] if isinstance(op, d.ArgmaxOp) else -x[0], e[0], int(op.axis.value.data))
            doubt = np.count_nonzero(candidates, axis=int(op.axis.value.data)) != 1
            array = np.where(doubt, np.inf, 0.0)
        elif (rule := RULES.get(type(op))) is None:
            array = np.full(shape, np.inf)
        else:
            how = side.arithmetic(op)
            inner = how.dtype if how.dtype is not None and dtype.kind == "f" else dtype
            # For a single group, row norms prove no more than elements do.
            norms = () if local else [_operand_norm(v, ev, errors) for v, ev in zip(operands, e, strict=True)]
            step = BoundStep(op, x, e, inner, how, [errors.floors.get(v) for v in operands], norms)
            split = split_of(step)
            assert split is not None
            array = clean(split.spread + split.rounding) if some(split.rounding) else split.spread
            if how.dtype is None and how.store is None and (floor := floor_of(step)) is not None:
                errors.floors[op.results[0]] = np.asarray(np.broadcast_to(floor, shape))
            if how.store is not None and not (isinstance(op, _MOVES) and side.load(op, op.operands[0]) == how.store):
                array = rounded_store(values.of(op.results[0]).astype(np.float64), array, how.store)
            beside = how.absolute.get(kind_of(op), 0.0) + how.absolute.get(op_id(op), 0.0)
            if how.dtype is None and beside:
                array = array + beside
            if not moves or array is not split.spread:
                on_golden = Arithmetic(ulp=golden)
                scale = 2.0 * _INFLATE  # the other side computes as the golden does, on the same operands
                if how != on_golden or any(map(some, e)):
                    own = clean(rule(BoundStep(op, x, [none(v.shape) for v in x], dtype, on_golden, kept=step.kept)))
                    array, scale = total(array, own), _INFLATE
                array = array * scale if some(array) else array
            if not local and array.shape == shape and shape and dtype.kind == "f":
                if array is split.spread:
                    errors.norms[op.results[0]] = split.row
                elif some(array):
                    row = row_norm(array)
                    if some(split.spread):
                        row = np.fmin(split.row + row_norm(array - split.spread), row)
                    array = np.fmin(array, row[..., None])
                    errors.norms[op.results[0]] = row
    array = np.asarray(np.broadcast_to(array, shape), np.float64)
    rule = side.rule(op)
    known = errors.known.get(op_id(op)) if candidates is None else None
    if known is not None and (known.array < array).any():
        array, rule = np.fmin(array, known.array), known.rule
    errors[op.results[0]] = array
    return Bound(array, candidates, rule)


def _as_used(value: np.ndarray, operand: SSAValue, dtype: np.dtype) -> Array:
    """Return an operand as float64. A Python number takes the array's dtype first (NumPy 2's weak promotion)."""
    if not is_tensor(operand.type) and dtype.kind == "f":
        value = value.astype(dtype)
    return value.astype(np.float64)


def _operand_error(
    op: FleetOp, operand: SSAValue, value: Array, side: Side, errors: Mapping[SSAValue, Array], local: bool
) -> Array:
    error = errors.get(operand)
    if error is None:
        error = none(value.shape)
    owner = operand.owner
    inside = isinstance(owner, FleetOp) and side.group(owner) == side.group(op)
    from_device = isinstance(owner, FleetOp) and not local and side.arithmetic(owner).store is not None
    if inside:
        return error
    entry = side.load(op, operand)
    if isinstance(owner, d.ConstantOp) and isinstance(entry, np.dtype):  # known: what rounding it takes is no bound
        return np.abs(value.astype(entry).astype(np.float64) - value)
    if isinstance(entry, FixedPoint):
        return entry.taken(value, error)
    return error if entry is None or from_device else rounded_store(value, error, entry)


def _operand_norm(operand: SSAValue, error: Array, errors: _Errors) -> Array:
    """Return bounds on the norms of an operand's row errors; errors added on entry count by their elements."""
    known = errors.norms.get(operand)
    own = row_norm(error)
    return own if known is None else np.fmin(own, known + row_norm(np.maximum(error - errors[operand], 0.0)))


def _candidates(x: Array, e: Array, axis: int) -> Array:
    """Return the mask of classes whose value may be the largest; only the golden's if that is certain or all is exact."""
    best = np.argmax(x, axis=axis)
    chosen = np.zeros(x.shape, bool)
    np.put_along_axis(chosen, np.expand_dims(best, axis), True, axis=axis)
    floor = np.max(x - e, axis=axis, keepdims=True)
    possible = ~(x + e < floor) | chosen
    exact = ~np.any(np.where(possible, e, 0.0) > 0, axis=axis, keepdims=True)
    return np.where(exact, chosen, possible)
