"""Operations with bodies: `scf.if` and `scf.while`. Their bodies use values from outside as they are, with no argument for each."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import cast

from xdsl.dialects import scf
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, SSAValue

from fleet.ir import dialect as d
from fleet.ir.dialect import FleetOp, PrintOp, RegionOp, op_id
from fleet.targets.mlir._emitter import MlirEmitter
from fleet.targets.mlir._kernels import MlirKernels
from fleet.targets.mlir._movement import refuse


class MlirBodies:
    """Emits operations, and those of their bodies.

    Attributes:
        values: value of the program -> its value in the export.
    """

    def __init__(self, e: MlirEmitter, kernels: MlirKernels, values: Mapping[SSAValue, SSAValue]) -> None:
        self.e, self.kernels = e, kernels
        self.values: dict[SSAValue, SSAValue] = dict(values)
        self._parts: dict[SSAValue, Sequence[SSAValue]] = {}

    def apply(self, op: FleetOp) -> SSAValue | None:
        """Emit an operation; return its value, None for a tuple. Raises DeviceError for what cannot be expressed."""
        result = op.results[0]
        if isinstance(op, d.ElementOp):
            self.values[result] = self._parts[op.operand][op.index.value.data]
        elif isinstance(op, RegionOp):
            self._parts[result] = BODIES[type(op)](self, op)
            return None
        else:
            self.values[result] = self.kernels.apply(self.e, op, [self.values[v] for v in op.operands])
        value = self.values[result]
        _name(value, op_id(op))
        return value

    def if_(self, op: d.IfOp) -> Sequence[SSAValue]:
        """`scf.if`."""
        given = [self.values[v] for v in op.inputs]
        made: list[Block] = []
        for body in op.bodies:
            made.append(Block())
            with self.e.inside(made[-1]):
                self.e.block.add_op(scf.YieldOp(*self._body(body, given)))
        decision = scf.IfOp(self._truth(self.values[op.condition]), list(_types(op)), [made[0]], [made[1]])
        self.e.block.add_op(decision)
        return decision.results

    def while_(self, op: d.WhileOp) -> Sequence[SSAValue]:
        """`scf.while`; a loop that nothing ends runs for ever."""
        carried, inputs = ([self.values[v] for v in group] for group in (op.carried, op.inputs))
        types = [v.type for v in carried]
        test, body = Block(arg_types=types), Block(arg_types=types)
        with self.e.inside(test):
            (again,) = self._body(op.test.block, [*test.args, *inputs])
            test.add_op(scf.ConditionOp(self._truth(again), *test.args))
        with self.e.inside(body):
            body.add_op(scf.YieldOp(*self._body(op.body.block, [*body.args, *inputs])))
        loop = scf.WhileOp(carried, types, [test], [body])
        self.e.block.add_op(loop)
        return loop.results

    def fused(self, op: d.FusedOp) -> Sequence[SSAValue]:
        """Its operations, one by one."""
        return self._body(op.body.block, [self.values[v] for v in op.inputs])

    def _truth(self, condition: SSAValue) -> SSAValue:
        """The number of a condition, which may be an array of one element."""
        type_ = condition.type
        return self.e.element(condition, [0] * len(type_.get_shape())) if isinstance(type_, TensorType) else condition

    def _body(self, body: Block, given: Sequence[SSAValue]) -> list[SSAValue]:
        """Emit a body's operations here; return what it yields."""
        self.values.update(zip(body.args, given, strict=True))
        for op in body.ops:
            if isinstance(op, PrintOp):
                raise refuse(op, "a branch or loop of the run prints; take the print out of it")
            if isinstance(op, FleetOp):
                self.apply(op)
        last = body.last_op
        assert last is not None
        return [self.values[v] for v in last.operands]


BODIES: Mapping[type[FleetOp], Callable[..., Sequence[SSAValue]]] = {
    d.IfOp: MlirBodies.if_,
    d.WhileOp: MlirBodies.while_,
    d.FusedOp: MlirBodies.fused,
}
"""Operation with bodies -> how it is exported."""


def _types(op: RegionOp) -> Sequence[Attribute]:
    return cast("Sequence[Attribute]", op.result.type.types.data)


def _name(value: SSAValue, text: str) -> None:
    """Keep the model's names in the text."""
    hint = re.sub(r"\W", "_", text)
    if value.name_hint is None and not hint[:1].isdigit():
        value.name_hint = hint
