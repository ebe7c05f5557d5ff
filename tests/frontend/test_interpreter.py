"""The AST interpreter: functions, values, what only it can do, and the limits and refusals that it shares."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fleet.errors import SourceError
from fleet.frontend import codes
from fleet.frontend.interpreter import run

EXAMPLES = Path(__file__).parents[2] / "examples"


def written(folder: Path, text: str) -> str:
    path = folder / "model.py"
    path.write_text(text)
    return str(path)


def test_a_script_leaves_its_output_and_its_values(tmp_path) -> None:
    found = run(written(tmp_path, "import numpy as np\na = 2\nx = np.arange(3) * a\nprint(x, 'done')\nnames = ['a']\n"))
    assert found.printed == "[0 2 4] done\n"
    assert found.values["a"] == 2
    assert (found.values["x"] == [0, 2, 4]).all()
    assert set(found.values) == {"a", "x"}


def test_a_function_is_called_with_arrays(tmp_path) -> None:
    text = "import numpy as np\nprint('import')\nW = np.eye(2)\ndef f(x, n=2):\n    h = x @ W\n    print(h)\n    return h * n, n\n"
    found = run(written(tmp_path, text) + ":f", {"x": np.array([1.0, 2.0])})
    assert found.printed == "[1. 2.]\n"
    assert (found.returned[0] == [2, 4]).all()
    assert found.returned[1] == 2
    assert (found.values["h"] == [1, 2]).all()


def test_the_digits_model_is_what_numpy_computes() -> None:
    weights = dict(np.load(EXAMPLES / "digits" / "weights.npz"))
    x = np.load(EXAMPLES / "digits" / "test.npz")["x"][:4]
    found = run(str(EXAMPLES / "digits" / "model.py") + ":forward", {"x": x, **weights})
    h = np.maximum(x @ weights["w1"] + weights["b1"], 0)
    h = np.maximum(h @ weights["w2"] + weights["b2"] + h, 0)
    assert (found.returned[0] == h @ weights["w3"] + weights["b3"]).all()


def test_values_may_decide_here(tmp_path) -> None:
    text = "import numpy as np\nx = np.array([3.0, 1.0])\nwhile x.sum() > 1:\n    x = x / 2\nprint(x, float(x.max()), int(x[0]))\n"
    assert run(written(tmp_path, text)).printed == "[0.75 0.25] 0.75 0\n"


def test_aliases_see_changes_in_place(tmp_path) -> None:
    text = "import numpy as np\na = np.zeros(3)\nb = a[1:]\na[2] = 5\na += 1\nprint(b, a)\n"
    assert run(written(tmp_path, text)).printed == "[1. 6.] [1. 1. 6.]\n"


SHARED = [
    c
    for c in codes.CODES
    if c not in ("F207", "F501", "F504", "F509", "F604", "F404", "F407", "F309", "F307", "F311", "F510", "F511")
]


@pytest.mark.parametrize("code", SHARED)
def test_it_refuses_what_the_compiler_refuses(tmp_path, code: str) -> None:
    with pytest.raises(SourceError, match=r"F\d\d\d") as caught:
        run(written(tmp_path, codes.CODES[code].example))
    if code[1] in "1256":
        assert caught.value.code == code


@pytest.mark.parametrize(
    "text",
    ["np.ones((1 << 20, 1 << 20))", "np.outer(np.ones(1 << 20), np.ones(1 << 20))", "np.tile(np.ones(1000), (1000, 1000, 1000))",
     "np.arange(1e12)", "np.eye(1 << 20)", "np.ones((1 << 16, 1)) + np.ones(1 << 16)", "np.repeat(np.ones(1000), 1 << 30)",
     "np.ones((1 << 16, 1)) @ np.ones((1, 1 << 16))", "np.linspace(0, 1, 1 << 40)", "np.pad(np.ones(3), 1 << 40)"],
)  # fmt: skip
def test_memory_is_bounded(tmp_path, text: str) -> None:
    with pytest.raises(SourceError, match=r"F603|F607"):
        run(written(tmp_path, f"import numpy as np\nx = {text}\n"))
