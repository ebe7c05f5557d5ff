"""Products of quantised tensors keep the model's codes and scales, on the VM and on the device's side of the lowering."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "frontend/onnx"))
from onnx_models import model, node, program, reference

from fleet.ir.dialect import kind_of, op_id
from fleet.ir.lowering_options import LoweringOptions
from fleet.ir.program import Program
from fleet.isa.registry import find_device
from fleet.targets.accel.compile import compile_accel
from fleet.targets.bytecode.convert import ByteCodeConverter
from fleet.targets.bytecode.vm import VM
from fleet.transforms.passes import find_pass
from fleet.transforms.pipeline import Pipeline


def passed(made: Program, names: str = "turn-products,integer-products") -> Program:
    return Pipeline("asked", tuple(find_pass(n) for n in names.split(","))).run(made)[0]


def outputs(made: Program, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
    return list(VM(ByteCodeConverter(made).convert()).run(inputs).values())


def kinds(made: Program) -> list[str]:
    return [kind_of(op) for op in made.operations()]


def dense(zero: int, dtype: str, channelwise: bool, seed: int = 0):
    """x -> Q -> DQ -> MatMul by a DQ weight -> Add: a model, its input, the weight's codes and the combined scales."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(-127, 128, (24, 20)).astype(np.int8)
    scales = rng.uniform(0.001, 0.02, 20).astype(np.float32) if channelwise else np.float32(0.01)
    weights = {
        "sx": np.float32(0.03),
        "zx": np.array(zero, dtype),
        "w": codes,
        "sw": np.asarray(scales),
        "zw": np.zeros(np.shape(scales), np.int8),
        "b": rng.standard_normal(20).astype(np.float32),
    }
    nodes = [
        node("QuantizeLinear", ["x", "sx", "zx"], ["q"], "q"),
        node("DequantizeLinear", ["q", "sx", "zx"], ["xd"], "dq"),
        node("DequantizeLinear", ["w", "sw", "zw"], ["wd"], "wdq", axis=1),
        node("MatMul", ["xd", "wd"], ["m"], "product"),
        node("Add", ["m", "b"], ["y"], "add"),
    ]
    x = rng.standard_normal((5, 24)).astype(np.float32)
    return model(nodes, {"x": (np.float32, 5, 24)}, ["y"], weights), {"x": x}, codes, np.float32(0.03) * np.broadcast_to(scales, 20)


@pytest.mark.parametrize("channelwise", [False, True])
@pytest.mark.parametrize(("zero", "dtype"), [(0, "int8"), (-128, "int8"), (7, "int8"), (128, "uint8"), (3, "uint8")])
def test_products_keep_codes_and_scales(zero: int, dtype: str, channelwise: bool) -> None:
    made, inputs, codes, scales = dense(zero, dtype, channelwise)
    before = program(made, inputs)
    after = passed(before)
    np.testing.assert_array_equal(after.weights["product.codes"], codes)
    np.testing.assert_array_equal(after.weights["product.scales"], scales)
    assert "product" in {op.properties["id"].data for op in after.operations()}
    found, expected = outputs(after, inputs)[0], reference(made, inputs)[0]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


def test_sums_are_exact_where_floats_round() -> None:
    """K of 4096 full codes gives sums beyond 2^24: int32 has them, a sum in float32 would not."""
    codes = np.full((4096, 16), 127, np.int8)
    weights = {"s": np.float32(1), "z": np.int8(0), "w": codes}
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], ["q"], "q"),
        node("DequantizeLinear", ["q", "s", "z"], ["xd"], "dq"),
        node("DequantizeLinear", ["w", "s", "z"], ["wd"], "wdq"),
        node("MatMul", ["xd", "wd"], ["y"], "product"),
    ]
    x = np.full((1, 4096), 127, np.float32)
    x[0, 0] = 126
    after = passed(program(model(nodes, {"x": (np.float32, 1, 4096)}, ["y"], weights), {"x": x}))
    assert outputs(after, {"x": x})[0][0, 0] == np.float32(127 * 127 * 4095 + 126 * 127)


@pytest.mark.parametrize("zero", [0, -5])
def test_a_convolution_is_a_product_of_codes(zero: int) -> None:
    rng = np.random.default_rng(1)
    codes = rng.integers(-127, 128, (8, 4, 3, 3)).astype(np.int8)
    scales = rng.uniform(0.001, 0.01, 8).astype(np.float32)
    weights = {"sx": np.float32(0.03), "zx": np.int8(zero), "w": codes, "s": scales, "z": np.zeros(8, np.int8)}
    nodes = [
        node("QuantizeLinear", ["x", "sx", "zx"], ["q"], "q"),
        node("DequantizeLinear", ["q", "sx", "zx"], ["xd"], "dq"),
        node("DequantizeLinear", ["w", "s", "z"], ["wd"], "wdq", axis=0),
        node("Conv", ["xd", "wd"], ["y"], "conv", pads=[1, 1, 1, 1], strides=[2, 2]),
    ]
    made = model(nodes, {"x": (np.float32, 2, 4, 6, 6)}, ["y"], weights)
    inputs = {"x": rng.standard_normal((2, 4, 6, 6)).astype(np.float32)}
    after = passed(program(made, inputs))
    np.testing.assert_array_equal(after.weights["conv.matmul.turned.codes"], codes.reshape(8, 36).T)
    expected = reference(made, inputs)[0]
    np.testing.assert_allclose(outputs(after, inputs)[0], expected, rtol=0, atol=1e-5 * np.abs(expected).max())


def test_what_is_not_quantised_stays() -> None:
    rng = np.random.default_rng(2)
    weights = {"w": rng.standard_normal((6, 4)).astype(np.float32)}
    made = program(
        model([node("MatMul", ["x", "w"], ["y"], "p")], {"x": (np.float32, 3, 6)}, ["y"], weights),
        {"x": np.ones((3, 6), np.float32)},
    )
    assert str(passed(made).module) == str(made.module)


@pytest.mark.parametrize("zero", [0, 31, 128, 255])
@pytest.mark.parametrize("form", ["MatMulInteger", "ConvInteger", "depthwise", "QLinearConv", "DynamicQuantizeMatMul"])
def test_integers_of_any_zero_point_are_products_of_int8(form: str, zero: int) -> None:
    """Codes of uint8 with a zero point that the run decides, by uint8 weights that int8 cannot hold: onnxruntime's own integers."""
    rng = np.random.default_rng(3)
    groups = 6 if form == "depthwise" else 1
    shape = (40, 9) if form.startswith(("MatMul", "Dynamic")) else (18, 6 // groups, 3, 2)
    weights: dict[str, np.ndarray] = {"w": rng.integers(0, 256, shape).astype(np.uint8), "zw": np.uint8(zero)}
    x = rng.standard_normal((3, 40) if len(shape) == 2 else (2, 6, 7, 5)).astype(np.float32)
    around: dict[str, Any] = {} if len(shape) == 2 else {"pads": [1, 0, 2, 1], "strides": [2, 1], "group": groups}
    quantise = node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"], "q")
    if form == "DynamicQuantizeMatMul":
        weights |= {"sw": np.float32(0.01)}
        nodes = [node(form, ["x", "w", "sw", "zw"], ["y"], "product", domain="com.microsoft")]
    elif form == "QLinearConv":
        weights |= {
            "sw": np.float32(0.02),
            "sy": np.float32(0.7),
            "zy": np.uint8(100),
            "b": rng.integers(-999, 999, 18).astype(np.int32),
        }
        given = ["q", "s", "z", "w", "sw", "zw", "sy", "zy", "b"]
        nodes = [quantise, node(form, given, ["y"], "product", **around)]
    else:
        name = "ConvInteger" if form == "depthwise" else form
        nodes = [quantise, node(name, ["q", "w", "z", "zw"], ["y"], "product", **around)]
    made = model(nodes, {"x": (np.float32, *x.shape)}, ["y"], weights, domains=("com.microsoft",))
    before = program(made, {"x": x})
    after = passed(before, "split-groups,fold-weight-views,turn-products,integer-products")
    found, expected = outputs(after, {"x": x})[0], reference(made, {"x": x})[0]
    np.testing.assert_array_equal(found, outputs(before, {"x": x})[0])
    np.testing.assert_array_equal(found, expected)
    instruction_set, device = find_device("vgemm_small")
    placed = compile_accel(before, instruction_set, device)
    products = [op_id(op) for op in placed.program.operations() if kind_of(op) == "matmul"]
    assert products
    assert {placed.placement[name] for name in products} == {"device"}


def test_codes_of_weights_alone_stay() -> None:
    """Cast(int8) times a scale, too large to be folded while it is read: the device holds the codes, a scale multiplies sums."""
    rng = np.random.default_rng(5)
    codes, scales = rng.integers(-127, 128, (280, 240)).astype(np.int8), rng.uniform(0.001, 0.01, 240).astype(np.float32)
    nodes = [
        node("Cast", ["w"], ["wf"], "cast", to=1),
        node("Mul", ["wf", "s"], ["ws"], "scale"),
        node("MatMul", ["x", "ws"], ["y"], "product"),
    ]
    x = rng.standard_normal((3, 280)).astype(np.float32)
    made = program(model(nodes, {"x": (np.float32, 3, 280)}, ["y"], {"w": codes, "s": scales}), {"x": x})
    after = passed(made)
    np.testing.assert_array_equal(after.weights["product.codes"] * 128, codes)
    np.testing.assert_allclose(outputs(after, {"x": x})[0], outputs(made, {"x": x})[0], rtol=0, atol=1e-4)


def test_the_codes_stand_in_the_int8_device() -> None:
    """Every code of the model is a byte of the device's weights, and nothing was scaled again."""
    made, inputs, codes, scales = dense(0, "int8", True)
    instruction_set, device = find_device("vgemm_small")
    compiled = compile_accel(program(made, inputs), instruction_set, device)
    assert compiled.placement["product.sums"] == "device"
    (stored,) = [c.data[0] for key, c in compiled.plan.constants.items() if key == "weight product.codes"]
    assert sorted(stored.view(np.int8)[stored != 0].tolist()) == sorted(codes[codes != 0].reshape(-1).tolist())
    np.testing.assert_array_equal(compiled.rounded.weights["product.codes"], codes)
    np.testing.assert_array_equal(compiled.rounded.weights["product.scales"], scales)


def test_int4_blocks_stand_in_the_int4_device_with_their_own_scales() -> None:
    """A weight in blocks of 32, with scales that FP16 has: codes and scales arrive as they are, whatever a block's largest code."""
    rng = np.random.default_rng(4)
    codes = rng.integers(-4, 5, (64, 16)).astype(np.int8)
    scales = rng.uniform(0.01, 0.1, (2, 16)).astype(np.float16).astype(np.float32)
    nodes = [
        node("DequantizeLinear", ["w", "s"], ["wd"], "wdq", axis=0, block_size=32),
        node("MatMul", ["x", "wd"], ["y"], "product"),
    ]
    x = rng.standard_normal((3, 64)).astype(np.float32)
    made = model(nodes, {"x": (np.float32, 3, 64)}, ["y"], {"w": codes, "s": scales})
    instruction_set, device = find_device("hbm_small")
    compiled = compile_accel(program(made, {"x": x}), instruction_set, device, LoweringOptions(group=32))
    assert compiled.placement["product"] == "device"
    (name,) = [n for n in compiled.rounded.weights if compiled.rounded.weights[n].shape == (64, 16)]
    expected = codes * np.repeat(scales, 32, axis=0)
    np.testing.assert_array_equal(compiled.rounded.weights[name], expected)
