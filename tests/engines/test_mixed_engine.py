"""Engine `mixed`: a model whose source places parts of it, compared with the VM operation by operation."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import fleet
from fleet.cosim.campaign import cosim
from fleet.cosim.options import CosimOptions
from fleet.cosim.request import known_engines
from fleet.cosim.result import CosimResult
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


BLOCK = Path(__file__).parents[2] / "examples" / "heterogeneous" / "model.py"
DATA = DataProvenance("real", 1, None, None, None)


def placed(folder: Path, device: str = "hbm_small") -> fleet.Compiled:
    (folder / "block.py").write_text(BLOCK.read_text().replace("hbm_small", device))
    return fleet.compile(f"{folder}/block.py:forward", batch=4)


def compared(model: fleet.Compiled) -> CosimResult:
    options = CosimOptions(model.spec, DATA, engines=dict(known_engines(CosimOptions(model.spec, DATA))))
    return cosim(model.program, model.inputs, None, ["vm", "mixed"], options)


def test_attention_on_the_accelerator_is_compared_as_the_accelerator_is(tmp_path: Path) -> None:
    """The example: each part is held by the comparison of its own engine; the whole is measured."""
    model = placed(tmp_path)
    result = compared(model)
    assert result.verdict == "pass", result.reasons
    rows = {c.name: c for c in result.comparisons}
    kinds = {name: c.kind for name, c in rows.items()}
    assert kinds["mixed-vs-vm"] == "info"
    assert kinds["mixed part 2 on hbm_small: iss-vs-vm-rounded"] == "bound"
    assert kinds["mixed part 2 on hbm_small: vm-rounded-vs-vm"] == "info"
    assert kinds["mixed part 1 on riscv: riscv-vs-vm"] == kinds["mixed part 4 on riscv: riscv-vs-vm"] == "bound"
    assert kinds["mixed part 5 on host: llvm-cpu-vs-vm"] == "bound"
    assert all(c.elements > 0 for c in result.comparisons)
    assert len(rows["mixed part 2 on hbm_small: iss-vs-vm-rounded"].operations) == 5
    copies = [line for line in model.text("placed").splitlines() if line.startswith("copy")]
    assert copies[:2] == ["copy y from riscv to hbm_small as %y_in", "copy y.1 from hbm_small to host as %y_1_in"]


@pytest.mark.parametrize("device", ["hbm_small", "riscv", "host"])
def test_a_part_of_the_mixture_that_is_wrong_is_found(device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fleet.engines.mixed import engine

    right = engine._run

    def wrong(where, program, given, options):
        trace = right(where, program, given, options)
        if where == device:
            trace.outputs = {n: t * np.float32(1.0000002) for n, t in trace.outputs.items()}
        return trace

    monkeypatch.setattr(engine, "_run", wrong)
    result = compared(placed(tmp_path))
    assert result.verdict == "fail"
    assert [r for r in result.reasons if f"on {device}: " in r and "computes of the same values" in r]


def test_a_wrong_functional_model_is_found_in_its_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The part's own comparison, not only the repetition, says so: both runs are wrong alike."""
    from fleet.engines.iss import IssEngine

    right = IssEngine.run

    def wrong(self, program, inputs, options):
        trace = right(self, program, inputs, options)
        trace.tensors = {n: t + np.asarray(0.5, t.dtype) if t.dtype.kind == "f" else t for n, t in trace.tensors.items()}
        trace.outputs = {n: trace.tensors[n].astype(t.dtype) for n, t in trace.outputs.items()}
        return trace

    monkeypatch.setattr(IssEngine, "run", wrong)
    result = compared(placed(tmp_path))
    assert result.verdict == "fail"
    assert [r for r in result.reasons if r.startswith("mixed part 2 on hbm_small: iss-vs-vm-rounded: ")]


@pytest.mark.nightly
def test_a_part_in_the_simulated_hardware_has_the_models_bits(tmp_path: Path) -> None:
    result = compared(placed(tmp_path, "hbm_small/rtl"))
    assert result.verdict == "pass", result.reasons
    (row,) = [c for c in result.comparisons if c.name == "mixed part 2 on hbm_small/rtl: rtl-vs-iss"]
    assert row.kind == "bits"
    assert row.bytes > 0


def test_a_place_that_is_none_is_named(tmp_path: Path) -> None:
    for name in ("tpu", "hbm_small/cuda", "riscv/rtl"):
        model = placed(tmp_path, name)
        with pytest.raises(DeviceError, match=f"the source places a part on {name}; devices are host, cpu"):
            ENGINE.run(model.program, model.inputs, RunOptions())
