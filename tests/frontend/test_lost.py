"""A statement of the module that cannot be read takes with it what it may have changed, under whatever name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fleet.engines.base import RunOptions
from fleet.engines.vm import ENGINE
from fleet.errors import SourceError
from fleet.frontend.source import load

A = {"a": np.zeros(2)}


def run(path: Path, head: str, value: str) -> np.ndarray:
    file = path / "model.py"
    file.write_text(f'import numpy as np\n\n{head}\n\n\ndef forward(a: "float64[2]"):\n    return a + {value}\n')
    return next(iter(ENGINE.run(load(f"{file}:forward", {}, A), A, RunOptions()).outputs.values()))


@pytest.mark.parametrize(
    ("head", "value"),
    [
        ("rng = np.random.default_rng(1)\nrng.bytes(2)", "rng.random(2)[0]"),
        ("rng = np.random.default_rng(1)\nother = rng\nother.bytes(2)", "rng.random(2)[0]"),
        ("ONE = [1, 2]\nTWO = ONE\nTWO.append(hash(b'1'))", "ONE[0]"),
        ("ONE = [1, 2]\nTWO = {'one': ONE}\nTWO['one'].append(hash(b'1'))", "ONE[0]"),
        ("ONE = [[1], 2]\nTWO = ONE[0]\nTWO.append(hash(b'1'))", "ONE[1]"),
        ("W = np.ones((2, 3))\nV = W[0]\nV[0] = hash(b'1')", "W[0, 0]"),
        ("class Box:\n    p = 1\n\n\nBOX = Box()\nBOX.p = hash(b'12')", "BOX.p"),
        ("class Box:\n    p = 1\n\n\nBox.p = hash(b'12')", "Box.p"),
        ("LIST = [1]\n\n\ndef fill():\n    LIST.append(2)\n    LIST.append(hash(b'1'))\n\n\nfill()", "len(LIST)"),
        (
            "W = np.ones(2)\n\n\ndef fill():\n    W[0] = 7\n    return hash(b'1')\n\n\ndef go():\n    return fill()\n\n\ngo()",
            "W[0]",
        ),
        (
            "class Box:\n    def __init__(self):\n        LIST.append(2)\n        self.p = hash(b'1')\n\n\nLIST = [1]\nBOX = Box()",
            "len(LIST)",
        ),
        ("np.random.seed(1)\n\n\ndef noise():\n    return np.random.bytes(2)\n\n\nnoise()", "np.random.rand(2)[0]"),
    ],
)
def test_what_may_have_changed_is_not_known(tmp_path: Path, head: str, value: str) -> None:
    with pytest.raises(SourceError):
        run(tmp_path, head, value)


@pytest.mark.parametrize(
    ("head", "value", "expected"),
    [
        ("W = np.ones(2)\nV = W + 1j", "W[0]", 1),
        ("W = np.ones(2)\nV = W.T @ b'1'", "W[0]", 1),
        ("W = np.ones(2)\n\n\ndef apply(x):\n    return np.dot(x, W).sum() + hash(b'1')\n\n\nprint(apply(3))", "W[0]", 1),
        ("LIST = [1]\nOTHER = [2]\nOTHER.append(b'1')", "LIST[0]", 1),
        ("rng = np.random.default_rng(1)\ntwo = np.random.default_rng(1)\ntwo.bytes(2)", "rng.integers(1, 2, size=1)[0]", 1),
    ],
)
def test_what_is_only_read_stays(tmp_path: Path, head: str, value: str, expected: float) -> None:
    assert np.array_equal(run(tmp_path, head, value), A["a"] + expected)
