"""Functions under fleet's name: NumPy's values, one operation each where a device has it; kernels whose loops stay loops."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import fleet
from fleet.cli.main import main
from fleet.errors import SourceError
from fleet.frontend.source import load
from fleet.ir.dialect import WhileOp, all_operations
from fleet.transforms.pipeline import run_pipeline

MATMUL = """import numpy as np
from fleet import kernel


@kernel
def matmul(a, b):
    n, k = a.shape
    m = b.shape[1]
    out = np.zeros((n, m), dtype=a.dtype)
    for i in range(n):
        for j in range(m):
            total = np.float32(0)
            for l in range(k):
                total += a[i, l] * b[l, j]
            out[i, j] = total
    return out
"""
MODEL = f"""{MATMUL}
import fleet
from fleet import softmax


def forward(x: "float32[8, 6]", w: "float32[6, 4]", g: "float32[4]", b: "float32[4]"):
    y = fleet.gelu(matmul(x, w))
    return softmax(fleet.layer_norm(y, g, b)), fleet.sigmoid(y), fleet.silu(y), fleet.rms_norm(y, g, eps=1e-3), fleet.relu(y)
"""
FLOATS = arrays.arrays(np.float32, (3, 4), elements=st.floats(-20, 20, width=32))


@settings(max_examples=50)
@given(FLOATS)
def test_they_compute_what_they_say(x: np.ndarray) -> None:
    wide = x.astype(np.float64)
    tanh = np.vectorize(lambda v: v / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v**3))))
    e = np.exp(wide - wide.max(1, keepdims=True))
    norm = (wide - wide.mean(1, keepdims=True)) / np.sqrt(wide.var(1, keepdims=True) + 1e-5)
    w = np.arange(4, dtype=np.float32)
    for found, expected in (
        (fleet.relu(x), np.maximum(wide, 0)),
        (fleet.sigmoid(x), 1 / (1 + np.exp(-wide))),
        (fleet.silu(x), wide / (1 + np.exp(-wide))),
        (fleet.gelu(x), tanh(wide)),
        (fleet.softmax(x), e / e.sum(1, keepdims=True)),
        (fleet.layer_norm(x, w, w), norm * w + w),
        (fleet.rms_norm(x, w), wide / np.sqrt((wide**2).mean(1, keepdims=True) + 1e-5) * w),
    ):
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, expected, rtol=2e-3, atol=2e-5)


def test_a_model_names_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.py").write_text(MODEL)
    given_ = [f"{tmp_path / 'm.py'}:forward", "--report", str(tmp_path / "r")]
    assert main(["cosim", *given_, "--engines", "vm,cpython,riscv,iss", "--device", "hbm_small"]) == 0
    assert "verdict: PASS" in capsys.readouterr().out
    program = load(given_[0], {}, {n: np.ones(s, np.float32) for n, s in {"x": (8, 6), "w": (6, 4), "g": 4, "b": 4}.items()})
    kinds = {op.name for op in run_pipeline(program, "raise").operations()}
    assert {"fleet.gelu", "fleet.layer_norm", "fleet.softmax", "fleet.sigmoid", "fleet.silu", "fleet.rms_norm"} <= kinds
    places = {str(op.properties["at"].data) for op in program.operations() if op.name == "fleet.tanh"}  # pyright: ignore[reportAttributeAccessIssue]
    assert {p.split(":")[0] for p in places} == {"m.py"}, "an operation has the place of the call"


def test_a_kernels_loops_stay_loops(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(f"{MATMUL}\n\n@kernel\ndef forward(x, w):\n    return matmul(x, w)\n")
    rng = np.random.default_rng(0)
    sizes: list[int] = []
    for n in (4, 24):
        x, w = (rng.standard_normal((n, n)).astype(np.float32) for _ in "xw")
        compiled = fleet.compile(f"{tmp_path / 'm.py'}:forward", inputs={"x": x, "w": w})
        operations = list(all_operations(compiled.program.function.body.block))
        sizes.append(len(operations))
        assert sum(isinstance(op, WhileOp) for op in operations) == 3
        expected = np.zeros((n, n), np.float32)
        for k in range(n):
            expected += np.outer(x[:, k], w[k])
        for engine in ("vm", "riscv"):
            (found,) = compiled.run(engine).outputs.values()
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
    assert sizes[0] == sizes[1], "the size of the arrays is not the size of the code"


def test_what_cannot_stay_a_loop_is_refused(tmp_path: Path) -> None:
    for rounds in (3, 5):
        text = f"y = x\n    for i in range({rounds}):\n        y = np.concatenate([y, x])\n    return y\n"
        (tmp_path / "m.py").write_text(f"import numpy as np\nimport fleet\n\n\n@fleet.kernel\ndef forward(x):\n    {text}")
        with pytest.raises(SourceError, match=r"F511 `y` is .* before a round of the loop"):
            load(f"{tmp_path / 'm.py'}:forward", {}, {"x": np.ones(4)})


def test_a_part_of_unknown_size_is_assigned_in_no_piece(tmp_path: Path) -> None:
    text = "u = x.copy()\n    for i in range(1, 4):\n        u[0, i:] -= u[1, i:] * 2\n    return u\n"
    (tmp_path / "m.py").write_text(f"import fleet\n\n\n@fleet.kernel\ndef forward(x):\n    {text}")
    with pytest.raises(
        SourceError, match="F510 an array is assigned to a part, and only the run knows their sizes; assign the elements"
    ):
        load(f"{tmp_path / 'm.py'}:forward", {}, {"x": np.ones((2, 4))})


@fleet.kernel
def smooth(x: np.ndarray) -> np.ndarray:
    """A loop over indices, for `@jit`."""
    out = x.copy()
    for i in range(1, len(x) - 1):
        out[i] = (x[i - 1] + x[i] + x[i + 1]) / 3
    return out


@fleet.jit
def activated(x: np.ndarray) -> np.ndarray:
    """A kernel and functions, by the package and by name."""
    return fleet.sigmoid(smooth(x)) + fleet.gelu(x)


def test_jit_follows_kernels_and_functions() -> None:
    x = np.linspace(-1, 1, 40)
    np.testing.assert_allclose(activated(x), activated.python(x), rtol=1e-12)
    operations = [op for program in activated.programs for op in all_operations(program.function.body.block)]
    assert sum(isinstance(op, WhileOp) for op in operations) == 1


@fleet.kernel
def distance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Levenshtein's, with one number of two loops, one behind the other."""
    d = np.zeros((len(a) + 1, len(b) + 1), np.int32)
    for i in range(len(a) + 1):
        d[i, 0] = i
    for j in range(len(b) + 1):
        d[0, j] = j
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            c = 0 if a[i - 1] == b[j - 1] else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + c)
    return d


@fleet.kernel
def life(g: np.ndarray) -> np.ndarray:
    """One step of Conway's game of life; the offsets of the neighbours come from a tuple and a list."""
    h, w = g.shape
    out = np.zeros_like(g)
    for i in range(h):
        for j in range(w):
            n = 0
            for di in (-1, 0, 1):
                for dj in [-1, 0, 1]:
                    if di != 0 or dj != 0:
                        n += g[(i + di) % h, (j + dj) % w]
            if n == 3 or (n == 2 and g[i, j] == 1):
                out[i, j] = 1
    return out


@fleet.kernel
def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A sum that begins as Python's number and is NumPy's after a round."""
    out = np.zeros((a.shape[0], b.shape[1]), a.dtype)
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            total = 0
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            out[i, j] = total
    return out


@fleet.kernel
def window(x: np.ndarray, k: np.ndarray) -> np.ndarray:
    """As `product`, with two loops between the sum's beginning and its terms."""
    out = np.zeros((x.shape[0] - k.shape[0] + 1, x.shape[1] - k.shape[1] + 1), x.dtype)
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            total = 0.0
            for a in range(k.shape[0]):
                for b in range(k.shape[1]):
                    total += x[i + a, j + b] * k[a, b]
            out[i, j] = total
    return out


@fleet.kernel
def until(x: np.ndarray) -> float:
    """As `product`, of a loop that the data leave."""
    total = 0.0
    for v in x:
        total = total + v
        if total > 1:
            break
    return total


@pytest.mark.parametrize("target", ["vm", "cpu", "riscv", "cvm"])
def test_kernels_of_several_loops(target: str) -> None:
    rng = np.random.default_rng(4)
    a, b = rng.standard_normal((5, 7)).astype(np.float32), rng.standard_normal((7, 4)).astype(np.float32)
    cases: list[tuple[Any, tuple[np.ndarray, ...], int]] = [
        (distance, (np.array([1, 2, 2, 3]), np.array([2, 1, 2, 3, 3])), 4),
        (life, ((rng.random((5, 6)) < 0.4).astype(np.int8),), 2),
        (product, (a, b), 3),
        (window, (a, b[:3, :2]), 4),
        (until, (a[0],), 1),
        (until, (abs(a[0]),), 1),
    ]
    for function, inputs, loops in cases:
        compiled = fleet.jit(target=target)(function)
        np.testing.assert_array_equal(compiled(*inputs), function(*inputs), strict=True)
        (program,) = compiled.programs
        operations = all_operations(program.function.body.block)
        assert sum(isinstance(op, WhileOp) for op in operations) == loops
