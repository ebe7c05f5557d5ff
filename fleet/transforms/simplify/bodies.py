"""Applies passes inside the bodies of decisions and loops: a body is a separate program, whose arguments are its inputs."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from fleet.errors import FleetError
from fleet.ir.dialect import FleetOp, FusedOp, RegionOp, YieldOp
from fleet.ir.program import Argument, Program
from fleet.ir.types import numpy_dtype, shape_of
from fleet.transforms.edit import Edit, text_of


def everywhere(apply: Callable[[Edit], None], edit: Edit, *, adds_weights: bool = True) -> None:
    """Apply a pass to a program, then to every body of a decision or loop in it, the innermost last.

    adds_weights: see `Pass`. Raises FleetError if a pass adds a weight to a body and says that it adds none.
    """
    apply(edit)
    within = _copied if adds_weights else _moved
    for op in edit.operations():
        if isinstance(op, RegionOp) and not isinstance(op, FusedOp):
            for block in op.bodies:
                within(lambda inner: everywhere(apply, inner, adds_weights=adds_weights), edit, block)


def _moved(apply: Callable[[Edit], None], outer: Edit, block: Block) -> None:
    """Apply a pass to the body itself, which is the block of a function meanwhile."""
    region, last, parent = block.parent, block.last_op, block.parent_op()
    assert region is not None
    assert isinstance(parent, FleetOp)
    where = text_of(parent, "at")
    assert isinstance(last, YieldOp)
    outer.hold_names()  # also those of the body
    count = len(block.args)
    region.detach_block(block)
    _end(block, ReturnOp(*last.operands))
    inner = Edit(_program(block), outer, copy=False)
    apply(inner)
    if len(block.args) != count:
        what = f"the pass adds the weight {inner.arguments[-1].name} to the body of a loop or decision, which has no weights"
        raise FleetError(what, where=where, hint="leave out adds_weights=False, or test `edit.inside`")
    outer.fates |= inner.fates
    inner.function.body.detach_block(block)
    last = block.last_op
    assert isinstance(last, ReturnOp)
    _end(block, YieldOp(list(last.operands)))
    region.add_block(block)


def _end(block: Block, end: Operation) -> None:
    """Replace the last operation."""
    last = block.last_op
    assert last is not None
    last.detach()
    last.erase(safe_erase=False)
    block.add_op(end)


def _copied(apply: Callable[[Edit], None], outer: Edit, block: Block) -> None:
    """Apply a pass to a copy of the body, and take it over unless it has got weights."""
    inner = Edit(_program(_copy(block)), outer, copy=False)
    apply(inner)
    if len(inner.block.args) != len(block.args):
        return
    outer.fates |= inner.fates
    for old in reversed(list(block.ops)):
        old.detach()
        old.erase(safe_erase=False)
    for argument, new in zip(block.args, inner.block.args, strict=True):
        new.replace_all_uses_with(argument)
    for new in list(inner.block.ops):
        new.detach()
        if isinstance(new, ReturnOp):
            block.add_op(YieldOp(list(new.operands)))
            new.erase(safe_erase=False)
        else:
            block.add_op(new)


def _copy(block: Block) -> Block:
    """Return a copy that ends as a function does."""
    copy = Block(arg_types=[v.type for v in block.args])
    values: dict[SSAValue, SSAValue] = dict(zip(block.args, copy.args, strict=True))
    for op in block.ops:
        if isinstance(op, YieldOp):
            copy.add_op(ReturnOp(*(values.get(v, v) for v in op.operands)))
        else:
            copy.add_op(op.clone(value_mapper=values))
    return copy


def _program(block: Block) -> Program:
    """Return a body that ends as a function, as a program: its arguments are inputs, Python numbers arrays without dimensions."""
    last = block.last_op
    assert isinstance(last, ReturnOp)
    types = ([v.type for v in block.args], [v.type for v in last.operands])
    arguments = tuple(Argument(f"argument.{i}", shape_of(v.type), numpy_dtype(v.type), "input") for i, v in enumerate(block.args))
    names = tuple(f"result.{i}" for i in range(len(last.operands)))
    return Program(ModuleOp([FuncOp("body", types, Region(block))]), arguments, {}, names)
