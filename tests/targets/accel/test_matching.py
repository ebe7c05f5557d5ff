"""Which operations become one group, and which stay on the host."""

from __future__ import annotations

import numpy as np
import pytest
from graphs import Graph, digits, one_matmul, rand

from fleet.ir import dialect as d
from fleet.ir.program import Program
from fleet.isa.registry import find_device
from fleet.targets.accel.compile import compile_accel
from fleet.targets.accel.program import AccelProgram, HostStep

N, C = 4, 40


def graph() -> Graph:
    return Graph({"x": (N, C), "r": (N, C)}, {"w": rand(1, C, C), "b": rand(2, C), "v": rand(3, N, C)})


def compiled(program: Program, device: str = "hbm_small") -> AccelProgram:
    return compile_accel(program, *find_device(device))


def groups(program: Program) -> list[tuple[tuple[str, ...], str]]:
    return [(g.ops, g.calls[0].instruction) for g in compiled(program).groups]


def host(program: Program) -> list[str]:
    return [k for k, v in compiled(program).placement.items() if v == "host"]


def test_digits_is_three_instructions() -> None:
    assert groups(digits()) == [
        (("m1", "a1", "h1"), "mvm_bn"),
        (("m2", "a2", "r2", "h2"), "mvm_bn_res"),
        (("m3", "logits", "classes"), "mvm_bn"),
    ]
    assert host(digits()) == []
    last = list(compiled(digits()).groups)[-1]
    assert last.results == ("logits", "classes")
    assert last.calls[0].fields["mvm_start"] == 0xB1F


def test_a_lone_product_is_plain() -> None:
    program = one_matmul(2, 64, 32)
    assert groups(program) == [(("y",), "mvm")]
    vector = Graph({"x": (64,)}, {"w": rand(0, 64, 32)})
    vector.binary(d.MatmulOp, "y", "x", "w", (32,))
    assert groups(vector.done("y")) == [(("y",), "mvm")]


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("cls", [d.AddOp, d.MulOp])
def test_residual_on_either_side(swap: bool, cls: type[d.BinaryOp]) -> None:
    g = graph()
    g.binary(d.MatmulOp, "m", "x", "w", (N, C))
    g.binary(cls, "y", *(("r", "m") if swap else ("m", "r")), (N, C))
    program = g.done("y")
    assert groups(program) == [(("m", "y"), "mvm_bn_res")]
    assert next(compiled(program).calls).fields["mvm_res_mode"] == (2 if cls is d.MulOp else 0)


@pytest.mark.parametrize("value", [np.nan, -np.inf, 1e6])
@pytest.mark.parametrize("operands", [("m", "b"), ("b", "m")])
def test_a_bias_that_fp16_cannot_hold_is_the_reason(value: float, operands: tuple[str, str]) -> None:
    bias = rand(2, C)
    bias[7] = value
    g = Graph({"x": (N, C)}, {"w": rand(1, C, C), "b": bias})
    g.binary(d.MatmulOp, "m", "x", "w", (N, C))
    g.binary(d.AddOp, "a", *operands, (N, C))
    program = g.done("a")
    assert groups(program) == [(("m",), "mvm")]
    assert compiled(program).missed == {"a": "weight 'b' has NaN, an infinity or a number beyond FP16 (65504)"}


def test_bias_on_the_left_and_relu_of_a_lone_product() -> None:
    g = graph()
    g.binary(d.MatmulOp, "m", "x", "w", (N, C))
    g.binary(d.AddOp, "a", "b", "m", (N, C))
    g.zero()
    g.binary(d.MatmulOp, "m2", "a", "w", (N, C))
    g.binary(d.MaximumOp, "y", "zero", "m2", (N, C))
    program = g.done("y")
    assert groups(program) == [(("m", "a"), "mvm_bn"), (("m2", "y"), "mvm")]
    assert list(compiled(program).calls)[1].fields["mvm_res_mode"] == 1


def test_a_value_used_elsewhere_ends_the_group() -> None:
    g = graph()
    g.binary(d.MatmulOp, "m", "x", "w", (N, C))
    g.binary(d.AddOp, "a", "m", "b", (N, C))
    g.zero()
    g.binary(d.MaximumOp, "h", "a", "zero", (N, C))
    g.binary(d.SubOp, "s", "h", "a", (N, C))
    program = g.done("s")
    assert groups(program) == [(("m", "a"), "mvm_bn"), (("h",), "act"), (("s",), "elementwise")]
    assert host(program) == []


def test_an_inner_value_that_is_returned_ends_the_group() -> None:
    g = graph()
    g.binary(d.MatmulOp, "m", "x", "w", (N, C))
    g.binary(d.AddOp, "a", "m", "b", (N, C))
    program = g.done("m", "a")
    assert groups(program) == [(("m",), "mvm")]
    assert host(program) == ["a"]
    assert compiled(program).missed == {"a": "one side is broadcast, the device takes two tensors of one shape"}


def test_a_value_is_no_residual_of_itself() -> None:
    g = graph()
    g.binary(d.MatmulOp, "m", "x", "w", (N, C))
    g.binary(d.AddOp, "y", "m", "m", (N, C))
    program = g.done("y")
    assert groups(program) == [(("m",), "mvm"), (("y",), "elementwise")]


def test_what_the_unit_lacks_stays_on_the_host() -> None:
    g = graph()
    g.binary(d.MatmulOp, "xx", "x", "r", (N, C))  # the right side is no weight
    g.binary(d.MatmulOp, "m", "x", "w", (N, C))
    g.argmax("rows", "m", (C,), axis=0)  # not over the channels
    program = g.done("xx", "m", "rows")
    assert groups(program) == [(("m",), "mvm")]
    assert host(program) == ["xx", "rows"]
    assert compiled(program).missed == {
        "xx": "its right side is no weight, the device multiplies by matrices that stand in HBM before it runs",
        "rows": "hbm_small has no instruction for argmax",
    }


def test_a_weight_of_the_full_shape_is_a_constant_feature() -> None:
    g = graph()
    g.binary(d.MatmulOp, "m", "x", "w", (N, C))
    g.binary(d.AddOp, "a", "m", "v", (N, C))
    program = g.done("a")
    assert groups(program) == [(("m",), "mvm"), (("a",), "elementwise")]
    stored = compiled(program).rounded.weights["v"]
    assert np.array_equal(stored, program.weights["v"].astype(np.float16).astype(np.float32))


def test_logits_may_be_used_before_the_argmax() -> None:
    """The host's use of the logits stands between them and argmax in the program; the schedule moves it behind."""
    g = graph()
    g.binary(d.MatmulOp, "m", "x", "w", (N, C))
    g.binary(d.AddOp, "logits", "m", "b", (N, C))
    g.add("s", d.ExpOp([g.values["logits"]], g.values["logits"].type))
    g.argmax("classes", "logits", (N,))
    program = g.done("s", "classes")
    made = compiled(program)
    assert groups(program) == [(("m", "logits", "classes"), "mvm_bn")]
    assert isinstance(made.steps[-1], HostStep)
    assert len(made.steps) == 2


def test_float64_and_a_row_bias() -> None:
    g = Graph({"x": (N, C)}, {"w": rand(1, C, C), "b": rand(2, 1, C)})
    g.binary(d.MatmulOp, "m", "x", "w", (N, C))
    g.binary(d.AddOp, "y", "m", "b", (N, C))
    program = g.done("y")
    assert groups(program) == [(("m", "y"), "mvm_bn")]
    rounded = compiled(program).rounded.weights["b"]
    assert rounded.shape == (1, C)
    assert np.array_equal(rounded, program.weights["b"].astype(np.float16).astype(np.float32))
