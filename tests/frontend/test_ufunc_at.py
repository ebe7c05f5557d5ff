"""`np.add.at` and `at` of other ufuncs, of every index that NumPy takes, against NumPy itself."""

from __future__ import annotations

import numpy as np
import pytest
from helpers_source import program_of, run_python, run_vm
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fleet.errors import SourceError

SHAPE = (3, 2, 4)
SETTINGS = settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])


def item(size: int) -> st.SearchStrategy[str]:
    numbers = st.integers(-size, size - 1)
    several = st.lists(numbers, min_size=1, max_size=3)
    rows = st.lists(st.lists(numbers, min_size=2, max_size=2), min_size=1, max_size=2)
    bounds = st.one_of(st.just(""), st.integers(-size - 1, size + 1).map(str))
    slices = st.tuples(bounds, bounds, st.sampled_from(["", "2", "-1"])).map(lambda t: "np.s_[{}:{}:{}]".format(*t))
    masks = st.lists(st.booleans(), min_size=size, max_size=size).map(lambda m: f"np.array({m})")
    return st.one_of(
        st.just("slice(None)"), slices, numbers.map(str), several.map(str), rows.map(lambda r: f"np.array({r})"), masks
    )


@st.composite
def indices(draw) -> str:
    """A tuple of items, some with `...` or new dimensions."""
    count = draw(st.integers(1, len(SHAPE)))
    items = [draw(item(n)) for n in SHAPE[:count]]
    if draw(st.booleans()):
        at = draw(st.integers(0, count))
        after = count - at
        items = [*items[:at], "...", *(draw(item(n)) for n in SHAPE[len(SHAPE) - after :] if after)]
    if draw(st.booleans()):
        items.insert(draw(st.integers(0, len(items))), draw(st.sampled_from(["np.newaxis", "None"])))
    return f"({', '.join(items)},)"


UFUNCS = ("add", "subtract", "multiply", "maximum", "minimum", "divide", "fmax")


@SETTINGS
@given(indices(), st.sampled_from(UFUNCS), st.integers(0, 3), st.booleans(), st.sampled_from(["float64", "float32"]))
def test_at_changes_what_numpy_changes(tmp_path, index: str, name: str, form: int, view: bool, dtype: str) -> None:
    x = np.random.default_rng(1).uniform(1, 2, SHAPE[::-1] if view else SHAPE).astype(dtype)
    target = "x.T" if view else "x"
    try:
        chosen = eval(f"x[{index}]", {"np": np, "x": x.T if view else x, "slice": slice})
    except IndexError:
        chosen = x
    shape = np.shape(chosen)
    values = np.random.default_rng(2).uniform(1, 2, shape)
    given_values = ("0.3", "y", "y[..., :1]" if shape else "y", "y.astype(np.float32)")[form]
    text = f"import numpy as np\ndef forward(x, y):\n    np.{name}.at({target}, {index}, {given_values})\n    return x\n"
    try:
        (expected,) = run_python(text, x=x.copy(), y=values)
    except (IndexError, ValueError):
        with pytest.raises(SourceError):
            program_of(tmp_path, text, x=x, y=values)
        return
    try:
        (found,) = run_vm(tmp_path, text, x=x, y=values).values()
    except SourceError as error:
        assert "F405 an index with an empty `...`" in str(error), text  # noqa: PT017
        return
    np.testing.assert_array_equal(found, expected, err_msg=text)


IM2COL = """import numpy as np
def forward(x, v, k, i, j):
    np.add.at(x, (slice(None), k, i, j), v)
    return x
"""


def test_places_of_the_run_beside_slices(tmp_path) -> None:
    rng = np.random.default_rng(0)
    x, v = rng.normal(size=(2, 3, 5, 5)), rng.normal(size=(2, 12, 9))
    k, i, j = rng.integers(0, 3, (12, 1)), rng.integers(0, 5, (12, 9)), rng.integers(-5, 5, (12, 9))
    (found,) = run_vm(tmp_path, IM2COL, x=x, v=v, k=k, i=i, j=j).values()
    np.testing.assert_array_equal(found, run_python(IM2COL, x=x.copy(), v=v, k=k, i=i, j=j)[0])


@pytest.mark.parametrize(
    "call", ["np.negative.at(x, (..., [0, 0, 1]))", "np.sqrt.at(x, np.s_[1:])", "np.square.at(x, (1, [2, 2]))"]
)
def test_ufuncs_of_one_operand(tmp_path, call: str) -> None:
    x = np.random.default_rng(0).uniform(1, 2, (3, 4))
    text = f"import numpy as np\ndef forward(x):\n    {call}\n    return x\n"
    (found,) = run_vm(tmp_path, text, x=x).values()
    np.testing.assert_array_equal(found, run_python(text, x=x.copy())[0])


@pytest.mark.parametrize("values", ["0.1", "y", "np.float64(0.3)", "2", "y.astype(np.float32)"])
@pytest.mark.parametrize("name", ["add", "multiply", "subtract"])
def test_updates_are_added_in_the_common_dtype(tmp_path, name: str, values: str) -> None:
    """NumPy computes float32 beside float64 in float64, and rounds after every update."""
    x = np.random.default_rng(0).normal(size=4).astype(np.float32)
    y = np.random.default_rng(1).normal(size=50)
    head = "import numpy as np\np = np.random.default_rng(2).integers(0, 4, 50)\n"
    text = f"{head}def forward(x, y):\n    np.{name}.at(x, p, {values})\n    return x\n"
    (found,) = run_vm(tmp_path, text, x=x, y=y).values()
    np.testing.assert_array_equal(found, run_python(text, x=x.copy(), y=y)[0])
