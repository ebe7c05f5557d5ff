"""Steps of a device's run on its own operands: where what gathers on the way has no finite bound, they decide."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fleet.compare.judges.own_steps import own_steps
from fleet.cosim.campaign import cosim
from fleet.cosim.options import CosimOptions
from fleet.cosim.what_ran import DataProvenance
from fleet.engines.iss import ENGINE as ISS
from fleet.engines.trace import Trace
from fleet.engines.vm import ENGINE as VM
from fleet.frontend.source import load

# `little` is no larger than the roundings of float16 that it may have gathered, so that 1 / little has no bound, nor has anything
# behind it, however ordinary its values are.
STEEP = """import numpy as np
def forward(x: "f32[8, 32]", w: "f32[32, 10]"):
    far = np.abs(x) + np.float32(1000)
    little = (far + np.float32(0.75)) - far
    h = x * (np.float32(0.5) / little)
    m = np.sum(h, axis=-1, keepdims=True)
    return np.maximum(h @ w, 0) + m
"""


@pytest.fixture(scope="module")
def steep(tmp_path_factory: pytest.TempPathFactory):
    path = tmp_path_factory.mktemp("steep") / "m.py"
    path.write_text(STEEP)
    rng = np.random.default_rng(0)
    inputs = {"x": rng.standard_normal((8, 32)).astype("f4")}
    return load(f"{path}:forward", {"w": rng.standard_normal((32, 10)).astype("f4") / 6}, inputs), inputs


class Spoiled:
    """iss, one element of one operation's result moved."""

    def __init__(self, op: str, amount: float) -> None:
        self.op, self.amount, self.name = op, amount, ISS.name

    def __getattr__(self, name: str):
        return getattr(ISS, name)

    def run(self, *args, **kwargs) -> Trace:
        trace = ISS.run(*args, **kwargs)
        tensors = {n: np.array(t) for n, t in trace.tensors.items()}
        tensors[self.op].reshape(-1)[3] += self.amount
        return replace(trace, tensors=tensors)


def run(program, inputs, iss=ISS):
    options = CosimOptions("m.py:f", DataProvenance("real", 8, None, None, None), "hbm_small", engines={"vm": VM, "iss": iss})
    return cosim(program, inputs, None, ("vm", "iss"), options)


def test_steps_decide_where_nothing_else_is_bounded(steep) -> None:
    result = run(*steep)
    assert result.verdict == "pass", result.reasons
    rows = {row.name: row for row in result.comparison("iss-vs-vm-rounded").operations}
    assert any(row.ways.own for row in rows.values()), "the model is not steep enough to test this"
    assert all(row.own_bound is not None and row.own_bound.violations == 0 for row in rows.values())


@pytest.mark.parametrize("place", ["host", "device"])
def test_a_wrong_step_is_found_behind_an_infinite_bound(steep, place: str) -> None:
    program, inputs = steep
    clean = {row.op: row for row in run(program, inputs).comparison("iss-vs-vm-rounded").operations}
    op = next(name for name, row in clean.items() if row.ways.own and row.bound.unbounded and row.place == place)
    found = run(program, inputs, Spoiled(op, 0.25)).comparison("iss-vs-vm-rounded")
    assert found.verdict == "fail"
    bad = next(row for row in found.operations if row.verdict == "fail")
    assert bad.op == op
    assert "on its own operands" in bad.reason


def test_without_steps_an_infinite_bound_is_not_proved(steep, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fleet.cosim.comparisons.own_steps", lambda *_: ({}, {}))
    found = run(*steep).comparison("iss-vs-vm-rounded")
    assert found.verdict == "not proved"
    assert any("elements not proved: their accumulated bound is infinite" in reason for reason in found.reasons)
    assert found.ways.not_proved > 0


def test_a_step_of_which_half_is_bounded_proves_half_of_it(steep, monkeypatch: pytest.MonkeyPatch) -> None:
    def half(*given):
        pairs, bounds = own_steps(*given)
        holes = {n: np.where(np.arange(b.array.size).reshape(b.array.shape) % 2, np.inf, b.array) for n, b in bounds.items()}
        return pairs, {n: replace(b, array=holes[n]) for n, b in bounds.items()}

    monkeypatch.setattr("fleet.cosim.comparisons.own_steps", half)
    found = run(*steep).comparison("iss-vs-vm-rounded")
    assert found.verdict == "not proved"
    assert any("elements not proved: their accumulated bound is infinite" in reason for reason in found.reasons)
    assert found.ways.not_proved > 0


THIRDS = """import numpy as np
def forward(x: "f32[9, 64]"):
    return x * np.float32(0.0001) + np.full((9, 64), {value}, np.float32)
"""


@pytest.mark.parametrize("value", ["1 / 3", "0.25"])
def test_a_constant_array_is_rounded_as_the_device_holds_it(tmp_path: Path, value: str) -> None:
    """A third has no float16, and that error is known to the bit; a quarter has one, and adds nothing to the bound."""
    path = tmp_path / "m.py"
    path.write_text(THIRDS.format(value=value))
    inputs = {"x": np.random.default_rng(0).standard_normal((9, 64)).astype("f4")}
    program = load(f"{path}:forward", {}, inputs)
    result = run(program, inputs)
    assert result.verdict == "pass", result.reasons
    row = next(row for row in result.comparison("iss-vs-vm-rounded").operations if row.name == "add")
    assert row.place == "device"
    stored = 2.0**-13 if value == "1 / 3" else 2.0**-14  # half a unit in the last place
    known = abs(float(np.float16(1 / 3)) - 1 / 3) if value == "1 / 3" else 0.0
    assert known < row.local_bound.bound_median < known + 2.2 * stored
    assert run(program, inputs, Spoiled(row.op, 4 * stored)).verdict == "fail"
