"""Assignment to parts of arrays against NumPy: random indices and values, and arrays of millions of elements."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from helpers_source import program_of, run_python, run_vm

from fleet.errors import SourceError
from fleet.frontend.arrays.indices import storing
from fleet.ir.dialect import all_operations


def index_item(rng: random.Random, size: int) -> str:
    match rng.randrange(6):
        case 0:
            return str(rng.randrange(-size, size))
        case 1:
            return f"{rng.randrange(-size - 1, size + 2)}:{rng.randrange(-size - 1, size + 2)}"
        case 2:
            start, stop = rng.choice(["", str(rng.randrange(size))]), rng.choice(["", str(rng.randrange(size + 1))])
            return f"{start}:{stop}:{rng.choice([2, 3, -1, -2])}"
        case 3:
            return str([rng.randrange(-size, size) for _ in range(rng.randrange(1, 4))])
        case _:
            return rng.choice([":", "None", "...", ":"])


def assignment(rng: random.Random) -> tuple[str, np.ndarray, np.ndarray] | None:
    """A model that assigns to a part, its array and its values; None for an index that NumPy refuses."""
    shape = tuple(rng.randrange(1, 5) for _ in range(rng.randrange(1, 4)))
    items = [index_item(rng, size) for size in shape[: rng.randrange(1, len(shape) + 1)]]
    index = ", ".join(items)
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    try:
        part = eval(f"x[{index}]", {"x": x})
    except IndexError:
        return None
    given = [size if rng.random() < 0.7 else 1 for size in part.shape]
    given = given[rng.randrange(len(given) + 1) if rng.random() < 0.3 else 0 :]
    given = given if rng.random() < 0.9 or not part.shape else rng.choice([[*given, 1], [1, *given]])
    values = -np.arange(1, 1 + np.prod(given, dtype=int), dtype=np.float32).reshape(given)
    through_view = rng.random() < 0.3 and part.shape
    body = f"y = x[{index}]\n    y[...] = v" if through_view else f"x[{index}] {rng.choice(['=', '=', '+='])} v"
    head = f"def forward(a: 'float32[{','.join(map(str, shape))}]', v: 'float32[{','.join(map(str, given))}]'):"
    return f"import numpy as np\n{head}\n    x = a + 0\n    {body}\n    return x\n", x, values


@pytest.mark.parametrize("most", [0, 1 << 20])
def test_random_parts_are_numpys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(storing, "_MAX_PLACES", most)
    refused = seen = 0
    for seed in range(150):
        if (drawn := assignment(random.Random(seed))) is None:
            continue
        text, x, values = drawn
        try:
            (expected,) = run_python(text, a=x, v=values)
        except ValueError:
            refused += 1
            continue
        seen += 1
        (found,) = run_vm(tmp_path, text, a=x, v=values).values()
        np.testing.assert_array_equal(found, expected, err_msg=text)
    assert seen > 100
    assert refused


@pytest.mark.parametrize(
    ("part", "shape", "values"),
    [
        ("0", "4", "(1, 5)"), ("0:2", "4", "(3,)"), ("0:2", "4", "(4, 1)"), ("::2", "4", "(4, 1)"), ("[0, 1]", "4", "(1, 3)"),
        (":", "4, 3", "(4,)"), (":", "4, 3", "(12,)"), ("::3", "4, 3", "(6,)"),
    ],
)  # fmt: skip
def test_values_that_do_not_fit_are_refused(tmp_path: Path, part: str, shape: str, values: str) -> None:
    text = (
        f"import numpy as np\ndef forward(a: 'float32[{shape}]'):\n    x = a + 0\n    x[{part}] = np.ones({values})\n    return x\n"
    )
    a = np.zeros(eval(f"({shape},)"), np.float32)
    with pytest.raises(ValueError, match=r"broadcast|sequence"):
        run_python(text, a=a)
    with pytest.raises(SourceError, match="F301"):
        program_of(tmp_path, text, a=a)


def test_a_part_keeps_its_dimensions_in_place(tmp_path: Path) -> None:
    text = "import numpy as np\ndef forward(a: 'float32[3, 4]'):\n    x = a + 0\n    x[1:] += np.ones((1, 2, 4))\n    return x\n"
    a = np.zeros((3, 4), np.float32)
    with pytest.raises(ValueError, match="non-broadcastable"):
        run_python(text, a=a)
    with pytest.raises(SourceError, match="F301"):
        program_of(tmp_path, text, a=a)


BIG = """import numpy as np
def forward(rows: "float32[3, 2000]", at: "int64[4]"):
    x = np.zeros((1500, 2000), np.float32)
    x[10] = rows[0]
    x[5:8, :] = rows
    x[100:103, 7:2000:2] = rows[:, :997]
    x[::500, ::-1] = rows
    x[2:-2, 1:-1] += 1
    x[[3, 1400, 3], 4:8] = rows[:, :4]
    x[:, at] = 5
    x[x > 5] = -1
    inner = x[200:300, 50:60]
    inner *= 3
    return x
"""


def test_arrays_of_millions_of_elements(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).standard_normal((3, 2000)).astype(np.float32)
    given = {"rows": rows, "at": np.array([0, 17, 1999, 17])}
    (expected,) = run_python(BIG, **given)
    (found,) = run_vm(tmp_path, BIG, **given).values()
    np.testing.assert_array_equal(found, expected)


def test_a_box_needs_no_table_of_places(tmp_path: Path) -> None:
    """The inner part of a field, as stencils write it: pieces of the field side by side, and no array of indices."""
    text = "def forward(a: 'float32[64, 64]'):\n    x = a + 0\n    x[1:-1, 1:-1] = a[1:-1, 2:] - a[1:-1, :-2]\n    return x\n"
    kinds = [op.name for op in all_operations(program_of(tmp_path, text, a=np.ones((64, 64), np.float32)).function.body.block)]
    assert "fleet.gather" not in kinds
    assert kinds.count("fleet.concat") == 2
    assert kinds.count("fleet.slice") == 2 + 3 + 2, "of the values, of the rows, of the columns"
