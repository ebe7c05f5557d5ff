"""The generated function against the same steps one by one: every bit, every place of an error, and what it joins."""

from __future__ import annotations

import operator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.errors import ModelError
from fleet.frontend.source import load
from fleet.targets.bytecode import VM, ByteCodeConverter, ByteCodeModule
from fleet.targets.bytecode.contents import ArgumentSlot, OutputSlot
from fleet.targets.bytecode.decode import decode
from fleet.targets.bytecode.generated.steps import SYMBOLS
from fleet.targets.bytecode.generated.vectors import with_vectors
from fleet.targets.bytecode.opcodes import OpCode as Op

DTYPES = ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")


def product(left: str, right: str, m: int, n: int, p: int) -> ByteCodeModule:
    """`left` and `right` are "vector" or "matrix": [m, n] times [n, p], or vectors of n that are reshaped into them."""
    code: list[int] = []
    consts: list[str] = []
    sides = []
    for slot, (kind, rows, columns) in enumerate(((left, m, n), (right, n, p))):
        code += [Op.aload, slot]
        if kind == "vector":
            consts.append(f"device_reshape_sig_r_r_ins_{n}xf64_outs_{rows}x{columns}xf64")
            code += [Op.invokestatic, len(consts) - 1]
        sides.append(f"{rows}x{columns}xf64")
    consts.append(f"device_matmul_sig_rr_r_ins_{sides[0]}_{sides[1]}_outs_{m}x{p}xf64")
    kept = [*([] if left == "vector" else [m]), *([] if right == "vector" else [p])]
    out = "x".join([*map(str, kept), "f64"])
    consts.append(f"device_reshape_sig_r_r_ins_{m}x{p}xf64_outs_{out}")
    code += [Op.invokestatic, len(consts) - 2, Op.invokestatic, len(consts) - 1, Op.astore, 2]
    names = tuple(f"op{i}" for i in range(len(consts)))
    shapes = ((n,) if left == "vector" else (m, n), (n,) if right == "vector" else (n, p))
    arguments = tuple(ArgumentSlot(name, "input", shape, "float64") for name, shape in zip("ab", shapes, strict=True))
    return ByteCodeModule(consts, code, "python", 3, names, arguments, (OutputSlot("y", 2, out),))


def laid(rng: np.random.Generator, shape: tuple[int, ...], how: str) -> np.ndarray:
    """An array of the shape in some layout of memory."""
    if how == "every other":
        return rng.standard_normal((*shape[:-1], 2 * shape[-1]))[..., ::2]
    if how == "backwards":
        return rng.standard_normal(shape)[..., ::-1]
    if how == "turned":
        return rng.standard_normal(shape[::-1]).T
    return rng.standard_normal(shape)


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_products_with_vectors_are_one_call_with_the_same_bits(data: st.DataObject) -> None:
    left, right = data.draw(st.sampled_from([("vector", "matrix"), ("matrix", "vector"), ("vector", "vector")]))
    m, n, p = (data.draw(st.integers(1, 40)) for _ in range(3))
    m, p = 1 if left == "vector" else m, 1 if right == "vector" else p
    module = product(left, right, m, n, p)
    (block,) = decode(module, {}, print).blocks
    assert len(with_vectors(block).steps) == 1
    assert len(block.steps) == 2 + (left, right).count("vector")
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    layouts = st.sampled_from(["plain", "every other", "backwards", "turned"])
    inputs = {a.name: laid(rng, a.shape, data.draw(layouts)) for a in module.arguments}
    vm = VM(module)
    tensors: dict[str, np.ndarray] = {}
    apart = vm.run(inputs, tensors=tensors)["y"]
    assert len(tensors) == len(block.steps)
    joined = vm.run(inputs)["y"]
    expected = inputs["a"] @ inputs["b"]
    assert joined.tobytes() == apart.tobytes() == np.asarray(expected).tobytes()
    assert joined.shape == apart.shape == np.shape(expected)


def test_a_product_whose_matrix_is_used_again_stays_apart() -> None:
    module = product("matrix", "vector", 3, 4, 1)
    code = [Op.aload, 1, Op.invokestatic, 0, Op.astore, 3, Op.aload, 0, Op.aload, 3, *module.code[6:]]
    outputs = (*module.outputs, OutputSlot("column", 3, "4x1xf64"))
    seen = ByteCodeModule(module.consts, code, "python", 4, module.invokes, module.arguments, outputs)
    (block,) = decode(seen, {}, print).blocks
    assert with_vectors(block) is block
    inputs = {"a": np.arange(12.0).reshape(3, 4), "b": np.arange(4.0)}
    found = VM(seen).run(inputs)
    np.testing.assert_array_equal(found["y"], inputs["a"] @ inputs["b"])
    np.testing.assert_array_equal(found["column"], inputs["b"][:, None])


UFUNCS = [f for f in SYMBOLS if isinstance(f, np.ufunc) and f is not np.matmul]


@pytest.mark.parametrize("function", UFUNCS, ids=lambda f: f.__name__)
def test_an_operator_gives_the_bits_of_its_ufunc(function: np.ufunc) -> None:
    """NumPy scalars and arrays of every dtype that a program may have, with each other and with Python's numbers."""
    rng = np.random.default_rng(0)
    by_symbol = {s: f for f, s in SYMBOLS.items() if not isinstance(f, np.ufunc)}[SYMBOLS[function]]
    special = np.array([0.0, -0.0, 1.0, -1.0, 3.0, 0.1, np.inf, -np.inf, np.nan, 1e-8, 6e4])
    compared = 0
    with np.errstate(all="ignore"):
        for dtype in DTYPES:
            kind = np.dtype(dtype)
            known = special if kind.kind == "f" else [np.iinfo(kind).min, np.iinfo(kind).max, 0, 1, 7]
            values = np.array(known, dtype)
            numbers = [3, 0, 0.1, float("inf"), True, np.bool_(True), np.float32(0.1), np.int64(-3)]
            others = [*values, *numbers, rng.permutation(values)]
            for x in [*values, values]:
                for y in others:
                    for a, b in ((x, y), (y, x)):
                        try:
                            expected = function(a, b)
                        except (OverflowError, TypeError) as error:
                            with pytest.raises(type(error)):
                                by_symbol(a, b)
                            continue
                        found = by_symbol(a, b)
                        assert type(found) is type(expected), (a, b)
                        assert np.asarray(found).dtype == np.asarray(expected).dtype, (a, b)
                        assert np.asarray(found).tobytes() == np.asarray(expected).tobytes(), (a, b)
                        compared += 1
    assert compared > 1000


def test_the_table_has_pythons_own_operators() -> None:
    for function, symbol in SYMBOLS.items():
        if not isinstance(function, np.ufunc):
            assert eval(f"7{symbol}2") == function(7, 2)
    assert SYMBOLS[np.subtract] == SYMBOLS[operator.sub] == "-"


TEXT = """import numpy as np
def forward(x: "f64[6, 6]", n: "i64[]"):
    total = np.zeros(6)
    k = 0
    while total.max() < 40 and k < n:
        total = total + x @ total + np.abs(x[k % 6])
        if total[0] > 3:
            total = total * 0.75
        k += 1
    return total, k
"""


def test_loops_and_decisions_give_the_bits_of_single_steps(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text(TEXT)
    scope: dict[str, Any] = {}
    exec(TEXT, scope)
    x = np.random.default_rng(3).standard_normal((6, 6)) * 0.4
    vm = VM(ByteCodeConverter(load(f"{path}:forward", {}, {"x": x, "n": np.array(50)})).convert())
    for n in (0, 1, 2, 50):
        inputs = {"x": x, "n": np.array(n)}
        tensors: dict[str, np.ndarray] = {}
        apart, joined = vm.run(inputs, tensors=tensors), vm.run(inputs)
        for found, same, expected in zip(apart.values(), joined.values(), scope["forward"](x, n), strict=True):
            assert found.tobytes() == same.tobytes() == np.asarray(expected).tobytes()


def test_an_error_names_the_step_in_the_generated_function() -> None:
    fails = "device_concat_sig_rr_r_ins_?xf64_2x2xf64_outs_?x2xf64_axis_0"
    add = "device_add_sig_rr_r_ins_?xf64_?xf64_outs_?xf64"
    code = [Op.aload_0, Op.aload_0, Op.invokestatic, 1, Op.aload_1, Op.invokestatic, 0, Op.astore_2]
    arguments = (ArgumentSlot("x", "input", (-1,), "float64"), ArgumentSlot("y", "input", (2, 2), "float64"))
    module = ByteCodeModule([fails, add], code, "python", 3, ("sum", "joined"), arguments, (OutputSlot("z", 2, "?x2xf64"),))
    inputs = {"x": np.zeros(3), "y": np.zeros((2, 2))}
    said = []
    for tensors in (None, {}):
        with pytest.raises(ModelError, match=r"^joined: fails on these values") as caught:
            VM(module).run(inputs, tensors=tensors)
        said.append(str(caught.value))
    assert said[0] == said[1]
