"""Evaluates operations of the IR one at a time, with the VM's own table: for engines and checks without bytecode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from xdsl.ir import Block, SSAValue

from fleet.errors import FleetError, ModelError
from fleet.ir import dialect as d
from fleet.ir.constants import constant_value
from fleet.ir.dialect import ConstantOp, FleetOp, PrintOp, kind_of, op_id
from fleet.ir.operations.operation import attributes_of
from fleet.ir.types import is_tensor, numpy_dtype, shape_of
from fleet.targets.bytecode.hints import info_of
from fleet.targets.bytecode.operators import kernel

Echo: TypeAlias = Callable[[PrintOp, Sequence[Any]], None]
EvaluationStep: TypeAlias = Callable[[Sequence[Any]], Any]
"""Computes an operation from its operands' values."""


def apply(op: FleetOp, operands: Sequence[Any], echo: Echo | None = None) -> Any:
    """Evaluate one operation of the IR on these operands, with the VM's own table.

    operands: with the shapes of the operation's operands. Their dtypes are used as they are, but operands that are Python numbers
    in the IR act as Python numbers. The result has the IR's dtype if it is a Python number in the IR, else NumPy's; of a decision
    or loop it is a tuple. echo: called with the prints inside (None: omitted). Raises ModelError naming the operation.
    """
    with np.errstate(all="ignore"):
        return prepare(op, echo)(operands)


def prepare(op: FleetOp, echo: Echo | None = None) -> EvaluationStep:
    """Return `apply` for one operation, to be called many times; the caller switches NumPy's warnings off."""
    if isinstance(op, ConstantOp):
        constant = np.full(shape_of(op.result.type), constant_value(op), numpy_dtype(op.result.type))
        return lambda _operands: constant
    if isinstance(op, PrintOp):
        raise ModelError("print has no value", where=op_id(op))
    if isinstance(op, d.RegionOp):
        return prepare_bodies(op, lambda inner: prepare(inner, echo), echo)
    if isinstance(op, d.ElementOp):
        attributes = attributes_of(op)
        return lambda operands: op.compute(operands, attributes)
    return _prepare_kernel(op)


def _prepare_kernel(op: FleetOp) -> EvaluationStep:
    tensors = [is_tensor(v.type) for v in op.operands]
    type_ = op.results[0].type
    dtype = None if is_tensor(type_) else numpy_dtype(type_)
    compute = kernel(info_of(op))

    def step(operands: Sequence[Any]) -> Any:
        values = [v if tensor else np.asarray(v).item() for v, tensor in zip(operands, tensors, strict=True)]
        try:
            return np.asarray(compute(*values), dtype)
        except FleetError:
            raise
        except Exception as error:
            raise ModelError(f"{kind_of(op)}: {error}", where=op_id(op)) from error

    return step


def prepare_bodies(op: d.RegionOp, prepare_one: Callable[[FleetOp], EvaluationStep], echo: Echo | None = None) -> EvaluationStep:
    """Return a decision or loop whose bodies' operations are prepared once, when the body is first entered.

    echo: called with every print and its operands; None: prints are omitted.
    """
    bodies: dict[Block, EvaluationStep] = {}

    def run(block: Block, arguments: Sequence[Any]) -> Sequence[Any]:
        if block not in bodies:
            bodies[block] = _prepare_body(block, prepare_one, echo)
        found: Sequence[Any] = bodies[block](arguments)
        return found

    return lambda operands: d.run_regions(op, operands, run)


def _prepare_body(block: Block, prepare_one: Callable[[FleetOp], EvaluationStep], echo: Echo | None) -> EvaluationStep:
    places: dict[SSAValue, int] = {v: i for i, v in enumerate(block.args)}
    steps: list[tuple[EvaluationStep, list[int]]] = []
    for op in block.ops:
        if isinstance(op, PrintOp):
            if echo is None:
                continue
            step: EvaluationStep = _print(op, echo)
        elif isinstance(op, FleetOp):
            step = prepare_one(op)
        else:
            continue
        steps.append((step, [places[v] for v in op.operands]))
        places.update({v: len(block.args) + len(steps) - 1 for v in op.results})
    last = block.last_op
    assert isinstance(last, d.YieldOp)
    given = [places[v] for v in last.operands]

    def run(arguments: Sequence[Any]) -> Sequence[Any]:
        values = list(arguments)
        for step, operands in steps:
            values.append(step([values[i] for i in operands]))
        return [values[i] for i in given]

    return run


def _print(op: PrintOp, echo: Echo) -> EvaluationStep:
    return lambda operands: echo(op, operands)
