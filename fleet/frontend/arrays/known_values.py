"""Arrays whose values are known while the source is read: literals, small recipes, and what is computed out of them.

Decisions and loops of the run are computed too, where all that enters them is known: a loop that stays a loop in the program,
because its rounds are many, hides nothing from the decisions behind it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute, Block, SSAValue

from fleet.errors import ModelError
from fleet.frontend.reading.static import Made, Static
from fleet.frontend.reading.values import TracedArray
from fleet.ir import dialect as d
from fleet.ir.constants import constant_value
from fleet.ir.dialect import ConstantOp, FleetOp, PrintOp, RegionOp, YieldOp, run_regions
from fleet.ir.operations.operation import attributes_of
from fleet.ir.shapes import UNKNOWN
from fleet.ir.types import is_tensor, numpy_dtype, shape_of
from fleet.ir.weights import Creation, Derived, Entry, StreamDraw
from fleet.transforms.simplify.numbers import COMPUTED, call_of

_MAX_ELEMENTS = 1 << 16
_MAX_WORK = 1 << 25
"""Limit on the elements computed for one source."""
_OTHERS = (
    d.CumsumOp, d.ArgmaxOp, d.ArgminOp, d.GatherOp, d.WhereOp, d.ClipOp, d.MatmulOp, d.ItemOp, d.CastOp, d.NumpyOp,
    d.ArgsortOp, d.EinsumOp, d.ScatterOp, d.VarOp, d.ElementOp, d.CheckOp, d.DimOp,
)  # fmt: skip
"""Operations computed by their record, in addition to `COMPUTED`."""
_MAX_STEPS = 1 << 18
"""Limit on the operations computed in bodies for one source."""


_MAX_OF_NUMBER = 64
"""Operations by which a round's number decides."""
_MAX_IN_ROUNDS = 1 << 15
"""Limit on the operations computed to know a decision in every round."""


class _TooMany(Exception):
    """Raised where bodies would take more than `_MAX_STEPS`."""


def _of_entry(entry: Entry) -> np.ndarray | None:
    if math.prod(entry.shape) > _MAX_ELEMENTS:
        return None
    if isinstance(entry, StreamDraw):  # all before it are drawn with it
        return entry.array if entry.made or entry.stream.elements <= _MAX_ELEMENTS else None
    if isinstance(entry, Derived):  # draws of a loop's rounds
        return entry.array if all(isinstance(o, StreamDraw) and _of_entry(o) is not None for o in entry.operands) else None
    return entry if isinstance(entry, np.ndarray) else entry.array if isinstance(entry, Creation) else None


class KnownValues:
    """Known values of the IR, each computed once."""

    def __init__(self, made: Made) -> None:
        self._made = made
        self._found: dict[SSAValue, Any] = {}
        """Value -> its elements; of a decision or loop the tuple of its parts; None if only the run knows it."""
        self._work = 0
        self._steps = 0

    @property
    def exhausted(self) -> bool:
        """True once the limit of work is reached; from then on every value counts as unknown."""
        return self._work > _MAX_WORK or self._steps >= _MAX_STEPS

    def array(self, value: TracedArray) -> np.ndarray | None:
        """The elements; None if they are run-time values or more than 2^16."""
        if isinstance(value, Static) and value.entry is not None:
            return _of_entry(value.entry)
        return self.of(value.ssa)

    def of(self, value: SSAValue) -> np.ndarray | None:
        """The value as an array; None if only the run knows it."""
        stack = [value]
        while stack:
            at = stack[-1]
            if at in self._found:
                stack.pop()
                continue
            op = at.owner
            if not isinstance(op, FleetOp):
                made = self._made.used.get(at)
                self._found[at] = None if made is None else _of_entry(made[2])
            elif not self._computable(op, at):
                self._found[at] = None
            elif (open_ := next((v for v in op.operands if v not in self._found), None)) is not None:
                stack.append(open_)
            else:
                operands = [self._found[v] for v in op.operands]
                arrays = [a for a in operands if a is not None]
                self._found[at] = self._computed(op, at, arrays) if len(arrays) == len(operands) else None
        return self._found[value]

    def decided(self, value: SSAValue) -> bool:
        """Return whether the value is known, and was asked for."""
        return self._found.get(value) is not None

    def in_rounds(self, value: SSAValue, rounds: Mapping[SSAValue, tuple[int, int]]) -> tuple[SSAValue, list[bool]] | None:
        """Return an operation's results in all rounds, as `Domain.in_rounds` does."""
        order: dict[SSAValue, None] = {}
        known: dict[SSAValue, Any] = {}
        numbers: set[SSAValue] = set()
        stack = [value]
        while stack:
            at, op = stack[-1], stack[-1].owner
            if at in order or at in known or at in numbers:
                stack.pop()
            elif at in rounds:
                numbers.add(at)
            elif (found := self.of(at)) is not None:
                known[at] = found
            elif not isinstance(op, FleetOp) or len(order) > _MAX_OF_NUMBER or not (isinstance(op, RegionOp) or _is_computed(op)):
                return None
            elif open_ := [v for v in op.operands if not (v in order or v in known or v in numbers)]:
                stack += open_
            else:
                order[at] = None
        if len(numbers) != 1:
            return None
        (number,) = numbers
        first, last = rounds[number]
        if (last - first + 1) * len(order) > _MAX_IN_ROUNDS:
            return None
        steps = [(at, self._one(at.owner), at.owner.operands) for at in order if isinstance(at.owner, FleetOp)]
        truths: list[bool] = []
        try:
            for k in range(first, last + 1):
                values = known | {number: np.asarray(k)}
                for at, compute, operands in steps:
                    values[at] = compute([values[v] for v in operands])
                truths.append(bool(values[value]))
        except (ArithmeticError, ValueError, LookupError, TypeError, NotImplementedError, ModelError, _TooMany):
            return None
        return number, truths

    def _computable(self, op: FleetOp, value: SSAValue) -> bool:
        if self._work > _MAX_WORK or any(v in self._found and self._found[v] is None for v in op.operands):
            return False
        if isinstance(op, RegionOp):
            return self._steps < _MAX_STEPS and all(_small(t) for t in _parts(value))
        return _is_computed(op) and _small(value.type)

    def _computed(self, op: FleetOp, value: SSAValue, values: Sequence[object]) -> Any:
        try:
            return self._bodies(op, values) if isinstance(op, RegionOp) else self._one(op)(values)
        except (ArithmeticError, ValueError, LookupError, TypeError, NotImplementedError, ModelError, _TooMany):
            return None  # the run reports the error

    def _one(self, op: FleetOp) -> Callable[[Sequence[Any]], Any]:
        """Return a function that computes an operation; it raises ValueError for a result of another type."""
        if isinstance(op, RegionOp):
            return lambda values: self._bodies(op, values)
        if isinstance(op, d.ElementOp):
            index = attributes_of(op)["index"]
            return lambda values: values[0][index]
        if isinstance(op, d.DimOp):
            axis = attributes_of(op)["axis"]
            return lambda values: np.asarray(values[0].shape[axis])
        type_ = op.results[0].type
        shape, dtype = shape_of(type_), numpy_dtype(type_)
        if isinstance(op, ConstantOp):
            constant = np.full(shape, constant_value(op), dtype)
            return lambda _values: constant
        call: Callable[..., Any] = call_of(op) if type(op) in COMPUTED else _by_record(op)

        def compute(values: Sequence[Any]) -> np.ndarray:
            made = np.asarray(call(*values), dtype)
            self._work += made.size + sum(v.size for v in values)
            if made.shape != shape and (made.size > _MAX_ELEMENTS or not _fits(made.shape, shape)):
                raise ValueError("not of the type that was inferred")
            return made

        return compute

    def _bodies(self, op: RegionOp, values: Sequence[object]) -> tuple[Any, ...]:
        """Return the results of a decision or loop, without its prints."""
        bodies: dict[Block, Callable[[Sequence[Any]], Sequence[Any]]] = {}

        def run(block: Block, arguments: Sequence[object]) -> Sequence[Any]:
            if block not in bodies:
                bodies[block] = self._body(block)
            return bodies[block](arguments)

        return run_regions(op, values, run)

    def _body(self, block: Block) -> Callable[[Sequence[Any]], Sequence[Any]]:
        places: dict[SSAValue, int] = {v: i for i, v in enumerate(block.args)}
        steps: list[tuple[Callable[[Sequence[Any]], Any], list[int]]] = []
        for op in block.ops:
            if isinstance(op, PrintOp | YieldOp):
                continue
            if not isinstance(op, FleetOp) or not (isinstance(op, RegionOp) or _is_computed(op)):
                raise _TooMany
            steps.append((self._one(op), [places[v] for v in op.operands]))
            places[op.results[0]] = len(block.args) + len(steps) - 1
        last = block.last_op
        assert isinstance(last, YieldOp)
        given = [places[v] for v in last.operands]

        def run(arguments: Sequence[object]) -> Sequence[Any]:
            self._steps += len(steps) + 1
            if self._steps > _MAX_STEPS or self._work > _MAX_WORK:
                raise _TooMany
            values = list(arguments)
            for compute, operands in steps:
                values.append(compute([values[i] for i in operands]))
            return [values[i] for i in given]

        return run


def _is_computed(op: FleetOp) -> bool:
    return isinstance(op, (ConstantOp, *_OTHERS)) or type(op) in COMPUTED


def _small(type_: Attribute) -> bool:
    """Return whether it has few elements, as far as its shape is known."""
    return math.prod(max(n, 1) for n in shape_of(type_)) <= _MAX_ELEMENTS


def _fits(found: Sequence[int], shape: Sequence[int]) -> bool:
    return len(found) == len(shape) and all(n in (m, UNKNOWN) for m, n in zip(found, shape, strict=True))


def _parts(value: SSAValue) -> Sequence[Attribute]:
    assert isinstance(value.type, TupleType)
    return value.type.types.data


def _by_record(op: FleetOp) -> Callable[..., Any]:
    tensors, attributes = [is_tensor(v.type) for v in op.operands], attributes_of(op)

    def call(*arrays: object) -> Any:
        values = [a if tensor else np.asarray(a).item() for a, tensor in zip(arrays, tensors, strict=True)]
        with np.errstate(all="ignore"):
            return type(op).compute(values, attributes)

    return call
