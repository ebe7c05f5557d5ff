"""Operations that a comparison need not bound: what weights alone give, if both sides show the same numbers.

A quantised model's weights are most of its values, and each engine dequantises them on its own. They are compared as all others
are, element by element. Where nothing differs, no bound has anything to decide, and the error that they hand on is zero.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

from xdsl.ir import SSAValue

from fleet.compare.metrics import same_numbers
from fleet.compare.rules.steps import Array
from fleet.ir.dialect import ConstantOp, FleetOp, PrintOp, RegionOp, op_id
from fleet.ir.program import Program

FOLDED = "folded into"


def settled(program: Program, reference: Mapping[str, Array], other: Mapping[str, Array]) -> frozenset[str]:
    """Return the ids of operations of weights alone that give the same numbers on both sides, from the same numbers.

    reference, other: tensors by operation id, as the engines kept them. Both sides must have run with the same weights.
    """
    same: set[SSAValue] = {v for v in program.function.body.block.args if program.arguments[v.index].kind == "weight"}
    found: set[str] = set()
    for op in program.operations():
        if isinstance(op, RegionOp | PrintOp) or not same.issuperset(op.operands):
            continue
        a, b = reference.get(op_id(op)), other.get(op_id(op))
        equal = a is not None and b is not None and same_numbers(a, b)
        if equal or isinstance(op, ConstantOp):
            same |= set(op.results)
        if equal and op.results:
            found.add(op_id(op))
    return frozenset(found)


def folded(program: Program, fates: Mapping[str, str]) -> frozenset[str]:
    """Return the ids of operations of weights alone that an engine's passes computed with the golden's operators.

    fates: as `fates_of` returns them. Folding keeps every bit (pass "fold-weights"), so the golden's own value stands for the one
    that the engine does not show.
    """
    known: set[SSAValue] = {v for v in program.function.body.block.args if program.arguments[v.index].kind == "weight"}
    found: set[str] = set()
    for op in program.operations():
        if isinstance(op, ConstantOp):
            known |= set(op.results)
        elif op.results and fates.get(op_id(op), "").startswith(FOLDED) and known.issuperset(op.operands):
            known |= set(op.results)
            found.add(op_id(op))
    return frozenset(found)


def outside_groups(names: Collection[str], operations: Sequence[FleetOp], group: Callable[[FleetOp], str]) -> frozenset[str]:
    """Return those of `names` that share their group with no other operation.

    Inside a group a value may be used before it is stored; the number that both sides show does not say that it was the same.
    """
    members = Counter(group(op) for op in operations)
    return frozenset(op_id(op) for op in operations if op_id(op) in names and members[group(op)] == 1)
