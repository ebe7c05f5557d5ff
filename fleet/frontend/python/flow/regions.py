"""Branches that only the run chooses: each is followed in a body of its own, from the same state."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.ir import Block, SSAValue

from fleet.errors import SourceError
from fleet.frontend.arrays.emitting import builder_of
from fleet.frontend.python.flow.state import FlowState
from fleet.frontend.reading.ending import Flow, Raised
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import TracedArray, Value
from fleet.ir.arguments import isolate
from fleet.ir.dialect import FleetOp
from fleet.ir.types import shape_of
from fleet.ir.weights import RandomStream


@dataclass
class Way:
    """A way that was followed: its operations, ending, value, and the state after it.

    behind: what callers see of that if the function returns on this way; None if it does not, or if nobody calls it.
    """

    block: Block
    flow: Flow
    value: Value
    state: FlowState
    behind: FlowState | None = None

    def ssa(self, tensor: TracedArray) -> SSAValue:
        """Return the value of an array at the end of the way."""
        held = self.state.tensors.get(tensor)
        return tensor.ssa if held is None or held.ssa is None else held.ssa


def follow(ev: Evaluator, node: ast.AST, block: Block, way: Callable[[], tuple[Flow, Value]]) -> Way:
    """Follows a way; its state is left as it is then. An error is raised, not noted, with everything as it was before."""
    builder = builder_of(ev)
    inside_, streams, repeats = ev.inside, ev.streams, ev.repeats
    ev.inside, ev.streams, ev.repeats = inside_ + 1, set[RandomStream](), 1
    random, tables, drawing, ev.drawing = ev.random, ev.tables, ev.drawing, None
    before = FlowState.of(ev)
    before.freeze(lambda: ev.fail("F511", node, "an iterator from outside moves on in a part that only the run enters or repeats"))
    count = builder.count
    try:
        with builder.within(block):
            try:
                flow, value = way()
            except Raised:
                flow, value = Flow("raise"), None
        if ev.random is not random:
            ev.fail("F511", node, "np.random is seeded in a part that only the run enters or repeats", "seed it before")
        called = bool(ev.calls or ev.generating)
        behind = FlowState.behind(ev, flow.value) if called and "return" in flow.kinds else None
        return Way(block, flow, value, FlowState.of(ev), behind)
    except BaseException as error:
        if isinstance(error, SourceError):
            ev.decided = error
        builder.discard(block, count)
        before.put_back()
        ev.random = random
        raise
    finally:
        ev.inside, ev.streams, ev.repeats, ev.tables, ev.drawing = inside_, streams, repeats, tables, drawing


def added(ev: Evaluator, node: ast.AST, op: FleetOp, count: int) -> list[SSAValue]:
    """Appends an operation with bodies; the parts of its result."""
    builder = builder_of(ev)
    result = builder.append(node, op).results[0]
    return [builder.emit(node, "element", [result], index=i) for i in range(count)]


def isolated(ev: Evaluator, node: ast.AST, blocks: Sequence[Block]) -> list[SSAValue]:
    """Append an argument to the bodies for every value from outside that they use. Returns these values.

    An array of a size that only the run knows cannot be one.
    """
    captured = isolate(blocks)
    for value in captured:
        if any(d < 0 for d in shape_of(value.type)):
            ev.unknown(node, "a decision or loop of the run with an array of a size that only the run knows")
    return captured
