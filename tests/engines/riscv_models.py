"""Programs for the tests of the `riscv` engine, built straight in the IR with inferred types."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from fleet.engines.base import RunOptions
from fleet.engines.riscv import ENGINE
from fleet.engines.trace import Trace
from fleet.ir import dialect as d
from fleet.ir.build import make
from fleet.ir.constants import constant
from fleet.ir.program import Argument, Program
from fleet.ir.types import tensor_type


class Maker:
    """Appends operations to a block; the id is the operation's name and number unless given."""

    def __init__(self, block: Block) -> None:
        self.block, self.count = block, 0

    def __call__(self, name: str, *operands: SSAValue, id: str | None = None, **attributes: Any) -> SSAValue:
        return self.add(make(name, operands, **attributes), id or f"{name}.{self.count}")

    def constant(self, number: float, type_: Attribute) -> SSAValue:
        return self.add(constant(number, type_), f"constant.{self.count}")

    def print(self, *operands: SSAValue) -> None:
        op = d.PrintOp(operands)
        op.describe(id=f"print.{self.count}")
        self.block.add_op(op)

    def add(self, op: d.FleetOp, id: str) -> SSAValue:
        self.count += 1
        op.describe(id=id, at=f"model.py:{self.count}:4")
        self.block.add_op(op)
        return op.results[0]


Body = Callable[..., SSAValue | Sequence[SSAValue]]


def model(arguments: Mapping[str, np.ndarray], body: Body, weights: Sequence[str] = ()) -> Program:
    """A program with arguments of these shapes and dtypes; `body(maker, *values)` gives what it returns."""
    block = Block(arg_types=[tensor_type(a.shape, a.dtype) for a in arguments.values()])
    returned = body(Maker(block), *block.args)
    values = [returned] if isinstance(returned, SSAValue) else list(returned)
    block.add_op(ReturnOp(*values))
    function = FuncOp("model", ([v.type for v in block.args], [v.type for v in values]), Region(block))
    declared = tuple(Argument(n, a.shape, a.dtype, "weight" if n in weights else "input") for n, a in arguments.items())
    outputs = tuple(f"out{i}" for i in range(len(values)))
    return Program(ModuleOp([function]), declared, {n: arguments[n] for n in weights}, outputs, source_name="model.py")


def run(arguments: Mapping[str, np.ndarray], body: Body, weights: Sequence[str] = ()) -> Trace:
    """Builds and runs."""
    program = model(arguments, body, weights)
    return ENGINE.run(program, {n: a for n, a in arguments.items() if n not in weights}, RunOptions())


def result(body: Body, *arrays: np.ndarray) -> np.ndarray:
    """The one output of `body` on these arrays."""
    return run({f"x{i}": a for i, a in enumerate(arrays)}, body).outputs["out0"]
