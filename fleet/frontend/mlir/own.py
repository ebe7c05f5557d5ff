"""IR of this project as a model: what `fleet compile --emit ir` and `--dump-intermediates-to` write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import BlockArgument, Operation, SSAValue

from fleet.core.unique import Taken
from fleet.errors import ModelError
from fleet.frontend.live.arguments import bound_arguments, check_finite
from fleet.ir.dialect import op_id
from fleet.ir.program import Argument, Program
from fleet.ir.room import check_results
from fleet.ir.text import parse_ir
from fleet.ir.types import numpy_dtype, shape_of
from fleet.symbols.dims import Declared

MARK = '"fleet.'
"""What every program of this project has in its text, and no other MLIR."""


def parsed(text: str, name: str) -> ModuleOp:
    """Return the module. Raises ModelError."""
    module = parse_ir(text, name)
    if len([op for op in module.ops if isinstance(op, FuncOp)]) != 1:
        raise ModelError("IR of this project with other than one function", where=name, hint="write it again with --emit ir")
    return module


def declared(module: ModuleOp, names: Sequence[str]) -> list[Declared]:
    """Return the function's arguments under these names; unknown dimensions have names of their own."""
    (function,) = (op for op in module.ops if isinstance(op, FuncOp))
    found: list[Declared] = []
    for value, name in zip(function.body.block.args, names, strict=True):
        dims = tuple(d if d >= 0 else f"{name}_{n}" for n, d in enumerate(shape_of(value.type)))
        found.append(Declared(name, numpy_dtype(value.type), dims))
    return found


def _output(value: SSAValue, names: Sequence[str]) -> str:
    """Return the name of a value that is returned: the argument's, or the id of the operation."""
    if isinstance(value, BlockArgument):
        return names[value.index]
    assert isinstance(value.owner, Operation)
    return op_id(value.owner)


def program(
    module: ModuleOp, names: Sequence[str], where: str, weights: Mapping[str, np.ndarray], inputs: Mapping[str, np.ndarray]
) -> Program:
    """Return the program with its weights; unknown dimensions are those of the arrays. Raises ModelError."""
    from fleet.transforms.simplify.infer_shapes import bound

    arguments, symbols = bound_arguments(where, declared(module, names), weights, inputs)
    (function,) = (op for op in module.ops if isinstance(op, FuncOp))
    kept = {a.name: np.asarray(weights[a.name], order="C") for a in arguments if a.kind == "weight"}
    check_finite(where, kept)
    block = function.body.block
    given = tuple(Argument(a.name, shape_of(v.type), a.dtype, a.kind) for a, v in zip(arguments, block.args, strict=True))
    last, taken = block.last_op, Taken()
    assert isinstance(last, ReturnOp)
    outputs = tuple(taken.unique(_output(v, names)) for v in last.operands)
    made = Program(module.clone(), given, kept, outputs, "", where, symbols)
    if any(-1 in a.shape for a in given):
        made = bound(made, {a.name: np.asarray(inputs[a.name]) for a in given if a.kind == "input"})
    return check_results(made)
