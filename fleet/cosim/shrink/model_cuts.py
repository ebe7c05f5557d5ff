"""Parts of a program: a few operations, the golden's values as inputs in place of the layers before; and smaller sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from xdsl.dialects.func import ReturnOp
from xdsl.rewriter import Rewriter

from fleet.errors import FleetError
from fleet.ir.dialect import ConstantOp, FleetOp, PrintOp, op_id
from fleet.ir.operation import attributes_of
from fleet.ir.program import Argument, Program
from fleet.ir.shapes import InferenceError
from fleet.ir.types import is_tensor, numpy_dtype, shape_of, tensor_type
from fleet.transforms.edit import Edit

__all__ = ["Model", "beginnings", "resized", "sizes", "some_operations"]


@dataclass(frozen=True)
class Model:
    """A program with the data of one run."""

    program: Program
    inputs: Mapping[str, np.ndarray]


def beginnings(program: Program, ops: Sequence[str]) -> Iterator[set[str]]:
    """Ever more operations, by id: those of `ops`, these with what makes their operands, and so on, twice as deep each time."""
    by_id = {op_id(op): op for op in program.operations()}
    found = {name for name in ops if name in by_id}
    depth, told = 1, set[str]()
    while found and found != told:
        yield set(found)
        told = set(found)
        for _ in range(depth):
            owners = (v.owner for name in found for v in by_id[name].operands)
            found |= {op_id(owner) for owner in owners if isinstance(owner, FleetOp)}
        depth *= 2


def some_operations(model: Model, kept: set[str], golden: Mapping[str, np.ndarray], last: str) -> Model | None:
    """The operations of those ids alone. golden: values of all operations, which the others leave as inputs; last: is returned.

    None where an operation has no such value.
    """
    edit = Edit(model.program)
    inputs = dict(model.inputs)
    operations = edit.operations()
    result = next((op for op in operations if op_id(op) == last), None)
    if result is None:
        return None
    inside = _closed(operations, kept)
    for op in operations:
        users = (
            [] if op_id(op) in inside or isinstance(op, PrintOp) else [u for u in op.results[0].uses if _id(u.operation) in inside]
        )
        if not users:
            continue
        value = golden.get(op_id(op))
        if value is None or value.shape != shape_of(op.results[0].type):
            return None
        name = edit.fresh_id(f"{op_id(op)}_in".replace(".", "_"))
        argument = edit.block.insert_arg(op.results[0].type, len(edit.block.args))
        argument.name_hint = name
        dtype = numpy_dtype(op.results[0].type)
        edit.arguments.append(Argument(name, value.shape, dtype, "input"))
        inputs[name] = np.asarray(value, dtype, order="C")
        for use in users:
            use.operation.operands[use.index] = argument
    return _finished(edit, result, inputs)


def _finished(edit: Edit, result: FleetOp, inputs: Mapping[str, np.ndarray]) -> Model:
    """Returns one result and drops what it does not need."""
    old = edit.block.last_op
    assert isinstance(old, ReturnOp)
    edit.block.insert_op_before(ReturnOp(result.results[0]), old)
    old.detach()
    old.erase()
    for op in reversed(edit.operations()):
        if isinstance(op, PrintOp) or not any(r.uses for r in op.results):
            edit.erase(op, None)
    for i in reversed(range(len(edit.arguments))):
        value = edit.block.args[i]
        if edit.arguments[i].kind == "input" and not value.uses:
            edit.block.erase_arg(value)
            del edit.arguments[i]
    edit.drop_unused_weights()
    edit.function.update_function_type()
    program = replace(edit.program(), outputs=(op_id(result),), source="", source_name="<shrunk>")
    weights = {a.name: np.asarray(program.weights[a.name]) for a in program.arguments if a.kind == "weight"}
    return Model(replace(program, weights=weights), {a.name: inputs[a.name] for a in program.inputs})


def _id(op: object) -> str:
    return op_id(op) if isinstance(op, FleetOp) else ""


def _closed(operations: Sequence[FleetOp], kept: set[str]) -> set[str]:
    """With the numbers that they take: an input is an array."""
    inside = set(kept)
    for op in reversed(operations):
        plain = isinstance(op, ConstantOp) or not op.results or not is_tensor(op.results[0].type)
        if plain and op.results and any(_id(u.operation) in inside for u in op.results[0].uses):
            inside.add(op_id(op))
    return inside


def sizes(model: Model) -> list[tuple[int, bool]]:
    """(size, only the first dimension of inputs), the largest first: what `resized` takes."""
    every = {d for a in model.program.arguments for d in a.shape if d > 1}
    first = {a.shape[0] for a in model.program.inputs if a.shape and a.shape[0] > 1}
    return [*((d, True) for d in sorted(first, reverse=True)), *((d, False) for d in sorted(every, reverse=True))]


def resized(model: Model, old: int, new: int, *, first: bool) -> Model | None:
    """The model with every dimension of size `old` of size `new`, arrays cut; first: only the first dimension of inputs.

    None where an operation does not take that.
    """
    edit = Edit(model.program)
    inputs, weights = dict(model.inputs), {k: np.asarray(v) for k, v in model.program.weights.items()}
    for i, a in enumerate(edit.arguments):
        dims = range(1) if first else range(len(a.shape))
        if first and a.kind != "input":
            continue
        shape = tuple(new if n in dims and d == old else d for n, d in enumerate(a.shape))
        if shape == a.shape:
            continue
        arrays = inputs if a.kind == "input" else weights
        arrays[a.name] = np.asarray(arrays[a.name][tuple(slice(d) for d in shape)], order="C")
        edit.arguments[i] = replace(a, shape=shape, dims=())
        Rewriter.replace_value_with_new_type(edit.block.args[i], tensor_type(shape, a.dtype))
    try:
        for op in edit.operations():
            if isinstance(op, ConstantOp | PrintOp):
                continue
            attributes = {k: _shape(v, old, new) if k == "shape" else v for k, v in attributes_of(op).items()}
            inferred = op.infer([v.type for v in op.operands], attributes)
            if inferred != op.results[0].type:
                Rewriter.replace_value_with_new_type(op.results[0], inferred)
        edit.function.update_function_type()
        edit.module.verify()
    except (InferenceError, FleetError, ValueError, IndexError):
        return None
    return Model(replace(edit.program(), weights=weights, symbols={}), inputs)


def _shape(value: object, old: int, new: int) -> object:
    """Of a reshape: the same dimension."""
    return tuple(new if d == old else d for d in value) if isinstance(value, tuple | list) else value  # pyright: ignore[reportUnknownVariableType]
