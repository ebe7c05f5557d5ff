"""`round(x, n)` of floats that only the run knows has CPython's bits; and a logged float leaves the program to the run."""

from __future__ import annotations

import itertools
import math
import random
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from fleet.engines.base import RunOptions
from fleet.engines.vm import ENGINE
from fleet.errors import SourceError
from fleet.frontend.python.builtins.decimals import MOST_PLACES, to_decimals
from fleet.frontend.reading.values import NumberValue, Value
from fleet.frontend.source import load
from fleet.ir import dialect as d


def _numpy(name: str, *args: object) -> Value:
    return cast("Value", getattr(np, name)(*(a.value if isinstance(a, NumberValue) else a for a in args)))


def _wrong(cases: list[tuple[float, int]]) -> list[tuple[float, int]]:
    """The cases in which the formula gives other bits than CPython."""
    wrong: list[tuple[float, int]] = []
    with np.errstate(all="ignore"):
        for x, places in cases:
            found = np.float64(cast("float", to_decimals(_numpy, cast("Value", np.asarray(x)), places)))
            expected = np.float64(round(x, places))
            if found.tobytes() != expected.tobytes() and not (math.isnan(found) and math.isnan(expected)):
                wrong.append((x, places))
    return wrong


def test_random_floats_ties_and_neighbours_of_decimals() -> None:
    rng = random.Random(20)
    cases: list[tuple[float, int]] = []
    for _ in range(1200):
        places = rng.randint(0, MOST_PLACES)
        cases += [
            (rng.uniform(-1, 1), places),
            (rng.gauss(0, 1) * 10 ** rng.randint(-20, 20), places),
            ((2 * rng.randint(-(10**6), 10**6) + 1) / 2 ** rng.randint(1, 20), places),
            ((2 * rng.randint(0, 10**9) + 1) / 2 / 10**places, places),
            (math.nextafter((2 * rng.randint(0, 10**5) + 1) / 2 / 10**places, rng.choice([-9e9, 9e9])), places),
            (rng.randint(-(2**60), 2**60) / 2 ** rng.randint(0, 60), places),
        ]
    assert _wrong(cases) == []


def test_powers_of_two_and_special_values() -> None:
    powers = [math.nextafter(s * 2.0**k, to) for k in range(-60, 60, 3) for s in (1, -1) for to in (s * 2.0**k, 0.0, s * 9e99)]
    special = [0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324, 1.7e308, 2.675, 0.5, 2.5, 4503599627370496.5]
    assert _wrong(list(itertools.product(powers + special, range(MOST_PLACES + 1)))) == []


MODEL = """import numpy as np
def forward(x: "float64[64]"):
    return np.array([round(float(v), 3) for v in x]), np.array([round(v.item(), {places}) for v in x[:4]])
"""


def test_a_model_rounds_as_python_does(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(MODEL.format(places=0))
    rng = np.random.default_rng(5)
    x = np.concatenate([rng.normal(size=32) * 100, (2 * rng.integers(0, 10**6, 32) + 1) / 2000])
    outputs = ENGINE.run(load(f"{tmp_path / 'm.py'}:forward", {}, {"x": x}), {"x": x}, RunOptions()).outputs
    assert np.concatenate(list(outputs.values())).tolist() == [
        *(round(v, 3) for v in x.tolist()),
        *(round(v, 0) for v in x[:4].tolist()),
    ]


@pytest.mark.parametrize("places", [-1, 23])
def test_other_numbers_of_places_are_refused(tmp_path: Path, places: int) -> None:
    (tmp_path / "m.py").write_text(MODEL.format(places=places))
    with pytest.raises(SourceError, match=f"to {places} digits; floats can be rounded to 0 to 22 digits"):
        load(f"{tmp_path / 'm.py'}:forward", {}, {"x": np.ones(64)})


def test_a_script_that_logs_floats_is_computed_by_the_run(tmp_path: Path) -> None:
    """`float(loss)` is known as soon as the seeds are: were it taken, no engine would compute anything."""
    (tmp_path / "s.py").write_text("""import numpy as np
rng = np.random.default_rng(0)
x, w = rng.normal(size=(8, 4)), rng.normal(size=4)
log = []
for _ in range(3):
    e = x @ w - 1
    w = w - 0.1 * x.T @ e
    log.append(float((e * e).mean()))
print(round(log[-1], 4), [round(v, 2) for v in log])
""")
    program = load(str(tmp_path / "s.py"), {}, {})
    assert sum(isinstance(op, d.MatmulOp) for op in program.operations()) == 5  # the last update is used by nothing
