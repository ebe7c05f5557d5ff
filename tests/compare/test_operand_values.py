"""The account of one element: the operands that it depends on, and what they give."""

import numpy as np
import pytest
from ir_builder import Net, evaluate

from fleet.compare.bounds.golden_values import Values
from fleet.compare.operand_values import operand_lines
from fleet.ir import dialect as d


@pytest.fixture
def group():
    rng = np.random.default_rng(5)
    weights = {"w": rng.normal(size=(6, 4)).astype(np.float32), "b": rng.normal(size=4).astype(np.float32)}
    net = Net({"x": ((3, 6), "input"), "w": ((6, 4), "weight"), "b": ((4,), "weight")}, weights)
    total = net.call(d.AddOp, net.matmul(net["x"], net["w"], "product"), net["b"], name="total")
    y = net.call(d.MaximumOp, total, net.number(0), name="y")
    program = net.program(y=y, digit=net.argmax(y, 1, "digit"))
    inputs = {"x": rng.normal(size=(3, 6)).astype(np.float32)}
    return program, inputs, weights


OPS = ("product", "total", "y", "digit")


def test_operands_of_one_element(group):
    program, inputs, weights = group
    values = Values(program, inputs, {})
    for element in np.ndindex(3, 4):
        row, channel = element
        x, w, b, exact = operand_lines(values, OPS, element)
        assert x.startswith(f"x[{row}, :] as given = {inputs['x'][row, 0]:.6g} ")
        assert w.startswith(f"w[:, {channel}] as stored = {weights['w'][0, channel]:.6g} ")
        assert b == f"b[{channel}] as stored = {weights['b'][channel]:.6g}"
        expected = max(0.0, float(inputs["x"][row].astype(float) @ weights["w"][:, channel].astype(float) + weights["b"][channel]))
        assert exact.startswith(f"y[{row}, {channel}] from these in binary64: ")
        assert float(exact.rsplit(" ", 1)[1]) == pytest.approx(expected, rel=1e-8)


def test_values_of_earlier_groups_come_from_the_trace(group):
    program, inputs, _ = group
    tensors = evaluate(program, inputs)
    product, bias, exact = operand_lines(Values(program, inputs, tensors), ("total", "y"), (1, 2))
    assert product == f"product[1, 2] = {tensors['product'][1, 2]:.6g}"
    assert bias.startswith("b[2] as stored = ")
    assert exact.startswith("y[1, 2] from these")


def test_what_is_not_to_be_had_is_left_out(group):
    program, inputs, _ = group
    values = Values(program, inputs, {})
    assert operand_lines(values, ("total", "y"), (1, 2)) == ()  # nobody kept the product
    assert operand_lines(values, OPS, (9, 9)) == ()
    assert operand_lines(values, ("no such",), (0, 0)) == ()
