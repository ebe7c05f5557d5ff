"""Finds the model's function in a module, and turns a module read from text into a program."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp

from fleet.core.unique import Taken
from fleet.errors import ModelError
from fleet.ir.dialect import FleetOp, kind_of
from fleet.ir.program import Argument, Program
from fleet.ir.types import is_tensor, numpy_dtype, shape_of


def entry_function(module: ModuleOp) -> FuncOp:
    """Return the only function that no other calls. Raises ModelError if there is not exactly one."""
    functions = [op for op in module.ops if isinstance(op, FuncOp)]
    if len(functions) > 1:
        called = {c.callee.string_value() for f in functions for c in f.walk() if isinstance(c, CallOp)}
        functions = [f for f in functions if f.sym_name.data not in called]
    if len(functions) != 1:
        names = ", ".join(f.sym_name.data for f in functions)
        raise ModelError(f"a module has one function that no other calls, found {names or 'none'}", where="module")
    return functions[0]


def program_of(module: ModuleOp, weights: Mapping[str, np.ndarray] | None = None, name: str = "<ir>") -> Program:
    """Return a module as a program: arguments named in `weights` are weights, all others inputs.

    Operations without an `id` get one, from the name of their result or their kind. Raises ModelError if the module does not have
    one function of one block, or if weights do not fit.
    """
    weights = weights or {}
    function = entry_function(module)
    if function.is_declaration or len(function.body.blocks) != 1 or not isinstance(function.body.block.last_op, ReturnOp):
        raise ModelError(f"@{function.sym_name.data} needs one block that ends with func.return", where=name)
    for inner in module.ops:
        if isinstance(inner, FuncOp):
            _identify(inner)
    arguments: list[Argument] = []
    for i, value in enumerate(function.body.block.args):
        argument = value.name_hint or f"arg{i}"
        if not is_tensor(value.type):
            raise ModelError(f"argument {argument} is {value.type}, expected a tensor", where=name)
        shape, dtype = shape_of(value.type), numpy_dtype(value.type)
        kind = "weight" if argument in weights else "input"
        if kind == "weight" and (weights[argument].shape != shape or weights[argument].dtype != dtype):
            found = weights[argument]
            raise ModelError(f"weight {argument} is {found.dtype}{list(found.shape)}, expected {value.type}", where=name)
        arguments.append(Argument(argument, shape, dtype, kind))
    if unknown := weights.keys() - {a.name for a in arguments}:
        raise ModelError(f"no argument {', '.join(sorted(unknown))} for a weight", where=name)
    outputs = tuple(f"out{i}" for i in range(len(function.body.block.last_op.operands)))
    return Program(module, tuple(arguments), dict(weights), outputs, source_name=name)


def _identify(function: FuncOp) -> None:
    taken = Taken(op.properties["id"].data for op in function.walk() if isinstance(op, FleetOp) and "id" in op.properties)  # pyright: ignore[reportAttributeAccessIssue]
    for op in function.walk():
        if isinstance(op, FleetOp) and "id" not in op.properties:
            base = (op.results[0].name_hint if op.results else None) or kind_of(op)
            op.describe(id=taken.unique(base))
