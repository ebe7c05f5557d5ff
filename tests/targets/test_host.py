"""This machine as a target: the bits of the RISC-V engine, and faults that are told, not trapped."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from fleet.cosim.models.loaded import load_model
from fleet.engines.base import RunOptions
from fleet.engines.llvm_cpu import ENGINE
from fleet.engines.riscv import ENGINE as RISCV
from fleet.errors import DeviceError, ModelError
from fleet.ir.build import make
from fleet.ir.constants import constant
from fleet.ir.program import Argument, Program
from fleet.ir.types import tensor_type

DIGITS = ("examples/digits/model.py:forward", "examples/digits/weights.npz", "examples/digits/test.npz")
NEEDS_UNICORN = pytest.mark.skipif(RISCV.available() is not None, reason=str(RISCV.available()))


def program(x: np.ndarray, *others: np.ndarray, name: str, **attributes: object) -> Program:
    """One operation on arrays."""
    arrays = [x, *others]
    block = Block(arg_types=[tensor_type(a.shape, a.dtype) for a in arrays])
    values: list[SSAValue] = list(block.args)
    op = make(name, values, **attributes)
    op.describe(id=f"the.{name}", at="model.py:7:4")
    block.add_op(op)
    block.add_op(ReturnOp(op.results[0]))
    function = FuncOp("model", ([v.type for v in block.args], [op.results[0].type]), Region(block))
    arguments = tuple(Argument(f"x{i}", a.shape, a.dtype, "input") for i, a in enumerate(arrays))
    return Program(ModuleOp([function]), arguments, {}, ("y",), source_name="model.py")


@NEEDS_UNICORN
def test_the_digits_give_the_bits_of_the_emulator() -> None:
    from pathlib import Path

    model = load_model(DIGITS[0], Path(DIGITS[1]), Path(DIGITS[2]), 0, None)
    here, there = (engine.run(model.program, model.inputs, RunOptions()) for engine in (ENGINE, RISCV))
    assert here.complete
    assert here.program_hash == there.program_hash
    assert list(here.tensors) == list(there.tensors)
    assert len(here.tensors) > 4  # layers; what was fused into them has none
    for name, tensor in there.tensors.items():
        np.testing.assert_array_equal(here.tensors[name], tensor)
    for name, tensor in there.outputs.items():
        np.testing.assert_array_equal(here.outputs[name], tensor)


def test_one_compiled_program_runs_with_other_inputs() -> None:
    from fleet.targets.host.compile import compile_host

    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    compiled = compile_host(program(x, x, name="add"))
    (buffer,) = (b for _, b in compiled.plan.outputs)
    for other in (x, x * 3 - 1):
        compiled.run({"x0": x, "x1": other})
        np.testing.assert_array_equal(compiled.fetch(buffer), x + other)


def test_a_script_prints() -> None:
    model = load_model("examples/add_sample.py", None, None, 0, None)
    assert ENGINE.run(model.program, {}, RunOptions()).meta["stdout"] == "43\n"


def test_a_bad_index_is_an_error_that_names_the_operation() -> None:
    table, places = np.zeros((5, 2), np.float32), np.array([1, 9], np.int64)
    with pytest.raises(ModelError, match=r"model\.py:7:4.*the\.gather.*index 9 is out of bounds") as caught:
        ENGINE.run(program(table, places, name="gather"), {"x0": table, "x1": places}, RunOptions())
    assert caught.value.exit_code == 2


def test_only_the_first_fault_is_told() -> None:
    table, places = np.zeros((3,), np.float32), np.array([-4, 7], np.int64)
    with pytest.raises(ModelError, match="index -4 is out of bounds"):
        ENGINE.run(program(table, places, name="gather"), {"x0": table, "x1": places}, RunOptions())


def test_an_input_that_does_not_fit() -> None:
    x = np.zeros((2, 3), np.float32)
    for wrong in ({"x0": x}, {"x0": x, "x1": x.astype(np.float64)}, {"x0": x, "x1": x[:1]}):
        with pytest.raises(ModelError, match='input "x1"'):
            ENGINE.run(program(x, x, name="add"), wrong, RunOptions())


def test_what_the_target_lacks_is_refused_in_its_own_name() -> None:
    x = np.zeros((2, 2), np.bool_)
    with pytest.raises(DeviceError, match="on llvm-cpu"):
        ENGINE.run(program(x, x, name="matmul"), {"x0": x, "x1": x}, RunOptions())


def test_constants_are_computed_too() -> None:
    block = Block()
    op = constant(7, tensor_type((2, 2), np.int64))
    op.describe(id="c")
    block.add_op(op)
    block.add_op(ReturnOp(op.results[0]))
    function = FuncOp("model", ([], [op.results[0].type]), Region(block))
    made = Program(ModuleOp([function]), (), {}, ("y",), source_name="model.py")
    np.testing.assert_array_equal(ENGINE.run(made, {}, RunOptions()).outputs["y"], np.full((2, 2), 7))
