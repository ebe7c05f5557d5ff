"""Local values: each operation, or device group, run on the golden's own inputs, to answer "which layer is wrong?"."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import numpy as np
from xdsl.ir import BlockArgument, SSAValue

from fleet.compare.bounds.golden_values import Values
from fleet.compare.bounds.sides import GroupArithmetic
from fleet.compare.compiled_stream import CompiledStream
from fleet.compare.metrics import same_numbers
from fleet.engines.trace import Trace
from fleet.errors import ComparisonFailure
from fleet.ir import dialect as d
from fleet.ir.dialect import FleetOp, op_id
from fleet.ir.program import Program
from fleet.sdk.error_model import FixedPoint

PARTS: tuple[str, ...] = ("operands", "unit", "result")
"""The parts of a device group's local error (see `local_parts`)."""


def local_host_values(
    program: Program,
    weights: Mapping[str, np.ndarray],
    golden: Trace,
    inputs: Mapping[str, np.ndarray],
    skip: Collection[str] = (),
    ran: Program | None = None,
) -> dict[str, np.ndarray]:
    """Compute each operation with the VM's operators on the golden's values and the given weights.

    With rounded weights, the difference to the golden is the cost of quantisation in one operation.

    Args:
        skip: operation ids to leave out.
        ran: program that the golden ran, if the VM made it. An operation that this program has too, and that reads no weight
            with other numbers, gives the golden's own result, which is not computed again.
    """
    from dataclasses import replace

    from fleet.targets.bytecode.evaluate import apply

    values = Values(replace(program, weights=weights), inputs, golden.tensors)
    known = frozenset[str]() if ran is None else _as_they_ran(program, weights, ran)
    found: dict[str, np.ndarray] = {}
    for op in program.operations():
        name = op_id(op)
        if name in skip or not op.results or isinstance(op, d.ConstantOp | d.PrintOp | d.RegionOp) or name not in golden.tensors:
            continue
        try:
            operands = [values.of(v) for v in op.operands]
        except ComparisonFailure:
            continue
        found[name] = np.asarray(golden.tensors[name] if name in known else apply(op, operands))
    return found


def _as_they_ran(program: Program, weights: Mapping[str, np.ndarray], ran: Program) -> frozenset[str]:
    """Return the operations of a program that read what they read in the program that ran, and are the same there."""
    before = {op_id(op): op for op in ran.operations()}
    moved = {name for name, w in weights.items() if name not in ran.weights or not _same(w, ran.weights[name])}

    def alike(op: FleetOp) -> bool:
        other = before.get(op_id(op))
        if other is None or isinstance(op, d.RegionOp | d.ElementOp) or type(other) is not type(op):
            return False
        names = _reads(program, op)
        same = other.properties == op.properties and [r.type for r in other.results] == [r.type for r in op.results]
        return same and names == _reads(ran, other) and moved.isdisjoint(names)

    return frozenset(op_id(op) for op in program.operations() if alike(op))


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    return a is b or same_numbers(a, b)


def _reads(program: Program, op: FleetOp) -> list[str]:
    """Return the operands: names of arguments, constants as text, ids of operations with a % in front."""
    found: list[str] = []
    for value in op.operands:
        owner = value.owner
        if isinstance(value, BlockArgument):
            found.append(program.arguments[value.index].name)
        elif isinstance(owner, d.ConstantOp):
            found.append(f"%{owner.value} {value.type}")
        else:
            found.append(f"%{op_id(owner)}" if isinstance(owner, FleetOp) else "%")
    return found


class LocalPairs(Mapping[str, tuple[np.ndarray, np.ndarray]]):
    """Operation id -> (result of the VM's operators on a trace's own operands, the other trace's tensor).

    A pair is computed on demand and only the last one is kept, so that no second copy of the trace is needed. Operations with an
    operand that the trace did not keep are left out.
    """

    def __init__(
        self, program: Program, trace: Trace, inputs: Mapping[str, np.ndarray], others: Mapping[str, np.ndarray],
        instead: Mapping[str, np.ndarray],
    ) -> None:  # fmt: skip
        """trace: with all tensors. others: tensors to compare. instead: references that were computed in another way."""
        self._values = Values(program, inputs, trace.tensors)
        self._others, self._instead = others, instead
        self._operations: dict[str, FleetOp] = {}
        for op in program.operations():
            name = op_id(op)
            if name in others and op.results and not isinstance(op, d.ConstantOp | d.PrintOp) and self._known(op):
                self._operations[name] = op
        self._last: tuple[str, tuple[np.ndarray, np.ndarray]] | None = None

    def _known(self, op: FleetOp) -> bool:
        try:
            for value in op.operands:
                self._values.of(value)
        except ComparisonFailure:
            return False
        return True

    def __getitem__(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        from fleet.targets.bytecode.evaluate import apply

        if self._last is None or self._last[0] != name:
            op = self._operations[name]
            self._last = None
            reference = self._instead.get(name)
            if reference is None:
                reference = np.asarray(apply(op, [self._values.of(v) for v in op.operands]))
            self._last = name, (reference, np.asarray(self._others[name]))
        return self._last[1]

    def __iter__(self) -> Iterator[str]:
        return iter(self._operations)

    def __len__(self) -> int:
        return len(self._operations)


def local_device_values(
    stream: CompiledStream, golden: Trace, inputs: Mapping[str, np.ndarray], ran: Program
) -> dict[str, np.ndarray]:
    """Compute each device group with the functional model on the golden's values, and host operations with the stored weights.

    ran: program that the golden ran.
    """
    from fleet.engines.accel import run_groups_locally

    grouped = frozenset(op for group in stream.groups for op in group)
    host = local_host_values(stream.rounded, stream.rounded.weights, golden, inputs, grouped, ran)
    return host | run_groups_locally(stream.compiled, golden.tensors, inputs)


def local_parts(
    stream: CompiledStream, side: GroupArithmetic, golden: Trace, inputs: Mapping[str, np.ndarray], device: Mapping[str, np.ndarray]
) -> dict[str, dict[str, float]]:
    """Return the parts of each device group's own error, as root mean squares of differences of whole tensors.

    Args:
        stream: the compiled stream. side: what its instruction set states of it.
        golden: with the weights as stored. device: operation id -> the group's result on the golden's values.

    Returns:
        Operation id -> part -> RMS. "operands": the group in binary64 on operands as device memory holds them, minus the golden.
        "result": the effect of storing that result in the device's dtype. "unit": the rest, the unit's own arithmetic (orders of
        sums, binary32, tables, inner tensors that it stores).
    """
    from fleet.targets.bytecode.evaluate import apply

    values = Values(stream.rounded, inputs, golden.tensors)
    ops = {op_id(op): op for op in stream.rounded.operations()}
    found: dict[str, dict[str, float]] = {}
    for group in stream.compiled.groups:
        if not group.calls or not all(key in device for key in group.results):
            continue
        exact: dict[SSAValue, np.ndarray] = {}
        for op in (ops[name] for name in group.ops):
            operands = [exact[v] if v in exact else _loaded(values.of(v), side.load(op, v)) for v in op.operands]
            with np.errstate(all="ignore"):
                exact[op.results[0]] = np.asarray(apply(op, operands))
        for name in group.results:
            value = exact[ops[name].results[0]]
            store = side.arithmetic(ops[name]).store
            if store is None or value.dtype.kind != "f":
                continue
            with np.errstate(over="ignore"):
                stored = value.astype(store).astype(np.float64)
            steps = (values.of(ops[name].results[0]).astype(np.float64), value, device[name].astype(np.float64), stored)
            reference, value, computed, stored = steps
            with np.errstate(invalid="ignore"):  # infinities, as in masked scores, are equal to themselves
                differences = (value - reference, computed - stored, stored - value)
            found[name] = {part: _rms(difference) for part, difference in zip(PARTS, differences, strict=True)}
    return found


def _loaded(value: np.ndarray, dtype: np.dtype | FixedPoint | None) -> np.ndarray:
    """Return the value in binary64, rounded first to the dtype that it has on entry."""
    if value.dtype.kind != "f":
        return value
    if isinstance(dtype, FixedPoint):
        return dtype.nearest(value.astype(np.float64))
    with np.errstate(over="ignore"):
        return (value if dtype is None else value.astype(dtype)).astype(np.float64)


def _rms(difference: np.ndarray) -> float:
    finite = difference[np.isfinite(difference)]
    return float(np.sqrt(np.mean(finite * finite))) if finite.size else 0.0


def pairs(references: Mapping[str, np.ndarray], others: Mapping[str, np.ndarray]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return (reference, other) for the operations that both have."""
    return {op: (np.asarray(references[op]), np.asarray(other)) for op, other in others.items() if op in references}
