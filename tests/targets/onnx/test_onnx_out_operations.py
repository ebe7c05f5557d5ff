"""Every operation as ONNX nodes, run by onnxruntime, against NumPy: equal bits where both round each step once."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "ir"))
sys.path.insert(0, str(Path(__file__).parents[1] / "mlir"))
from mlir_models import draw, model, near, same
from onnx_out import exported, session
from operations import CASES, Case
from xdsl.dialects.builtin import f64, i64

from fleet.engines.base import RunOptions
from fleet.engines.onnxruntime.engine import OnnxRuntimeEngine
from fleet.errors import DeviceError, ModelError
from fleet.targets.onnx.export import export_onnx
from fleet.targets.onnx.types import ELEMENT_TYPES, STAND_INS

pytestmark = [
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.skipif(not __import__("importlib.util").util.find_spec("onnxruntime"), reason="needs the extra onnx"),
]
FLOATS = ("float16", "float32", "float64")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
EXACT = {
    *("add", "sub", "mul", "div", "floor_div", "mod", "slice", "where", "pad", "rint", "maximum", "minimum", "gather", "concat"),
    *("reshape", "transpose", "broadcast_to", "abs", "neg", "floor", "ceil", "sign", "cast", "scatter", "argsort"),
}
EXPORTED = [c for c in CASES if not c.by_numpy_alone]


@pytest.mark.parametrize("case", EXPORTED, ids=[f"{i}-{c.name}" for i, c in enumerate(EXPORTED)])
def test_as_numpy(case: Case) -> None:
    arrays = case.arrays()
    got = exported(model(arrays, case.emit), arrays)["out0"]
    want = np.asarray(case.expected(*case.operands))
    assert got.shape == want.shape
    if case.name != "dim":
        assert got.dtype == want.dtype
    if want.dtype.kind != "f" or case.name in EXACT:
        np.testing.assert_array_equal(got, want)
    else:
        np.testing.assert_allclose(got, want, rtol=3e-6, atol=2e-6)


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS, "bool"])
def test_arithmetic_of_every_type(dtype: str) -> None:
    rng = np.random.default_rng(1)
    if dtype.startswith("uint"):
        x, y = (rng.integers(0, np.iinfo(dtype).max, 60, dtype, endpoint=True) for _ in range(2))
        y[::5] = 0
    else:
        x, y = draw((60,), dtype, 1, special=True), draw((60,), dtype, 2, special=True)
        if dtype.startswith("int"):
            x[:8], y[:8] = np.iinfo(dtype).min, -1
            y[8:16] = 0
    names = {
        "add": np.add, "mul": np.multiply, "maximum": np.maximum, "minimum": np.minimum, "less": np.less, "equal": np.equal,
        "greater_equal": np.greater_equal, "not_equal": np.not_equal, "logical_or": np.logical_or, "div": np.true_divide,
    }  # fmt: skip
    if dtype != "bool":
        names |= {"sub": np.subtract, "floor_div": np.floor_divide, "mod": np.remainder}
    if x.dtype.kind in "iub":
        names |= {"bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor}
    found = exported(
        model({"x": x, "y": y}, lambda m, a, b: [m(n, a, b) for n in names] + [m("where", m("less", a, b), a, b)]), {"x": x, "y": y}
    )
    for (name, f), got in zip(names.items(), found.values(), strict=False):
        with np.errstate(all="ignore"):
            want = f(x, y)
        if dtype == "float16" and name in ("floor_div", "mod"):
            near(got, want, 1)  # onnxruntime computes float16 in float32, step by step
        else:
            same(got, np.asarray(want))
    same(found[f"out{len(names)}"], np.where(x < y, x, y))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_promotion_as_numpy_has_it(dtype: str) -> None:
    x = draw((3, 1, 4), dtype, 3)
    for other in ("float16", "float32", "float64", "int8", "int32", "bool", "uint8"):
        y = draw((5, 4), other, 4) if other != "uint8" else np.arange(20, dtype=np.uint8).reshape(5, 4)
        found = exported(model({"x": x, "y": y}, lambda m, a, b: [m("add", a, b), m("less", a, b)]), {"x": x, "y": y})
        same(found["out0"], x + y)
        same(found["out1"], x < y)


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS, "bool"])
def test_reductions_and_orders_of_every_type(dtype: str) -> None:
    x = np.random.default_rng(9).integers(0, 4, (3, 4, 5)).astype(dtype)

    def body(m: Any, a: Any) -> Any:
        sums = [m("reduce_sum", a, axes=[1], keepdims=True), m("reduce_any", a, axes=[0], keepdims=False), m("cumsum", a, axis=1)]
        sums += [m("reduce_prod", a, axes=[0, 2], keepdims=False), m("reduce_all", a, axes=[2], keepdims=False)]
        orders = [m("argmax", a, axis=2), m("argmin", a, axis=0), m("argsort", a, axis=1)]
        if dtype != "bool":
            orders += [m("reduce_max", a, axes=[2], keepdims=False), m("reduce_min", a, axes=[0], keepdims=True)]
        return [*sums, *orders]

    got = list(exported(model({"x": x}, body), {"x": x}).values())
    want = [x.sum(1, keepdims=True), x.any(0), x.cumsum(1), x.prod((0, 2)), x.all(2)]
    want += [x.argmax(2), x.argmin(0), x.argsort(1, kind="stable")]
    if dtype != "bool":
        want += [x.max(2), x.min(0, keepdims=True)]
    for g, w in zip(got, want, strict=True):
        same(g, np.asarray(w).astype(g.dtype) if x.dtype.kind == "u" else np.asarray(w))  # the IR sums all integers in int64


def test_the_order_of_uint64() -> None:
    x = np.array([[0, 1 << 63, (1 << 64) - 1], [1, (1 << 63) - 1, 1 << 62]], np.uint64)  # as int64 these have another order

    def body(m: Any, a: Any) -> Any:
        orders = [m("argmax", a, axis=1), m("argmin", a, axis=1), m("argsort", a, axis=1)]
        return [*orders, *(m(n, a, axes=[1], keepdims=False) for n in ("reduce_max", "reduce_min"))]

    got = exported(model({"x": x}, body), {"x": x}).values()
    for found, wanted in zip(got, [x.argmax(1), x.argmin(1), x.argsort(1), x.max(1), x.min(1)], strict=True):
        same(found, wanted)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_functions_that_onnx_lacks(dtype: str) -> None:
    x = draw((400,), dtype, 4, special=True)
    x = np.concatenate([x, np.linspace(-1, 1, 201).astype(dtype), np.asarray([1e-30, -1e-30, 3e38, 90, -200], dtype)])
    found = exported(model({"x": x}, lambda m, a: [m(n, a) for n in ("expm1", "log1p", "rsqrt", "isnan")]), {"x": x})
    near(found["out0"], np.expm1(x), 8)
    near(found["out1"], np.log1p(x), 8)
    near(found["out2"], 1 / np.sqrt(x), 0)
    same(found["out3"], np.isnan(x))


def test_integer_powers() -> None:
    x = draw((50,), "int32", 5)
    found = exported(model({"x": x}, lambda m, a: [m("pow", a, m.constant(k, i64)) for k in (1, 3, 5)]), {"x": x})
    for k, got in zip((1, 3, 5), found.values(), strict=True):
        same(got, x**k)  # wrapped


@pytest.mark.parametrize("step", [1, 2, -1, -3])
def test_slices_of_known_and_unknown_dimensions(step: int) -> None:
    x = np.arange(35).reshape(5, 7)
    size = len(range(1, 6)[:: abs(step)])
    start = 1 if step > 0 else 5
    body = lambda m, a: m("slice", a, start=[0, start], size=[5, size], step=[1, step])  # noqa: E731
    want = x[:, start : None if step < 0 and start + size * step < 0 else start + size * step : step]
    same(exported(model({"x": x}, body), {"x": x})["out0"], want)
    last = lambda m, a: m("slice", a, start=[-2, 0], size=[2, 7], step=[1, 1])  # noqa: E731
    same(exported(model({"x": x}, last, shapes={"x": (-1, 7)}), {"x": x})["out0"], x[-2:])
    rest = lambda m, a: m("slice", a, start=[-1, 0], size=[-1, 7], step=[-1, 1])  # noqa: E731
    same(exported(model({"x": x}, rest, shapes={"x": (-1, 7)}), {"x": x})["out0"], x[::-1])


@pytest.mark.parametrize(
    ("source", "target"), [("float32", "int32"), ("uint16", "int16"), ("bool", "uint8"), ("float16", "uint16")]
)
def test_bits_of_another_type(source: str, target: str) -> None:
    x = draw((3, 4), source, 6, special=source.startswith("float")) if source != "bool" else np.eye(3, 4, dtype=bool)
    found = exported(model({"x": x}, lambda m, a: m("numpy", a, call=f"ndarray.view(x0, '{target}')")), {"x": x})["out0"]
    assert (found.dtype, found.tobytes()) == (np.dtype(target), x.view(target).tobytes())


@pytest.mark.parametrize("level", ["none", "all"])
def test_a_condition_that_does_not_hold_ends_the_run(level: str) -> None:
    """Also where the optimiser may leave out what nothing needs."""

    def body(m: Any, a: Any) -> Any:
        m("check", m("reduce_all", m("less", a, m.constant(4.0, f64)), axes=[0], keepdims=False), message="too large")
        return m("neg", a)

    program = model({"x": np.zeros(3)}, body)
    engine = OnnxRuntimeEngine(level=level)
    good, bad = np.array([1.0, 2, 3]), np.array([1.0, 2, 9])
    np.testing.assert_array_equal(engine.run(program, {"x": good}, RunOptions(keep_tensors=False)).outputs["out0"], -good)
    with pytest.raises(ModelError, match="too large"):
        engine.run(program, {"x": bad}, RunOptions(keep_tensors=False))


def test_all_that_cannot_be_written_is_named_at_once() -> None:
    x, y, z = np.zeros(3, np.uint64), np.zeros(3, np.int64), np.zeros((2, 2), bool)

    def body(m: Any, a: Any, b: Any, c: Any) -> Any:
        twice = [m("einsum", c, c, subscripts="ij,jk->ik") for _ in range(2)]
        return [*twice, m("less", a, b), m("add", b, b), m("numpy", m("cast", c, dtype="float64"), call="linalg.inv(x0)")]

    with pytest.raises(DeviceError) as caught:
        export_onnx(model({"x": x, "y": y, "z": z}, body))
    text = str(caught.value)
    assert "3 kinds of operations" in text
    assert all(name in text for name in ("einsum.1, einsum.2", "less.3", "uint64", "numpy.linalg.inv"))
    assert "add" not in text


def test_stand_ins_are_needed() -> None:
    """onnxruntime has no code for the types that another stands in for; should it get some, the table can shrink."""
    import onnx
    from onnx import helper

    one_operand = {"Neg"}
    for operator in ("Neg", "Pow", "Max", "Min", "Less"):
        for dtype in STAND_INS[operator]:
            element = ELEMENT_TYPES[dtype]
            names = ["x"] if operator in one_operand else ["x", "y"]
            graph = helper.make_graph(
                [helper.make_node(operator, names, ["z"])],
                "g",
                [helper.make_tensor_value_info(n, element, [2]) for n in names],
                [onnx.ValueInfoProto(name="z")],
            )
            proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 26)], ir_version=13)
            with pytest.raises(Exception, match=r"(?i)type|implement"):
                session(proto.SerializeToString())
