"""Calls of NumPy's functions: their text, what a program may not say, and types that are NumPy's own."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.errors import ModelError
from fleet.ir.library.call import FAMILIES, CallOperand, LibraryCall, callable_names, is_callable
from fleet.ir.library.inference import ResultLeaf, results
from fleet.ir.shapes import UNKNOWN, InferenceError
from fleet.ir.types import tensor_type
from fleet.targets.bytecode.hints import DispatchHintParser
from fleet.targets.bytecode.operators import kernel

MATRIX = tensor_type((3, 4), "float64")
SQUARE = tensor_type((4, 4), "float64")

arguments = st.recursive(
    st.one_of(
        st.builds(CallOperand, st.integers(0, 3)), st.booleans(), st.integers(-(1 << 40), 1 << 40), st.none(),
        st.floats(allow_nan=False), st.sampled_from(["reflect", "it's", "a_b", "50%", ""]),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.lists(inner, max_size=3).map(tuple)),
    max_leaves=6,
)  # fmt: skip


@given(st.lists(arguments, max_size=4).map(tuple), st.dictionaries(st.sampled_from(["axis", "k", "mode"]), arguments, max_size=3))
def test_a_call_comes_back_from_its_text(positional, keywords) -> None:
    call = LibraryCall("percentile", positional, tuple(keywords.items()))
    again = LibraryCall.parse(str(call))
    assert (again, repr(again)) == (call, repr(call))  # repr tells True from 1 and -0.0 from 0.0


def test_infinity_and_nan_have_names() -> None:
    call = LibraryCall.parse("nan_to_num(x0, nan=nan, posinf=inf, neginf=-inf)")
    nan, high, low = (v for _, v in call.keywords)
    assert isinstance(nan, float)
    assert math.isnan(nan)
    assert (high, low) == (math.inf, -math.inf)


def test_every_name_is_a_function_of_numpy_that_says_what_it_takes() -> None:
    for name in (n for names in FAMILIES.values() for n in names.split()):
        assert is_callable(name)
        assert LibraryCall(name).function == name
    assert len({n for names in FAMILIES.values() for n in names.split()}) == sum(len(n.split()) for n in FAMILIES.values())
    assert {"load", "save", "fromfile", "genfromtxt", "frompyfunc", "vectorize", "apply_along_axis", "put"}.isdisjoint(
        callable_names()
    )


HOSTILE = [
    "__import__('os').system('true')",
    "load('weights.npy')",
    "save('x.npy', x0)",
    "fromfile('/etc/passwd')",
    "linalg.os.system('true')",
    "vectorize(x0)",
    "percentile(x0, [n for n in x0])",
    "percentile(x0, 50, lambda x: x)",
    "percentile(x0, 2 ** 100000)",
    "percentile( x0, 50)",
    "percentile(*x0)",
    "percentile(x0, **x1)",
    "median(x0, overwrite_input=True)",
    "nan_to_num(x0, copy=False)",
    "sum(x0, 0, None, x0)",
    "add(x0, x0, x0)",
    "add(x0, x0, where=x0)",
    "add.at(x0, 0, 1)",
    "add.reduce(x0, 0, None, x0)",
    "sum(x0, out=3)",
    "sum(x1)",
    "sum(x0, axis=" + "(" * 3000 + ")" * 3000 + ")",
    "(" * 90 + "x0" + ")" * 90,
    "sum",
    "",
    "sum(x0",
    "\0",
    "sum(x0, dtype='O')",
    "sum(x0, dtype='U1000000000')",
    "pad(x0, 1000000000)",
    "tile(x0, 1000000000)",
    "repeat(x0, 1000000000)",
    "resize(x0, (100000, 100000))",
    "histogram(x0, bins=1000000000)",
    "vander(x0, 1000000000)",
    "linalg.matrix_power(x0, 1000000000000)",
    "broadcast_to(x0, (1000000, 1000000, 3, 4))",
    "diff(x0, n=1000000000)",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_what_a_program_may_not_call_is_refused(text: str) -> None:
    with pytest.raises(InferenceError):
        results(text, [MATRIX])


CALLS = [
    "percentile(x0, [25, 50], axis=0)", "pad(x0, ((1, 2), (0, 1)), mode='edge')", "linalg.svd(x0)[1]", "sum(x0, dtype='float32')",
    "histogram(x0, bins=5, range=(-1, 1))", "add(x0, x1, out=x1)", "tile(x0, (2, 3))", "bincount(x0, minlength=9)",
]  # fmt: skip


@settings(deadline=None, max_examples=100)
@given(st.sampled_from(CALLS), st.data())
def test_a_text_that_somebody_changed_is_a_call_or_refused(text: str, data) -> None:
    """Bounded in memory and time, too: numbers become large by a digit."""
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        text = text[:at] + data.draw(st.sampled_from("0987x1,()[]=.'_- ae")) + text[at + data.draw(st.integers(0, 1)) :]
    try:
        results(text, [MATRIX, MATRIX][: 1 + ("x1" in text)])
    except InferenceError:
        return


@pytest.mark.parametrize("text", ["load('weights.npy')", "pad(x0, 1000000000)", "sum(x0, axis=0)", "sum(x0, dtype='O')"])
def test_the_vm_believes_no_hint(text: str) -> None:
    escaped = text.replace("_", "%5F").replace("'", "%27")
    info = DispatchHintParser(f"device_numpy_sig_r_r_ins_3x4xf64_outs_3xf64_call_'{escaped}'").parse()
    with pytest.raises(ModelError):
        kernel(info)


def test_a_result_that_is_not_of_its_type_is_an_error() -> None:
    """A matrix without a null space has no residual: how many there are, values decide."""
    run = kernel(DispatchHintParser("device_numpy_sig_r_r_ins_3x3xf64_outs_?xf64_call_'unique(x0)'").parse())
    assert run(np.eye(3)).tolist() == [0, 1]
    with pytest.raises(ValueError, match="operand 0 has the shape"):
        run(np.eye(4))


@pytest.mark.parametrize(
    ("text", "operand", "dtype", "shape"),
    [
        ("unique(x0)", MATRIX, "float64", (UNKNOWN,)),
        ("argwhere(x0)", MATRIX, "int64", (UNKNOWN, 2)),
        ("bincount(x0)", tensor_type((9,), "int64"), "int64", (UNKNOWN,)),
        ("linalg.inv(x0)", tensor_type((4000, 4000), "float32"), "float32", (4000, 4000)),
        ("percentile(x0, 50, axis=0)", tensor_type((100000, 300), "float32"), "float32", (300,)),
        ("diagonal(x0, offset=100)", tensor_type((1000, 1000), "float32"), "float32", (900,)),
        ("sort(x0)", tensor_type((-1, 4), "int8"), "int8", (UNKNOWN, 4)),
        ("cumprod(x0)", tensor_type((-1, 4), "int8"), "int64", (UNKNOWN,)),
        ("mean(x0, axis=1, dtype='float32')", tensor_type((-1, 4), "int8"), "float32", (UNKNOWN,)),
    ],
)
def test_shapes_that_are_large_or_unknown(text: str, operand, dtype: str, shape) -> None:
    found = results(text, [operand])
    assert isinstance(found, ResultLeaf)
    assert (found.shape, found.dtype) == (shape, np.dtype(dtype))


def test_whose_memory_a_result_may_be() -> None:
    assert results("rot90(x0)", [MATRIX]).shares == 0
    assert results("flip(x0)", [MATRIX]).shares == 0
    assert results("sort(x0)", [MATRIX]).shares is None
    assert results("add(x0, x1, out=x1)", [MATRIX, MATRIX]).shares is None


FUNCTIONS = [
    *(f"{name}(x0, axis={{a}})" for name in ("sum", "sort", "cumprod", "flip", "nanmean", "diff", "linalg.norm")),
    "percentile(x0, 30, axis={a})",
    "rot90(x0, axes=({a}, -1))",
]


@settings(deadline=None)
@given(
    st.sampled_from(FUNCTIONS), st.integers(0, 2),
    st.lists(st.sampled_from([1, 2, 17, 19, 60]), min_size=3, max_size=3),
    st.sampled_from(["float32", "float64", "int16", "bool"]),
)  # fmt: skip
def test_types_are_numpys(function: str, axis: int, shape: list[int], dtype: str) -> None:
    text = function.format(a=axis)
    x = (np.random.default_rng(1).random(shape) * 3).astype(dtype)
    call = LibraryCall.parse(text)
    try:
        expected = np.asarray(call.run([x]))
    except (TypeError, ValueError):
        with pytest.raises(InferenceError):
            results(text, [tensor_type(shape, dtype)])
        return
    found = results(text, [tensor_type(shape, dtype)])
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    unknown = results(text, [tensor_type([-1, *shape[1:]], dtype)])
    assert unknown.dtype == expected.dtype
    assert all(u in (UNKNOWN, n) for u, n in zip(unknown.shape, expected.shape, strict=True))


def test_examples_of_many_unknown_dimensions_fit_into_memory() -> None:
    (leaf,) = [results("inner(x0, x0)", [tensor_type((-1,) * 6, np.dtype(np.int32))])]
    assert leaf.shape == (-1,) * 10
    (leaf,) = [results("outer(x0, x1)", [tensor_type((-1,) * 4, np.dtype(np.float64))] * 2)]
    assert leaf.shape == (-1, -1)
    with pytest.raises(InferenceError, match="too many large or unknown dimensions"):
        results("inner(x0, x0)", [tensor_type((-1,) * 16, np.dtype(np.int32))])


@pytest.mark.parametrize("shape", [(0, 0), (0, 2), (2, 0)])
def test_a_take_that_numpy_never_ends_is_refused(shape: tuple[int, ...]) -> None:
    axis = shape.index(0)
    for text in (f"take(x0, [5, -9], axis={axis}, mode='wrap')", "take(x0, [5], mode='wrap')"):
        with pytest.raises(IndexError, match="empty axis"):
            LibraryCall.parse(text).run([np.zeros(shape)])
    assert LibraryCall.parse("take(x0, [4], axis=0, mode='wrap')").run([np.zeros((3, 0))]).shape == (1, 0)
