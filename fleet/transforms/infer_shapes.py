"""Shapes: unknown dimensions become known where the inputs' shapes, or what is known of operands, say them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from xdsl.ir import Attribute, SSAValue
from xdsl.rewriter import Rewriter

from fleet.errors import FleetError, ModelError
from fleet.ir.attributes import attributes_of
from fleet.ir.constants import constant
from fleet.ir.dialect import ConstantOp, DimOp, FleetOp, PrintOp, op_id
from fleet.ir.infer import InferenceError, result_type
from fleet.ir.program import Program
from fleet.ir.types import is_tensor, numpy_dtype, shape_of, tensor_type
from fleet.transforms.edit import Edit, identity
from fleet.transforms.passes import Pass

__all__ = ["PASS", "infer_shapes"]


def infer_shapes(program: Program, shapes: Mapping[str, tuple[int, ...]]) -> Program:
    """The program for inputs of these shapes; what they do not say stays unknown.

    Raises ModelError for an argument that the program does not have, and for shapes that do not fit.
    """
    return _pass(shapes).run(program)


def _pass(shapes: Mapping[str, tuple[int, ...]]) -> Pass:
    return Pass("infer-shapes", "make unknown dimensions known", "bits", lambda edit: _apply(edit, shapes))


def _apply(edit: Edit, shapes: Mapping[str, tuple[int, ...]]) -> None:
    names = [a.name for a in edit.arguments]
    if unknown := [n for n in shapes if n not in names]:
        raise ModelError(f'no argument "{unknown[0]}"', where="infer-shapes", hint=f"arguments are {', '.join(names) or 'none'}")
    for i, argument in enumerate(edit.arguments):
        if argument.name in shapes:
            shape = _known(argument.shape, shapes[argument.name], argument.name)
            edit.arguments[i] = replace(argument, shape=shape)
            _retype(edit.block.args[i], tensor_type(shape, argument.dtype))
    for op in edit.operations():
        if isinstance(op, ConstantOp | PrintOp):
            continue
        if isinstance(op, DimOp):
            _known_dimension(edit, op)
            continue
        try:
            inferred = result_type(op.name.removeprefix("fleet."), [v.type for v in op.operands], attributes_of(op))
        except InferenceError as error:
            raise ModelError(f"infer-shapes: {error}", where=op_id(op)) from error
        if is_tensor(inferred):
            shape = _known(shape_of(op.results[0].type), shape_of(inferred), op_id(op))
            _retype(op.results[0], tensor_type(shape, numpy_dtype(inferred)))
    edit.function.update_function_type()


def _known(old: tuple[int, ...], new: tuple[int, ...], where: str) -> tuple[int, ...]:
    """What both know together. Raises ModelError where they differ."""
    if len(old) != len(new) or any(a != b and -1 not in (a, b) for a, b in zip(old, new, strict=False)):
        raise ModelError(f"has shape {_words(old)}, asked for is {_words(new)}", where=where)
    return tuple(max(a, b) for a, b in zip(old, new, strict=True))


def _words(shape: tuple[int, ...]) -> str:
    return "x".join("?" if size < 0 else str(size) for size in shape) or "()"


def _retype(value: SSAValue, type_: Attribute) -> None:
    if value.type != type_:
        Rewriter.replace_value_with_new_type(value, type_)


def _known_dimension(edit: Edit, op: FleetOp) -> None:
    size = shape_of(op.operands[0].type)[attributes_of(op)["axis"]]
    if size < 0:
        return
    number = constant(size, op.results[0].type)
    number.describe(**identity(op))
    edit.insert_before(op, number)
    edit.replace(op, number.results[0])


def PASS(options: Mapping[str, str]) -> Pass:
    """`infer-shapes{x=8x64,n=}`: a shape an argument; without options only what operands say."""
    shapes: dict[str, tuple[int, ...]] = {}
    for name, text in options.items():
        if not re.fullmatch(r"(?:[0-9?]+(?:x[0-9?]+)*)?", text):
            raise FleetError(f'"{text}" is not a shape', where=f"infer-shapes, {name}", hint="write 8x64, or ?x64")
        shapes[name] = tuple(-1 if size == "?" else int(size) for size in text.split("x") if size)
    return _pass(shapes)
