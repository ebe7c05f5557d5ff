"""fleet's own sets in Icarus Verilog and CXXRTL: commits, digests and cycles of Verilator, the same faults, and their speed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from fleet.engines.linked.lowered import in_simulator
from fleet.engines.rtl_sim.build import Design, design_of
from fleet.isa.registry import find_device
from fleet.streams.case import Setting, StreamCase
from fleet.streams.run import StreamRunner
from fleet.verify.conformance.suite import make_case, names

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(
        find_spec("pyosys") is None and os.environ.get("FLEET_REQUIRE_PYOSYS") != "1", reason="pyosys is not installed"
    ),
]
SIMULATORS = [
    pytest.param(
        "icarus",
        marks=pytest.mark.skipif(
            shutil.which("iverilog") is None and os.environ.get("FLEET_REQUIRE_ICARUS") != "1", reason="iverilog is not installed"
        ),
    ),
    "cxxrtl",
]
DEVICES = ("vgemm_small",)
"""Of hbm_small yosys makes 242 MB of text before it begins to simplify: it is skipped by size."""
MOST = 1_500
"""Cycles, as estimated, of a case that runs in each simulator; an instruction whose smallest case has more is skipped by size."""


def _cost(case: StreamCase) -> float:
    instruction_set, device = find_device(case.device)
    return sum(instruction_set.instructions[c.instruction].cost(device, c.fields) for c in case.calls)


def _smallest(device: str) -> Iterator[StreamCase]:
    """The cheapest directed case of each instruction."""
    found: dict[str, StreamCase] = {}
    for name in names(device):
        case = make_case(name)
        instruction = name.split("/")[1]
        if instruction not in found or _cost(case) < _cost(found[instruction]):
            found[instruction] = case
    yield from found.values()


@pytest.mark.parametrize("simulator", SIMULATORS)
@pytest.mark.parametrize("device", DEVICES)
def test_the_records_are_those_of_verilator(device: str, simulator: str, record_property: Callable[[str, object], None]) -> None:
    cases = [*_smallest(device)]
    run = [c for c in cases if _cost(c) <= MOST]
    skipped = [c.name for c in cases if c not in run]
    assert len(run) >= len(cases) / 2, f"skipped by size: {', '.join(skipped)}"
    design = in_simulator(design_of(*find_device(device)), simulator)
    cycles = seconds = 0.0
    with StreamRunner(device) as burst, StreamRunner(device, design=design) as other:
        for case in run:
            outcome = other.run(case)[0]
            assert outcome.passed, (case.name, outcome)
            expected, status = burst.hardware(case, Setting())
            found, again = other.hardware(case, Setting())
            assert found == expected
            assert (again.status, again.cycles, again.commits, again.records) == (
                "done",
                status.cycles,
                status.commits,
                status.records,
            )
            assert again.commits > 0
            cycles, seconds = cycles + again.cycles, seconds + again.seconds
    record_property("cycles a second", round(cycles / seconds))
    record_property("skipped by size", ", ".join(skipped))
    left = ", ".join(skipped) or "none"
    print(f"{device} in {simulator}: {cycles:,.0f} cycles, {cycles / seconds:,.0f} a second; skipped by size: {left}")


def _without_strobes(design: Design, folder: Path) -> Design:
    """The design with a fault: what is stored lacks a byte lane."""
    path = next(p for p in design.sources if p.name == "vgemm_storer.sv")
    text = path.read_text()
    assert text.count("w.strb   = strb_q;") == 1
    changed = folder / path.name
    changed.write_text(text.replace("w.strb   = strb_q;", "w.strb   = strb_q & ~64'h20;"))
    return replace(design, sources=tuple(changed if p == path else p for p in design.sources))


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_a_fault_of_the_design_is_found_there_too(simulator: str, tmp_path: Path) -> None:
    design = _without_strobes(design_of(*find_device("vgemm_small")), tmp_path)
    with StreamRunner("vgemm_small", design=in_simulator(design, simulator)) as other:
        outcome = other.run(make_case("vgemm_small/store/directed/0"))[0]
    assert not outcome.passed
