"""Every function that is modelled, over all pairs of dtypes and of Python numbers: NumPy's dtype and NumPy's bits, on vm.

NumPy is the reference: what it refuses fleet refuses.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from fleet.errors import SourceError
from fleet.frontend.source import load
from fleet.ir.types import DTYPES
from fleet.targets.bytecode import VM, ByteCodeConverter

_UNARY = """
exp log sqrt tanh abs negative sin cos floor ceil rint sign logical_not isnan log1p expm1 positive invert log2 log10 exp2 sinh cosh
tan trunc deg2rad rad2deg fabs fix nan_to_num square isinf isfinite round sum prod max min any all mean var std argmax argmin cumsum
ptp count_nonzero nansum nanmax nanmin nanmean argsort median ravel copy
"""
_BINARY = """
add subtract multiply divide power floor_divide remainder maximum minimum less less_equal equal not_equal logical_and logical_or
bitwise_and bitwise_xor hypot logaddexp heaviside fmax fmin isclose
"""
UNARY, BINARY = _UNARY.split(), _BINARY.split()
NUMBERS = ["True", "3", "-1", "300", "5000000000", "0.5", "-0.0", "np.nan", "float('nan')", "1e40"]
SPECIAL = {
    "b": [False, True, True, False],
    "f": [0.0, -0.0, 1.0, -2.5, 3.0, np.nan, np.inf, -np.inf, 60000.0, 1e-7],
    "i": [0, 1, 3, 2, -1, -7, "min", "max"],
    "u": [0, 1, 3, 2, 7, "max"],
    "c": [0, 1 + 2j, -1.5, 2.5j, complex(-0.0, -0.0), complex(np.inf, 1), complex(np.nan, 2)],
}


def special(dtype: str) -> np.ndarray:
    d = np.dtype(dtype)
    ends = {} if d.kind in "bfc" else {"min": np.iinfo(d).min, "max": np.iinfo(d).max}
    return np.array(
        [ends.get(v, v) if isinstance(v, str) else v for v in SPECIAL[d.kind]] + ([100000] if d.itemsize > 2 else []), d
    )


INPUTS = {d: special(d) for d in DTYPES}


def compared(folder: Path, expressions: Sequence[str]) -> Iterator[str]:
    """Compiles all that NumPy takes as one program and runs it; what differs, a line each."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        values = {e: np.asarray(eval(e, {"np": np}, INPUTS)) for e in expressions}
    arguments = ", ".join(f"{d}: np.ndarray" for d in DTYPES)
    lines = [f"    r{i} = {e}" for i, e in enumerate(values)]
    returned = ", ".join(f"r{i}" for i in range(len(values)))
    path = folder / "model.py"
    path.write_text("\n".join(["import numpy as np\n", f"def forward({arguments}):", *lines, f"    return ({returned},)\n"]))
    program = load(f"{path}:forward", {}, INPUTS)
    found = VM(ByteCodeConverter(program).convert()).run({a.name: INPUTS[a.name] for a in program.inputs})
    for (expression, expected), got in zip(values.items(), found.values(), strict=True):
        if (got.dtype, got.shape) != (expected.dtype, expected.shape):
            yield f"{expression}: {got.dtype}{got.shape}, NumPy {expected.dtype}{expected.shape}"
        elif not same_bits(got, expected):
            yield f"{expression}: {got.tolist()}, NumPy {expected.tolist()}"


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    """NaN equals NaN, 0.0 does not equal -0.0."""
    if a.dtype.kind == "c":
        return same_bits(a.real, b.real) and same_bits(a.imag, b.imag)
    if a.dtype.kind != "f":
        return bool((a == b).all())
    return bool((np.isnan(a) & np.isnan(b) | (a == b) & (np.signbit(a) == np.signbit(b))).all())


def taken(expression: str) -> bool | None:
    """Whether NumPy computes it; None where it refuses only these values (integers to negative powers)."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            eval(expression, {"np": np}, INPUTS)
        except ValueError:
            return None
        except (TypeError, OverflowError):
            return False
    return True


def refused(folder: Path, expression: str) -> bool:
    path = folder / "model.py"
    arguments = ", ".join(f"{d}: np.ndarray" for d in DTYPES)
    path.write_text(f"import numpy as np\n\ndef forward({arguments}):\n    return {expression}\n")
    try:
        load(f"{path}:forward", {}, INPUTS)
    except SourceError:
        return True
    return False


def pairs(function: str, dtypes: Sequence[str], partners: int) -> list[str]:
    """Each dtype with `partners` others, itself first, and with Python numbers on either side; 0-d ones too."""
    found: list[str] = []
    for i, a in enumerate(dtypes):
        for k in range(partners):
            b = DTYPES[(DTYPES.index(a) + k * k) % len(DTYPES)] if partners < len(DTYPES) else DTYPES[k]
            found.append(f"np.{function}({a}[:, None], {b})")
        for n in NUMBERS if partners == len(DTYPES) else NUMBERS[i % 3 :: 3]:
            found += [f"np.{function}({a}, {n})", f"np.{function}({n}, {a})", f"np.{function}({a}[2], {n})"]
    return found


def check(folder: Path, expressions: Sequence[str], *, refusals: int = 1000) -> None:
    by_numpy = {e: taken(e) for e in expressions}
    right, wrong = ([e for e, t in by_numpy.items() if t is wanted] for wanted in (True, False))
    assert right
    assert list(compared(folder, right)) == []
    assert [e for e in wrong[:refusals] if not refused(folder, e)] == []


def test_functions_of_one_array(tmp_path: Path) -> None:
    arrays = [*DTYPES, "bool[3]", "uint16[3]", "int64[3]", "float32[3]"]
    check(tmp_path, [f"np.{f}({a})" for f in UNARY for a in arrays], refusals=10)


def test_functions_of_one_number(tmp_path: Path) -> None:
    check(tmp_path, [f"np.{f}({n})" for f in UNARY for n in ("True", "3", "0.5", "-0.0", "np.nan")])


@pytest.mark.parametrize("function", BINARY)
def test_functions_of_two(tmp_path: Path, function: str) -> None:
    check(tmp_path, pairs(function, DTYPES, 2), refusals=4)


CASTS = ["bool", "int8", "uint8", "int32", "uint32", "uint64", "float16", "float32", "float64"]
FORMS = [
    *(f"np.clip({{d}}, {a}, {b})" for a, b in (("-0.0", "1"), ("0", "2"), ("-0.0", "None"), ("None", "-0.0"), ("np.nan", "1"))),
    *(f"np.clip({{d}}, {a}, {b})" for a, b in (("1", "0"), ("0", "5000000000"), ("np.float32(0.5)", "1"), ("True", "2"))),
    *("{d}.clip(0, 1)", "np.clip({d}[2], -1, 1)", "np.clip({d}, {d}[1], {d}[2])", "np.clip({d}, {d}[::-1], {d})"),
    *(f"np.where({{d}} > 1, {{d}}, {n})" for n in NUMBERS),
    *(f"np.where({{d}} > 1, {n}, {{d}})" for n in ("300", "0.5", "True")),
    *(f"np.dot({{d}}, {n})" for n in ("2", "0.5", "True", "np.float32(3)")),
    *("np.dot({d}[2], 2)", "np.outer({d}, {d})", "{d}[:3] @ {d}[:3]", "np.append({d}, 2)"),
    *(f"np.{f}({{d}}[2], axis=0)" for f in ("sum", "max", "any", "argmax", "cumsum", "ptp", "count_nonzero", "nansum", "nanmin")),
    *(f"np.{f}({{d}}[:, None], axis={a})" for f in ("sum", "prod", "mean", "nanmax", "argmin") for a in (0, -1)),
    *("{d} << 2", "{d} >> 1", "{d} << True", "{d} // 0", "{d} % 0", "{d} // -3", "{d} % -3", "{d} ** 2", "{d} ** 3", "{d} % True"),
    *("{d} ** 0.5", "{d}[1] ** 0.5", "{d}[-2] ** 0.5", "{d}[3] ** 3", "{d}[2] ** -1.0"),
    *("~{d}", "abs({d})", "+{d}", "-{d}", "np.diff({d})", "np.round({d})", "np.median({d})", "np.full_like({d}, 1)", "{d} @ {d}"),
    *(f"{{d}}.astype(np.{t})" for t in CASTS),
]  # fmt: skip
NUMBERS_ALONE = [
    *("np.sum(255, axis=0)", "np.max(2.5, axis=-1)", "np.clip(0.5, np.float32(1.5), 0.5)", "np.clip(-0.0, 0.0, 1.0)"),
    *("np.fmax(np.nan, 3)", "np.fmax(float('nan'), np.nan)", "np.fmin(float16, float('nan'))", "np.hypot(3, 4)", "np.dot(2, 3)"),
    *("np.argsort(2)", "np.nanmin(np.array([0.0, -0.0]))", "np.nanmax(np.array([-0.0, np.nan, 0.0], np.float32))"),
    *("np.round(True)", "np.uint8(3.9)", "np.arange(-0.0, 2.0)", "np.linspace(-1, 300, 5, dtype=np.int16)", "np.full((2,), True)"),
    *("np.isclose(1e40, 300)", "np.float32(-0.0) ** 0.5", "np.float64(-np.inf) ** 0.5", "np.int8(2) ** 8"),
]  # fmt: skip


def test_the_other_forms(tmp_path: Path) -> None:
    check(
        tmp_path,
        [form.format(d=d) for form in FORMS for d in ("bool", "int8", "uint16", "int64", "float16", "float64")],
        refusals=20,
    )


def test_numbers_alone(tmp_path: Path) -> None:
    check(tmp_path, NUMBERS_ALONE)


@pytest.mark.nightly
@pytest.mark.parametrize("function", BINARY)
def test_every_pair_of_dtypes(tmp_path: Path, function: str) -> None:
    check(tmp_path, pairs(function, DTYPES, len(DTYPES)))
