"""Integers of every width and sign on the `riscv` engine, scalar and with vectors, against NumPy: every bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from riscv_models import model, run

from fleet.engines.base import RunOptions
from fleet.engines.riscv import ENGINE
from fleet.engines.riscv_emulators.registry import EMULATORS
from fleet.engines.trace import Trace

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
INTEGERS = tuple(f"{sign}int{n}" for sign in ("", "u") for n in (8, 16, 32, 64))
VECTORS = EMULATORS["qemu"].available() is None
SETS = ("rv64gc", pytest.param("rv64gcv", marks=pytest.mark.skipif(not VECTORS, reason="qemu is not installed")))
DRAWN = ("rv64gc", "rv64gcv") if VECTORS else ("rv64gc",)
QUICK = settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def draw(shape: tuple[int, ...], dtype: str, seed: int) -> np.ndarray:
    """Whole range, with its ends, 0 and what lies beside them often."""
    rng = np.random.default_rng(seed)
    limits = np.iinfo(dtype)
    wild = rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    ends = np.array([limits.min, limits.min + 1, 0, 1, limits.max - 1, limits.max], dtype)
    small = rng.integers(max(-9, limits.min), 9, shape).astype(dtype)
    return np.choose(rng.integers(0, 3, shape), [wild, rng.choice(ends, shape), small]).astype(dtype)


def traced(isa: str, arrays: dict[str, np.ndarray], body: Any) -> Trace:
    return ENGINE.run(model(arrays, body), arrays, RunOptions(riscv={"isa": isa}))


def same(got: np.ndarray, want: np.ndarray, what: str) -> None:
    assert got.dtype == want.dtype, what
    np.testing.assert_array_equal(got, want, what)


NAMES = {"sub": "subtract", "mul": "multiply", "floor_div": "floor_divide", "mod": "remainder"}
BINARY = {
    name: getattr(np, NAMES.get(name, name))
    for name in (
        *("add", "sub", "mul", "maximum", "minimum", "floor_div", "mod", "less", "less_equal", "greater", "greater_equal"),
        *("equal", "not_equal", "bitwise_and", "bitwise_or", "bitwise_xor", "logical_and", "logical_or"),
    )
}


@pytest.mark.parametrize("isa", SETS)
@pytest.mark.parametrize("dtype", INTEGERS)
def test_two_operands(isa: str, dtype: str) -> None:
    x, y = draw((7, 45), dtype, 1), draw((45,), dtype, 2)
    trace = traced(isa, {"x": x, "y": y}, lambda m, a, b: [m(name, a, b) for name in BINARY])
    for got, (name, function) in zip(trace.outputs.values(), BINARY.items(), strict=True):
        same(got, np.asarray(function(x, y)), f"{name} of {dtype}")


@QUICK
@given(
    dtypes=st.tuples(*[st.sampled_from((*INTEGERS, "bool", "float32"))] * 2),
    isa=st.sampled_from(DRAWN),
    seed=st.integers(0, 99),
)
def test_promotion(dtypes: tuple[str, str], isa: str, seed: int) -> None:
    def one(dtype: str, seed: int) -> np.ndarray:
        return draw((5, 19), dtype, seed) if "int" in dtype else draw((5, 19), "int8", seed).astype(dtype)

    x, y = one(dtypes[0], seed), one(dtypes[1], seed + 1)
    names = ("add", "mul", "maximum", "less", "less_equal", "greater", "greater_equal", "equal", "not_equal")
    trace = traced(isa, {"x": x, "y": y}, lambda m, a, b: [m(name, a, b) for name in names])
    for got, name in zip(trace.outputs.values(), names, strict=True):
        if got.dtype.kind == "f" and name in ("add", "mul"):
            continue  # one rounding each; of other tests
        same(got, np.asarray(BINARY[name](x, y)), f"{name} of {dtypes}")


@pytest.mark.parametrize("isa", SETS)
@pytest.mark.parametrize("dtype", [*INTEGERS, "bool", "float32", "float64"])
def test_casts(isa: str, dtype: str) -> None:
    x = draw((4, 37), dtype, 3) if "int" in dtype else draw((4, 37), "int16", 3).astype(dtype)
    if dtype.startswith("float"):
        x = np.abs(x) * np.dtype(dtype).type(0.37)  # what fits into every target of 16 bits and more
    targets = [
        t
        for t in (*INTEGERS, "bool", "float32", "float64")
        if t != dtype and not (dtype.startswith("float") and t.endswith("int8"))
    ]
    trace = traced(isa, {"x": x}, lambda m, a: [m("cast", a, dtype=t) for t in targets])
    for got, target in zip(trace.outputs.values(), targets, strict=True):
        same(got, x.astype(target), f"{dtype} to {target}")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_large_floats_to_unsigned(dtype: str) -> None:
    x = np.array([0, 1.9, 255.9, 65535.5, 2.0**31, 2.0**32 - 512, 2.0**63, 2.0**63 + 2.0**41, 2.0**64 - 2.0**41], dtype)
    for target, bits in (("uint32", 32), ("uint64", 64)):
        fits = x[x < 2.0**bits]
        trace = run({"x": fits}, lambda m, a, t=target: [m("cast", a, dtype=t)])
        same(trace.outputs["out0"], fits.astype(target), target)


@pytest.mark.parametrize("isa", SETS)
@pytest.mark.parametrize("dtype", INTEGERS)
def test_one_operand(isa: str, dtype: str) -> None:
    x = draw((3, 41), dtype, 4)
    functions = {"neg": np.negative, "abs": np.abs, "sign": np.sign, "logical_not": np.logical_not}
    trace = traced(isa, {"x": x}, lambda m, a: [m(name, a) for name in functions])
    for got, (name, function) in zip(trace.outputs.values(), functions.items(), strict=True):
        same(got, np.asarray(function(x)), f"{name} of {dtype}")


@pytest.mark.parametrize("isa", SETS)
@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("axis", [0, 1])
def test_reductions(isa: str, dtype: str, axis: int) -> None:
    x = draw((9, 67), dtype, 5)
    functions = {"reduce_sum": np.sum, "reduce_prod": np.prod, "reduce_max": np.max, "reduce_min": np.min}

    def body(m: Any, a: Any) -> list[Any]:
        found = [m(name, a, axes=[axis], keepdims=False) for name in functions]
        return [*found, *(m(name, a, axis=axis) for name in ("argmax", "argmin", "argsort", "cumsum"))]

    outputs = list(traced(isa, {"x": x}, body).outputs.values())
    for got, (name, function) in zip(outputs, functions.items(), strict=False):
        same(got, np.asarray(function(x, axis=axis)), f"{name} of {dtype}")
    same(outputs[4], x.argmax(axis), "argmax")
    same(outputs[5], x.argmin(axis), "argmin")
    same(outputs[6], np.argsort(x, axis, kind="stable"), "argsort")
    same(outputs[7], np.cumsum(x, axis), "cumsum")


@pytest.mark.parametrize("isa", SETS)
@pytest.mark.parametrize("dtype", INTEGERS)
def test_products(isa: str, dtype: str) -> None:
    x, y = draw((2, 7, 33), dtype, 6), draw((33, 21), dtype, 7)

    def body(m: Any, a: Any, b: Any) -> list[Any]:
        turned = m("transpose", m("transpose", b, permutation=[1, 0]), permutation=[1, 0])
        return [m("matmul", a, b), m("matmul", a, turned), m("einsum", a, b, subscripts="bij,jk->bik")]

    for got in traced(isa, {"x": x, "y": y}, body).outputs.values():
        same(got, x @ y, f"product of {dtype}")


@pytest.mark.parametrize("dtype", INTEGERS)
def test_powers_and_choices(dtype: str) -> None:
    x, e = draw((60,), dtype, 8), (np.arange(60) % 70).astype(dtype)
    trace = run({"x": x, "e": e}, lambda m, a, b: [m("pow", a, b), m("where", m("less", a, b), a, b), m("concat", a, b, axis=0)])
    want = (np.power(x, e), np.where(x < e, x, e), np.concatenate([x, e]))
    for got, expected in zip(trace.outputs.values(), want, strict=True):
        same(got, expected, dtype)
    if dtype.startswith("int"):
        places = (np.arange(11) * 5 % 60).astype(dtype)
        gathered = run({"x": x, "i": places}, lambda m, a, i: [m("gather", a, i, axis=0)]).outputs["out0"]
        same(gathered, np.take(x, places), f"indices of {dtype}")
