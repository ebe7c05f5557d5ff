"""Cuts of a program: some operations, with the golden's values as inputs in place of earlier layers; and smaller sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from xdsl.rewriter import Rewriter

from fleet.errors import FleetError
from fleet.ir.dialect import ConstantOp, FleetOp, PrintOp, op_id
from fleet.ir.operations.operation import attributes_of
from fleet.ir.program import Program
from fleet.ir.shapes import InferenceError
from fleet.ir.types import shape_of, tensor_type
from fleet.transforms.edit import Edit
from fleet.transforms.part import part_of


@dataclass(frozen=True)
class CutModel:
    """A program with the data of one run."""

    program: Program
    inputs: Mapping[str, np.ndarray]


def beginnings(program: Program, ops: Sequence[str]) -> Iterator[set[str]]:
    """Yield growing sets of operation ids: `ops`, then with the producers of their operands, twice as deep each time."""
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


def some_operations(model: CutModel, kept: set[str], golden: Mapping[str, np.ndarray], last: str) -> CutModel | None:
    """Return the model with only these operations. golden: values of all operations; last: the returned operation.

    Values of removed operations become inputs. None if a removed operation has no golden value.
    """
    shapes = {op_id(op): shape_of(op.results[0].type) for op in model.program.operations() if op.results}
    if last not in shapes:
        return None
    found = part_of(model.program, kept, [last])
    inputs = dict(model.inputs)
    for name, source in found.sources.items():
        value = golden.get(source)
        if value is None or value.shape != shapes[source]:
            return None
        inputs[name] = value
    program = replace(found.program, source="", source_name="<shrunk>")
    return CutModel(program, {a.name: np.asarray(inputs[a.name], a.dtype, order="C") for a in program.inputs})


def sizes(model: CutModel) -> list[tuple[int, bool]]:
    """Return (size, only the first dimension of inputs), largest first: arguments of `resized`."""
    every = {d for a in model.program.arguments for d in a.shape if d > 1}
    first = {a.shape[0] for a in model.program.inputs if a.shape and a.shape[0] > 1}
    return [*((d, True) for d in sorted(first, reverse=True)), *((d, False) for d in sorted(every, reverse=True))]


def resized(model: CutModel, old: int, new: int, *, first: bool) -> CutModel | None:
    """Return the model with every dimension of size `old` changed to `new`, arrays cut. first: only inputs' first dimension.

    None if an operation does not accept the new shapes.
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
    return CutModel(replace(edit.program(), weights=weights, symbols={}), inputs)


def _shape(value: object, old: int, new: int) -> object:
    """Replace the dimension in the shape of a reshape."""
    return tuple(new if d == old else d for d in value) if isinstance(value, tuple | list) else value  # pyright: ignore[reportUnknownVariableType]
