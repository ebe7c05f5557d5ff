"""Derived bounds: how far two right implementations of a program may be apart, element by element.

The bound of an operation is |other - golden| <= R_other(e) + R_golden(0), both from the rules of `_error_rules`, evaluated
at the golden's own operand values: R_other with the operands' bounds e (what they have gathered on the way from the
inputs), R_golden with none, because the golden computes on exactly these operands. Nothing is fitted or measured; the
only inputs are dtypes, reduction lengths and the arithmetic that each side declares.

Two kinds of sides:
  `FloatArithmetic`  the program's dtypes, any order of summation, functions within stated ULPs (vm, cpython, riscv);
  `GroupArithmetic`  an accelerator's groups, out of what the instruction set states (see there).

What an instruction set may state is `fleet.sdk.error_model.DeviceArithmetic`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import BlockArgument, SSAValue

from fleet.cosim._error_rules import (
    MOVES,
    RULES,
    Arithmetic,
    Array,
    Step,
    clean,
    floor_of,
    none,
    rounded_store,
    row_norm,
    some,
    split_of,
)
from fleet.errors import ComparisonFailure
from fleet.ir import dialect as d
from fleet.ir.dialect import FleetOp, kind_of, op_id
from fleet.ir.program import Program
from fleet.ir.types import is_tensor, numpy_dtype, shape_of
from fleet.sdk import Device, InstructionSet
from fleet.sdk.error_model import DeviceArithmetic, FixedPoint
from fleet.targets.bytecode.erf import ULP as ERF_ULP

__all__ = [
    "NUMPY_ULP",
    "Arithmetic",
    "Bound",
    "Bounds",
    "FloatArithmetic",
    "GroupArithmetic",
    "Side",
    "Values",
    "bounded_operations",
    "cumulative_bounds",
    "group_arithmetic",
    "last_readers",
    "local_bounds",
]

NUMPY_ULP: Mapping[str, float] = {
    **dict.fromkeys(("exp", "expm1", "log", "log1p", "tanh", "pow", "sin", "cos"), 4.0),
    "erf": ERF_ULP,
}
"""NumPy's vectorised functions: its own tests allow 4 ULPs (numpy/_core/tests/test_umath_accuracy.py); erf is our own."""

_MOVES = (d.SliceOp, d.ReshapeOp, d.TransposeOp)
"""What comes out of memory and goes back in the same dtype is not rounded again."""

_INFLATE = 1.0 + 2.0**-30
"""Covers the roundings of the bound's own float64 arithmetic (relative 2^-53 each)."""


@dataclass(frozen=True)
class Bound:
    """A bound on |other - golden|.

    array: float64, in the operation's shape; inf: nothing is proved.
    candidates: for argmax, a boolean array over the operand: the classes that the other side may rightly choose; else None.
    rule: one clause for the report.
    """

    array: Array
    candidates: Array | None
    rule: str


class Side(Protocol):
    """How the other side computes."""

    def arithmetic(self, op: FleetOp) -> Arithmetic:
        """Of one operation."""
        ...

    def group(self, op: FleetOp) -> str:
        """Key of the group that the operation is computed in; local errors treat a group as one."""
        ...

    def load(self, op: FleetOp, operand: SSAValue) -> np.dtype | FixedPoint | None:
        """How an operand from outside op's group is rounded on entry; None: it enters as it is."""
        ...

    def rule(self, op: FleetOp) -> str:
        """One clause: what the bound was derived from."""
        ...


@dataclass(frozen=True)
class FloatArithmetic:
    """The program's own dtypes in any order of summation; functions within `ulp` ULPs.

    absolute: operation ("sigmoid"), or one operation's id -> absolute error that it may have beside, in float32 and float16.
    unrounded: dtypes whose values an operation may take before they were rounded: results that it shows are rounded copies.
    """

    ulp: Mapping[str, float] = field(default_factory=lambda: dict(NUMPY_ULP))
    absolute: Mapping[str, float] = field(default_factory=dict[str, float])
    unrounded: frozenset[str] = frozenset()

    def arithmetic(self, op: FleetOp) -> Arithmetic:
        """The same for every operation."""
        return Arithmetic(ulp=self.ulp, absolute=self.absolute if _result_dtype(op).itemsize <= 4 else {})

    def group(self, op: FleetOp) -> str:
        """Every operation is its own group."""
        return op_id(op)

    def load(self, op: FleetOp, operand: SSAValue) -> np.dtype | FixedPoint | None:
        """Nothing is rounded on entry; what was not rounded before is as far from what is shown."""
        dtype = numpy_dtype(operand.type)
        return dtype if dtype.name in self.unrounded else None

    def rule(self, op: FleetOp) -> str:
        """dtype and length."""
        dtype = _result_dtype(op)
        if isinstance(op, d.ArgmaxOp | d.ArgminOp):
            return f"the margin between the two {'largest' if isinstance(op, d.ArgmaxOp) else 'smallest'} decides"
        if dtype.kind != "f":
            return "exact"
        if isinstance(op, d.MatmulOp):
            return f"gamma_{shape_of(op.lhs.type)[-1]} of {dtype.name}, any order, both sides"
        return f"unit roundoff of {dtype.name}, both sides"


@dataclass(frozen=True)
class _Group:
    key: str
    ops: tuple[FleetOp, ...]
    stated: DeviceArithmetic


@dataclass(frozen=True)
class GroupArithmetic:
    """An accelerator: groups of operations in its own arithmetic, everything else as `FloatArithmetic` (on the host)."""

    groups: Mapping[str, _Group]
    host: FloatArithmetic
    weights: frozenset[int]

    def _stored(self, op: FleetOp, group: _Group) -> bool:
        """Leaves the group, or is read by an argmax (which sees what memory would hold)."""
        inside = {id(o) for o in group.ops}
        uses = [use.operation for use in op.results[0].uses]
        return op is group.ops[-1] or any(id(user) not in inside or isinstance(user, d.ArgmaxOp | d.ArgminOp) for user in uses)

    def arithmetic(self, op: FleetOp) -> Arithmetic:
        """Of the group's kind, or the host's."""
        group = self.groups.get(op_id(op))
        if group is None:
            return self.host.arithmetic(op)
        if _result_dtype(op).kind != "f":
            return Arithmetic()
        stated = group.stated
        store = stated.store if self._stored(op, group) else None
        return Arithmetic(
            stated.internal, stated.roundings.get(op_id(op)), stated.ulp, store, stated.inner, stated.absolute, stated.relative
        )

    def group(self, op: FleetOp) -> str:
        """The group's key, or the operation's id on the host."""
        group = self.groups.get(op_id(op))
        return group.key if group else op_id(op)

    def load(self, op: FleetOp, operand: SSAValue) -> np.dtype | FixedPoint | None:
        """Activations are rounded when they enter device memory; weights and constants are stored as they are."""
        group = self.groups.get(op_id(op))
        if group is None or isinstance(operand.owner, d.ConstantOp) or numpy_dtype(operand.type).kind != "f":
            return None
        return None if isinstance(operand, BlockArgument) and operand.index in self.weights else group.stated.load

    def rule(self, op: FleetOp) -> str:
        """What the instruction set states."""
        group = self.groups.get(op_id(op))
        if group is None or isinstance(op, d.ArgmaxOp | d.ArgminOp):
            return self.host.rule(op)
        steps = ", ".join(f"{n} roundings in {name}" for name, n in group.stated.roundings.items())
        return f"{group.stated.internal.name} inside{', ' + steps if steps else ''}, {group.stated.store.name} in memory"


def group_arithmetic(
    program: Program,
    groups: Sequence[Sequence[str]],
    instruction_set: InstructionSet,
    device: Device,
    options: Mapping[str, Any] | None = None,
    host_ulp: Mapping[str, float] | None = None,
) -> GroupArithmetic:
    """The accelerator's side, from the groups that ran (`Commit.ops`) and what the instruction set states of them."""
    ops = {op_id(op): op for op in program.operations()}
    state = instruction_set.error_model
    table: dict[str, _Group] = {}
    for names in groups:
        if unknown := [n for n in names if n not in ops]:
            raise ComparisonFailure(
                f"an instruction names operation '{unknown[0]}', which the program does not have", where=device.name
            )
        members = tuple(ops[n] for n in names)
        stated = state(members, device, options or {}) if state else DeviceArithmetic()
        group = _Group(names[-1], members, stated)
        table |= dict.fromkeys(names, group)
    weights = frozenset(i for i, a in enumerate(program.arguments) if a.kind == "weight")
    return GroupArithmetic(table, FloatArithmetic(host_ulp or NUMPY_ULP), weights)


class Values:
    """The golden's values: weights, inputs, constants and every operation's tensor, in the golden's own dtype."""

    def __init__(self, program: Program, inputs: Mapping[str, np.ndarray], tensors: Mapping[str, np.ndarray]) -> None:
        self.program, self.inputs, self.tensors = program, inputs, tensors

    def of(self, value: SSAValue) -> np.ndarray:
        """The array of a value. ComparisonFailure when the golden kept none."""
        if isinstance(value, BlockArgument):
            argument = self.program.arguments[value.index]
            return np.asarray((self.program.weights if argument.kind == "weight" else self.inputs)[argument.name])
        op = value.owner
        if isinstance(op, d.ConstantOp):
            return _constant(op)
        assert isinstance(op, FleetOp)
        name = op_id(op)
        if name not in self.tensors:
            raise ComparisonFailure("the golden kept no tensor of it, so no bound can be derived", where=name)
        tensor = np.asarray(self.tensors[name])
        if tensor.shape != shape_of(value.type):
            raise ComparisonFailure(f"the golden has shape {tensor.shape}, the program says {shape_of(value.type)}", where=name)
        return tensor


def cumulative_bounds(
    values: Values, side: Side, golden: Mapping[str, float] = NUMPY_ULP, known: Mapping[str, Bound] | None = None
) -> Bounds:
    """Bounds of all operations, errors gathered from the inputs on.

    golden: the golden's functions' ULPs. known: operation id -> a bound that was proved in another way; the smaller one counts,
    element by element, for what follows too.
    """
    operations = bounded_operations(values.program)
    _check(values, side, operations)
    last = last_readers(operations)

    def steps() -> Iterator[Bound]:
        errors = _Errors()
        errors.known = known or {}
        for op in operations:
            yield _step(op, values, side, golden, errors, local=False)
            errors.forget(last.get(op, ()))

    return Bounds(operations, steps)


def local_bounds(
    values: Values, side: Side, golden: Mapping[str, float] = NUMPY_ULP, only: Collection[str] | None = None
) -> Bounds:
    """Bounds of every operation, or of those with the ids in `only`, its group run on the golden's own values."""
    asked = [op for op in bounded_operations(values.program) if only is None or op_id(op) in only]
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


def bounded_operations(program: Program) -> list[FleetOp]:
    """Operations with a result, in program order."""
    return [op for op in program.operations() if op.results and not isinstance(op, d.PrintOp)]


def last_readers(operations: Sequence[FleetOp]) -> dict[FleetOp, list[SSAValue]]:
    """Operation -> the values that no operation behind it reads, its own result where nothing does."""
    last: dict[SSAValue, FleetOp] = {}
    for op in operations:
        last |= dict.fromkeys((*op.operands, op.results[0]), op)
    found: dict[FleetOp, list[SSAValue]] = {}
    for value, op in last.items():
        found.setdefault(op, []).append(value)
    return found


class Bounds(Mapping[str, Bound]):
    """Bounds by operation id, each computed when it is asked for.

    In program order every operation is computed once, and of those passed only what later ones read is kept. So the bounds of a
    program need as much memory as those of its values that are alive at one place (float64, with row norms and floors), and the
    last two that were given. Asking for one that has been passed begins again; who does so more than once gets all of them kept.
    """

    def __init__(self, operations: Sequence[FleetOp], steps: Callable[[], Iterator[Bound]]) -> None:
        """steps: begins at the first of the operations."""
        self._places = {op_id(op): i for i, op in enumerate(operations)}
        self._steps = steps
        self._walk = steps()
        self._next = self._restarts = 0
        self._kept: dict[str, Bound] = {}
        self._names = list(self._places)
        self._instead: Mapping[str, Bound] = {}

    def but(self, instead: Mapping[str, Bound]) -> Bounds:
        """The same with other bounds for some operations; what is derived from theirs stays."""
        found = copy(self)
        found._walk, found._next, found._kept, found._instead = self._steps(), 0, {}, {**self._instead, **instead}
        return found

    def __getitem__(self, name: str) -> Bound:
        if name in self._instead:
            return self._instead[name]
        place = self._places[name]
        if name not in self._kept:
            if place < self._next:
                self._walk, self._next = self._steps(), 0
                self._restarts += 1
            while self._next <= place:
                if self._restarts < 2 and len(self._kept) > 1:
                    self._kept.pop(next(iter(self._kept)))
                self._kept[self._names[self._next]] = next(self._walk)
                self._next += 1
        return self._kept[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def _check(values: Values, side: Side, operations: Sequence[FleetOp]) -> None:
    """ComparisonFailure where the golden kept no tensor that a bound is made of: at once, not in the middle of a comparison."""
    for op in operations:
        for value in op.operands if side.arithmetic(op).store is None else (*op.operands, *op.results):
            if isinstance(value.owner, FleetOp) and not isinstance(value.owner, d.ConstantOp):
                values.of(value)


class _Errors(dict[SSAValue, Array]):
    """Errors gathered so far by value; floors: what is proved to be positive (`floor_of`); norms: of each row's error."""

    def __init__(self) -> None:
        super().__init__()
        self.floors: dict[SSAValue, Array] = {}
        self.norms: dict[SSAValue, Array] = {}
        self.known: Mapping[str, Bound] = {}

    def forget(self, values: Sequence[SSAValue]) -> None:
        """What no operation will read again."""
        for value in values:
            for table in (self, self.floors, self.norms):
                table.pop(value, None)


def _step(op: FleetOp, values: Values, side: Side, golden: Mapping[str, float], errors: _Errors, local: bool) -> Bound:
    """One operation: its bound, which also goes into `errors` for its users."""
    shape, dtype = shape_of(op.results[0].type), _result_dtype(op)
    moves = isinstance(op, MOVES)
    x = [values.of(v) if moves else _as_used(values.of(v), v, dtype) for v in op.operands]
    with np.errstate(all="ignore"):
        e = [_operand_error(op, v, xv, side, errors, local) for v, xv in zip(op.operands, x, strict=True)]
        candidates = None
        if isinstance(op, d.ConstantOp):
            array: Array = none(shape)
            if (number := _constant(op)).dtype.kind == "f" and (number > 0).all():
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
            # Of one group alone rows are no better than their elements.
            norms = () if local else [_operand_norm(v, ev, errors) for v, ev in zip(op.operands, e, strict=True)]
            step = Step(op, x, e, inner, how, [errors.floors.get(v) for v in op.operands], norms)
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
                array = array + clean(rule(Step(op, x, [none(v.shape) for v in x], dtype, Arithmetic(ulp=golden), kept=step.kept)))
                array = clean(array * _INFLATE)
            if not local and array.shape == shape and shape and dtype.kind == "f":
                if array is split.spread:
                    errors.norms[op.results[0]] = split.row
                elif some(array):
                    row = np.fmin(split.row + row_norm(array - split.spread), row_norm(array))
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
    """float64 of an operand; a Python number takes the array's dtype first (NumPy 2's weak promotion), alike on all sides."""
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
    if isinstance(entry, FixedPoint):
        return entry.taken(value, error)
    return error if entry is None or from_device else rounded_store(value, error, entry)


def _operand_norm(operand: SSAValue, error: Array, errors: _Errors) -> Array:
    """Of an operand's rows, as `_operand_error` gave its elements: what it adds on entry counts with its elements."""
    known = errors.norms.get(operand)
    own = row_norm(error)
    return own if known is None else np.fmin(own, known + row_norm(np.maximum(error - errors[operand], 0.0)))


def _candidates(x: Array, e: Array, axis: int) -> Array:
    """Classes whose value may be the largest; only the golden's own where it is decided or everything is exact."""
    best = np.argmax(x, axis=axis)
    chosen = np.zeros(x.shape, bool)
    np.put_along_axis(chosen, np.expand_dims(best, axis), True, axis=axis)
    floor = np.max(x - e, axis=axis, keepdims=True)
    possible = ~(x + e < floor) | chosen
    exact = ~np.any(np.where(possible, e, 0.0) > 0, axis=axis, keepdims=True)
    return np.where(exact, chosen, possible)


def _constant(op: d.ConstantOp) -> np.ndarray:
    attr = op.value
    number: float | int = attr.value.data
    assert isinstance(attr, IntegerAttr | FloatAttr)
    type_ = op.results[0].type
    array = np.asarray(number, numpy_dtype(type_))
    return np.full(shape_of(type_), array) if is_tensor(type_) else array


def _result_dtype(op: FleetOp) -> np.dtype:
    return numpy_dtype(op.results[0].type) if op.results else np.dtype(np.int64)
