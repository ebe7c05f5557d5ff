"""`with` and `try`: what is read, and what is refused by name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers_corpus import Program, by_python, by_vm
from helpers_source import program_of

from fleet.engines.base import RunOptions
from fleet.engines.cpython import ENGINE as CPYTHON
from fleet.errors import ComparisonFailure, SourceError
from fleet.frontend.source import load

X = np.ones(3)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("with open('f') as f:\n    pass", "F703 [Errno 2] No such file"),
        ("with np.errstate(all='raise'):\n    x = x + 1", "F506 np.errstate that does other than ignore or warn"),
        ("with np.errstate(odd='ignore'):\n    x = x + 1", "F506 np.errstate with `odd=`"),
        ("with np.errstate() as e:\n    x = x + 1", "F502 `as` after numpy.errstate"),
        ("with np.sum(x):\n    x = x + 1", "F502 `with` of an array float64[] is not supported"),
        ("with x:\n    x = x + 1", "F502 `with` of an array float64[3] is not supported"),
        ("with np.printoptions(precision=2):\n    s = f'{x}'", "F506"),
        ("with np.printoptions(precision=2):\n    s = str([x])", "F506"),
        ("try:\n    x = x.unknown()\nexcept ValueError:\n    x = 1", "inside of this `try` something fails: F206 arrays"),
        ("try:\n    if x > 0:\n        x = x + 1\nexcept ValueError:\n    pass", "F502 inside of this `try` something fails"),
        ("try:\n    if x.sum() > 0:\n        return x\nfinally:\n    pass", "F511 a `try` with `else` or `finally`"),
        ("try:\n    x = x + np.ones(2)\nfinally:\n    pass", "F301"),
        ("try:\n    import cupy as cp\nexcept ImportError:\n    cp = np", "F502 whether `cupy` can be imported depends"),
    ],
)  # fmt: skip
def test_what_is_left_out_is_refused_by_name(tmp_path, body: str, says: str) -> None:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    with pytest.raises(SourceError) as caught:
        program_of(tmp_path, f"import numpy as np\ndef forward(x: 'float64[3]'):\n{lines}    return x\n", x=X)
    assert says in str(caught.value)


def test_a_try_around_the_function_that_cannot_be_read_breaks_what_it_binds(tmp_path) -> None:
    text = "import numpy as np\ntry:\n    import cupy as xp\nexcept ImportError:\n    import numpy as xp\n"
    text += "def forward(x: 'float64[3]'):\n    return np.exp(x)\n"
    assert program_of(tmp_path, text, x=X).outputs == ("out0",)
    with pytest.raises(SourceError, match="F502 whether `cupy`"):
        program_of(tmp_path, text.replace("np.exp", "xp.exp"), x=X)


def test_what_stands_behind_except_is_never_run(tmp_path) -> None:
    written = tmp_path / "written"
    text = "import numpy as np\ndef forward(x: 'float64[3]', n: 'int64[1]'):\n    try:\n        y = x[n]\n"
    text += f"    except IndexError:\n        __import__('os').system('touch {written}')\n        y = x[:1]\n    return y\n"
    (tmp_path / "model.py").write_text(text)
    good, bad = {"x": X, "n": np.array([1])}, {"x": X, "n": np.array([7])}
    program = load(f"{tmp_path / 'model.py'}:forward", {}, good)
    assert CPYTHON.run(program, good, RunOptions()).complete
    with pytest.raises(ComparisonFailure, match="IndexError"):
        CPYTHON.run(program, bad, RunOptions())
    assert not written.exists()


@pytest.mark.parametrize(
    "text",
    [
        "np.char.join(np.array(['x' * 60000]), np.array(['y' * 60000]))",
        "np.char.replace(np.array(['a' * 60000]), 'a', 'b' * 60000)",
        "np.char.multiply(np.array(['a'] * 100), 10**8)",
        "np.full(10**9, 'abc')",
        "np.tile(np.array(['x']), 10**9)",
    ],
)
def test_texts_are_bounded(tmp_path: Path, text: str) -> None:
    path = tmp_path / "texts.py"
    path.write_text(f"import numpy as np\n\nprint({text}.shape)\n")
    with pytest.raises(SourceError, match=r"F60\d|F703"):
        load(str(path), {}, {})


_MANY = "a = np.array(['x' * 10] * 60000{})\n"
_NESTED = "x = [1]\nfor _ in range(40):\n    x = [x, x]\n"


@pytest.mark.parametrize(
    "text",
    [
        "y = np.prod(np.arange(1, 60000).astype(object))",
        "y = np.array([10], dtype=object) ** 10**9",
        "y = 10 ** np.array([10**9], dtype=object)",
        "a = np.array([3**500], dtype=object)\nfor _ in range(40):\n    a = a * a",
        "a = np.array([3**500], dtype=object)\nfor _ in range(40):\n    a = np.square(a)",
        "y = np.array(['x' * 60000] * 60000, dtype=object).sum()",
        "y = np.cumsum(np.array(['x' * 6000] * 6000, dtype=object))",
        "y = np.array(['a' * 1000], dtype=object) * 10**9",
        "y = np.array([[1, 2], [3]], dtype=object) * 10**9",
        "y = np.array(['%1000000000d'], dtype=object) % 5",
        "y = np.array(['x' * 16000] * 65000)",
        "y = np.array(['x' * 16000] * 65000, dtype=object).astype(str)",
        "y = np.full(np.array([10**5, 10**5]), 'abc')",
        "y = np.zeros(shape=10**9, dtype=object)",
        "y = np.tile(np.array(['x']), np.array([10**9]))",
        "y = np.repeat(np.array(['x']), np.array([10**9]))",
        "y = np.array_split(np.array(['x']), 10**9)",
        "y = np.diff(np.array([1, 2], dtype=object), n=10**9)",
        _MANY.format("") + "y = np.concatenate([a] * 60000)",
        _MANY.format("") + "y = a[:, None] == a",
        _MANY.format("") + "i = np.arange(60000)\ny = a[i[:, None], i]",
        _MANY.format(", dtype=object") + "y = a[:, None] + a",
        _MANY.format(", dtype=object") + "y = np.where(True, a[:, None], a)",
        _MANY.format(", dtype=object") + "y = np.isin(a, a)",
        _NESTED + "y = np.array(x, dtype=object)",
        _NESTED + "y = np.array(x)",
        _NESTED + "print(x)",
    ],
)  # fmt: skip
def test_objects_are_bounded_before_numpy_makes_them(tmp_path: Path, text: str) -> None:
    path = tmp_path / "objects.py"
    path.write_text(f"import numpy as np\n\n{text}\n")
    with pytest.raises(SourceError, match=r"F60[357]|F401 % of text"):
        load(str(path), {}, {})


@pytest.mark.parametrize(
    "text",
    [
        "np.prod(np.arange(1, 20).astype(object))",
        "np.array([2**90, 3], dtype=object) ** 3",
        "np.array(['ab', 'c'], dtype=object).sum()",
        "np.array(['ab', 'c'], dtype=object) * 2",
        "np.cumsum(np.array([10**30, 5], dtype=object))",
        "np.array(['x' * 60000] * 60000, dtype=object).shape",
        "np.concatenate([np.array(['abc'] * 100)] * 100).shape",
        "(np.array(['a', 'b'])[:, None] == np.array(['a', 'c'])).sum()",
        "np.zeros(60000).astype(str).shape",
    ],
)
def test_objects_within_the_bounds_are_read(tmp_path: Path, text: str) -> None:
    path = tmp_path / "objects.py"
    path.write_text(f"import numpy as np\n\nprint({text})\n")
    given = Program(path, None, {}, "", "")
    assert by_vm(given)[1] == by_python(given)[1]
