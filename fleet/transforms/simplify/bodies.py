"""Applies passes inside the bodies of decisions and loops: a body is a separate program, whose arguments are its inputs."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from fleet.ir.dialect import FusedOp, RegionOp, YieldOp
from fleet.ir.program import Argument, Program
from fleet.ir.types import numpy_dtype, shape_of
from fleet.transforms.edit import Edit


def everywhere(apply: Callable[[Edit], None], edit: Edit) -> None:
    """Apply a pass to a program, then to every body of a decision or loop in it, the innermost last.

    A body gets no weights: if a pass would add some, the body stays unchanged.
    """
    apply(edit)
    for op in edit.operations():
        if isinstance(op, RegionOp) and not isinstance(op, FusedOp):
            for block in op.bodies:
                _apply(apply, edit, block)


def _apply(apply: Callable[[Edit], None], outer: Edit, block: Block) -> None:
    inner = Edit(body_program(block), outer, copy=False)
    everywhere(apply, inner)
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


def body_program(block: Block) -> Program:
    """Return a body as a program: its arguments are inputs; Python numbers become arrays without dimensions."""
    copy = Block(arg_types=[v.type for v in block.args])
    values: dict[SSAValue, SSAValue] = dict(zip(block.args, copy.args, strict=True))
    for op in block.ops:
        if isinstance(op, YieldOp):
            copy.add_op(ReturnOp(*(values.get(v, v) for v in op.operands)))
        else:
            copy.add_op(op.clone(value_mapper=values))
    last = copy.last_op
    assert isinstance(last, ReturnOp)
    types = ([v.type for v in copy.args], [v.type for v in last.operands])
    arguments = tuple(Argument(f"argument.{i}", shape_of(v.type), numpy_dtype(v.type), "input") for i, v in enumerate(copy.args))
    names = tuple(f"result.{i}" for i in range(len(last.operands)))
    return Program(ModuleOp([FuncOp("body", types, Region(copy))]), arguments, {}, names)
