"""Lifetimes in DDR: of the tensors of a schedule, and of the scratch memory of its groups.

Time is the position in the schedule. A tensor lives from the group that computes it to the last that reads it or a view of it. A
tensor from the host lives from the start of the segment that first needs it, an input of the model from the start of the schedule,
and an output of the model to the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import BlockArgument, SSAValue

from fleet.ir.program import Program
from fleet.sdk.lowering import Match
from fleet.targets.liveness import FOREVER, Lives
from fleet.transforms.place import Node


def lifetimes(program: Program, schedule: Sequence[Node]) -> Mapping[SSAValue, tuple[int, int]]:
    """Return first and last position, both included, of every tensor that is allocated; a view shares its source's memory."""
    lives = Lives[SSAValue]()
    segment = 0
    for at, node in enumerate(schedule):
        if not isinstance(node, Match):
            segment = at + 1
            for value in node.operands:
                lives.use(value, at)
            continue
        for value in node.activations:
            if lives.roots(value)[0] not in lives.of:
                lives.begin(value, 0 if _is_input(program, value) else segment)
            lives.use(value, at)
        for value in node.results:
            if node.view:
                lives.view(value, node.activations[:1])
            else:
                lives.begin(value, at)
    for value in program.returned():
        lives.use(value, FOREVER)
    return lives.of


def _is_input(program: Program, value: SSAValue) -> bool:
    return isinstance(value, BlockArgument) and program.arguments[value.index].kind == "input"
