"""Every opcode and operator of the seeds, one by one, and what was missing upstream: float scalars, pow, splat, a constant 0."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fleet.targets.bytecode import VM, ByteCodeModule, TypeCode
from fleet.targets.bytecode.contents import ArgumentSlot, OutputSlot
from fleet.targets.bytecode.hints import parse_type
from fleet.targets.bytecode.opcodes import OpCode as Op


def run(code: list[int], consts: list, outputs: dict[str, tuple[int, str, bool]], slots: int = 8, **inputs: np.ndarray):
    arguments = tuple(ArgumentSlot(n, "input", a.shape, a.dtype.name) for n, a in inputs.items())
    found = tuple(OutputSlot(n, s, t, scalar) for n, (s, t, scalar) in outputs.items())
    return VM(ByteCodeModule(consts, code, "python", slots, (), arguments, found)).run(inputs)


@pytest.mark.parametrize("value", range(-1, 6))
def test_integer_constants(value: int) -> None:
    found = run([Op.iconst_0 + value, Op.istore_0], [], {"v": (0, "i32", True)})["v"]
    assert (found, found.dtype) == (value, np.int32)


@pytest.mark.parametrize("value", range(3))
def test_float_constants(value: int) -> None:
    found = run([Op.fconst_0 + value, Op.fstore_0], [], {"v": (0, "f64", True)})["v"]
    assert (found, found.dtype) == (value, np.float64)


@pytest.mark.parametrize(("load", "store"), [(Op.iload, Op.istore), (Op.fload, Op.fstore), (Op.aload, Op.astore)])
@pytest.mark.parametrize("slot", range(6))
def test_loads_and_stores(load, store, slot) -> None:
    """Indexed and plain forms; the value goes round by another slot."""
    codes = [[store + 1 + slot], [load + 1 + slot]] if slot < 4 else [[store, slot], [load, slot]]
    found = run([Op.ldc, TypeCode.scalar, 0, *codes[0], *codes[1], store, 7], [40], {"v": (7, "i32", True)})["v"]
    assert found == 40


@pytest.mark.parametrize(
    ("name", "values", "types", "wanted"),
    [
        ("add", (1.5, 2.25), "dd_d", 3.75),
        ("sub", (1.5, 2), "di_d", -0.5),
        ("mul", (-1.5, 4.0), "dd_d", -6.0),
        ("div", (7, 2), "ii_d", 3.5),
        ("pow", (2.0, 0.5), "dd_d", math.sqrt(2)),
        ("pow", (3, 4), "ii_i", 81),
        ("pow", (2, -1), "ii_d", 0.5),
        ("add", (0, 0), "ii_i", 0),
        ("floor_div", (-7, 2), "ii_i", -4),
        ("mod", (-7.5, 2), "di_d", 0.5),
        ("neg", (2.5,), "d_d", -2.5),
        ("less", (1, 2.5), "id_b", True),
        ("equal", (1, 1.0), "id_b", True),
    ],
)
def test_scalar_arithmetic_is_pythons(name, values, types, wanted) -> None:
    spelled = {"d": "f64", "i": "i32", "b": "i1"}
    ins, _, out = types.partition("_")
    hint = f"device_{name}_sig_{types}_ins_{'_'.join(spelled[t] for t in ins)}_outs_{spelled[out]}"
    code = [word for i in range(len(values)) for word in (Op.ldc, TypeCode.scalar, i)]
    found = run([*code, Op.invokestatic, len(values), Op.fstore_0], [*values, hint], {"v": (0, spelled[out], True)})["v"]
    assert found == wanted
    assert found.dtype == parse_type(spelled[out])[1]


X = np.random.default_rng(5).uniform(0.5, 3, (4, 6)).astype(np.float32)
W = np.random.default_rng(6).uniform(-1, 1, (6, 2)).astype(np.float32)


@pytest.mark.parametrize(
    ("hint", "inputs", "wanted"),
    [
        ("mean_sig_r_r_ins_4x6xf32_outs_4x1xf32_axis_-1_keep_dims_True", (X,), X.mean(-1, keepdims=True)),
        ("var_sig_r_r_ins_4x6xf32_outs_4xf32_axis_1_keepdims_False", (X,), X.var(1)),
        ("max_sig_r_r_ins_4x6xf32_outs_6xf32_axes_0", (X,), X.max(0)),
        ("reduce_sum_sig_r_r_ins_4x6xf32_outs_f32", (X,), X.sum()),
        ("reduce_max_sig_r_r_ins_4x6xf32_outs_1x1xf32_axes_0_1_keepdims_True", (X,), X.max(keepdims=True)),
        ("reduce_sum_sig_r_r_ins_4x6xf32_outs_4x6xf32_keepdims_False", (X,), X),
        ("sqrt_sig_r_r_ins_4x6xf32_outs_4x6xf32", (X,), np.sqrt(X)),
        ("tanh_sig_r_r_ins_4x6xf32_outs_4x6xf32", (X,), np.tanh(X)),
        ("exp_sig_r_r_ins_4x6xf32_outs_4x6xf32", (X,), np.exp(X)),
        ("transpose_sig_r_r_ins_4x6xf32_outs_6x4xf32", (X,), X.T),
        ("matmul_sig_rr_r_ins_4x6xf32_6x2xf32_outs_4x2xf32", (X, W), X @ W),
        ("gather_sig_rr_r_ins_4x6xf32_2xi64_outs_2x6xf32", (X, np.array([3, 0])), X[[3, 0]]),
        ("slice_sig_r_r_ins_4x6xf32_outs_4x2xf32_start_0_1_size_4_2", (X,), X[:, 1:3]),
        ("concat_sig_rr_r_ins_4x6xf32_4x6xf32_outs_4x12xf32_axis_-1", (X, X), np.hstack([X, X])),
        ("reshape_sig_r_r_ins_4x6xf32_outs_3x8xf32", (X,), X.reshape(3, 8)),
        ("cast_sig_r_r_ins_4x6xf32_outs_4x6xi32", (X,), X.astype(np.int32)),
    ],
)
def test_operators_on_arrays(hint, inputs, wanted) -> None:
    code = [*[Op.aload_0, Op.aload_1][: len(inputs)], Op.invokestatic, 0, Op.astore_3]
    found = run(code, [f"device_{hint}"], {"v": (3, "f32", False)}, **{f"a{i}": a for i, a in enumerate(inputs)})["v"]
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)


def test_splat() -> None:
    code = [Op.ldc, TypeCode.scalar, 0, Op.invokestatic, 1, Op.astore_0]
    found = run(code, [0.5, "device_splat_sig_d_r_ins_f64_outs_2x3xf32"], {"v": (0, "2x3xf32", False)})["v"]
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, np.full((2, 3), 0.5, np.float32))
