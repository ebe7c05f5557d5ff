"""NumPy's functions on riscv over the whole range of their dtype: near NumPy's own, special values included."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fleet

UNARY = [
    "sinh", "cosh", "tanh", "exp", "expm1", "exp2", "log", "log1p", "log2", "log10", "sqrt", "cbrt", "arcsin", "arccos", "arctan",
    "arcsinh", "arccosh", "arctanh", "reciprocal", "square", "rint", "floor", "ceil", "trunc", "fabs", "sign", "deg2rad", "rad2deg",
]  # fmt: skip
TURNING = ["sin", "cos", "tan", "sinc"]
BINARY = ["arctan2", "hypot", "logaddexp", "logaddexp2", "fmod", "mod", "copysign", "power", "heaviside", "floor_divide"]
ULP = 4.0

SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, 709.9, 710.3, -710.3, 88.9, -88.9, -745.2]
WIDE = np.concatenate(
    [np.linspace(-30, 30, 301), np.geomspace(1e-300, 1e300, 301), -np.geomspace(1e-300, 1e300, 301), np.linspace(-1, 1, 201),
     np.linspace(-720, 720, 361), 1 + np.geomspace(1e-16, 1, 60), 1 - np.geomspace(1e-16, 1, 60), SPECIAL]
)  # fmt: skip


def distance(found: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """In units in the last place of what is wanted; infinite where one is special and the other is not."""
    finite = np.isfinite(wanted)
    same = np.where(np.isnan(wanted), np.isnan(found), found == wanted)
    with np.errstate(all="ignore"):
        far = np.abs(found.astype(np.longdouble) - wanted) / np.spacing(np.abs(wanted))
    return np.where(same, 0.0, np.where(finite & np.isfinite(found), far, np.inf)).astype(float)


def held(folder: Path, names: list[str], **inputs: np.ndarray) -> None:
    path = folder / "m.py"
    parameters = ", ".join(f'{n}: "{v.dtype}[{v.size}]"' for n, v in inputs.items())
    calls = ", ".join(f"np.{f}({', '.join(inputs)})" for f in names)
    path.write_text(f"import numpy as np\n\n\ndef forward({parameters}):\n    return {calls}\n")
    found = fleet.compile(f"{path}:forward", inputs=inputs).run("riscv").outputs.values()
    for name, x in zip(names, found, strict=True):
        with np.errstate(all="ignore"):
            far = distance(np.asarray(x), getattr(np, name)(*inputs.values()))
        worst = int(far.argmax())
        assert far[worst] <= ULP, (name, far[worst], [v[worst] for v in inputs.values()])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_of_one_operand(tmp_path: Path, dtype: type) -> None:
    with np.errstate(over="ignore", under="ignore"):
        x = WIDE.astype(dtype)
    held(tmp_path, UNARY, x=x)
    held(tmp_path, TURNING, x=x[np.abs(x) < 1e5])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_of_two_operands(tmp_path: Path, dtype: type) -> None:
    some = np.concatenate([np.linspace(-9, 9, 19), np.geomspace(1e-30, 1e30, 21), -np.geomspace(1e-30, 1e30, 21), SPECIAL])
    a, b = (v.ravel().astype(dtype) for v in np.meshgrid(some, some))
    held(tmp_path, BINARY, a=a, b=b)


def test_of_integers(tmp_path: Path) -> None:
    x = np.array([0, 1, 2, 3, 7, 11, 20, 100])
    for dtype in (np.int16, np.int32, np.int64, np.uint16, np.uint64):
        held(tmp_path, ["sinh", "cosh", "tanh", "exp", "log1p", "sqrt", "reciprocal"], x=x.astype(dtype))
