"""`with fleet.device(...)` in `@jit` functions, and `@jit` for an accelerator: exercise 7 of seed 003."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import fleet
from fleet import device, jit
from fleet.engines.gpu.opencl import ENGINE as OPENCL
from fleet.errors import DeviceError, FleetError, SourceError

NEEDS_OPENCL = pytest.mark.skipif(
    OPENCL.available() is not None and os.environ.get("FLEET_REQUIRE_OPENCL") != "1", reason=str(OPENCL.available())
)
ONES = np.ones((2, 3), np.float32)
W = np.eye(64, dtype=np.float32) * 2


def copies(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith(("copy", "on"))]


@NEEDS_OPENCL
@pytest.mark.filterwarnings("ignore:target gpu")
def test_exercise_7_runs_each_part_where_the_source_wants_it() -> None:
    @jit
    def add(x, y):
        with device("cpu"):
            sum = x + y
        with device("gpu"):
            out = sum + x
        return out  # noqa: RET504

    np.testing.assert_array_equal(add(ONES, ONES), ONES * 3)
    np.testing.assert_array_equal(add.python(ONES, ONES), ONES * 3)
    assert '{device = "gpu"}' in add.lower(ONES, ONES).text("ir")
    assert copies(add.lower(ONES, ONES).text("placed")) == ["on cpu {", "copy sum from cpu to gpu as %sum_in", "on gpu {"]


def test_an_accelerator_an_emulator_and_the_host_share_a_function(capsys: pytest.CaptureFixture[str]) -> None:
    def normed(x):
        with fleet.device("hbm_small"):
            y = x @ W
        with fleet.device("riscv"):
            y = (y - y.mean(axis=-1, keepdims=True)) / np.sqrt(y.var(axis=-1, keepdims=True) + 1e-5)
        print("spread", np.round(y.max(), 3), len(y))
        return {"y": y * 2, "x": x, "most": float(y.max()), "rows": len(y)}

    x = np.arange(128, dtype=np.float32).reshape(2, 64)
    compiled = jit(normed)
    found = compiled(x)
    said = capsys.readouterr().out
    wanted = normed(x)
    assert said == capsys.readouterr().out
    assert list(found) == list(wanted)
    np.testing.assert_allclose(found["y"], wanted["y"], atol=1e-2)
    np.testing.assert_array_equal(found["x"], x)
    assert found["most"] == pytest.approx(wanted["most"], abs=1e-2)
    assert found["rows"] == 2
    shown = copies(compiled.lower(x).text("placed"))
    assert shown[:3] == ["on hbm_small {", "copy y from hbm_small to riscv as %y_in", "on riscv {"]


def test_functions_that_are_called_and_branches_stay_inside() -> None:
    def shifted(x):
        return x + 1 if x.sum() > 0 else x - 1

    @jit
    def both(x):
        with device("riscv"):
            y = shifted(x)
            for _ in range(2):
                y = y * 3
        return y.sum(axis=0)

    for x in (ONES, -ONES):
        np.testing.assert_array_equal(both(x), both.python(x))
    assert copies(both.lower(ONES).text("placed"))[0] == "on riscv {"


def test_the_vm_computes_all_of_it_and_is_the_golden() -> None:
    @jit(target="vm")
    def placed(x):
        with device("hbm_small"):
            return x @ W + 0.1

    x = np.full((1, 64), 0.3, np.float32)
    assert placed(x).tobytes() == placed.python(x).tobytes()


@pytest.mark.parametrize(
    ("name", "says"),
    [("tpu", "no target is called tpu"), ("sycl", "no code is made for sycl")],
)
def test_a_device_that_is_not_here(name: str, says: str) -> None:
    @jit
    def placed(x):
        with device(name):
            return x + 1

    with pytest.raises(FleetError, match=says):
        placed(ONES)


def test_a_device_inside_a_branch_of_the_run_is_refused() -> None:
    @jit
    def placed(x):
        if x.sum() > 0:
            with device("riscv"):
                x = x + 1
        return x

    with pytest.raises(DeviceError, match=r"a part of it is placed on riscv; write `with fleet\.device"):
        placed(ONES)


def test_what_is_no_name_of_a_device_is_a_source_error() -> None:
    def two(x):
        with device("cpu", "riscv"):  # pyright: ignore[reportCallIssue]
            return x

    def bound(x):
        with device("cpu") as d:
            return x, d

    def alone(x):
        device("cpu")
        return x

    for function in (two, bound, alone):
        with pytest.raises(SourceError, match="F502"):
            jit(function)(ONES)


def test_jit_for_an_accelerator() -> None:
    @jit(target="hbm_small")
    def layer(x):
        return np.maximum(x @ W + 0.5, 0)

    x = np.linspace(-1, 1, 128, dtype=np.float32).reshape(2, 64)
    np.testing.assert_allclose(layer(x), layer.python(x), atol=2e-3)
    assert layer.lower(x).engine == "iss"


@pytest.mark.nightly
def test_jit_on_the_simulated_hardware_has_the_models_bits() -> None:
    def layer(x):
        return np.maximum(x @ W + 0.5, 0)

    x = np.linspace(-1, 1, 64, dtype=np.float32)[None]
    rtl: Any = jit(target="hbm_small", engine="rtl")(layer)
    assert rtl(x).tobytes() == jit(target="hbm_small")(layer)(x).tobytes()


def test_engines_of_what_is_no_device_are_refused() -> None:
    with pytest.raises(FleetError, match="no engine riscv runs a device; choose among iss, rtl"):
        jit(target="hbm_small", engine="riscv")
    with pytest.raises(FleetError, match="target cpu is no device whose engine could be chosen; devices are hbm0923"):
        jit(target="cpu", engine="iss")
