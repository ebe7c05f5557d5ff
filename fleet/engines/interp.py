"""Engine `interp`: executes the IR itself, operation by operation, before or after any pass.

An oracle: no bytecode, no slots, no scheduling, only the table of the VM's operators, applied in program order. With a
pipeline or passes in `RunOptions.lowering` ("pipeline": "riscv", or "passes": "cse,dce") it runs their result.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from xdsl.ir import BlockArgument, SSAValue

from fleet.engines.base import Progress, RunOptions
from fleet.engines.trace import Trace
from fleet.errors import ModelError
from fleet.ir.dialect import ConstantOp, PrintOp, RegionOp, op_id
from fleet.ir.operations.composite import entering
from fleet.ir.program import Program
from fleet.ir.types import is_tensor, numpy_dtype
from fleet.targets.bytecode.evaluate import apply
from fleet.targets.bytecode.vm import check_dimensions
from fleet.targets.printed import show
from fleet.transforms.pipeline import prepared


def interpret(
    program: Program,
    inputs: Mapping[str, np.ndarray],
    *,
    keep: bool = True,
    echo: Callable[..., Any] = print,
    progress: Progress | None = None,
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Run a program's IR.

    Args:
        program: before or after any pass.
        inputs: array by name, for every input.
        keep: whether every operation's result is kept, under its id; else a value is dropped after its last use.
        echo: called by the program's prints like `print`. progress: see `Progress`.

    Returns outputs and tensors. Raises ModelError naming the operation that fails on these values.
    """
    if all(a.name in inputs for a in program.inputs):
        check_dimensions(program.arguments, inputs)
    environment: dict[SSAValue, np.ndarray] = {}
    tensors: dict[str, np.ndarray] = {}
    operations = list(program.operations())
    last = {} if keep else {v: op for op in operations for v in op.operands}
    kept = set(program.returned())

    def of(value: SSAValue) -> np.ndarray:
        if isinstance(value, BlockArgument):
            argument = program.arguments[value.index]
            source = program.weights if argument.kind == "weight" else inputs
            if argument.name not in source:
                raise ModelError(f'no {argument.kind} "{argument.name}"', hint=f"given are {', '.join(source) or 'none'}")
            return source[argument.name]
        return environment[value]

    for index, op in enumerate(operations):
        operands = [of(v) for v in op.operands]
        if isinstance(op, PrintOp):
            show(op, operands, echo)
        else:
            environment[op.results[0]] = result = apply(op, operands, partial(show, echo=echo))
            if keep and not isinstance(op, ConstantOp | RegionOp):
                tensors[op_id(op)] = result
        for value in op.operands:
            if last.get(value) is op and value not in kept:
                environment.pop(value, None)
        if progress is not None and index % 64 == 0:
            progress(index / len(operations), op_id(op))
    outputs = {
        name: np.asarray(of(v), None if is_tensor(v.type) else numpy_dtype(v.type))
        for name, v in zip(program.outputs, program.returned(), strict=True)
    }
    return outputs, tensors


class InterpEngine:
    """Executes the IR op by op."""

    name = "interp"
    target = "ir"

    def available(self) -> str | None:
        """Return None: it needs nothing."""
        return None

    def run(self, program: Program, inputs: Mapping[str, np.ndarray], options: RunOptions) -> Trace:
        """Compile or take from the cache, run, return a complete trace.

        `meta["fates"]` says what became of operations that passes removed.
        """
        changed = prepared(program, options.lowering)
        printed = io.StringIO()
        start = time.perf_counter()
        outputs, tensors = interpret(
            changed, inputs, keep=options.keep_tensors, echo=partial(print, file=printed), progress=options.progress
        )
        elapsed = time.perf_counter() - start
        known = {op_id(op) for op in program.operations()}
        return Trace(
            engine=self.name,
            program_hash=program.hash,
            outputs=outputs,
            tensors={name: t for name, t in tensors.items() if name in known},
            meta={
                "fates": dict(changed.fates),
                "composites": entering(changed.operations(), program.operations()),
                "stdout": printed.getvalue(),
            },
            elapsed_s=elapsed,
            complete=True,
        )


ENGINE = InterpEngine()
