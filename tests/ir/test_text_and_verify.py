"""The IR's text goes out and comes back; the verifier finds each wrong shape, dtype and attribute."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, f32, i32
from xdsl.ir import Block
from xdsl.utils.exceptions import VerifyException

from fleet.errors import ModelError
from fleet.frontend.source import load
from fleet.ir import dialect as d
from fleet.ir.build import make
from fleet.ir.shapes import InferenceError
from fleet.ir.text import parse_ir, print_ir
from fleet.ir.types import tensor_type

TEXT = """import numpy as np
def forward(x: "f32[4, 6]", i: "i64[3]"):
    h = np.concatenate([x, x[:, 1:3]], axis=1)[i] * 0.1 + np.float64(1e-300)
    g = np.transpose(h.reshape(2, 12)).astype(np.float32) @ np.ones((2, 3), np.float32)
    print(g.sum(), 3)
    return g.mean(axis=0), np.argmax(h), -h ** 2, h.max(axis=(0, 1), keepdims=True), np.inf * x, x - np.nan, x * -0.0
"""


@pytest.fixture
def program(tmp_path):
    (tmp_path / "m.py").write_text(TEXT)
    return load(f"{tmp_path / 'm.py'}:forward", {}, {"x": np.zeros((4, 6), np.float32), "i": np.zeros(3, np.int64)})


def test_text_comes_back_the_same(program) -> None:
    text = print_ir(program.module)
    again = parse_ir(text)
    assert print_ir(again) == text
    assert again.is_structurally_equivalent(program.module)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("tensor<12x3xf32>", "tensor<12x4xf32>"), "verify"),
        (('"fleet.matmul"', '"fleet.mat"'), "line|not IR"),
        (("axis = 1 : i64", "axis = 7 : i64"), "axis 7 is out of bounds"),
        (("permutation = array<i64: 1, 0>", "permutation = array<i64: 1, 1>"), "not a permutation"),
        (("start = array<i64: 0, 1>", "start = array<i64: 0, 5>"), "slice of shape"),
        (("func.return", "func.retur"), "not IR"),
    ],
)
def test_text_that_was_damaged_is_refused(program, change, says) -> None:
    text = print_ir(program.module)
    assert change[0] in text
    with pytest.raises(ModelError, match=says):
        parse_ir(text.replace(*change))


def test_a_parse_error_names_the_line(program) -> None:
    lines = print_ir(program.module).splitlines()
    lines[3] = "nonsense here"
    with pytest.raises(ModelError, match=r"m\.mlir:4: "):
        parse_ir("\n".join(lines), "m.mlir")


def block(*types):
    return Block(arg_types=types).args


@pytest.mark.parametrize(
    "build",
    [
        lambda a, b: d.AddOp([a, b], tensor_type((2, 3), np.float64)),
        lambda a, b: d.AddOp([a, b], tensor_type((3, 2), np.float32)),
        lambda a, b: d.AddOp([a, b], f32),
        lambda a, _: d.MatmulOp([a, a], tensor_type((2, 3), np.float32)),
        lambda a, _: d.ReduceSumOp([a], tensor_type((), np.float32), axes=[1, 0], keepdims=False),
        lambda a, _: d.ReduceSumOp([a], tensor_type((2,), np.float32), axes=[-1], keepdims=False),
        lambda a, _: d.ReduceSumOp([a], tensor_type((2,), np.float32), axes=[1], keepdims=True),
        lambda a, _: d.ArgmaxOp([a], tensor_type((2,), np.int32), axis=1),
        lambda a, _: d.ReshapeOp([a], tensor_type((7,), np.float32)),
        lambda a, b: d.GatherOp([a, b], tensor_type((3, 3), np.float32)),
        lambda a, b: d.ConcatOp([a, b], tensor_type((3, 3), np.float32), axis=0),
        lambda *_: d.ConstantOp(IntegerAttr(3, i32), f32),
        lambda *_: d.ConstantOp(FloatAttr(3.0, f32), tensor_type((2,), np.float64)),
        lambda a, _: d.ExpOp([a], tensor_type((2, 3), np.float64)),
    ],
)
def test_the_verifier_refuses(build) -> None:
    a, b = block(tensor_type((2, 3), np.float32), tensor_type((3,), np.float32))
    op = build(a, b)
    op.describe(id="culprit")
    with pytest.raises(VerifyException, match="culprit"):
        op.verify()


def test_make_infers_and_refuses() -> None:
    a, b = block(tensor_type((2, 3), np.float32), tensor_type((3,), np.int32))
    op = make("add", [a, b])
    assert op.results[0].type == tensor_type((2, 3), np.float64)
    op.verify()
    with pytest.raises(InferenceError, match="inner dimensions 3 and 2"):
        make("matmul", [a, a])
    with pytest.raises(InferenceError, match="more than"):
        make("add", list(block(tensor_type((1 << 20, 1), np.float32), tensor_type((1, 1 << 20), np.float32))))
