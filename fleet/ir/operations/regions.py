"""Decisions, loops and kernels: operations with bodies.

A body sees only its own arguments: values from outside are operands of the operation, so the operands show every use. The result is
a tuple whose parts `element` returns; no other operation takes a tuple.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, cast

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, TupleType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue, TypeAttribute
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import IsTerminator

from fleet.errors import ModelError
from fleet.ir.operations.operation import FleetOp, ReduceOp, ValueOp, kind_of, op_id
from fleet.ir.operations.program_ops import CheckOp, PrintOp
from fleet.ir.operations.spaces import KernelSpace, space_of
from fleet.ir.shapes import InferenceError, shape_words
from fleet.ir.types import Attributes, is_tensor, numpy_dtype, shape_of

__all__ = [
    "MAX_ROUNDS", "ElementOp", "FusedOp", "IfOp", "RegionOp", "WhileOp", "YieldOp", "all_operations", "has_effects", "run_regions",
]  # fmt: skip


MAX_ROUNDS = 10_000_000
"""Iterations after which a loop of the run counts as endless, on every engine."""


@irdl_op_definition
class YieldOp(IRDLOperation):
    """The end of a body, with its results."""

    name = "fleet.yield"
    values = var_operand_def()
    traits = traits_def(IsTerminator())

    def __init__(self, values: Sequence[SSAValue]) -> None:
        super().__init__(operands=[list(values)])


class RegionOp(FleetOp, ABC):
    """An operation with bodies, each of one block that ends with a `yield`. Its result is a tuple of the yielded values."""

    result = result_def(TupleType)
    RESULT: ClassVar = "a tuple of what the bodies give"

    @property
    def bodies(self) -> Sequence[Block]:
        """The bodies' blocks, in order."""
        return [region.block for region in self.regions]

    @classmethod
    def _infer(cls, operands: Sequence[Attribute], attributes: Attributes) -> Attribute:
        raise InferenceError(f"the result of {kind_of(cls)} is what its bodies give")

    @abstractmethod
    def given(self) -> Sequence[tuple[Block, Sequence[Attribute], Sequence[Attribute]]]:
        """Return each body with the types of its arguments and of its results."""

    def check(self) -> None:
        """Raises InferenceError if a body's arguments or results do not have the operation's types."""
        for block, arguments, results in self.given():
            last = block.last_op
            if not isinstance(last, YieldOp):
                raise InferenceError(f"a body of {kind_of(self)} does not end with a yield")
            for what, found, expected in (
                ("arguments", [v.type for v in block.args], arguments),
                ("results", [v.type for v in last.operands], results),
            ):
                if list(found) != list(expected):
                    raise InferenceError(f"{what} of a body of {kind_of(self)} are {_types(found)}, expected {_types(expected)}")
            inside = set(all_operations(block))
            for op in inside:
                for value in op.operands:
                    owner = value.owner
                    if not (owner in inside if isinstance(owner, Operation) else _within(owner, block)):
                        raise InferenceError(f"a body of {kind_of(self)} uses a value from outside that is not among its arguments")

    def _check_condition(self, type_: Attribute) -> None:
        if numpy_dtype(type_).kind != "b" or shape_of(type_):
            raise InferenceError(f"the condition of {kind_of(self)} is {_types([type_])}, expected one truth value")


def _within(owner: Block, body: Block) -> bool:
    at: Block | None = owner
    while at is not None and at is not body:
        at = at.parent_block()
    return at is body


def _types(types: Sequence[Attribute]) -> str:
    words = [f"{numpy_dtype(t)}{shape_words(shape_of(t)) if is_tensor(t) else ''}" for t in types if not isinstance(t, TupleType)]
    return f"({', '.join(words)})"


@irdl_op_definition
class IfOp(RegionOp):
    """`then` of `inputs` if the condition holds, else `otherwise` of `inputs`."""

    name = "fleet.if"
    condition = operand_def()
    inputs = var_operand_def()
    then = region_def("single_block")
    otherwise = region_def("single_block")

    def __init__(self, condition: SSAValue, inputs: Sequence[SSAValue], then: Block, otherwise: Block) -> None:
        IRDLOperation.__init__(
            self, operands=[condition, list(inputs)], result_types=[_yielded(then)], regions=[Region(then), Region(otherwise)]
        )

    def given(self) -> Sequence[tuple[Block, Sequence[Attribute], Sequence[Attribute]]]:
        """Return each body with the types of its arguments and of its results."""
        arguments, results = [v.type for v in self.inputs], list(_parts(self))
        return [(block, arguments, results) for block in self.bodies]

    def check(self) -> None:
        """Raise InferenceError if the condition, or a body's arguments or results, have the wrong types."""
        self._check_condition(self.condition.type)
        super().check()


@irdl_op_definition
class WhileOp(RegionOp):
    """Runs `body` on `carried` as long as `test` of them holds, and returns the last `carried`; both bodies also see `inputs`."""

    name = "fleet.while"
    carried = var_operand_def()
    inputs = var_operand_def()
    test = region_def("single_block")
    body = region_def("single_block")
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(self, carried: Sequence[SSAValue], inputs: Sequence[SSAValue], test: Block, body: Block) -> None:
        IRDLOperation.__init__(
            self,
            operands=[list(carried), list(inputs)],
            result_types=[_tuple(carried)],
            regions=[Region(test), Region(body)],
        )

    def given(self) -> Sequence[tuple[Block, Sequence[Attribute], Sequence[Attribute]]]:
        """Return each body with the types of its arguments and of its results."""
        arguments = [v.type for v in self.operands]
        last = self.test.block.last_op
        tested = [v.type for v in last.operands][:1] if isinstance(last, YieldOp) else []
        return [(self.test.block, arguments, tested), (self.body.block, arguments, list(_parts(self)))]

    def check(self) -> None:
        """Raise InferenceError if the condition, or a body's arguments or results, have the wrong types."""
        super().check()
        last = self.test.block.last_op
        assert isinstance(last, YieldOp)
        if len(last.operands) != 1:
            raise InferenceError(f"the test of while gives {len(last.operands)} values, expected one truth value")
        self._check_condition(last.operands[0].type)
        if [v.type for v in self.carried] != list(_parts(self)):
            raise InferenceError("the result of while is not of the types of what it carries")


@irdl_op_definition
class FusedOp(RegionOp):
    """One kernel: `body` of `inputs`, operations that one loop nest computes.

    They are elementwise on one shape, and reductions of that shape over the same axes with elementwise operations on their results.
    The bits are those of the separate operations. Values that the body does not yield are never stored.
    """

    name = "fleet.fused"
    inputs = var_operand_def()
    body = region_def("single_block")

    def __init__(self, inputs: Sequence[SSAValue], body: Block) -> None:
        IRDLOperation.__init__(self, operands=[list(inputs)], result_types=[_yielded(body)], regions=[Region(body)])

    def given(self) -> Sequence[tuple[Block, Sequence[Attribute], Sequence[Attribute]]]:
        """Return each body with the types of its arguments and of its results."""
        return [(self.body.block, [v.type for v in self.inputs], list(_parts(self)))]

    @property
    def operations(self) -> list[FleetOp]:
        """The body's operations, in order."""
        return [op for op in self.body.block.ops if isinstance(op, FleetOp)]

    @property
    def space(self) -> KernelSpace:
        """The kernel's loops: those of its first reduction, else those of its first operation."""
        first = next((op for op in self.operations if isinstance(op, ReduceOp)), self.operations[0])
        return space_of(first) or KernelSpace(shape_of(first.results[0].type))

    def check(self) -> None:
        """Raise InferenceError if the condition, or a body's arguments or results, have the wrong types."""
        super().check()
        space, made = self.space, set[SSAValue]()
        for op in self.operations:
            if not space.takes(op, made.__contains__):
                rows = f" with rows along {list(space.reduced)}" if space.reduced else ""
                words = f"{kind_of(op)} of shape {shape_words(shape_of(op.results[0].type))}"
                raise InferenceError(f"{words} in a kernel of loops over {shape_words(space.shape)}{rows}")
            made |= set(op.results)


@irdl_op_definition
class ElementOp(ValueOp):
    """Part `index` of a tuple."""

    name = "fleet.element"
    operand = operand_def(TupleType)
    index = prop_def(IntegerAttr)
    RESULT: ClassVar = "the part's type"

    @classmethod
    def _infer(cls, operands: Sequence[Attribute], attributes: Attributes) -> Attribute:
        (type_,), index = operands, attributes["index"]
        if not isinstance(type_, TupleType) or not 0 <= index < len(type_.types.data):
            raise InferenceError(f"element {index} of what has no such part")
        return cast("Attribute", type_.types.data[index])

    @classmethod
    def _compute(cls, operands: Sequence[Any], attributes: Attributes) -> Any:
        return operands[0][attributes["index"]]


def _yielded(block: Block) -> TupleType:
    last = block.last_op
    assert isinstance(last, YieldOp)
    return _tuple(last.operands)


def _tuple(values: Sequence[SSAValue]) -> TupleType:
    return TupleType(ArrayAttr(cast("TypeAttribute", v.type) for v in values))


def _parts(op: RegionOp) -> Sequence[Attribute]:
    return cast("Sequence[Attribute]", op.result.type.types.data)


def all_operations(block: Block) -> Iterator[Operation]:
    """Iterate over the operations of a block, each followed by those of its bodies, in program order."""
    for op in block.ops:
        yield op
        for region in op.regions:
            for inner in region.blocks:
                yield from all_operations(inner)


def has_effects(op: Operation) -> bool:
    """Return whether it has side effects: it prints, or may end the run."""
    return isinstance(op, CheckOp | PrintOp) or any(has_effects(o) for region in op.regions for b in region.blocks for o in b.ops)


def run_regions(op: RegionOp, operands: Sequence[Any], run: Callable[[Block, Sequence[Any]], Sequence[Any]]) -> tuple[Any, ...]:
    """Return the operation's results. run: runs a body on arguments and returns the operands of its `yield`.

    Raises ModelError for a loop of more than `MAX_ROUNDS` iterations.
    """
    if isinstance(op, IfOp):
        return tuple(run(op.then.block if operands[0] else op.otherwise.block, operands[1:]))
    if isinstance(op, FusedOp):
        return tuple(run(op.body.block, operands))
    assert isinstance(op, WhileOp)
    count = len(op.carried)
    carried, inputs = list(operands[:count]), operands[count:]
    for _ in range(MAX_ROUNDS + 1):
        if not run(op.test.block, [*carried, *inputs])[0]:
            return tuple(carried)
        carried = list(run(op.body.block, [*carried, *inputs]))
    raise ModelError(f"a loop has not ended after {MAX_ROUNDS:,} rounds", where=op_id(op))
