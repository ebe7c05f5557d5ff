"""What the RISC-V target cannot do yet is refused in one line that names the operation, never computed wrongly."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region

from fleet.errors import DeviceError
from fleet.ir.build import make
from fleet.ir.program import Argument, Program
from fleet.ir.types import tensor_type
from fleet.targets.riscv.compile import compile_riscv

F = "float32"


@pytest.mark.parametrize(
    ("name", "shapes", "attributes"),
    [
        ("floor", [(4,)], {}),
        ("cumsum", [(2, 3)], {"axis": 1}),
        ("add", [(-1,), (-1,)], {}),
    ],
)
def test_refused(name, shapes, attributes) -> None:
    dtypes = [F] * len(shapes) if name == "add" else ["float16"]
    block = Block(arg_types=[tensor_type(s, t) for s, t in zip(shapes, dtypes, strict=True)])
    op = make(name, block.args, **attributes)
    op.describe(id="culprit", at="m.py:3:1")
    block.add_ops([op, ReturnOp(op.results[0])])
    types = FunctionType.from_lists([a.type for a in block.args], [op.results[0].type])
    arguments = tuple(Argument(f"a{i}", s, np.dtype(t), "input") for i, (s, t) in enumerate(zip(shapes, dtypes, strict=True)))
    program = Program(ModuleOp([FuncOp("f", types, Region([block]))]), arguments, {}, ("y",))
    with pytest.raises(DeviceError, match=r"culprit|needs all sizes|float16") as caught:
        compile_riscv(program)
    assert "\n" not in str(caught.value)
