"""A part of a program: some of its operations, with inputs in place of the results of the others."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from xdsl.dialects.func import ReturnOp
from xdsl.ir import SSAValue

from fleet.ir.arguments import append_argument
from fleet.ir.dialect import ConstantOp, FleetOp, PrintOp, op_id
from fleet.ir.program import Argument, Program
from fleet.ir.types import is_tensor, numpy_dtype, shape_of
from fleet.transforms.edit import Edit


@dataclass(frozen=True)
class ProgramPart:
    """program: the part. sources: name of a new input -> id of the outside operation that computes it."""

    program: Program
    sources: Mapping[str, str]


def part_of(program: Program, kept: Collection[str], returned: Sequence[str]) -> ProgramPart:
    """Return the operations with these ids, with the constants and numbers that they use.

    Args:
        program: the whole.
        kept: ids of operations.
        returned: ids of those among them whose results the part returns, in this order.
    """
    edit = Edit(program)
    operations = edit.operations()
    inside = _with_numbers(operations, set(kept))
    sources: dict[str, str] = {}
    for op in operations:
        users = (
            [] if op_id(op) in inside or isinstance(op, PrintOp) else [u for u in op.results[0].uses if _id(u.operation) in inside]
        )
        if not users:
            continue
        type_ = op.results[0].type
        name = edit.fresh_id(f"{op_id(op)}_in".replace(".", "_"))
        sources[name] = op_id(op)
        argument = append_argument(edit.block, type_)
        argument.name_hint = name
        edit.arguments.append(Argument(name, shape_of(type_), numpy_dtype(type_), "input"))
        for use in users:
            use.operation.operands[use.index] = argument
    by_id = {op_id(op): op for op in operations}
    part = _returning(edit, [by_id[name].results[0] for name in returned], inside)
    part = replace(part, outputs=tuple(returned))
    weights = {a.name: np.asarray(part.weights[a.name]) for a in part.arguments if a.kind == "weight"}
    used = {a.name for a in part.inputs}
    return ProgramPart(replace(part, weights=weights), {name: of for name, of in sources.items() if name in used})


def _returning(edit: Edit, values: Sequence[SSAValue], inside: Collection[str]) -> Program:
    """Return these values, and drop what they do not need."""
    old = edit.block.last_op
    assert isinstance(old, ReturnOp)
    edit.block.insert_op_before(ReturnOp(*values), old)
    old.detach()
    old.erase()
    for op in reversed(edit.operations()):
        if isinstance(op, PrintOp) or op_id(op) not in inside or not any(r.uses for r in op.results):
            edit.erase(op, None)
    for i in reversed(range(len(edit.arguments))):
        value = edit.block.args[i]
        if edit.arguments[i].kind == "input" and not value.uses:
            edit.block.erase_arg(value)
            del edit.arguments[i]
    edit.drop_unused_weights()
    edit.function.update_function_type()
    return edit.program()


def _id(op: object) -> str:
    return op_id(op) if isinstance(op, FleetOp) else ""


def _with_numbers(operations: Sequence[FleetOp], kept: set[str]) -> set[str]:
    """Add the constants and numbers that the operations use, because an input must be an array."""
    inside = set(kept)
    for op in reversed(operations):
        plain = isinstance(op, ConstantOp) or not op.results or not is_tensor(op.results[0].type)
        if plain and op.results and any(_id(u.operation) in inside for u in op.results[0].uses):
            inside.add(op_id(op))
    return inside
