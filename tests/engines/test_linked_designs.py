"""A set's own design in another simulator: what its bench is made of, and what is refused. The simulations run every night."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fleet.cosim.evidence_held import without_evidence
from fleet.cosim.request import installed_engines
from fleet.engines.base import RunOptions
from fleet.engines.registry import engines, find_engine
from fleet.engines.rtl import RtlBackend
from fleet.engines.rtl_sim.build import design_of
from fleet.engines.trace import Trace
from fleet.errors import DeviceError, SetupError
from fleet.isa.memory import MappedMemory
from fleet.isa.registry import find_device


def test_an_engine_is_named_with_its_simulator() -> None:
    assert find_engine("rtl@icarus").engine.name == "rtl@icarus"
    assert engines()["rtl@cxxrtl"].engine.name == "rtl@cxxrtl"
    assert "rtl@icarus" in installed_engines()
    assert "riscv" in installed_engines()
    assert "nothing@icarus" not in installed_engines()
    assert "no simulator questa" in (find_engine("rtl@questa").engine.available() or "")
    with pytest.raises(SetupError, match="engine vm has no other simulator"):
        find_engine("vm@icarus")
    with pytest.raises(SetupError, match="no engine is called rtl3@icarus"):
        find_engine("rtl3@icarus")


def test_a_name_with_a_simulator_is_a_name_of_hardware() -> None:
    trace = Trace(engine="rtl@icarus", program_hash="", complete=True, outputs={"y": np.zeros(1)})
    found = without_evidence(find_engine("rtl@icarus").engine, trace, 0)
    assert found is not None
    assert "has the name of hardware (rtl@icarus)" in found


@pytest.mark.parametrize("options", [RunOptions(rtl_jobs=2), RunOptions(rtl_sample="best:4")])
def test_legs_and_samples_are_refused(options: RunOptions, tmp_path: Path) -> None:
    instruction_set, device = find_device("vgemm_small")
    backend = RtlBackend(simulator="icarus")
    memory = MappedMemory.fresh(device, tmp_path / "memory", (), {})
    with pytest.raises(DeviceError, match="runs whole jobs"):
        backend.open(instruction_set, device, memory, replace(options, device="vgemm_small"))


def test_modules_that_observe_stay_in_the_bench() -> None:
    pytest.importorskip("pyslang")
    from fleet.engines.linked import lowered

    design = design_of(*find_device("vgemm_small"))
    inside = lowered.looked_into(design)
    ports, observers = inside.ports, inside.observers
    assert ports["clk_i"] == ("input", 1)
    assert ports["commit_cycles_o"] == ("output", 192)
    assert [o.module for o in observers] == ["vgemm_observe"]
    assert {p.name: p.path for p in observers[0].ports if not p.path} == {"clk_i": "", "rst_ni": ""}
    text = lowered.bench_module(design, lowered.link_to(ports, observers), observers)
    assert "vgemm_top" not in text
    assert re.search(r"vgemm_observe #\(\) u_observer0 \(\.clk_i\(clk_i\), \.rst_ni\(rst_ni\), \.load_i\(link_out\[", text)


def test_the_on_chip_memory_of_hbm_small_is_watched_with_its_parameter() -> None:
    pytest.importorskip("pyslang")
    from fleet.engines.linked import lowered

    (observer,) = lowered.looked_into(design_of(*find_device("hbm_small"))).observers
    assert observer.module == "hbm0923_onchip"
    assert set(observer.parameters) == {"Depth"}
    assert re.fullmatch(r"32'd\d+", observer.parameters["Depth"])
    assert {p.name for p in observer.ports if not p.path} == {"clk_i", "read_data_o"}


@pytest.mark.parametrize("simulator", ["icarus", "cxxrtl"])
def test_a_design_that_is_too_large_is_refused_before_anything_is_made(simulator: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyslang")
    from fleet.engines.linked import lowered

    monkeypatch.setattr(lowered, "find_simulator", lambda _: "yosys")
    with pytest.raises(DeviceError) as caught:
        lowered.in_simulator(design_of(*find_device("hbm_small")), simulator)
    said = re.search(r"hbm0923_top has ([\d,]+) bits of signals; a netlist for (\w+) may have 100,000", str(caught.value))
    assert said is not None
    assert (int(said[1].replace(",", "")) > 300_000, said[2]) == (True, simulator)
    assert lowered.looked_into(design_of(*find_device("vgemm_small"))).bits < lowered.MOST_BITS
