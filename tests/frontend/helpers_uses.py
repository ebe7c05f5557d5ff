"""The corpus of one-line uses of NumPy (`numpy_uses.txt`): its lines, their inputs, and what CPython gives for them."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

CORPUS = Path(__file__).parent / "numpy_uses.txt"
_INPUT = re.compile(r"([a-z]): (\w+)\[([\d, ]*)\] ?(\w*)\Z")


@dataclass(frozen=True)
class Use:
    """One line: its code; the code of the error by which it is refused, or ""; the section that it stands in."""

    code: str
    refused: str
    section: str


def corpus() -> tuple[Mapping[str, np.ndarray], list[Use]]:
    """The inputs by name, and the uses in order."""
    inputs: dict[str, np.ndarray] = {}
    uses: list[Use] = []
    section = ""
    for line in CORPUS.read_text().splitlines():
        if found := _INPUT.match(line):
            name, dtype, shape, kind = found.groups()
            inputs[name] = drawn(np.dtype(dtype), tuple(int(n) for n in shape.split(",") if n.strip()), kind, ord(name))
        elif line.startswith("## "):
            section = line[3:]
        elif line and not line.startswith("#"):
            code, _, refused = line.partition("  #! ")
            uses.append(Use(code, refused, section))
    return inputs, uses


def drawn(dtype: np.dtype, shape: tuple[int, ...], kind: str, seed: int) -> np.ndarray:
    """An input; kind: "index", "positive", "definite", "sorted", "nan" or ""."""
    rng = np.random.default_rng(seed)
    if kind == "index":
        return rng.integers(0, 3, shape).astype(dtype)
    if dtype.kind in "iu":
        return rng.integers(0 if dtype.kind == "u" else -20, 200 if dtype.kind == "u" else 20, shape).astype(dtype)
    if dtype.kind == "b":
        return rng.random(shape) < 0.5
    x = rng.standard_normal(shape) * 2
    if kind == "definite":
        x = x @ x.T + 4 * np.eye(shape[0])
    if kind == "positive":
        x = np.abs(x) + 0.125
    if kind == "sorted":
        x = np.sort(x)
    x = np.asarray(x).astype(dtype)
    if kind == "nan":
        x[0, 1], x[1, 2], x[2, 0], x[1, 1] = np.nan, np.inf, -np.inf, -0.0
    return x


def source_of(code: str, names: Mapping[str, Any]) -> tuple[str, list[str]]:
    """A model's file whose function returns the line's last expression, and the inputs that it takes."""
    tree = ast.parse(code)
    used = sorted({n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} & names.keys())
    *before, last = [ast.unparse(s) for s in tree.body]
    body = "".join(f"    {s}\n" for s in [*before, f"return {last}"])
    return f"import numpy as np\n\n\ndef forward({', '.join(used)}):\n{body}", used


def by_python(text: str, inputs: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """What CPython gives, flat."""
    namespace: dict[str, Any] = {}
    exec(compile(text, "model.py", "exec"), namespace)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [np.asarray(v) for v in flat(namespace["forward"](**{k: v.copy() for k, v in inputs.items()}))]


def flat(value: Any) -> list[Any]:
    """The arrays of nested tuples and lists of arrays; a list of numbers is one array."""
    if isinstance(value, tuple) or (isinstance(value, list) and any(isinstance(v, np.ndarray) for v in value)):
        return [leaf for v in value for leaf in flat(v)]
    return [value]


def difference(found: np.ndarray, expected: np.ndarray) -> str:
    """How the two differ in dtype, shape or any bit; "" where they do not. NaNs are equal whatever their bits.

    A Python int is a number of 32 bits where it fits.
    """
    number = expected.dtype == np.int64 and found.dtype == np.int32 and not expected.shape
    if found.dtype != expected.dtype and not number:
        return f"dtype {found.dtype}, NumPy gives {expected.dtype}"
    if found.shape != expected.shape:
        return f"shape {found.shape}, NumPy gives {expected.shape}"
    nan = np.not_equal(found, found)
    same = (found == expected) | (nan & np.not_equal(expected, expected))
    if found.dtype.kind in "fc":
        same &= (np.signbit(found.real) == np.signbit(expected.real)) | nan
    return "" if same.all() else f"{found[~same][:3]}, NumPy gives {expected[~same][:3]}"
