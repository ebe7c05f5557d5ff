"""The memory of arrays: `strides` and `as_strided` as NumPy has them, by the VM and by the interpreter; nothing outside is read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers_corpus import Program, by_python, by_vm
from helpers_source import program_of, run_python, run_vm

from fleet.errors import SourceError
from fleet.frontend.interpreter import run

HEAD = "import numpy as np\nfrom numpy.lib.stride_tricks import as_strided\nx = np.arange(12.0)\nm = x.reshape(3, 4)\n"
LINES = {
    "strides": "print(x.strides, m.strides, m.T.strides, x[::-2].strides, np.zeros((2, 3), np.float32)[:, 1:].strides)",
    "windows": "print(as_strided(m, (2, 3, 2, 2), m.strides * 2), as_strided(x, (5, 4), (16, 8)).max(-1))",
    "of a view": "print(as_strided(m.T[1:], shape=(2, 2), strides=m.strides[::-1]), as_strided(x[::-1], (3, 4), (-16, -8)))",
    "shape alone": "print(as_strided(x, shape=(5,)), as_strided(m, strides=(32, 0)), as_strided(np.arange(3), (2, 3), (0, 8)))",
    "sums along an axis": "for a in (x, m, m[:, ::2]): print(np.cumsum(a, 0).strides, a.cumprod(-1).strides)",
    "a copy of a column": "c = np.ascontiguousarray\nprint(c(np.cumprod(m, axis=0)[:, 0]).strides, c(m.T.cumsum(1)).strides)",
    "a change shows": "d = as_strided(m, (3,), (m.strides[0] + m.strides[1],))\nm[1, 1] = 50\nprint(d, m.diagonal())",
}


def program(folder: Path, text: str) -> Program:
    path = folder / "line.py"
    path.write_text(HEAD + text + "\n")
    return Program(path, None, {}, "", "")


@pytest.mark.parametrize("text", LINES.values(), ids=LINES.keys())
def test_what_numpy_gives(tmp_path: Path, text: str) -> None:
    given = program(tmp_path, text)
    expected = by_python(given)[1]
    assert by_vm(given)[1] == expected
    assert run(str(given.path), {}).printed == expected


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("print(as_strided(x, (13,), (8,)))", "F306"),
        ("print(as_strided(x[1:], (2, 2), (-16, 8)))", "F306"),
        ("print(as_strided(x, (3,), (4,)))", "F506"),
        ("print(as_strided(x, (3, 3), (8,)))", "F301"),
        ("as_strided(x, (3,), (8,))[0] = 1", "F703"),
        ("print(as_strided(x, (1 << 20, 1 << 20), (0, 0)))", "F603"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, code: str) -> None:
    given = program(tmp_path, text)
    with pytest.raises(SourceError) as caught:
        by_vm(given)
    assert caught.value.code == code
    if code in ("F306", "F301"):
        with pytest.raises(SourceError) as caught:
            run(str(given.path), {})
        assert caught.value.code == code


def test_of_a_number_of_the_run(tmp_path: Path) -> None:
    """An argument lies as NumPy's arrays do; what elementwise functions make of a transposed one, only NumPy knows."""
    text = "import numpy as np\ndef forward(x):\n    return np.lib.stride_tricks.as_strided(x, (3, 2), x.strides[::-1]) * 2\n"
    x = np.arange(10.0).reshape(2, 5)
    np.testing.assert_array_equal(run_vm(tmp_path, text, x=x)["out0"], run_python(text, x=x)[0])
    with pytest.raises(SourceError, match="ascontiguousarray"):
        program_of(tmp_path, "import numpy as np\ndef forward(x):\n    return x * (np.maximum(x.T, 0) + x.T).strides[0]\n", x=x)
