"""A composite whose steps other operations need too: its own rounding, on the values that enter it.

`e / e.sum()` is computed as one softmax even if another operation needs `e`. Then the trace holds both, and the softmax was not
computed from that `e`: a division of the trace's `e` would differ from it by the difference of two exponentials. So the golden's
operators compute its steps again from the values that enter the composite, and its bound is that of the whole chain.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from fleet.compare.bounds.bound import Bound
from fleet.compare.bounds.fates import FusedArithmetic
from fleet.compare.bounds.golden_values import Values
from fleet.compare.bounds.sides import FloatArithmetic
from fleet.compare.bounds.tolerance import local_bounds
from fleet.engines.trace import Trace
from fleet.ir.dialect import ConstantOp, FleetOp, RegionOp, op_id
from fleet.ir.program import Program
from fleet.targets.bytecode.evaluate import apply


def stated(trace: Trace) -> dict[str, tuple[str, ...]]:
    """Return what an engine states of its own composites in `meta["composites"]`: id -> ids of the operations that enter it."""
    found = trace.meta.get("composites")
    if not isinstance(found, Mapping):
        return {}
    return {root: tuple(map(str, enters)) for root, enters in found.items() if isinstance(enters, Sequence)}


def shared(program: Program, composites: Mapping[str, Sequence[str]], groups: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return composite id -> its steps in program order, for composites with a step that `groups` does not assign to them.

    composites: as returned by `stated`. Steps are the program's operations between the composite's operands and its result.
    """
    operations = {op_id(op): op for op in program.operations()}
    position = _positions(program)
    found: dict[str, tuple[str, ...]] = {}
    for root, enters in composites.items():
        if root not in operations:
            continue
        between = _between(operations[root], frozenset(enters))
        if any(isinstance(op, RegionOp) for op in (*between, operations[root])):
            continue  # the result of a decision or loop is not a step's
        steps = _in_order(between, position)
        if any(groups.get(name) != root for name in steps):
            found[root] = steps
    return found


def hidden_steps(program: Program, shown: Collection[str], names: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return id of an operation of `names` -> the operations without a value in `shown` that it is computed from, in program order.

    Operations that depend on arguments only, and on nothing in `shown`, are left out: they are the model itself, not a step of it.
    """
    operations = {op_id(op): op for op in program.operations()}
    position = _positions(program)
    enters = frozenset(shown)
    found: dict[str, tuple[str, ...]] = {}
    for name in names:
        between = _between(operations[name], enters)
        if any(isinstance(op, RegionOp) for op in (*between, operations[name])):
            continue  # the result of a decision or loop is not a step's
        seen = (value.owner for op in (*between, operations[name]) for value in op.operands)
        if any(isinstance(op, FleetOp) and op_id(op) in enters for op in seen):
            found[name] = _in_order(between, position)
    return found


def _positions(program: Program) -> dict[FleetOp, int]:
    return {op: i for i, op in enumerate(program.operations())}


def _in_order(operations: Collection[FleetOp], position: Mapping[FleetOp, int]) -> tuple[str, ...]:
    """Return the ids of those of the program, in its order."""
    return tuple(op_id(op) for op in sorted((op for op in operations if op in position), key=position.__getitem__))


def _between(root: FleetOp, enters: frozenset[str]) -> set[FleetOp]:
    """Return the operations between `enters` and `root`, without constants, arguments and `root` itself."""
    seen: set[FleetOp] = set()
    waiting = [root]
    while waiting:
        for value in waiting.pop().operands:
            op = value.owner
            if isinstance(op, FleetOp) and op not in seen and op_id(op) not in enters and not isinstance(op, ConstantOp):
                seen.add(op)
                waiting.append(op)
    return seen


def alone(
    program: Program, inputs: Mapping[str, np.ndarray], tensors: Mapping[str, np.ndarray], composites: Mapping[str, Sequence[str]],
    side: FloatArithmetic,
) -> dict[str, tuple[np.ndarray, Bound]]:  # fmt: skip
    """Return composite id -> (result of the golden's operators on the values that enter it, bound of the whole composite).

    tensors: of one side, one for each operation of the program. Raises FleetError if one is missing.
    """
    operations = {op_id(op): op for op in program.operations()}
    found: dict[str, tuple[np.ndarray, Bound]] = {}
    for root, steps in composites.items():
        own = dict(tensors)
        values = Values(program, inputs, own)
        reference = np.zeros(0)
        for name in (*steps, root):
            operands = [values.of(v) for v in operations[name].operands]
            reference = own[name] = np.asarray(apply(operations[name], operands))
        group = FusedArithmetic(side.ulp, side.absolute, side.unrounded, groups=dict.fromkeys((*steps, root), root))
        found[root] = (reference, local_bounds(values, group, only=[operations[name] for name in (*steps, root)])[root])
    return found
