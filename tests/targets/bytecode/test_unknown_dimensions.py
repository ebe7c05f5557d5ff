"""One program for many sizes: inferred with `?`, converted, saved, loaded, run against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import FloatAttr, FunctionType, ModuleOp, f32, f64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region
from xdsl.utils.exceptions import VerifyException

from fleet.errors import ModelError
from fleet.ir import dialect as d
from fleet.ir.build import make
from fleet.ir.constants import constant
from fleet.ir.program import Argument, Program
from fleet.ir.text import parse_ir, print_ir
from fleet.ir.types import tensor_type
from fleet.targets.bytecode import VM, ByteCodeConverter, ByteCodeModule


@pytest.fixture(scope="module")
def program() -> Program:
    """Softmax attention of the last row over all rows, its mean scaled by the number of rows."""
    block = Block(arg_types=[tensor_type((-1, 4), np.float32), tensor_type((4, 3), np.float32)])
    x, w = block.args
    count = 0

    def add(op):
        nonlocal count
        count += 1
        op.describe(id=f"op{count}")
        block.add_op(op)
        return op.results[0]

    last = add(make("slice", [x], start=[-1, 0], size=[1, 4]))
    rest = add(make("slice", [x], start=[1, 0], size=[-1, 4]))
    keys = add(make("transpose", [x], permutation=[1, 0]))
    scores = add(make("softmax", [add(make("matmul", [last, keys]))], axis=1))
    mixed = add(make("matmul", [scores, add(make("matmul", [x, w]))]))
    rows = add(make("dim", [x], axis=0))
    scaled = add(make("mul", [mixed, add(make("div", [add(constant(1.0, f64)), rows]))]))
    flat = add(make("reshape", [rest], shape=[-1]))
    wide = add(make("broadcast_to", [x], shape=[2, -1, 4]))
    outputs = [scaled, flat, wide]
    block.add_op(ReturnOp(*outputs))
    types = FunctionType.from_lists([a.type for a in block.args], [v.type for v in outputs])
    module = ModuleOp([FuncOp("forward", types, Region([block]))])
    module.verify()
    arguments = (Argument("x", (-1, 4), np.dtype("float32"), "input"), Argument("w", (4, 3), np.dtype("float32"), "weight"))
    weights = {"w": np.random.default_rng(0).standard_normal((4, 3)).astype(np.float32)}
    return Program(module, arguments, weights, ("scaled", "flat", "wide"))


def test_one_file_runs_with_every_size(program, tmp_path) -> None:
    module = ByteCodeConverter(program).convert()
    assert "?x4xf32" in str(module.consts)
    module.save(tmp_path / "m.fbc")
    vm = VM(ByteCodeModule.load(tmp_path / "m.fbc"))
    w = program.weights["w"]
    for n in (1, 2, 7):
        x = np.random.default_rng(n).standard_normal((n, 4)).astype(np.float32)
        found = vm.run({"x": x})
        e = np.exp(x[-1:] @ x.T - (x[-1:] @ x.T).max())
        np.testing.assert_allclose(found["scaled"], (e / e.sum()) @ (x @ w) * (1 / n), rtol=1e-6)
        np.testing.assert_array_equal(found["flat"], x[1:].reshape(-1))
        np.testing.assert_array_equal(found["wide"], np.broadcast_to(x, (2, n, 4)))
        assert found["scaled"].dtype == np.float32


def test_known_dimensions_of_an_argument_are_checked(program) -> None:
    vm = VM(ByteCodeConverter(program).convert())
    for bad in (np.ones((2, 5), np.float32), np.ones(4, np.float32), np.ones((2, 4))):
        with pytest.raises(ModelError, match=r'input "x" must be float32\[\?, 4\], found'):
            vm.run({"x": bad})


def test_a_slice_that_leaves_its_dimension_names_the_operation(program) -> None:
    vm = VM(ByteCodeConverter(program).convert())
    with pytest.raises(ModelError, match="op1: fails on these values: a slice from -1 of size 1 by 1 leaves a dimension of 0"):
        vm.run({"x": np.ones((0, 4), np.float32)})


def test_the_text_comes_back(program) -> None:
    text = print_ir(program.module)
    assert "tensor<?x4xf32>" in text
    assert print_ir(parse_ir(text)) == text


def test_a_constant_needs_its_size() -> None:
    op = d.ConstantOp(FloatAttr(1.0, f32), tensor_type((-1,), np.float32))
    op.describe(id="culprit")
    with pytest.raises(VerifyException, match=r"culprit.*constant of shape"):
        op.verify()
