from __future__ import annotations

import pytest
from same_results import outputs

from fleet.errors import FleetError, ModelError
from fleet.ir.dialect import kind_of
from fleet.ir.text import parse_ir, print_ir
from fleet.transforms.entry import program_of
from fleet.transforms.passes import find_pass
from fleet.transforms.simplify.infer_shapes import infer_shapes

DYNAMIC = """
func.func @f(%x: tensor<?x4xf32>, %w: tensor<4x3xf32>) -> tensor<?x3xf32> {
  %h = "fleet.matmul"(%x, %w) <{id = "h"}> : (tensor<?x4xf32>, tensor<4x3xf32>) -> tensor<?x3xf32>
  %m = "fleet.mean"(%h) <{id = "m", axes = array<i64: 1>, keepdims = true}> : (tensor<?x3xf32>) -> tensor<?x1xf32>
  %r = "fleet.sub"(%h, %m) <{id = "r"}> : (tensor<?x3xf32>, tensor<?x1xf32>) -> tensor<?x3xf32>
  func.return %r : tensor<?x3xf32>
}
"""


def test_unknown_dimensions_become_known_everywhere() -> None:
    program = program_of(parse_ir(DYNAMIC))
    before = print_ir(program.module)
    after = infer_shapes(program, {"x": (7, 4)})
    text = print_ir(after.module)
    assert "?" not in text
    assert "tensor<7x3xf32>" in text
    assert print_ir(parse_ir(text)) == text
    assert after.arguments[0].shape == (7, 4)
    assert before == print_ir(program.module)
    assert find_pass("infer-shapes{x=7x4}").run(program).hash == after.hash


def test_what_is_not_said_stays_unknown() -> None:
    program = program_of(parse_ir(DYNAMIC))
    assert print_ir(find_pass("infer-shapes").run(program).module) == print_ir(program.module)
    assert print_ir(infer_shapes(program, {"x": (-1, 4)}).module) == print_ir(program.module)


def test_what_operands_say_is_enough() -> None:
    text = DYNAMIC.replace("%x: tensor<?x4xf32>", "%x: tensor<2x4xf32>").replace("(tensor<?x4xf32>", "(tensor<2x4xf32>")
    text = text.replace("tensor<4x3xf32>) -> tensor<?x3xf32>\n", "tensor<4x3xf32>) -> tensor<2x3xf32>\n")
    text = text.replace("(tensor<?x3xf32>) ->", "(tensor<2x3xf32>) ->").replace("(tensor<?x3xf32>, ", "(tensor<2x3xf32>, ")
    with pytest.raises(ModelError):  # a mean of 2 rows that says it has an unknown number
        parse_ir(text)


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ({"y": (1,)}, 'no argument "y"; arguments are x, w'),
        ({"x": (7, 5)}, "has shape ?x4, asked for is 7x5"),
        ({"x": (7,)}, "has shape ?x4, asked for is 7"),
        ({"w": (4, 2)}, "has shape 4x3, asked for is 4x2"),
    ],
)
def test_shapes_that_do_not_fit(shapes: dict[str, tuple[int, ...]], message: str) -> None:
    with pytest.raises(ModelError) as caught:
        infer_shapes(program_of(parse_ir(DYNAMIC)), shapes)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_size_that_is_asked_for_becomes_a_number() -> None:
    text = """
    func.func @f(%x: tensor<?x4xf32>) -> i64 {
      %n = "fleet.dim"(%x) <{id = "n", axis = 0 : i64}> : (tensor<?x4xf32>) -> i64
      func.return %n : i64
    }
    """
    after = infer_shapes(program_of(parse_ir(text)), {"x": (7, 4)})
    assert [op.name for op in after.operations()] == ["fleet.constant"]
    assert "value = 7" in print_ir(after.module)


CALLS = """
func.func @gelu(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %t = "fleet.tanh"(%x) <{id = "t", var = "t"}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %t : tensor<2x3xf32>
}
func.func @layer(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %a = func.call @gelu(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %t = "fleet.add"(%a, %x) <{id = "t"}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %t : tensor<2x3xf32>
}
func.func @forward(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %a = func.call @layer(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = func.call @layer(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %t = "fleet.exp"(%b) <{id = "t", var = "t"}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %t : tensor<2x3xf32>
}
"""


def test_calls_are_inlined_and_ids_stay_unique() -> None:
    import numpy as np

    program = program_of(parse_ir(CALLS))
    after = find_pass("inline").run(program)
    assert [kind_of(op) for op in after.operations()] == ["tanh", "add", "tanh", "add", "exp"]
    ids = [op.properties["id"].data for op in after.operations()]
    assert len(set(ids)) == 5
    assert ids[-1] == "t"
    assert [op.properties["id"].data for op in after.operations() if "var" in op.properties] == ["t"]
    text = print_ir(after.module)
    assert "call" not in text
    assert text.count("func.func") == 1
    assert print_ir(parse_ir(text)) == text
    x = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)
    one = np.tanh(x) + x
    (found,) = outputs(after, {"x": x})
    np.testing.assert_array_equal(found, np.exp(np.tanh(one) + one))


TWO_CALLS = "%a = func.call @layer(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>\n  %b = func.call @layer(%a)"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("@gelu(%x) :", "@layer(%x) :"), "calls itself (forward -> layer -> layer)"),
        (("call @gelu(%x)", "call @nobody(%x)"), "could not be found"),
        ((TWO_CALLS, "%b = func.call @gelu(%x)"), "has one function that no other calls, found layer, forward"),
    ],
)
def test_modules_that_cannot_be_inlined(change: tuple[str, str], message: str) -> None:
    text = CALLS.replace(*change)
    if "itself" in message:  # nothing else is left over
        text = "".join(text.partition("func.func @layer")[1:])
    with pytest.raises(FleetError) as caught:
        find_pass("inline").run(program_of(parse_ir(text)))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
