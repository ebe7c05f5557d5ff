"""Infers shapes: unknown dimensions become known from the inputs' shapes, or from what is known about operands."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from xdsl.ir import Attribute, SSAValue
from xdsl.rewriter import Rewriter

from fleet.errors import DeviceError, FleetError, ModelError
from fleet.ir.constants import constant
from fleet.ir.dialect import ConstantOp, DimOp, FleetOp, PrintOp, RegionOp, op_id
from fleet.ir.operations.operation import attributes_of
from fleet.ir.program import Program
from fleet.ir.shapes import InferenceError
from fleet.ir.types import is_tensor, numpy_dtype, shape_of, tensor_type
from fleet.transforms.edit import Edit, identity
from fleet.transforms.passes import Pass
from fleet.transforms.simplify.fold_constants import fold
from fleet.transforms.simplify.settle import settle


def infer_shapes(program: Program, shapes: Mapping[str, tuple[int, ...]]) -> Program:
    """Return the program for inputs of these shapes; other dimensions stay unknown.

    A named dimension gets its size everywhere. It may also be given alone, as a shape of one size under its name. Raises ModelError
    for an unknown argument, and for shapes that do not fit.
    """
    return _pass(shapes).run(program)


def bound(program: Program, inputs: Mapping[str, np.ndarray]) -> Program:
    """Return the program for these inputs; the program itself if nothing is unknown. Raises ModelError if inputs do not fit."""
    if not program.unknown:
        return program
    return infer_shapes(program, {a.name: inputs[a.name].shape for a in program.inputs if a.name in inputs})


def as_run(program: Program, tensors: Mapping[str, np.ndarray]) -> Program:
    """Return the program with the sizes of a run; the program itself if all were known.

    tensors: operation id -> its result. A size that depends on values (`x[x > 0]`) is known only from them.
    """
    late = [v for op in program.operations() for v in op.results if is_tensor(v.type) and -1 in shape_of(v.type)]
    if not late:
        return program
    edit = Edit(program)
    for op in edit.operations():
        found = tensors.get(op_id(op))
        if found is not None and op.results and is_tensor(op.results[0].type) and len(shape_of(op.results[0].type)) == found.ndim:
            _retype(op.results[0], tensor_type(found.shape, numpy_dtype(op.results[0].type)))
    edit.function.update_function_type()
    return edit.program()


def check_known(program: Program, target: str) -> None:
    """Raises DeviceError for a program with unknown dimensions, for a target that plans memory before the run."""
    if program.unknown:
        names = ", ".join(program.unknown)
        hint = f"bind it: give --batch or --input and leave out --dynamic, or run infer-shapes{{{program.unknown[0]}=8}}"
        raise DeviceError(
            f"the size {names} is unknown, and code on {target} needs all sizes", where=program.source_name, hint=hint
        )


def _pass(shapes: Mapping[str, tuple[int, ...]]) -> Pass:
    return Pass("infer-shapes", "make unknown dimensions known", "bits", lambda edit: _apply(edit, shapes))


def _apply(edit: Edit, shapes: Mapping[str, tuple[int, ...]]) -> None:
    sizes = _sizes(edit, shapes)
    for i, argument in enumerate(edit.arguments):
        shape = _known(argument.shape, shapes.get(argument.name, argument.shape), argument.name)
        named = argument.dims or ("",) * len(shape)
        shape = tuple(sizes.get(name, size) if size < 0 else size for name, size in zip(named, shape, strict=True))
        if shape != argument.shape:
            left = tuple(name if size < 0 else "" for name, size in zip(named, shape, strict=True))
            edit.arguments[i] = replace(argument, shape=shape, dims=left if any(left) else ())
            _retype(edit.block.args[i], tensor_type(shape, argument.dtype))
    edit.symbols |= sizes
    for op in edit.operations():
        if isinstance(op, ConstantOp | PrintOp | RegionOp):
            continue
        if isinstance(op, DimOp):
            _known_dimension(edit, op)
            continue
        if settle(edit, op) or (not is_tensor(op.results[0].type) and fold(edit, op)):
            continue
        try:
            inferred = op.infer([v.type for v in op.operands], attributes_of(op))
        except InferenceError as error:
            raise ModelError(f"infer-shapes: {error}", where=op_id(op)) from error
        if is_tensor(inferred):
            shape = _known(shape_of(op.results[0].type), shape_of(inferred), op_id(op))
            _retype(op.results[0], tensor_type(shape, numpy_dtype(inferred)))
    edit.function.update_function_type()


def _sizes(edit: Edit, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, int]:
    """Return the sizes of named dimensions: from the arguments' shapes, or given under the dimension's own name.

    Raises ModelError if a name is neither an argument's nor a dimension's, or a dimension gets two sizes.
    """
    arguments = {a.name: a for a in edit.arguments}
    dims = {name for a in edit.arguments for name in a.dims if name}
    found: dict[str, tuple[int, str]] = {}
    for name, shape in shapes.items():
        if name in arguments:
            known = _known(arguments[name].shape, shape, name)
            pairs = [(n, size, i) for i, (n, size) in enumerate(zip(arguments[name].dims, known, strict=False)) if n]
        elif name in dims and len(shape) == 1:
            pairs = [(name, shape[0], 0)]
        else:
            hint = f"arguments are {', '.join(arguments) or 'none'}; unknown dimensions are {', '.join(sorted(dims)) or 'none'}"
            raise ModelError(f'no argument "{name}"', where="infer-shapes", hint=hint)
        for dim, size, i in pairs:
            place = f'dimension {i} of "{name}"' if name in arguments else "its own name"
            if size >= 0 and found.setdefault(dim, (size, place))[0] != size:
                raise ModelError(f"{dim} is {found[dim][0]} by {found[dim][1]}, but {size} by {place}", where="infer-shapes")
    return {name: size for name, (size, _) in found.items()}


def _known(old: tuple[int, ...], new: tuple[int, ...], where: str) -> tuple[int, ...]:
    """Merge two partly known shapes. Raises ModelError if they differ."""
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
    """`infer-shapes{x=8x64,n=,N=8}`: a shape per argument, or a size per named dimension; without options only from operands."""
    shapes: dict[str, tuple[int, ...]] = {}
    for name, text in options.items():
        if not re.fullmatch(r"(?:[0-9?]+(?:x[0-9?]+)*)?", text):
            raise FleetError(f'"{text}" is not a shape', where=f"infer-shapes, {name}", hint="write 8x64, or ?x64")
        shapes[name] = tuple(-1 if size == "?" else int(size) for size in text.split("x") if size)
    return _pass(shapes)
