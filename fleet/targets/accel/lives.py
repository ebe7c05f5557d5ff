"""How long what stands in DDR is needed: the tensors of a schedule, and the scratch of its groups.

Time is the position in the schedule. A tensor lives from the group that makes it to the last that reads it or a view of it. What
the host gives lives from the beginning of the segment that first needs it, an input of the model from the very beginning; what
the model returns lives to the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count

from xdsl.ir import BlockArgument, SSAValue

from fleet.ir.program import Program
from fleet.sdk.lowering import Match
from fleet.targets.liveness import FOREVER
from fleet.transforms.place import Node

__all__ = ["lifetimes"]


def lifetimes(program: Program, schedule: Sequence[Node]) -> Mapping[SSAValue, tuple[int, int]]:
    """First and last position, both included, of every tensor that gets a place; a view lies in what it is a part of."""
    lives: dict[SSAValue, tuple[int, int]] = {}
    root: dict[SSAValue, SSAValue] = {}

    def use(value: SSAValue, at: int) -> None:
        value = root.get(value, value)
        if value in lives:  # any other is the host's alone
            lives[value] = lives[value][0], max(lives[value][1], at)

    segment = 0
    for at, node in zip(count(), schedule):
        if not isinstance(node, Match):
            segment = at + 1
            for value in node.operands:
                use(value, at)
            continue
        for value in node.activations:
            if root.get(value, value) not in lives:
                lives[value] = (0 if _is_input(program, value) else segment), at
            use(value, at)
        for value in node.results:
            if node.view:
                root[value] = root.get(node.activations[0], node.activations[0])
            else:
                lives[value] = at, at
    for value in program.returned():
        use(value, FOREVER)
    return lives


def _is_input(program: Program, value: SSAValue) -> bool:
    return isinstance(value, BlockArgument) and program.arguments[value.index].kind == "input"
