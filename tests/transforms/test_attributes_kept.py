"""What the exact passes may not overlook: an attribute, a dtype, a shape, a place in the source, a print."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from same_results import assert_same_bits, outputs, passed
from spelled import Array, data, kinds, trace

from fleet.frontend.source import load
from fleet.ir.build import make
from fleet.ir.constants import constant, constant_value
from fleet.ir.dialect import ConstantOp, kind_of, op_id
from fleet.ir.types import tensor_type
from fleet.transforms.edit import text_of

EXACT = "canonicalise,fold-constants,cse,dce"


def filled(m: Any, shape: tuple[int, ...], value: float, dtype: type = np.float32) -> Array:
    return Array(m, m.emit(constant(value, tensor_type(shape, np.dtype(dtype)))))


def test_constants_of_one_number_and_different_types_stay() -> None:
    def model(m: Any, x: Array) -> tuple[Array, ...]:
        return m.call("abs", x), filled(m, (2,), 1.0), filled(m, (3,), 1.0), filled(m, (2,), 1.0, np.float64), filled(m, (2,), 1.0)

    before = trace(model, x=(2, 6))
    after = passed(before, EXACT)
    assert_same_bits(before, after, data(before))
    assert sum(isinstance(op, ConstantOp) for op in after.operations()) == 3


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_constants_that_only_count_as_equal_stay(dtype: type) -> None:
    """The two zeros are equal and divide differently; as arrays and as Python numbers."""

    def model(m: Any, x: Array) -> tuple[Array, ...]:
        zeros = (filled(m, (6,), 0.0, dtype), filled(m, (6,), -0.0, dtype))
        size = m.call("abs", x)
        return (*(size / zero for zero in (*zeros, 0.0, -0.0)), zeros[0] * 1.0, zeros[1] * 1.0)

    before = trace(model, x=(2, 6))
    after = passed(before, EXACT)
    assert_same_bits(before, after, data(before))
    signs = [np.signbit(value).all() for value in outputs(after, data(before))]
    assert signs == [False, True] * 3


STAYS: dict[str, Callable[[Any, Array], Array]] = {
    "every second column, then the rest": lambda m, x: m.hstack([x[:, ::2], x[:, 3:]]),
    "rows put together as columns": lambda m, x: m.concatenate([x[:3], x[3:]], axis=1),
    "columns put together as rows": lambda m, x: m.concatenate([x[:, :3], x[:, 3:]], axis=0),
    "a window twice": lambda m, x: x[1:5, ::2][::-1, 1:],
    "less a negative zero": lambda m, x: x - filled(m, (6, 6), -0.0),
    "sums along each axis": lambda m, x: x.sum(axis=0) + x.sum(axis=1),
    "means with and without their axis": lambda m, x: x.mean(axis=1) + x.mean(axis=1, keepdims=True),
}


@pytest.mark.parametrize("name", STAYS)
def test_what_an_attribute_says_counts(name: str) -> None:
    before = trace(STAYS[name], x=(6, 6))
    after = passed(before, EXACT)
    values = data(before)
    assert_same_bits(before, after, values)
    values = {n: np.where(np.arange(v.size).reshape(v.shape) % 3 == 0, -0.0, v).astype(v.dtype) for n, v in values.items()}
    assert_same_bits(before, after, values)


FOLDED: dict[str, Callable[[Any], Array]] = {
    "a sum along rows": lambda m: filled(m, (2, 6), 1.5).sum(axis=1),
    "a sum along columns": lambda m: filled(m, (2, 6), 1.5).sum(axis=0),
    "a sum of all": lambda m: filled(m, (2, 6), 1.5).sum(),
    "a sum that keeps its axis": lambda m: filled(m, (2, 6), 1.5).sum(axis=0, keepdims=True),
    "a mean": lambda m: filled(m, (2, 6), 0.1).mean(axis=1),
    "a cast that rounds": lambda m: filled(m, (2, 6), 0.1, np.float64).astype(np.float16).astype(np.float64),
    "a cast that cuts off": lambda m: filled(m, (2, 6), -2.7).astype(np.int32).astype(np.float32),
    "a window": lambda m: filled(m, (2, 6), 2.5)[:, ::3],
    "broadcast": lambda m: m.call("broadcast_to", filled(m, (1, 6), 2.5), shape=[4, 6]),
    "turned": lambda m: filled(m, (2, 6), 2.5).T,
}


@pytest.mark.parametrize("name", FOLDED)
def test_a_folded_number_is_that_of_its_attributes(name: str) -> None:
    before = trace(lambda m, x: (m.call("abs", x), FOLDED[name](m)), x=(2, 6))
    after = passed(before, EXACT)
    assert kinds(after) == ["abs"]
    assert_same_bits(before, after, data(before))


@pytest.mark.parametrize(("wide", "narrow"), [(0.1, np.float32), (1e-8, np.float16), (2.9, np.int32)])
def test_a_number_that_is_cast_is_rounded(wide: float, narrow: type) -> None:
    """Of scalars, which are no tensors: the constant has the dtype's own number."""

    def model(m: Any, x: Array) -> Array:
        number = m.emit(constant(wide, make_scalar(np.float64)))
        return m.call("mul", x, Array(m, m.emit(make("cast", [number], dtype=np.dtype(narrow)))))

    before = trace(model, x=(2, 6), dtype="float64")
    after = passed(before, EXACT)
    (number,) = [constant_value(op) for op in after.operations() if isinstance(op, ConstantOp)]
    assert number == np.dtype(narrow).type(wide).item() != wide
    assert_same_bits(before, after, data(before))


def make_scalar(dtype: type) -> Any:
    from fleet.ir.types import element_type

    return element_type(np.dtype(dtype))


PLACES = """import numpy as np

def f(x: "float64[6, 6]"):
    a = x.T
    b = a.T[1:]
    c = b[::2]
    d = c.reshape(-1)
    e = d.reshape(3, 6)
    n = np.float64(2.0) * 3.0
    print(n)
    g = e.astype(np.float64) * n
    return np.abs(g)
"""


def test_who_takes_an_operation_s_place_takes_its_name_and_its_line(tmp_path: Path) -> None:
    """In every exact pass: id, variable and place of what stays are those that the source gave it."""
    path = tmp_path / "places.py"
    path.write_text(PLACES)
    before = load(f"{path}:f", {}, {"x": np.zeros((6, 6))})
    known = {op_id(op): (text_of(op, "var"), text_of(op, "at")) for op in before.operations() if op.results}
    moved = trace(lambda m, x: m.call("abs", x.T.T[1:][::2].reshape(-1).reshape(3, 6)), x=(6, 6))
    for op in moved.operations():
        op.describe(id=op_id(op), at=f"m.py:{op_id(op)}")
    for program, names in ((before, known), (moved, {op_id(op): (None, f"m.py:{op_id(op)}") for op in moved.operations()})):
        for one in (*EXACT.split(","), EXACT):
            after = passed(program, one)
            for op in after.operations():
                if op.results:
                    assert (text_of(op, "var"), text_of(op, "at")) == names[op_id(op)], (one, op_id(op))


def test_what_is_printed_stays_and_what_is_not_used_goes(tmp_path: Path) -> None:
    path = tmp_path / "prints.py"
    path.write_text(
        "import numpy as np\n\ndef f(x: 'float64[3]'):\n    print(np.exp(x).sum())\n    y = np.tanh(x)\n"
        "    z = np.log(x)\n    w = z * 2\n    return y, x * 1.5\n"
    )
    before = load(f"{path}:f", {}, {"x": np.ones(3)})
    after = passed(before, EXACT)
    found = kinds(after)
    assert {"print", "exp", "reduce_sum", "tanh", "mul"} <= {kind_of(op) for op in after.operations()}
    assert "log" not in found
    assert len(outputs(after, {"x": np.ones(3)})) == 2


def test_what_a_variable_is_bound_to_stays_with_its_variable_and_line() -> None:
    """Of identities, of what folds, and of what is computed twice: the oracle looks at the variable."""

    def model(m: Any, x: Array) -> tuple[Array, ...]:
        number = filled(m, (2, 6), 1.5) + filled(m, (2, 6), 1.0)
        return m.call("abs", x * 1), m.call("abs", x.T.T), m.call("abs", number * x), m.call("tanh", x) + m.call("tanh", x)

    before = trace(model, x=(2, 6))
    operations = [op for op in before.operations() if op.results and not isinstance(op, ConstantOp)]
    for n, op in enumerate(operations):
        op.describe(id=op_id(op), var=f"v{n}", at=f"m.py:{n}")
    after = passed(before, "canonicalise,fold-constants,cse")
    found = {op_id(op): (text_of(op, "var"), text_of(op, "at")) for op in after.operations()}
    for n, op in enumerate(operations):
        assert found[op_id(op)] == (f"v{n}", f"m.py:{n}")
    first, second = (op for op in operations if op.name == "fleet.tanh")
    assert passed(before, EXACT).fates[op_id(second)] == f"the same as {op_id(first)}"
    assert_same_bits(before, after, data(before))


def test_ends_that_agree_are_not_all_elements() -> None:
    def model(m: Any, x: Array) -> tuple[Array, ...]:
        return m.call("abs", x), m.concatenate([filled(m, (6,), 1.0), filled(m, (6,), 2.0), filled(m, (6,), 1.0)])

    before = trace(model, x=(2, 6))
    assert_same_bits(before, passed(before, EXACT), data(before))
