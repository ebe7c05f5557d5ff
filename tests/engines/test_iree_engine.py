"""Engine `iree`: an independent compiler of the export; every operation within its derived bound, dtypes as the VM has them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

import fleet
from fleet.cosim.campaign import cosim
from fleet.cosim.options import CosimOptions
from fleet.cosim.what_ran import DataProvenance
from fleet.engines.base import RunOptions
from fleet.engines.iree import engine as iree
from fleet.engines.iree.engine import ENGINE
from fleet.engines.trace import Trace
from fleet.engines.vm import ENGINE as VM
from fleet.errors import DeviceError, ModelError

NEEDS_IREE = pytest.mark.skipif(
    ENGINE.available() is not None and os.environ.get("FLEET_REQUIRE_IREE") != "1", reason=str(ENGINE.available())
)
MIXED = """import numpy as np


def forward(x: "float64[3, 4]", i: "int64[3]", h: "float16[4]", b: "bool[3]"):
    print("sum", x.sum(), i)
    return x * 2, i // 2, h + h, ~b, x.max(), np.where(b, i, 0), x[0] > 0.5, np.argsort(x[:, 1]), np.cumsum(i)
"""


def compared(compiled: fleet.Compiled) -> dict[str, Trace]:
    traces: dict[str, Trace] = {}
    data = DataProvenance("real", 1, None, None, None)
    options = CosimOptions(compiled.spec, data, engines={"vm": VM, "iree": ENGINE}, on_trace=traces.__setitem__)
    result = cosim(compiled.program, compiled.inputs, None, ["vm", "iree"], options)
    assert result.verdict == "pass", result
    (comparison,) = result.comparisons
    assert comparison.elements > 0
    return traces


@NEEDS_IREE
@pytest.mark.parametrize(
    ("spec", "weights"),
    [
        ("examples/digits/model.py:forward", "examples/digits/weights.npz"),
        ("examples/add_sample.py", None),
        ("examples/gpt2_block/model.py:narrow", None),
        ("examples/smollm2_block/model.py:forward", None),
    ],
)
def test_examples_are_within_the_derived_bounds(spec: str, weights: str | None) -> None:
    traces = compared(fleet.compile(spec, weights=weights, batch=4))
    assert traces["iree"].meta["stdout"] == traces["vm"].meta["stdout"]
    assert traces["iree"].tensors.keys() >= traces["vm"].tensors.keys()


@NEEDS_IREE
def test_dtypes_and_prints_are_the_vms(tmp_path: Path) -> None:
    (tmp_path / "mixed.py").write_text(MIXED.replace("", ""))
    compiled = fleet.compile(f"{tmp_path}/mixed.py:forward")
    traces = compared(compiled)
    for name, wanted in traces["vm"].outputs.items():
        found = traces["iree"].outputs[name]
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        np.testing.assert_array_equal(found, wanted)


@NEEDS_IREE
def test_a_wrong_result_of_the_other_compiler_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = iree._host
    monkeypatch.setattr(iree, "_host", lambda array, type_: right(array, type_) + np.asarray(1, right(array, type_).dtype))
    with pytest.raises(AssertionError):
        compared(fleet.compile("examples/digits/model.py:forward", weights="examples/digits/weights.npz", batch=2))


@NEEDS_IREE
def test_what_it_refuses_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = fleet.compile("examples/digits/model.py:forward", weights="examples/digits/weights.npz", batch=2)
    with pytest.raises(ModelError, match='no input "x"'):
        ENGINE.run(compiled.program, {}, RunOptions())
    monkeypatch.setattr(iree, "_FLAGS", ("--no-such-flag",))
    with pytest.raises(DeviceError, match="IREE refuses the export"):
        ENGINE.run(compiled.program, compiled.inputs, RunOptions())


def test_without_the_packages_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "iree", None)
    monkeypatch.setattr("fleet.engines.iree.engine.find_spec", lambda name: None)
    assert ENGINE.available() == (
        "the packages iree-base-compiler and iree-base-runtime are not installed; install fleet-cosim[iree]"
    )
