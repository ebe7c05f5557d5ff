"""Engine `mixed`: a model whose source places parts of it, compared with the VM operation by operation."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import fleet
from fleet.cosim.campaign import cosim
from fleet.cosim.options import CosimOptions
from fleet.cosim.what_ran import DataProvenance
from fleet.engines.base import RunOptions
from fleet.engines.gpu.opencl import ENGINE as OPENCL
from fleet.engines.mixed.engine import ENGINE
from fleet.engines.trace import Trace
from fleet.engines.vm import ENGINE as VM
from fleet.errors import DeviceError

NEEDS_OPENCL = pytest.mark.skipif(
    OPENCL.available() is not None and os.environ.get("FLEET_REQUIRE_OPENCL") != "1", reason=str(OPENCL.available())
)
MODEL = """import fleet
import numpy as np
from fleet import device


def forward(x: "float32[N, 64]", w: "float32[64, 64]", g: "float32[64]"):
    with device("gpu"):
        scores = fleet.softmax(x @ w)
    with fleet.device("riscv"):
        normed = fleet.rms_norm(scores, g)
    print("largest", normed.max())
    return normed @ w, np.argmax(normed, axis=-1)
"""


def compiled(folder: Path, text: str = MODEL) -> fleet.Compiled:
    (folder / "model.py").write_text(text)
    return fleet.compile(f"{folder}/model.py:forward", batch=4)


@NEEDS_OPENCL
def test_parts_agree_with_the_vm(tmp_path: Path) -> None:
    model = compiled(tmp_path)
    traces: dict[str, Trace] = {}
    data = DataProvenance("real", 1, None, None, None)
    options = CosimOptions(model.spec, data, engines={"vm": VM, "mixed": ENGINE}, on_trace=traces.__setitem__)
    result = cosim(model.program, model.inputs, None, ["vm", "mixed"], options)
    assert result.verdict == "pass", result
    (comparison,) = result.comparisons
    assert comparison.elements > 0
    assert traces["mixed"].counters["parts"] == 3
    assert traces["mixed"].meta["stdout"].startswith("largest ")  # pyright: ignore[reportAttributeAccessIssue]


@NEEDS_OPENCL
def test_a_part_that_computes_something_else_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fleet.engines.mixed import engine

    right = engine._run

    def wrong(device, program, given, options):
        trace = right(device, program, given, options)
        if device == "riscv":
            trace.tensors = {n: t + 1 for n, t in trace.tensors.items()}
            trace.outputs = {n: t + 1 for n, t in trace.outputs.items()}
        return trace

    monkeypatch.setattr(engine, "_run", wrong)
    model = compiled(tmp_path)
    data = DataProvenance("real", 1, None, None, None)
    options = CosimOptions(model.spec, data, engines={"vm": VM, "mixed": ENGINE})
    result = cosim(model.program, model.inputs, None, ["vm", "mixed"], options)
    assert result.verdict != "pass"


def test_other_engines_run_such_a_model_as_if_it_said_nothing(tmp_path: Path) -> None:
    placed = compiled(tmp_path)
    plain = compiled(tmp_path, MODEL.replace('with device("gpu")', "if True").replace('with fleet.device("riscv")', "if True"))
    for engine in ("vm", "llvm-cpu", "interp", "cpython"):
        found, wanted = placed.run(engine).outputs, plain.run(engine).outputs
        for name, array in wanted.items():
            np.testing.assert_array_equal(found[name], array)


def test_an_accelerator_is_left_to_its_own_engines(tmp_path: Path) -> None:
    model = compiled(tmp_path, MODEL.replace("gpu", "hbm_small"))
    with pytest.raises(DeviceError, match="the source places a part on hbm_small; on this engine these are devices: host, cpu"):
        ENGINE.run(model.program, model.inputs, RunOptions())
