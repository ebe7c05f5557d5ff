"""Dead code and duplicate constants: the pass that runs on every program that a front end makes."""

from __future__ import annotations

from dataclasses import replace

from xdsl.ir import Attribute, Operation, SSAValue

from fleet.ir.dialect import CastOp, ConstantOp, PrintOp, ReshapeOp
from fleet.ir.program import Program

__all__ = ["canonicalise"]


def canonicalise(program: Program) -> Program:
    """A new program without dead operations, duplicate unnamed constants, and casts and reshapes that change nothing.

    Operations keep their identity (`id`, `var`, `at`). Anything printed or returned, and what it needs, stays.
    """
    module = program.module.clone()
    result = replace(program, module=module)
    _drop_identities(result)
    _merge_constants(result)
    _eliminate_dead(result)
    return result


def _drop_identities(program: Program) -> None:
    for op in list(program.operations()):
        if isinstance(op, CastOp | ReshapeOp) and op.operand.type == op.result.type and "var" not in op.properties:
            _replace(op, op.operand)


def _merge_constants(program: Program) -> None:
    seen: dict[tuple[Attribute, Attribute], SSAValue] = {}
    for op in list(program.operations()):
        if not isinstance(op, ConstantOp):
            continue
        key = (op.properties["value"], op.result.type)
        if key not in seen:
            seen[key] = op.result
        elif "var" not in op.properties:
            _replace(op, seen[key])


def _replace(op: Operation, value: SSAValue) -> None:
    op.results[0].replace_all_uses_with(value)
    op.detach()
    op.erase()


def _eliminate_dead(program: Program) -> None:
    for op in reversed(list(program.operations())):
        if not isinstance(op, PrintOp) and not any(r.uses for r in op.results):
            op.detach()
            op.erase()
