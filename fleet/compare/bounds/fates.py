"""Operations that an engine's passes removed: what became of each, whether that can be true, and how to compare around it.

A trace states it in `meta["fates"]` (operation id -> words). Words alone excuse nothing. An operation counts as fused into another
only if the other is computed from it and has a tensor in the trace. It counts as folded or unused only if the program agrees.
Everything else that is missing stays missing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from xdsl.ir import BlockArgument, Operation, SSAValue

from fleet.compare.bounds.golden_values import Values
from fleet.compare.bounds.sides import FloatArithmetic
from fleet.compare.settled import FOLDED
from fleet.engines.trace import Trace
from fleet.ir.dialect import ConstantOp, ElementOp, FleetOp, PrintOp, RegionOp, op_id
from fleet.ir.program import Program
from fleet.ir.types import numpy_dtype, shape_of
from fleet.targets.bytecode.evaluate import apply

_FUSED = "fused into "
_SAME = "the same as "


def fates_of(program: Program, trace: Trace) -> dict[str, str]:
    """Return operation id -> what became of it, for the operations that the trace rightly lacks."""
    stated = trace.meta.get("fates")
    if not isinstance(stated, Mapping):
        return {}
    words = {name: str(why) for name, why in stated.items()}
    graph = _Graph(program, words)
    return {name: why for name, why in words.items() if name not in trace.tensors and _holds(graph, trace, name, why, words)}


def _holds(graph: _Graph, trace: Trace, name: str, why: str, words: Mapping[str, str]) -> bool:
    op = graph.operations.get(name)
    if op is None:
        return False
    if why.startswith(_FUSED):
        into = why.removeprefix(_FUSED)
        return into in trace.tensors and into in graph.operations and graph.reaches(op, graph.operations[into])
    if why.startswith(_SAME):
        other = graph.operations.get(why.removeprefix(_SAME))
        return why.removeprefix(_SAME) in {a.name for a in graph.program.arguments} or (
            other is not None and (op_id(other) in trace.tensors or op_id(other) in words or isinstance(other, ConstantOp))
        )
    if why.startswith(FOLDED):
        return not graph.depends_on_input(op)
    # If its users were rewritten, they are in the trace and are compared.
    return why == "not needed" and (graph.unused(op) or graph.users(op) <= trace.tensors.keys() | words.keys())


class _Graph:
    """What a program says of its operations.

    words: operation id -> why it was not compared.
    """

    def __init__(self, program: Program, words: Mapping[str, str]) -> None:
        self.program = program
        self.operations = {op_id(op): op for op in program.operations()}
        self._position = {op: i for i, op in enumerate(program.operations())}
        self._twins: dict[str, list[FleetOp]] = {}
        for name, why in words.items():
            if why.startswith(_SAME) and name in self.operations:
                self._twins.setdefault(why.removeprefix(_SAME), []).append(self.operations[name])

    def reaches(self, start: FleetOp, end: FleetOp) -> bool:
        """Return whether `end` uses the result of `start`, directly or through other operations.

        If operations were merged into `x` ("the same as x"), users of x use them too.
        """
        return self._within(start, end, self._position[end]) or (bool(self._twins) and self._within(start, end, None))

    def _within(self, start: FleetOp, end: FleetOp, last: int | None) -> bool:
        """As `reaches`, by way of operations no later than `last` alone: without twins no other way leads to it."""
        seen: set[FleetOp] = set()
        waiting = [start]
        while waiting:
            op = waiting.pop()
            if op is end:
                return True
            if op not in seen and (last is None or self._position.get(op, 0) <= last):
                seen.add(op)
                waiting += [u.operation for r in op.results for u in r.uses if isinstance(u.operation, FleetOp)]
                waiting += self._twins.get(op_id(op), []) if op.results else []
        return False

    def users(self, op: FleetOp) -> set[str]:
        """Return the ids of the operations that use its result; "" stands for an output or a print.

        Steps into which a composite was expanded to bound it use its operands as well, and are not of the program.
        """
        users = [use.operation for r in op.results for use in r.uses if self._holds(use.operation)]
        return {op_id(u) if isinstance(u, FleetOp) and u.results else "" for u in users}

    def _holds(self, op: Operation) -> bool:
        """Return whether the operation is one of the program, in a body or not."""
        above: Operation | None = op
        while above is not None and above is not self.program.module:
            above = above.parent_op()
        return above is not None

    @cached_property
    def _inputs(self) -> set[SSAValue]:
        found: set[SSAValue] = set()
        for op in self.program.operations():
            if any(self._is_input(v) or v in found for v in op.operands):
                found |= set(op.results)
        return found

    def _is_input(self, value: SSAValue) -> bool:
        return isinstance(value, BlockArgument) and self.program.arguments[value.index].kind == "input"

    def depends_on_input(self, op: FleetOp) -> bool:
        """Return whether its result depends on an input."""
        return any(r in self._inputs for r in op.results)

    @cached_property
    def _needed(self) -> set[SSAValue]:
        found = set(self.program.returned())
        for op in reversed(list(self.program.operations())):
            if isinstance(op, PrintOp) or any(r in found for r in op.results):
                found |= set(op.operands)
        return found

    def unused(self, op: FleetOp) -> bool:
        """Return whether no output and no print needs it."""
        return not any(r in self._needed for r in op.results)


def fused_groups(program: Program, fates: Mapping[str, str]) -> dict[str, str]:
    """Return operation id -> id of the operation that it was fused into, for all operations of fused groups."""
    inner = {name: why.removeprefix(_FUSED) for name, why in fates.items() if why.startswith(_FUSED)}
    known = {op_id(op) for op in program.operations()}
    for op in program.operations():  # a twin of an operation of a group belongs to the group
        why = fates.get(op_id(op), "")
        if why.startswith(_SAME) and why.removeprefix(_SAME) in inner:
            inner[op_id(op)] = inner[why.removeprefix(_SAME)]
    groups = {name: into for name, into in inner.items() if into in known} | {
        into: into for into in inner.values() if into in known
    }
    return _joined(program, groups, inner)


def _joined(program: Program, groups: Mapping[str, str], inner: Collection[str]) -> dict[str, str]:
    """Merge groups that share an operation without a tensor, because only the group that computed it knows its value.

    A node with several results (a recurrent layer's last states beside all of them) has one exposed operation for each.
    """
    found = dict(groups)
    members: dict[str, set[str]] = {}
    for name, group in found.items():
        members.setdefault(group, set()).add(name)
    for op in program.operations():
        if op_id(op) not in inner or op_id(op) not in found:
            continue
        for use in (u.operation for r in op.results for u in r.uses):
            if not isinstance(use, FleetOp) or not use.results:
                continue
            here, there = found[op_id(op)], found.get(op_id(use), op_id(use))
            if here == there:
                continue
            moved = members.pop(here)
            found |= dict.fromkeys({*moved, op_id(use)}, there)
            members.setdefault(there, {there}).update(moved)
    return found


@dataclass(frozen=True)
class FusedArithmetic(FloatArithmetic):
    """As `FloatArithmetic`, but the local error is that of a whole fused group on the values that enter it."""

    groups: Mapping[str, str] = field(default_factory=dict[str, str])

    def group(self, op: FleetOp) -> str:
        """Return the id of the operation that it was fused into, or its own id."""
        return self.groups.get(op_id(op), op_id(op))


def completed(
    program: Program, inputs: Mapping[str, np.ndarray], tensors: Mapping[str, np.ndarray], fates: Mapping[str, str]
) -> dict[str, np.ndarray]:
    """Return the tensors, completed by those that fusing removed: the golden's operators compute them from the trace's values.

    A twin of another operation gets that operation's tensor; computing it again would give the golden's rounding, not the engine's.
    The last operation of a fused group keeps the trace's tensor. Raises FleetError if an operand is missing.
    """
    found = {name: np.asarray(t) for name, t in tensors.items()}
    values = Values(program, inputs, found)
    for op in program.operations():
        name = op_id(op)
        if op.results and name not in found and name in fates and not isinstance(op, ConstantOp | ElementOp | RegionOp):
            twin = found.get(fates[name].removeprefix(_SAME)) if fates[name].startswith(_SAME) else None
            own = op.results[0].type
            if twin is not None and (twin.shape, twin.dtype) == (shape_of(own), numpy_dtype(own)):
                found[name] = twin
            else:
                found[name] = apply(op, [values.of(v) for v in op.operands])
    return found
