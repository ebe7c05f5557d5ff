"""Every operation through mlir-opt against NumPy: equal bits where both round each step once, a few ULPs for functions."""

from __future__ import annotations

import numpy as np
import pytest
from mlir_models import draw, model, near, needs_tools, results, same
from xdsl.dialects.builtin import f64, i64

from fleet.engines.base import RunOptions
from fleet.engines.vm import ENGINE as VM
from fleet.ir.types import tensor_type

pytestmark = [needs_tools, pytest.mark.filterwarnings("ignore::RuntimeWarning")]
FLOATS = ("float16", "float32", "float64")
DTYPES = (*FLOATS, "int32", "int64", "bool")
ARITHMETIC = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.true_divide, "maximum": np.maximum, "minimum": np.minimum,
}  # fmt: skip


@pytest.mark.parametrize("left", DTYPES)
def test_arithmetic_with_broadcasting_and_promotion(left: str) -> None:
    rights = ("float16", "float64", "int32", "int64", "bool")
    x, *others = draw((3, 1, 4), left, 1, special=True), *(draw((5, 4), right, 2, special=True) for right in rights)
    cases = [(n, i) for n in ARITHMETIC for i, right in enumerate(rights) if not (n == "sub" and left == right == "bool")]
    found = results(lambda m, a, *b: [m(n, a, b[i]) for n, i in cases], x, *others)
    for (name, i), got in zip(cases, found, strict=True):
        same(got, np.asarray(ARITHMETIC[name](x, others[i])))


@pytest.mark.parametrize("dtype", DTYPES)
def test_casts_negation_and_magnitude(dtype: str) -> None:
    x = draw((4, 5), dtype, 3, special=True)
    others = [t for t in (*DTYPES, "int8") if t != dtype and not (x.dtype.kind == "f" and t in ("int8",))]
    signed = dtype != "bool"
    found = results(lambda m, a: [m("cast", a, dtype=t) for t in others] + [m(n, a) for n in ("neg", "abs") if signed], x)
    for got, other in zip(found, others, strict=False):
        if x.dtype.kind == "f" and other.startswith("int"):  # NumPy on x86-64 gives the smallest integer for what does not fit
            limits = np.iinfo(other)
            wide = x.astype(np.float64)
            fits = (wide > limits.min - 1.0) & (wide < limits.max + 1.0)
            same(got, np.where(fits, np.where(fits, x, 0).astype(other), limits.min).astype(other))
        else:
            same(got, x.astype(other))
    if signed:
        same(found[-2], np.negative(x))
        same(found[-1], np.abs(x))


@pytest.mark.parametrize("dtype", FLOATS)
def test_functions(dtype: str) -> None:
    x = draw((64,), dtype, 4, special=True)
    names = {"sqrt": np.sqrt, "exp": np.exp, "log": np.log, "tanh": np.tanh}
    found = results(lambda m, a: [m(n, a) for n in names], x)
    for (name, function), got in zip(names.items(), found, strict=True):
        near(got, function(x), 0 if name == "sqrt" else 4)


@pytest.mark.parametrize("dtype", FLOATS)
def test_powers(dtype: str) -> None:
    x, y = draw((40,), dtype, 5, special=True), draw((40,), dtype, 6, special=True)
    (got, squared) = results(lambda m, a, b: [m("pow", a, b), m("pow", a, m.constant(2, i64))], x, y)
    near(got, np.power(x, y), 4)
    near(squared, x**2, 1)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_integer_powers_wrap(dtype: str) -> None:
    x, y = draw((40,), dtype, 7), np.abs(draw((40,), "int32", 8)).astype(dtype)
    same(results(lambda m, a, b: m("pow", a, b), x, y)[0], np.power(x, y))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64"])
def test_reductions(dtype: str) -> None:
    x = np.random.default_rng(9).integers(-8, 8, (3, 4, 5)).astype(dtype)  # sums are exact in any order
    functions = {"reduce_sum": np.sum, "reduce_max": np.max, "mean": np.mean, "var": np.var}
    cases = [(n, axes, keep) for n in functions for axes in ([0], [1], [2], [0, 2], [0, 1, 2]) for keep in (False, True)]
    found = results(lambda m, a: [m(n, a, axes=axes, keepdims=keep) for n, axes, keep in cases], x)
    for (name, axes, keep), got in zip(cases, found, strict=True):
        want = np.asarray(functions[name](x, axis=tuple(axes), keepdims=keep))
        near(got, want, 8) if name == "var" else same(got, want)


def test_maxima_keep_nan_and_infinities() -> None:
    x = np.array([[1, np.nan, 3], [-np.inf, -np.inf, -np.inf], [np.inf, 2, -0.0]], np.float32)
    maximum, place = results(lambda m, a: [m("reduce_max", a, axes=[1], keepdims=False), m("argmax", a, axis=1)], x)
    same(maximum, x.max(1))
    same(place, x.argmax(1))


@pytest.mark.parametrize("dtype", DTYPES)
def test_argmax_ties_and_nan(dtype: str) -> None:
    x = draw((5, 6), dtype, 10, special=True)
    if x.dtype.kind == "i":
        x[:] = np.iinfo(dtype).min
    for axis, got in zip((0, 1, -1), results(lambda m, a: [m("argmax", a, axis=n) for n in (0, 1, -1)], x), strict=True):
        same(got, x.argmax(axis))


PRODUCTS = [
    *(((3, 4), (4, 5)), ((2, 3, 4), (4, 5)), ((3, 4), (2, 4, 5)), ((2, 1, 3, 4), (5, 4, 2)), ((1, 7), (7, 1)), ((2, 0), (0, 3))),
]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "int64"])
def test_products(dtype: str) -> None:
    rng = np.random.default_rng(11)
    pairs = [(rng.integers(-8, 8, left).astype(dtype), rng.integers(-8, 8, right).astype(dtype)) for left, right in PRODUCTS]
    flat = [array for pair in pairs for array in pair]
    found = results(lambda m, *a: [m("matmul", x, y) for x, y in zip(a[::2], a[1::2], strict=True)], *flat)
    for (x, y), got in zip(pairs, found, strict=True):
        same(got, x @ y)


def test_products_of_two_dtypes() -> None:
    x, y = draw((3, 4), "float32", 12), draw((4, 5), "float64", 13)
    np.testing.assert_allclose(results(lambda m, a, b: m("matmul", a, b), x, y)[0], x @ y, rtol=1e-13)


@pytest.mark.parametrize("dtype", DTYPES)
def test_movement(dtype: str) -> None:
    x = draw((4, 5, 6), dtype, 14, special=True)
    found = results(
        lambda m, a: [
            m("transpose", a, permutation=[2, 0, 1]),
            m("reshape", a, shape=[10, 12]),
            m("reshape", m("transpose", a, permutation=[1, 0, 2]), shape=[120]),
            m("slice", a, start=[1, 0, 2], size=[2, 5, 3]),
            m("concat", m("slice", a, start=[1, 0, 0], size=[2, 5, 6]), a, axis=0),
            m("concat", a, a, a, axis=2),
            m("reshape", m("slice", a, start=[1, 2, 3], size=[1, 1, 1]), shape=[]),
        ],
        x,
    )
    wanted = [
        x.transpose(2, 0, 1), x.reshape(10, 12), x.transpose(1, 0, 2).reshape(-1), x[1:3, :, 2:5],
        np.concatenate([x[1:3], x]), np.concatenate([x, x, x], 2), np.asarray(x[1, 2, 3]),
    ]  # fmt: skip
    for got, want in zip(found, wanted, strict=True):
        same(got, want)


def test_concat_promotes() -> None:
    x, y = draw((2, 3), "float32", 15), draw((2, 3), "int64", 16)
    same(results(lambda m, a, b: m("concat", a, b, axis=1), x, y)[0], np.concatenate([x, y], 1))


@pytest.mark.parametrize("index", ["int32", "int64"])
def test_gather_counts_from_the_end(index: str) -> None:
    x, places = draw((7, 3), "float32", 17), np.array([[0, 6, -1], [-7, 3, 3]], index)
    same(results(lambda m, a, b: m("gather", a, b), x, places)[0], x[places])


@pytest.mark.parametrize("dtype", DTYPES)
def test_constants_and_python_numbers(dtype: str) -> None:
    x = draw((3, 4), dtype, 18)
    full = tensor_type((3, 4), "float32")
    number = 3 if x.dtype.kind == "i" else 0.1
    type_ = i64 if x.dtype.kind == "i" else f64
    found = results(
        lambda m, a: [
            m("mul", a, m.constant(number, type_)),
            m("add", a, m.constant(0.25, full)),
            m.constant(7, tensor_type((2, 2), "int64")),
            m("sqrt", m.constant(2.0, f64)),
            m("mul", a, m("div", m.constant(1, i64), m.constant(3, i64))),
        ],
        x,
    )
    wanted = [x * number, x + np.full((3, 4), 0.25, np.float32), np.full((2, 2), 7), np.asarray(np.sqrt(2.0)), x * (1 / 3)]
    for got, want in zip(found, wanted, strict=True):
        same(got, want)


@pytest.mark.parametrize("shape", [(0,), (3, 0, 2), (), (1,), (1, 1)])
def test_empty_and_single_shapes(shape: tuple[int, ...]) -> None:
    x = draw(shape, "float32", 19)
    found = results(lambda m, a: [m("add", a, a), m("reshape", a, shape=[x.size]), m("reduce_sum", a, axes=[], keepdims=False)], x)
    for got, want in zip(found, [np.asarray(x + x), x.reshape(-1), x], strict=True):
        same(got, want)


COMPARISONS = {
    "less": np.less, "less_equal": np.less_equal, "greater": np.greater, "greater_equal": np.greater_equal, "equal": np.equal,
    "not_equal": np.not_equal, "logical_and": np.logical_and, "logical_or": np.logical_or,
}  # fmt: skip


@pytest.mark.parametrize("left", DTYPES)
def test_comparisons_and_logic(left: str) -> None:
    x = draw((6, 7), left, 20, special=True)
    others = [draw((7,), right, 21, special=True) for right in ("float32", "int64", "bool")]
    for y in others:
        y[:3] = x[0, :3].astype(y.dtype)
    cases = [(n, i) for n in COMPARISONS for i in range(3)]
    found = results(lambda m, a, *b: [m(n, a, b[i]) for n, i in cases] + [m("logical_not", a), m("isnan", a)], x, *others)
    for (name, i), got in zip(cases, found, strict=False):
        same(got, COMPARISONS[name](x, others[i]))
    same(found[-2], np.logical_not(x))
    same(found[-1], np.isnan(x))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "int64"])
def test_floor_division_and_remainder(dtype: str) -> None:
    x, y = draw((200,), dtype, 22, special=True), draw((200,), dtype, 23, special=True)
    y[::7] = 0
    if x.dtype.kind == "i":
        x[:2], y[:2] = np.iinfo(dtype).min, -1
    floor, rest = results(lambda m, a, b: [m("floor_div", a, b), m("mod", a, b)], x, y)
    same(floor, np.floor_divide(x, y))
    same(rest, np.remainder(x, y))


@pytest.mark.parametrize("dtype", [*DTYPES, "int8"])
def test_rounding_and_sign(dtype: str) -> None:
    x = draw((60,), dtype, 24, special=True)
    names = [n for n in ("floor", "ceil", "rint", "sign") if not (n == "sign" and dtype == "bool")]
    for name, got in zip(names, results(lambda m, a: [m(n, a) for n in names], x), strict=True):
        same(got, getattr(np, name)(x))


@pytest.mark.parametrize("dtype", FLOATS)
def test_more_functions(dtype: str) -> None:
    from math import erf

    x = draw((64,), dtype, 25, special=True)
    x[np.abs(x) > 1e4] = 0.5  # sines of large float16 and float32 arguments differ by their reduction
    names = ("sin", "cos", "log1p", "expm1")
    found = results(lambda m, a: [m(n, a) for n in (*names, "erf", "rsqrt")], x)
    for name, got in zip(names, found, strict=False):
        near(got, getattr(np, name)(x), 4)
    near(found[-2], np.array([erf(float(v)) for v in x]).astype(dtype), 4)
    near(found[-1], (1 / np.sqrt(x)).astype(dtype), 1)


@pytest.mark.parametrize("dtype", DTYPES)
def test_more_reductions(dtype: str) -> None:
    x = np.random.default_rng(26).integers(-2, 3, (2, 3, 4)).astype(dtype)
    functions = {"reduce_min": np.min, "reduce_max": np.max, "reduce_prod": np.prod, "reduce_any": np.any, "reduce_all": np.all}
    cases = [(n, axes) for n in functions for axes in ([0], [1, 2], [0, 1, 2])]
    found = results(lambda m, a: [m(n, a, axes=axes, keepdims=True) for n, axes in cases], x)
    for (name, axes), got in zip(cases, found, strict=True):
        same(got, np.asarray(functions[name](x, axis=tuple(axes), keepdims=True)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_running_sums_and_argmin(dtype: str) -> None:
    x = np.random.default_rng(27).integers(-2, 3, (2, 3, 4)).astype(dtype)
    found = results(lambda m, a: [m(n, a, axis=axis) for axis in range(3) for n in ("cumsum", "argmin")], x)
    for axis in range(3):
        same(found[2 * axis], np.cumsum(x, axis))
        same(found[2 * axis + 1], np.argmin(x, axis))


@pytest.mark.parametrize("dtype", ["float16", "float64", "int32", "bool"])
def test_choices_windows_and_padding(dtype: str) -> None:
    x, y, c = draw((4, 6), dtype, 28), draw((6,), dtype, 29), draw((4, 1), "bool", 30)
    fill = draw((), dtype, 31)
    places = np.array([[5, -6], [0, 2]], np.int64)
    found = results(
        lambda m, a, b, k, f, p: [
            m("where", k, a, b),
            m("where", a, a, m.constant(2, i64)) if dtype != "bool" else m("where", a, a, k),
            m("slice", a, start=[3, 5], size=[2, 3], step=[-3, -2]),
            m("slice", a, start=[0, 1], size=[2, 2], step=[2, 4]),
            m("gather", a, p, axis=1),
            m("broadcast_to", b, shape=[3, 4, 6]),
            m("pad", a, f, low=[1, 0], high=[0, 2]),
        ],
        x, y, c, fill, places,
    )  # fmt: skip
    wanted = [
        np.where(c, x, y), np.where(x, x, 2 if dtype != "bool" else c), x[3::-3, 5:0:-2], x[0:4:2, 1:6:4], np.take(x, places, 1),
        np.broadcast_to(y, (3, 4, 6)), np.pad(x, ((1, 0), (0, 2)), constant_values=fill),
    ]  # fmt: skip
    for got, want in zip(found, wanted, strict=True):
        same(got, want)


@pytest.mark.parametrize(
    ("subscripts", "shapes"),
    [
        ("ij,jk->ik", [(3, 4), (4, 5)]),
        ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]),
        ("nhd,mhd->hnm", [(3, 2, 4), (5, 2, 4)]),
        ("ii->i", [(4, 4)]),
        ("ij->", [(3, 4)]),
        ("ij->ji", [(3, 4)]),
        ("i,j->ij", [(3,), (4,)]),
        ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 2)]),
        ("ij,ij->i", [(3, 4), (1, 4)]),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_einsum(subscripts: str, shapes: list[tuple[int, ...]], dtype: str) -> None:
    arrays = [np.random.default_rng(32 + i).integers(-8, 8, s).astype(dtype) for i, s in enumerate(shapes)]
    same(results(lambda m, *a: m("einsum", *a, subscripts=subscripts), *arrays)[0], np.einsum(subscripts, *arrays))


def test_python_numbers_compare_and_divide_as_python_does() -> None:
    pairs = [(7, 3), (-7, 3), (7, -3), (-7.5, 2.0), (7.5, -2.0)]

    def body(m, a):
        made = []
        for x, y in pairs:
            type_ = i64 if isinstance(x, int) else f64
            p, q = m.constant(x, type_), m.constant(y, type_)
            made += [m(n, p, q) for n in ("floor_div", "mod", "less", "div")]
        return made

    found = results(body, draw((1,), "float32", 33))
    wanted = [v for x, y in pairs for v in (x // y, x % y, x < y, x / y)]
    assert [v.item() for v in found] == wanted


def test_sizes_as_numbers() -> None:
    x = draw((3, 5), "float32", 34)
    assert results(lambda m, a: m("dim", a, axis=0), x, shapes=[(-1, 5)])[0].item() == 3


@pytest.mark.parametrize("value", [2.75, -2.75, 0.0])
@pytest.mark.parametrize("number", ["int", "float", "bool"])
def test_an_elements_number(value: float, number: str) -> None:
    x = np.full((1, 1), value, np.float32)
    (found,) = results(lambda m, a: m("item", a, number=number), x)
    assert found.item() == {"int": int, "float": float, "bool": bool}[number](value)


@pytest.mark.parametrize("rows", [4, 7])
def test_windows_into_unknown_sizes(rows: int) -> None:
    x = draw((rows, 3), "float32", 35)
    found = results(
        lambda m, a: [
            m("slice", a, start=[1, 0], size=[-1, 3]),
            m("slice", a, start=[1, 0], size=[-1, 3], step=[2, 1]),
            m("slice", a, start=[-1, 0], size=[-1, 3], step=[-1, 1]),
            m("slice", a, start=[-2, 2], size=[-1, 2], step=[-2, -1]),
            m("slice", a, start=[-2, 0], size=[2, 3]),
            m("reshape", a, shape=[-1]),
        ],
        x, shapes=[(-1, 3)],
    )  # fmt: skip
    wanted = [x[1:], x[1::2], x[::-1], x[-2::-2, 2:0:-1], x[-2:], x.reshape(-1)]
    for got, want in zip(found, wanted, strict=True):
        same(got, want)


@pytest.mark.parametrize("sizes", [(1, 4), (4, 1), (4, 4), (1, 1)])
def test_unknown_sizes_of_one_broadcast(sizes: tuple[int, int]) -> None:
    x, y, z = (draw((s, 3), "float32", 36 + i) for i, s in enumerate((*sizes, 4)))
    both, fixed = results(lambda m, a, b, c: [m("add", a, b), m("mul", a, c)], x, y, z, shapes=[(-1, 3), (-1, 3), (4, 3)])
    same(both, x + y)
    same(fixed, x * z)


def composite(name: str, dtype: str):
    """Arguments and attributes of a composite."""
    x = draw((4, 8), dtype, 40).clip(-8, 8)
    row = draw((8,), dtype, 41).clip(-2, 2)
    angles = np.random.default_rng(42).random((4, 4)).astype(dtype)
    w = (np.random.default_rng(43).standard_normal((8, 8)) / 3).astype(dtype)
    return {
        "softmax": ([x], {"axis": -1}),
        "layer_norm": ([x, row, row], {"eps": 1e-5}),
        "rms_norm": ([x, row], {"eps": 1e-5}),
        "gelu": ([x], {"approximate": "tanh"}),
        "gelu_erf": ([x], {"approximate": "erf"}),
        "silu": ([x], {}),
        "sigmoid": ([x], {}),
        "rope": ([x, np.cos(angles), np.sin(angles)], {"interleaved": False}),
        "rope_pairs": ([x, np.cos(angles), np.sin(angles)], {"interleaved": True}),
        "linear": ([x, w, row, x], {"bias": True, "residual": True, "activation": "gelu_tanh"}),
        "attention": ([x, x[:, :4], x[:, 4:]], {"heads": 4, "kv_heads": 2, "scale": 0.5, "causal": True}),
        "attention_mask": ([x, x, x, angles], {"heads": 2, "kv_heads": 2, "scale": 0.5, "causal": False}),
        "attention_sequences": ([np.stack([x, -x])] * 3, {"heads": 2, "kv_heads": 2, "scale": 0.5, "causal": True}),
    }[name]


COMPOSITES = (
    *("softmax", "layer_norm", "rms_norm", "gelu", "gelu_erf", "silu", "sigmoid", "rope", "rope_pairs", "linear"),
    *("attention", "attention_mask", "attention_sequences"),
)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", COMPOSITES)
def test_composites(name: str, dtype: str) -> None:
    arrays, attributes = composite(name, dtype)
    kind = name.removesuffix("_erf").removesuffix("_pairs").removesuffix("_mask").removesuffix("_sequences")
    given = {f"x{i}": np.ascontiguousarray(a) for i, a in enumerate(arrays)}

    def body(m, *a):
        return m(kind, *a, **attributes)

    golden = VM.run(model(given, body), given, RunOptions()).outputs["out0"]
    (got,) = results(body, *given.values())
    assert got.dtype == golden.dtype == dtype
    np.testing.assert_allclose(got, golden, rtol=64 * np.finfo(dtype).eps, atol=16 * np.finfo(dtype).eps)
