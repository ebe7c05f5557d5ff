"""Graphs as xDSL operations: their text comes back, sizes are equal by normal form, the verifier finds what does not fit."""

from __future__ import annotations

import numpy as np
import pytest
from graph_models import LAST, TOKEN, block, block_weights
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.parser import Parser

from fleet.dlavm import adr, ne, transform
from fleet.errors import ModelError
from fleet.ir.accel.dialect import accel
from fleet.ir.accel.nodes import Node
from fleet.ir.accel.types import Accelerator, AccelTensor, DataType, Size, from_attribute, to_attribute
from fleet.ir.text import parse_ir, print_ir


def module(graph: Node) -> ModuleOp:
    function = graph.parent_op()
    assert function is not None
    return ModuleOp([function])


def attribute(text: str) -> object:
    context = Context()
    context.load_dialect(Builtin)
    context.load_dialect(accel())
    return Parser(context, text).parse_attribute()


def test_text_comes_back_the_same() -> None:
    graph = transform.infer_type(block(block_weights(np.random.default_rng(0)), with_data=False), "hbm_small", {"last_token": LAST})
    text = print_ir(module(graph))
    again = parse_ir(text, dialects=[accel()])
    assert print_ir(again) == text
    (function,) = again.ops
    root = function.regions[0].block.last_op.operands[0].owner
    assert str(root) == str(graph)
    wrong = text.replace("new_shape = [4 : i64", "new_shape = [2 : i64")
    with pytest.raises(ModelError, match=r"accel.reshape: .* 128 channels of all heads do not become 64"):
        parse_ir(wrong, dialects=[accel()])
    wrong = text.replace("new_shape = [2 : i64", "new_shape = [1 : i64")
    with pytest.raises(ModelError, match=r"accel.reshape: type is .*\(2, token, 32\), .* expected .*\(1, token, 64\)"):
        parse_ir(wrong, dialects=[accel()])


@pytest.mark.parametrize(
    "size",
    [7, 0, -3, TOKEN, TOKEN * 32 + LAST, ne.If(TOKEN < 5, TOKEN, 8), (TOKEN + LAST) // 32 % 4, ne.Var("a"), ne.Var("b", 9, -4)],
)
def test_sizes_come_back(size: ne.Number) -> None:
    made = Size(size)
    assert attribute(str(made)) == made
    assert from_attribute(to_attribute("size", size)) == made.data or isinstance(size, int)


def test_sizes_are_equal_by_their_normal_form() -> None:
    assert Size((TOKEN + 1) * 2) == Size(TOKEN + TOKEN + 2)
    assert hash(Size((TOKEN + 1) * 2)) == hash(Size(TOKEN + TOKEN + 2))
    assert Size(TOKEN - TOKEN + 4) == Size(4)
    assert Size(TOKEN) != Size(ne.Var("token", 7))
    half = DataType("float16", "ddr"), Accelerator("hbm")
    assert AccelTensor((1, TOKEN + 0, 64), *half) == AccelTensor((1, TOKEN, 32 + ne.as_expr(32)), *half)


def test_attributes_come_back() -> None:
    for value in (1, True, False, 2.5, "text", TOKEN, (1, TOKEN, "a"), float("inf"), -(1 << 63), 1 << 70):
        kept = from_attribute(to_attribute("a", value))
        assert (kept, type(kept)) == (value, type(value))
    assert from_attribute(to_attribute("a", [1, [2]])) == (1, (2,))
    assert from_attribute(to_attribute("a", np.int64(5))) == 5
    assert from_attribute(to_attribute("a", np.float32(0.5))) == 0.5


def test_a_constant_without_its_array_comes_back() -> None:
    x, w = adr.hbm.var_ddr("x", (1, TOKEN, 64)), adr.hbm.const_hbm("w", "folder/w.bin", (64, 32))
    y = adr.hbm.mvm(x, adr.hbm.const_hbm("v", np.ones((32, 64)), (32, 64)))
    graph = transform.infer_type(adr.hbm.add(x, adr.hbm.mvm(adr.hbm.mvm(x, w), y.args[1])), "hbm_small")
    text = print_ir(module(graph))
    assert '#accel.content<"folder/w.bin">' in text
    assert print_ir(parse_ir(text, dialects=[accel()])) == text
