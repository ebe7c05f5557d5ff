"""Element types narrower than a program's: every value, roundings against ml_dtypes, arithmetic against ONNX's own evaluator."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx_models import node, program, run

from fleet.errors import ModelError
from fleet.frontend.onnx.narrow import BY_CODE, carried
from fleet.frontend.onnx.tensors import read_tensor
from fleet.ir.program import Program

RNG = np.random.default_rng(3)
FLOATS = [n for n in BY_CODE.values() if n.floating and n.code != TensorProto.FLOAT8E8M0]
BIASED = np.concatenate([
    RNG.standard_normal(4000) * np.exp2(RNG.integers(-30, 20, 4000)),
    RNG.standard_normal(2000) * np.exp2(RNG.integers(-149, 127, 2000)),
    [0.0, -0.0, np.inf, -np.inf, np.nan, 3.4e38, -3.4e38, 1e-45, 448, 464, 465, 240, 248, 57344, 61440, 65504, 5, 6, 7, 0.25, 0.75],
]).astype(np.float32)  # fmt: skip


def made(nodes: list[onnx.NodeProto], inputs: dict[str, tuple[int, list[int]]], outputs: dict[str, int], opset: int = 25) -> Any:
    declared = [helper.make_tensor_value_info(n, code, shape) for n, (code, shape) in inputs.items()]
    results = [helper.make_tensor_value_info(n, code, None) for n, code in outputs.items()]
    graph = helper.make_graph(nodes, "g", declared, results)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=12)


def same(got: np.ndarray, want: np.ndarray) -> None:
    want = carried(np.asarray(want))
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    np.testing.assert_array_equal(got.view(f"u{got.itemsize}")[~np.isnan(want)], want.view(f"u{want.itemsize}")[~np.isnan(want)])
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))


def ties(narrow: Any) -> np.ndarray:
    """All values of a type, and what lies in the middle between neighbours, with neighbours of float32 on both sides."""
    width = narrow.dtype.itemsize * 8 if narrow.dtype.itemsize > 1 or "8" in narrow.name else 4
    every = np.arange(1 << width).astype(f"u{narrow.dtype.itemsize}").view(narrow.dtype).astype(np.float32)
    every = np.unique(every[np.isfinite(every)])
    middle = ((every[1:].astype(np.float64) + every[:-1]) / 2).astype(np.float32)
    near = [np.nextafter(middle, np.float32(s * np.inf)) for s in (-1, 1)]
    return np.concatenate([every, middle, *near])


@pytest.mark.parametrize("saturate", [1, 0])
@pytest.mark.parametrize("narrow", FLOATS, ids=lambda n: n.name)
def test_rounding_to_floats(narrow: Any, saturate: int) -> None:
    """Every value, every tie and its neighbours, and numbers of all sizes."""
    extra = {"saturate": saturate} if "FLOAT8" in narrow.name else {}
    x = np.concatenate([ties(narrow), BIASED])
    for dtype in (np.float32, np.float16):
        with np.errstate(over="ignore"):
            given = x.astype(dtype)
        code = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        model = made([node("Cast", ["x"], ["y"], to=narrow.code, **extra)], {"x": (code, [len(x)])}, {"y": narrow.code})
        with np.errstate(all="ignore"):
            (want,) = ReferenceEvaluator(model).run(None, {"x": given})
        same(run(model, {"x": given})[0], want)


@pytest.mark.parametrize("mode", ["up", "down", "nearest"])
def test_rounding_to_powers_of_two(mode: str) -> None:
    x = np.abs(RNG.standard_normal(500) * np.exp2(RNG.integers(-120, 120, 500))).astype(np.float32)
    x = np.concatenate([x, np.exp2(np.arange(-120, 120)), [0, 1.5, 3, np.nan, 2.0**127]]).astype(np.float32)
    one = node("Cast", ["x"], ["y"], to=TensorProto.FLOAT8E8M0, round_mode=mode)
    model = made([one], {"x": (TensorProto.FLOAT, [len(x)])}, {"y": TensorProto.FLOAT8E8M0})
    same(run(model, {"x": x})[0], ReferenceEvaluator(model).run(None, {"x": x})[0])


@pytest.mark.parametrize("code", [TensorProto.INT4, TensorProto.UINT4, TensorProto.INT2, TensorProto.UINT2])
def test_rounding_to_integers(code: int) -> None:
    x = np.linspace(-40, 40, 641, dtype=np.float32)
    model = made([node("Cast", ["x"], ["y"], to=code)], {"x": (TensorProto.FLOAT, [len(x)])}, {"y": code})
    same(run(model, {"x": x})[0], ReferenceEvaluator(model).run(None, {"x": x})[0])


@pytest.mark.parametrize("narrow", list(BY_CODE.values()), ids=lambda n: n.name)
def test_every_value_of_a_file(narrow: Any) -> None:
    """As raw bytes and as numbers of protobuf."""
    if narrow.floating:
        every = np.arange(1 << (4 if "4E" in narrow.name and "8" not in narrow.name else 8 * narrow.dtype.itemsize))
        want = every.astype(f"u{narrow.dtype.itemsize}").view(narrow.dtype)
    else:
        low, high = narrow.limits
        want = np.arange(int(low), int(high) + 1).astype(narrow.dtype)
    np.testing.assert_array_equal(carried(read_tensor(numpy_helper.from_array(want, "w"), "w", None)), carried(want))
    wide = want.astype(np.float32)
    numbers = wide[np.isfinite(wide) & (wide != 2.0**-127)]  # which onnx itself writes as another value
    plain = helper.make_tensor("w", narrow.code, numbers.shape, numbers.tolist())
    np.testing.assert_array_equal(carried(read_tensor(plain, "w", None)), carried(numbers.astype(narrow.dtype)))


def test_bfloat16_arithmetic_rounds_after_every_operator() -> None:
    """A chain that float32 would give other bits for; sums as the reference evaluator adds."""
    nodes = [
        node("Mul", ["a", "b"], ["m"]), node("Add", ["m", "a"], ["s"]), node("Div", ["s", "b"], ["d"]),
        node("Sqrt", ["p"], ["r"]),
        node("Transpose", ["d"], ["t"]), node("MatMul", ["t", "r"], ["mm"]), node("Softmax", ["mm"], ["y"]),
        node("Relu", ["y"], ["z"]),
    ]  # fmt: skip
    shapes = {"a": [6, 5], "b": [6, 5], "p": [6, 5]}
    model = made(nodes, {n: (TensorProto.BFLOAT16, s) for n, s in shapes.items()}, {"z": 16, "mm": 16, "d": 16})
    given = {n: (np.abs(RNG.standard_normal(s)) + 0.5).astype(ml_dtypes.bfloat16) for n, s in shapes.items()}
    want = ReferenceEvaluator(model).run(["d", "mm"], given)
    got = run(model, {n: carried(a) for n, a in given.items()})
    same(got[2], want[0])
    same(got[1], want[1])
    assert np.array_equal(got[0], got[0].astype(ml_dtypes.bfloat16).astype(np.float32))


def test_inputs_are_rounded_as_the_type_has_them() -> None:
    model = made([node("Identity", ["x"], ["y"])], {"x": (TensorProto.BFLOAT16, [3])}, {"y": TensorProto.BFLOAT16})
    x = np.array([1.001, 3.14159, -7.7], np.float32)
    np.testing.assert_array_equal(run(model, {"x": x})[0], x.astype(ml_dtypes.bfloat16).astype(np.float32))


def test_types_that_an_operator_does_not_take() -> None:
    model = made([node("Add", ["x", "x"], ["y"], "sum")], {"x": (TensorProto.INT4, [2])}, {"y": TensorProto.INT4})
    with pytest.raises(ModelError, match=r"\(Add sum\): Add takes no INT4 \(its input 0\)"):
        program(model, {"x": np.zeros(2, np.int8)})
    inputs = {"x": (TensorProto.BFLOAT16, [2]), "z": (TensorProto.FLOAT, [2])}
    mixed = made([node("Add", ["x", "z"], ["y"], "sum")], inputs, {"y": TensorProto.FLOAT})
    with pytest.raises(ModelError, match="its input 1 is float32, another type than those before it"):
        program(mixed, {"x": np.zeros(2, np.float32), "z": np.zeros(2, np.float32)})


def test_the_same_bits_on_riscv() -> None:
    from fleet.engines.base import RunOptions
    from fleet.engines.registry import find_engine

    x = np.concatenate([ties(BY_CODE[TensorProto.FLOAT8E4M3FN]), BIASED[np.isfinite(BIASED)]])
    nodes = [node("Cast", ["x"], [f"y{c}"], to=c) for c in (TensorProto.BFLOAT16, TensorProto.FLOAT8E4M3FN, TensorProto.FLOAT4E2M1)]
    outputs = {f"y{c}": c for c in (TensorProto.BFLOAT16, TensorProto.FLOAT8E4M3FN, TensorProto.FLOAT4E2M1)}
    found: Program = program(made(nodes, {"x": (TensorProto.FLOAT, [len(x)])}, outputs), {"x": x})
    ours, theirs = (find_engine(e).engine.run(found, {"x": x}, RunOptions(keep_tensors=False)).outputs for e in ("vm", "riscv"))
    for name in outputs:
        np.testing.assert_array_equal(ours[name].view(np.uint32), theirs[name].view(np.uint32))
