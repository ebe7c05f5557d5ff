"""Decisions that only the run can take: every way is followed in a body of its own, from the same state."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
from xdsl.dialects.builtin import i1
from xdsl.ir import Block, Operation, SSAValue

from fleet.errors import SourceError
from fleet.frontend.python.errors import expression_at
from fleet.frontend.python.flow.ending import Flow, Raised
from fleet.frontend.python.flow.state import State
from fleet.frontend.python.values import Number, Tensor, Value, words
from fleet.ir.dialect import ConstantOp, FleetOp
from fleet.ir.types import numpy_dtype, shape_of
from fleet.ir.weights import Stream

if TYPE_CHECKING:
    from fleet.frontend.arrays.builder import Builder
    from fleet.frontend.python.evaluator import Evaluator

__all__ = [
    "SCALARS", "Way", "added", "any_of", "builder_of", "check", "condition", "follow", "inside", "isolated", "kind_of_number",
    "negated", "number_of",
]  # fmt: skip


def builder_of(ev: Evaluator) -> Builder:
    """What appends operations: only what is traced has values that the run decides."""
    from fleet.frontend.arrays.tracing import of

    return of(ev).builder


def condition(ev: Evaluator, node: ast.AST, value: Value) -> bool | SSAValue:
    """Whether `if` takes a value for true: known, or a truth value of the run (i1). SourceError as `Evaluator.truth`."""
    if isinstance(value, Number) and value.symbolic and not value.sized:
        number = value if value.ssa is not None and value.ssa.type == i1 else None
        if number is None:
            number = ev.domain.arithmetic(expression_at(node), "not_equal", [value, Number(0)], None)
        assert number.ssa is not None
        return number.ssa
    if isinstance(value, Tensor) and ev.domain.known(value) is None:
        return _truth_of(ev, node, value)
    return ev.truth(node, value)


def _truth_of(ev: Evaluator, node: ast.AST, value: Tensor) -> SSAValue:
    if any(d < 0 for d in value.shape):
        ev.unknown(node, f"{words(value)} decides what is computed, and only the run knows how many elements it has")
    if math.prod(value.shape) != 1:
        hint = "choose with np.where, or reduce with .any() or .all()"
        ev.fail("F703", node, f"the truth value of {words(value)} is ambiguous", hint)
    return builder_of(ev).emit(node, "item", [value.ssa], number="bool")


@dataclass
class Way:
    """A way that was followed: its operations, how it ended, what it gave and what it left."""

    block: Block
    flow: Flow
    value: Value
    state: State

    def ssa(self, tensor: Tensor) -> SSAValue:
        """What an array was at the end of the way."""
        held = self.state.tensors.get(tensor)
        return tensor.ssa if held is None or held.ssa is None else held.ssa


def follow(ev: Evaluator, node: ast.AST, block: Block, way: Callable[[], tuple[Flow, Value]]) -> Way:
    """Follows a way; its state is left as it is then. An error is raised, not noted, with everything as it was before."""
    builder = builder_of(ev)
    inside_, streams, repeats = ev.inside, ev.streams, ev.repeats
    ev.inside, ev.streams, ev.repeats = inside_ + 1, set[Stream](), 1
    random = ev.random
    before = State.of(ev)
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
        return Way(block, flow, value, State.of(ev))
    except BaseException as error:
        if isinstance(error, SourceError):
            ev.decided = error
        builder.discard(block, count)
        before.put_back()
        ev.random = random
        raise
    finally:
        ev.inside, ev.streams, ev.repeats = inside_, streams, repeats


def added(ev: Evaluator, node: ast.AST, op: FleetOp, count: int) -> list[SSAValue]:
    """Appends an operation with bodies; the parts of its result."""
    builder = builder_of(ev)
    result = builder.append(node, op).results[0]
    return [builder.emit(node, "element", [result], index=i) for i in range(count)]


def isolated(ev: Evaluator, node: ast.AST, blocks: Sequence[Block]) -> list[SSAValue]:
    """Gives bodies an argument for every value from outside that they use, behind those they have; the values.

    Constants are made again inside.
    """
    captured: dict[SSAValue, None] = {}
    for block in blocks:
        made: dict[SSAValue, SSAValue] = {}
        for op in list(block.ops):
            for i, value in enumerate(op.operands):
                if inside(value, block):
                    continue
                if isinstance(value.owner, ConstantOp):
                    if value not in made:
                        copy = value.owner.clone()
                        assert block.first_op is not None
                        block.insert_op_before(copy, block.first_op)
                        made[value] = copy.results[0]
                    op.operands[i] = made[value]
                else:
                    captured[value] = None
    for value in captured:
        if any(d < 0 for d in shape_of(value.type)):
            ev.unknown(node, "a decision or loop of the run with an array of a size that only the run knows")
    for block in blocks:
        arguments = {value: block.insert_arg(value.type, len(block.args)) for value in captured}
        for op in block.ops:
            for i, value in enumerate(op.operands):
                if value in arguments:
                    op.operands[i] = arguments[value]
    return list(captured)


def inside(value: SSAValue, block: Block) -> bool:
    """Whether a value is the body's own."""
    owner = value.owner
    return (owner.parent if isinstance(owner, Operation) else owner) is block


def check(ev: Evaluator, node: ast.AST, flag: SSAValue | bool, said: str) -> None:
    """Ends the run where the flag does not hold; said: why."""
    ev.checks += 1
    builder = builder_of(ev)
    builder.emit(node, "check", [builder.constant(node, flag, i1) if isinstance(flag, bool) else flag], message=said)


def negated(ev: Evaluator, node: ast.AST, flag: SSAValue) -> SSAValue:
    """Whether it does not hold."""
    builder = builder_of(ev)
    return builder.emit(node, "item", [builder.emit(node, "logical_not", [flag])], number="bool")


def any_of(ev: Evaluator, node: ast.AST, flags: Iterable[SSAValue]) -> SSAValue:
    """Whether one of these truth values of the run holds."""
    builder = builder_of(ev)

    def either(a: SSAValue, b: SSAValue) -> SSAValue:
        return builder.emit(node, "item", [builder.emit(node, "logical_or", [a, b])], number="bool")

    return reduce(either, flags)


SCALARS: Mapping[type, np.dtype] = {bool: np.dtype(np.bool_), int: np.dtype(np.int64), float: np.dtype(np.float64)}
"""Python's number -> the dtype of an array of such."""


def number_of(ev: Evaluator, node: ast.AST, value: Value) -> Value:
    """A NumPy scalar of the run as the Python number that it is."""
    assert isinstance(value, Tensor)
    kind = {"b": "bool", "f": "float"}.get(value.dtype.kind, "int")
    return Number(ev.static(value), builder_of(ev).emit(node, "item", [value.ssa], number=kind))


def kind_of_number(value: Number) -> type:
    """Python's type of a number."""
    if not value.symbolic:
        return type(value.value)
    if value.ssa is None:
        return int
    return {"b": bool, "f": float}.get(numpy_dtype(value.ssa.type).kind, int)
