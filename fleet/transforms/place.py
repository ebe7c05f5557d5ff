"""Placement: which operations a device runs, in which groups, and the order of everything.

Patterns are tried from the last operation backwards, and the largest group wins. So a chain is taken as a whole before its parts
are tried. Operations that no pattern takes run on the host, with the patterns' reasons. Constants are not scheduled: they are
numbers, made where needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.ir import BlockArgument, Operation, SSAValue

from fleet.ir.dialect import ConstantOp, FleetOp, name_of, op_id
from fleet.ir.lowering_options import LoweringOptions
from fleet.ir.program import Program
from fleet.isa.pattern_calls import matched
from fleet.sdk import Device
from fleet.sdk.lowering import Match, Missed, Pattern

Node = Match | FleetOp
"""A scheduled item: a group on the device or an operation on the host."""


@dataclass(frozen=True)
class Placement:
    """The placement of a program.

    Attributes:
        schedule: groups and host operations, each after what it needs, otherwise in program order.
        missed: operation id -> why it runs on the host, for every such operation.
    """

    schedule: tuple[Node, ...]
    missed: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def groups(self) -> tuple[Match, ...]:
        """The device's groups in order."""
        return tuple(node for node in self.schedule if isinstance(node, Match))

    def where(self) -> dict[str, str]:
        """Return operation id -> "device" or "host", in schedule order, without constants."""
        found: dict[str, str] = {}
        for node in self.schedule:
            if isinstance(node, Match):
                found |= {op_id(op): "device" for op in node.ops}
            else:
                found[op_id(node)] = "host"
        return found


def place(program: Program, patterns: Sequence[Pattern], device: Device, options: LoweringOptions) -> Placement:
    """Match greedily and schedule."""
    stated = options.stated
    operations = [op for op in program.operations() if not isinstance(op, ConstantOp)]
    owner: dict[Operation, Match] = {}
    why: dict[str, str] = {}
    for op in reversed(operations):
        if op in owner:
            continue
        offers = [m for p in patterns if (m := matched(p, op, program, device, stated)) is not None]
        matches = [m for m in offers if isinstance(m, Match)]
        if found := [m for m in matches if not any(o in owner for o in m.ops) and _closed(m)]:
            best = max(found, key=lambda m: len(m.ops))  # the first of the largest: patterns are ordered best first
            owner |= dict.fromkeys(best.ops, best)
            continue
        reasons = [m.reason for m in offers if isinstance(m, Missed)]
        reasons += ["a value inside the group that it would end is used outside"] if matches else []
        why[op_id(op)] = (
            "; ".join(dict.fromkeys(reasons)) or f"{device.name} has no instruction for {name_of(op).removeprefix('fleet.')}"
        )
    while True:
        schedule = _schedule(operations, owner)
        if isinstance(schedule, Match):
            # Two groups need each other's results (or one contains a host operation's input and output): give up the one found.
            lost, reason = schedule, "its group needs a value that needs a value of the group"
        else:
            lost = next((m for m in schedule if isinstance(m, Match) and m.view and _from_host(m, owner)), None)
            reason = "what it is a part of stands with the host"
            if lost is None:
                missed = {op_id(op): why[op_id(op)] for op in schedule if not isinstance(op, Match)}
                return Placement(tuple(schedule), missed)
        for op in lost.ops:
            del owner[op]
            why[op_id(op)] = reason


def _from_host(view: Match, owner: Mapping[Operation, Match]) -> bool:
    source = view.activations[0]
    return isinstance(source, BlockArgument) or source.owner not in owner


def _closed(match: Match) -> bool:
    """Return whether no value of the group, except its results, is used outside it."""
    inside = set(match.ops)
    outside = (
        result
        for op in match.ops
        for result in op.results
        if result not in match.results and any(use.operation not in inside for use in result.uses)
    )
    return next(outside, None) is None


def _needs(node: Node) -> Iterator[SSAValue]:
    for op in node.ops if isinstance(node, Match) else (node,):
        yield from op.operands


def _schedule(operations: Sequence[FleetOp], owner: Mapping[Operation, Match]) -> list[Node] | Match:
    """Return a topological order that follows the program, or a group on a cycle."""
    done: list[Node] = []
    state: dict[int, bool] = {}
    """id(node) -> False while it is visited, True when scheduled."""
    for start in operations:
        stack: list[tuple[Node, Iterator[SSAValue]]] = []
        first = owner.get(start, start)
        if id(first) not in state:
            state[id(first)] = False
            stack.append((first, _needs(first)))
        while stack:
            node, needs = stack[-1]
            for value in needs:
                producer = value.owner
                if not isinstance(producer, FleetOp) or isinstance(producer, ConstantOp):
                    continue
                other: Node = owner.get(producer, producer)
                if other is node or state.get(id(other)):
                    continue
                if id(other) in state:
                    return next(n for n, _ in reversed(stack) if isinstance(n, Match))
                state[id(other)] = False
                stack.append((other, _needs(other)))
                break
            else:
                state[id(node)] = True
                done.append(node)
                stack.pop()
    return done
