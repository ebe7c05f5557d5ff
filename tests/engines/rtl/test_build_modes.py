"""Build modes: what each compiles in, what is in its key, and that all give the same bits and cycles."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from loopback import FIXTURES, Workplace, copy, loopback

from fleet.engines.rtl_sim.build import BuildError, Design, build, train
from fleet.engines.rtl_sim.dut import Dut
from fleet.engines.rtl_sim.job import JobScript
from fleet.engines.rtl_sim.modes import profile as profiles
from fleet.engines.rtl_sim.modes import recipe as modes
from fleet.engines.rtl_sim.modes.recipe import BuildMode, build_mode, recipe_of
from fleet.engines.rtl_sim.process import Simulation, SimulationError
from fleet.engines.rtl_sim.tools import find_toolchain
from fleet.errors import DeviceError, SetupError

ASSERTION = 3 << 4  # the fixture's fault that breaks an assertion and nothing else


@pytest.fixture(scope="module")
def checked() -> Path:
    return build(loopback(), mode="checked")


def test_the_word_chooses_and_another_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FLEET_RTL_BUILD", raising=False)
    assert build_mode() == "checked"
    monkeypatch.setenv("FLEET_RTL_BUILD", "fast")
    assert build_mode() == "fast"
    assert build_mode("edit") == "edit"
    with pytest.raises(DeviceError, match="no build mode 'slow'; use checked, fast, edit"):
        build_mode("slow")


def test_what_a_mode_means_is_in_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    tools = find_toolchain()
    states = {tuple(recipe_of(mode, tools).state) for mode in modes.MODES}
    assert len(states) == 3
    assert recipe_of("checked", tools).processor == "", "for any processor"
    own = recipe_of("fast", tools)
    monkeypatch.setattr(modes, "_processor", lambda _: "another")
    assert recipe_of("fast", tools).state != own.state
    assert recipe_of("fast", tools).makes != own.makes, "shared objects are for a processor too"


def test_another_compiler_is_another_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tools = find_toolchain()
    other = tmp_path / "other++"
    other.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo other 1.0 && exit\nexec {tools.compiler} "$@"\n')
    other.chmod(0o755)
    plain = recipe_of("checked", tools)
    monkeypatch.setenv("FLEET_CXX", str(other))
    recipe = recipe_of("checked", tools)
    assert recipe.compiler == "other 1.0"
    assert recipe.state != plain.state
    assert recipe.make[:2] == (f"CXX={other}", f"LINK={other}")
    monkeypatch.setenv("FLEET_CXX", str(tmp_path / "none"))
    with pytest.raises(SetupError, match=r"the compiler '.*none' does not run"):
        recipe_of("checked", tools)


def test_profiles_are_of_gcc_alone() -> None:
    recipe = modes.BuildRecipe("fast", (), ("OPT_FAST=-O3",), "Debian clang version 14.0.6")
    with pytest.raises(SetupError, match="the compiler is clang"):
        profiles.profiled(recipe, Path("/counts"))


def _copied(place: Workplace, executable: Path, fault: int = 0) -> tuple[bytes, bytes, int]:
    """DDR's bytes, the records of the commits, cycles."""
    script = JobScript()
    copy(script, 0, 0x8000, 40, mode=fault)
    with Simulation(executable, place.folder / "simulation", seed=5) as simulation:
        outcome = place.run(simulation, script)
    return outcome.ddr.tobytes(), repr(outcome.records).encode(), outcome.status.cycles


@pytest.mark.parametrize("mode", ["fast", "edit"])
def test_every_bit_and_cycle_is_the_same(checked: Path, mode: BuildMode, tmp_path: Path) -> None:
    other = build(loopback(), mode=mode)
    assert other != checked
    info = json.loads((other.parent / "info.json").read_text())
    assert info["mode"] == mode
    found = [_copied(Workplace(tmp_path / name), path) for name, path in (("one", checked), ("other", other))]
    assert found[0] == found[1]


def test_a_checked_build_stops_at_an_assertion_and_a_fast_one_has_none(checked: Path, tmp_path: Path) -> None:
    with pytest.raises(SimulationError, match="assert"):
        _copied(Workplace(tmp_path / "checked"), checked, ASSERTION)
    _copied(Workplace(tmp_path / "fast"), build(loopback(), mode="fast"), ASSERTION)


@pytest.mark.parametrize("mode", ["checked", "fast"])
def test_the_rules_of_writes_hold_where_their_clock_stands_still_between_them(mode: BuildMode, tmp_path: Path) -> None:
    """Both faults on HBM, whose writes are the only ones with gaps: within a burst, and at an edge at which nothing is valid."""
    executable, place = build(loopback(), mode=mode), Workplace(tmp_path)
    for fault, says in ((6, r"wlast is set on write beat 1 of 32 at 0x8000"), (7, "awvalid was withdrawn before awready")):
        script = JobScript()
        copy(script, 0, 0x8000, 40, mode=2)
        copy(script, 0, 0x8000, 40, mode=2 | fault << 4)
        with (
            Simulation(executable, tmp_path / f"simulation {fault}", seed=5) as simulation,
            pytest.raises(SimulationError, match=rf"AXI violation on hbm port 0 in cycle \d+: {says}"),
        ):
            place.run(simulation, script, memory="stall:1")


@pytest.mark.nightly  # three builds, whose runtime is compiled anew
def test_a_profile_is_taken_and_is_in_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "loopback_top.sv"
    source.write_bytes((FIXTURES / "loopback_top.sv").read_bytes() + b"// of this test alone\n")
    monkeypatch.setattr(modes, "_NATIVE", "-O1")  # quicker
    design: Design = loopback(sources=(source,))
    before = build(design, mode="fast")
    with train(design) as counting:
        _copied(Workplace(tmp_path / "training"), counting)
    after = build(design, mode="fast")
    assert after != before
    info = json.loads((after.parent / "info.json").read_text())
    assert info["profile"]
    assert "-fprofile-use=" in (after.parent / "build.log").read_text()
    found = [_copied(Workplace(tmp_path / path.parent.name), path) for path in (before, after)]
    assert found[0] == found[1]


def test_counts_that_are_there_under_another_name_are_missed_and_those_of_what_was_not_linked_are_not(tmp_path: Path) -> None:
    log = "".join(
        f"x.cpp:1: warning: ‘/p/{name}.o.gcda’ profile count data file not found [-Wmissing-profile]\n"
        for name in ("other#Vtop__1", "obj#Vtop_pkg__Slow")
    )
    assert profiles.not_taken(log, tmp_path) == ["/p/other#Vtop__1.o.gcda", "/p/obj#Vtop_pkg__Slow.o.gcda"]
    (tmp_path / "obj#Vtop__1.o.gcda").touch()
    assert profiles.not_taken(log, tmp_path) == ["/p/other#Vtop__1.o.gcda"]


@pytest.mark.nightly
def test_a_profile_of_other_names_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "tiny.sv"
    source.write_bytes((FIXTURES / "loopback_top.sv").read_bytes() + b"// of this test too\n")
    design: Design = loopback(sources=(source,), dut=Dut("loopback_top", {"HbmPorts": 1}, 1))
    empty = tmp_path / ("0" * 32)
    empty.mkdir()
    monkeypatch.setattr("fleet.engines.rtl_sim.build.find_profile", lambda _: empty)
    with pytest.raises(BuildError, match="did not take the profile of"):
        build(design, mode="fast")
