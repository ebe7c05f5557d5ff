"""What the C VM prints is what Python and NumPy print, character by character."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from vm_modules import both, prints

from fleet.targets.cvm.build import host_toolchain

pytestmark = [
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.skipif(host_toolchain().missing is not None, reason=str(host_toolchain().missing)),
]

OPTIONS = [
    {}, {"precision": 3}, {"precision": 0}, {"suppress": True}, {"threshold": 5}, {"threshold": 5, "edgeitems": 1},
    {"linewidth": 30},    {"sign": "+"}, {"sign": " "},
    {"floatmode": "fixed", "precision": 4}, {"floatmode": "unique"}, {"floatmode": "maxprec_equal"},
    {"nanstr": "missing", "infstr": "∞"}, {"precision": 2, "suppress": True, "threshold": float("inf")},
    {"floatmode": "fixed", "precision": 0},
]  # fmt: skip


def floats(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    kind = rng.integers(8)
    x = rng.standard_normal(shape)
    if kind == 0:
        x = np.round(x * 10)
    elif kind == 1:
        x = x * 10.0 ** rng.integers(-12, 12, shape)
    elif kind == 2:
        x = np.round(x, 2)
    elif kind == 3:
        x = rng.choice([np.nan, np.inf, -np.inf, 1.5, -0.0, 2e9], shape)
    elif kind == 4:
        x = x * 1e5
    elif kind == 5:
        x = 2.0 ** rng.integers(-140, 120, shape)
    elif kind == 6:
        x = rng.choice([np.nan, 3.25, np.inf], shape)
    return x.astype(dtype)


def arrays(rng: np.random.Generator) -> list[np.ndarray]:
    shapes = [(), (1,), (4,), (30,), (3, 4), (2, 3, 2), (12, 1), (1, 1, 2), (0,), (2, 0), (2, 13)]
    found: list[np.ndarray] = []
    for dtype in ("float32", "float64"):
        found += [floats(rng, dtype, shape) for shape in shapes for _ in range(6)]
    for dtype in ("int8", "int32", "int64", "uint8", "uint64"):
        info = np.iinfo(dtype)
        found += [rng.integers(max(info.min, -1000), min(info.max, 90000), shape).astype(dtype) for shape in shapes]
        found += [np.array([info.min, info.max], dtype), np.array([7, 3], dtype)]
    found += [rng.integers(0, 2, shape).astype(bool) for shape in shapes]
    return found


@pytest.mark.parametrize("seed", [0, 1])
def test_arrays_and_scalars(seed: int, tmp_path: Path) -> None:
    values = arrays(np.random.default_rng(seed))
    said = [([i], {}) for i in range(len(values))] + [([i], {"format": "{0!r}\n"}) for i in range(len(values))]
    for options in OPTIONS:
        attributes = {"options": json.dumps(options)}
        said += [([i], attributes) for i in range(len(values))]
        said += [([i], {"format": "{0!r}|\n", **attributes}) for i in range(0, len(values), 3)]
    expected, found = both(prints(values, said), tmp_path)
    assert found.splitlines() == expected.splitlines()
    assert found == expected


def test_large_arrays_are_summarised(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    values = [rng.standard_normal(s).astype("float32") for s in ((1001,), (40, 40), (7, 200, 2), (2, 600), (1000,), (11, 11, 11))]
    values.append(np.arange(5000).reshape(50, 100))
    said = [([i], attributes) for i in range(len(values)) for attributes in ({}, {"format": "x = {0!r} and {0!s:>5}\n"})]
    expected, found = both(prints(values, said), tmp_path)
    assert found == expected


def test_numbers_keep_their_shortest_digits(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    bits = rng.integers(0, 1 << 64, 300, dtype=np.uint64).view(np.float64)
    powers = [2.0**e for e in range(-1074, 1024, 7)] + [10.0**e for e in range(-320, 309, 9)]
    edges = [0.0, -0.0, 1e16, 9999999999999998.0, 1e-4, 9.999e-5, 5e-324, 1.7976931348623157e308, 0.1, 123456.789, 9.5, 1e22]
    numbers = [float(x) for x in (*bits, *powers, *edges)]
    with np.errstate(over="ignore"):
        singles = [np.float32(x) for x in numbers] + list(rng.integers(0, 1 << 32, 300, dtype=np.uint32).view(np.float32))
    values = [*numbers, *map(np.float64, numbers), *singles]
    said = [([i], {}) for i in range(len(values))] + [([i], {"format": "{0!r} {0}\n"}) for i in range(len(values))]
    expected, found = both(prints(values, said), tmp_path)
    assert found.splitlines() == expected.splitlines()


SPECS = [
    "", ".3f", ".0f", "8.2f", "<8.2f", "^9.1f", "*>12.4f", "+.2e", " .2f", "08.3f", "e", "g", ".3g", ".10g", "E", "G", "%", ".1%",
    ".3",    ".1", ".17", ",.2f", "_.1f", "=+10.2f", "F", "é^12.2f", "15", "<15", "010.2f", ".6g", ".12",
]  # fmt: skip
WHOLE = ["", "d", "5d", "<5", "^7d", "+d", " d", "05d", "x", "X", "b", "o", ",", "_", "_x", "e", ".2f", "*=8d", ">12,d", "%", "8"]


def test_formats(tmp_path: Path) -> None:
    floats = [
        0.0,
        -0.0,
        1.0,
        -1.5,
        3.14159265358979,
        1e10,
        123456789.125,
        1e-7,
        2.5,
        1e16,
        99999.5,
        float("nan"),
        float("inf"),
        -1e300,
        100.0,
    ]
    whole = [0, 1, -7, 255, 123456789, -(1 << 63), (1 << 63) - 1]
    values: list = [
        *floats,
        *map(np.float32, floats),
        *map(np.float64, floats),
        *whole,
        *map(np.int64, whole),
        True,
        False,
        np.True_,
    ]
    values += [np.uint64(2**64 - 1), np.int8(-3)]
    said = []
    for i, v in enumerate(values):
        is_float = isinstance(v, float | np.floating)
        said += [([i], {"format": f"[{{0:{s}}}]\n"}) for s in (SPECS if is_float else WHOLE)]
        said += [([i], {"format": f"[{{0!s:{s}}}{{{{0}}}}{{0!r:{s}}}]\n"}) for s in ("", ">12", "<9", "^11", ".3", "*^10.4", "012")]
    expected, found = both(prints(values, said), tmp_path)
    assert found.splitlines() == expected.splitlines()


def test_several_values_and_texts(tmp_path: Path) -> None:
    values = [np.arange(3), 1.5, True, np.float32(0.1), np.array([[1.5, 2], [3, 4]]), 7]
    said = [([0, 1, 2, 3, 4, 5], {}), ([], {"format": "a_b's 100% é {{}}\n"}), ([1, 4], {"format": "{1!s} {0:.1f} {1!r:>40}|"})]
    expected, found = both(prints(values, said), tmp_path)
    assert found == expected
