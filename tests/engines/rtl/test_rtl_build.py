"""The cache of builds, the tools, and what a user reads when hardware does not compile."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest
from loopback import DESC, FIXTURES, HASH, PORTS, Workplace, copy, loopback

from fleet.engines.rtl_sim import build as building
from fleet.engines.rtl_sim import tools
from fleet.engines.rtl_sim.build import BuildError, Design, build, wave_suffix
from fleet.engines.rtl_sim.cache import cache_folder, locked
from fleet.engines.rtl_sim.dut import Dut
from fleet.engines.rtl_sim.job import JobScript
from fleet.engines.rtl_sim.modes.recipe import BuildRecipe
from fleet.engines.rtl_sim.process import Simulation
from fleet.engines.rtl_sim.tools import find_toolchain
from fleet.errors import DeviceError, SetupError

HOLD = """\
import fcntl, sys
f = open(sys.argv[1], "w")
fcntl.flock(f, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


def _no_compiler(*_: object, **__: object) -> None:
    pytest.fail("something was compiled")


def test_a_second_build_compiles_nothing(executable: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(building.subprocess, "Popen", _no_compiler)
    assert build(loopback()) == executable
    elsewhere = tmp_path / "a folder with blanks"
    elsewhere.mkdir()
    (elsewhere / "loopback_top.sv").write_bytes((FIXTURES / "loopback_top.sv").read_bytes())
    assert build(loopback(sources=(elsewhere / "loopback_top.sv",))) == executable, "content counts, not the place"


class _Asked(Exception):
    """The build went on to compile."""


def test_everything_that_matters_makes_another_build(executable: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise _Asked

    monkeypatch.setattr(building, "_compile", refuse)
    changed = tmp_path / "loopback_top.sv"
    changed.write_bytes((FIXTURES / "loopback_top.sv").read_bytes() + b"// one more line\n")
    for design in (
        loopback(sources=(changed,)),
        loopback(dut=Dut("loopback_top", {"HbmPorts": PORTS + 1}, HASH)),
        loopback(dut=Dut("loopback_top", {"HbmPorts": PORTS}, HASH + 1)),
    ):
        with pytest.raises(_Asked):
            build(design)
    recipe = BuildRecipe("checked", ("--assert",), ("OPT_FAST=-O0",), find_toolchain().compiler_version)
    for attribute, value in (("recipe_of", lambda *_: recipe), ("_CFLAGS", "-DX"), ("_COCOTB", ["--vpi"])):
        with monkeypatch.context() as m:
            m.setattr(building, attribute, value)
            with pytest.raises(_Asked):
                build(loopback())


def test_a_compile_error_names_file_line_and_log(tmp_path: Path) -> None:
    source = tmp_path / "my broken.sv"
    source.write_text("module broken_top;\n  logic a;\n  assign a = nothing;\nendmodule\n")
    with pytest.raises(BuildError) as caught:
        build(Design(Dut("broken_top", {}, None), (source,)))
    assert f"{source}:3:14: Can't find definition of variable: 'nothing'" in str(caught.value)
    log = Path(str(caught.value.hint).removeprefix("the whole log is in "))
    assert "Can't find definition" in log.read_text()


def test_bad_designs(tmp_path: Path) -> None:
    with pytest.raises(DeviceError, match="no source files"):
        build(Design(Dut("top", {}, None), ()))
    with pytest.raises(DeviceError, match=r"gone.sv: cannot read the hardware's source \(No such file or directory\)"):
        build(Design(Dut("top", {}, None), (tmp_path / "gone.sv",)))
    (tmp_path / "fleet_tb.sv").write_text("module fleet_tb; endmodule\n")
    with pytest.raises(DeviceError, match=r"two different files are named fleet_tb.sv"):
        build(Design(Dut("top", {}, None), (tmp_path / "fleet_tb.sv",)))


def test_hardware_generated_from_another_description_is_refused(tmp_path: Path) -> None:
    from dataclasses import replace

    from fleet.isa.hardware import hardware_of
    from fleet.isa.reading.cache import load
    from fleet.isa.registry import find_device

    instruction_set, device = find_device("hbm_small")
    made = hardware_of(instruction_set)
    assert made is not None
    assert building.design_of(instruction_set, device).sources == made.files
    now = load(instruction_set.description).hash
    package = next(p for p in made.files if p.name == "hbm0923_pkg.sv")
    text = package.read_text()
    assert now in text, "the generated file says what it was made from"
    stale = tmp_path / package.name
    stale.write_text(text.replace(now, "0" * 64))
    rtl = replace(made, sources=(stale,))
    with pytest.raises(DeviceError, match=rf"{package.name}:\d+: generated from description {'0' * 16}, .* is now {now[:16]}"):
        building.design_of(replace(instruction_set, rtl=rtl), device)


def test_what_a_build_took_before_is_told_and_nothing_else(tmp_path: Path) -> None:
    """The newest whole build of the same top, parameters and flavour; none where there is none."""
    design = Design(Dut("top", {"N": 4}, None), ())
    told: list[str] = []

    def words() -> str:
        building._with_history(lambda _, text: told.append(text), tmp_path, design, "burst", "checked")(0.1, "compiling top")
        return told[-1]

    def store(name: str, seconds: float | None, age: int, **other: object) -> None:
        (tmp_path / name).mkdir()
        info = {"top": "top", "parameters": {"N": 4}, "flavour": "burst", "seconds": seconds, **other}
        (tmp_path / name / "info.json").write_text(json.dumps(info))
        os.utime(tmp_path / name / "info.json", (1e9 - age, 1e9 - age))

    assert words() == "compiling top"
    store("waves", 500.0, 0, flavour="waves")
    store("larger", 600.0, 0, parameters={"N": 8})
    store("continued", None, 0)
    (tmp_path / "torn").mkdir()
    (tmp_path / "torn" / "info.json").write_text("{")
    assert words() == "compiling top"
    store("old", 200.0, 50)
    store("new", 96.4, 10)
    assert words() == "compiling top, 96 s last time"


def test_an_interrupted_build_goes_on_and_an_edit_compiles_what_it_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once more than half of it was compiled, and again when a killed process left halves of files."""
    monkeypatch.setenv("FLEET_CACHE", str(tmp_path / "cache"))
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", None)
    plain = ("OPT_FAST=-O0", "OPT_GLOBAL=-O0", "OPT_SLOW=-O0")  # nothing is simulated
    monkeypatch.setattr(building, "recipe_of", lambda *_: BuildRecipe("edit", (), plain, find_toolchain().compiler_version))
    rtl = tmp_path / "cache" / "rtl"

    def interrupt(fraction: float, words: str) -> None:
        if fraction > 0.1 and len(list(rtl.glob("*.part/obj/*.o"))) > 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(loopback(), progress=interrupt)
    assert {p.suffix for p in rtl.iterdir()} == {".lock", ".part"}
    assert list(temporary.iterdir()) == [], "the compilers' files are gone with them"
    (part,) = rtl.glob("*.part")
    whole = {p.name: p.stat().st_mtime_ns for p in (part / "obj").glob("*.o")}
    generated = (part / "obj" / "Vtop.h").stat().st_mtime_ns
    for name in ("Vtop", "Vtop__ALL.a", "Vtop__x.o.part"):  # what was being written
        (part / "obj" / name).write_bytes(b"half")
    said: list[str] = []
    began: list[tuple[int, dict[str, int]]] = []

    def listen(fraction: float, words: str) -> None:
        said.append(words)
        if words == "built loopback_top":
            objects = {p.name: p.stat().st_mtime_ns for p in (part / "obj").glob("*.o")}
            began.append(((part / "obj" / "Vtop.h").stat().st_mtime_ns, objects))

    executable = build(loopback(), progress=listen)
    assert "going on with the build of loopback_top" in said
    ((header, objects),) = began
    assert header == generated, "not verilated again"
    assert whole.items() <= objects.items(), "not compiled again"
    assert executable.read_bytes()[:4] == b"\x7fELF"
    assert not part.exists()
    assert len(_compiled(executable)) > 15
    changed = tmp_path / "loopback_top.sv"
    changed.write_text((FIXTURES / "loopback_top.sv").read_text().replace("low_q <= low_q + 1", "low_q <= low_q + 2"))
    edited = build(loopback(sources=(changed,)))
    assert len(_compiled(edited)) <= 2, "one line changed"
    assert edited.read_bytes() != executable.read_bytes()


def _compiled(executable: Path) -> list[str]:
    lines = (executable.parent / "build.log").read_text().splitlines()
    return [line.split()[-1] for line in lines if " -c " in line and line.endswith(".cpp")]


def _program(folder: Path, name: str, output: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\necho '{output}'\n")
    (folder / name).chmod(0o755)


def test_an_old_verilator_is_one_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _program(tmp_path, "verilator", "Verilator 5.006 2023-01-22 rev (Debian 5.006-3)")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/usr/bin{os.pathsep}/bin")
    monkeypatch.setattr(tools, "_packaged_verilator", lambda: None)
    tools._find.cache_clear()
    with pytest.raises(SetupError) as caught:
        tools.find_toolchain()
    line = str(caught.value)
    assert "Verilator 5.036 or later is needed" in line
    assert "is Verilator 5.006" in line
    assert "fleet doctor" in line
    assert "\n" not in line
    monkeypatch.undo()
    tools._find.cache_clear()


def test_the_environments_verilator_replaces_an_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _program(tmp_path / "old", "verilator", "Verilator 5.006 2023-01-22")
    _program(tmp_path / "new", "verilator", "Verilator 5.100 2030-01-01")
    monkeypatch.setenv("PATH", f"{tmp_path / 'old'}{os.pathsep}/usr/bin{os.pathsep}/bin")
    monkeypatch.setattr(tools, "_packaged_verilator", lambda: tmp_path / "new" / "verilator")
    tools._find.cache_clear()
    assert tools.find_toolchain().verilator == tmp_path / "new" / "verilator"
    monkeypatch.undo()
    tools._find.cache_clear()


def test_no_compiler_is_one_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _program(tmp_path, "verilator", "Verilator 5.100 2030-01-01")
    monkeypatch.setenv("PATH", str(tmp_path))
    tools._find.cache_clear()
    with pytest.raises(SetupError, match=r"`g\+\+` is needed to build a simulation and was not found; install a C\+\+17 compiler"):
        tools.find_toolchain()
    monkeypatch.undo()
    tools._find.cache_clear()


def test_where_the_cache_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FLEET_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "fleet" / "rtl"
    monkeypatch.setenv("FLEET_CACHE", str(tmp_path / "own"))
    assert cache_folder() == tmp_path / "own" / "rtl"
    monkeypatch.setenv("FLEET_CACHE", str(tmp_path / "with blanks"))
    assert " " not in str(cache_folder()), "make cannot stand blanks"
    monkeypatch.setenv("FLEET_CACHE", "/proc/nowhere")
    with pytest.raises(SetupError, match="cannot write the cache folder"):
        cache_folder()


def test_the_lock_keeps_a_second_process_waiting(tmp_path: Path) -> None:
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path / "x.lock")], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdin is not None
    holder.stdout.readline()
    waited: list[float] = []

    def release() -> None:
        waited.append(time.monotonic())
        if len(waited) == 2:
            holder.stdin.close()  # pyright: ignore[reportOptionalMemberAccess]

    with locked(tmp_path / "x.lock", release):
        assert len(waited) >= 2
    holder.wait()
    holder.stdout.close()


def test_two_builds_at_once_compile_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEET_CACHE", str(tmp_path / "cache"))
    compiled: list[str] = []

    def fake(design: Design, folder: Path, *_: object) -> None:
        compiled.append(design.dut.top)
        time.sleep(1)
        (folder / "obj").mkdir()
        (folder / "obj" / "Vtop").write_text("")

    monkeypatch.setattr(building, "_compile", fake)
    found: list[Path] = []
    threads = [threading.Thread(target=lambda: found.append(build(loopback()))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert compiled == ["loopback_top"]
    assert found[0] == found[1]


def test_the_plain_main_gives_the_same_commits_in_the_same_cycles(simulation: Simulation, place: Workplace) -> None:
    script = JobScript()
    copy(script, 0, 0x8_0000, 100)
    copy(script, 0x1000, 0x9_0000, 33, mode=1)
    script.read(DESC)
    burst = place.run(simulation, script, memory="stall:8")
    job = place.job(script, memory="stall:8")
    job.save(place.folder / "plain job")
    subprocess.run([build(loopback(), "plain"), place.folder / "plain job"], check=True, capture_output=True)
    plain = place.outcome(job, burst.status)
    assert plain.records == burst.records
    assert plain.results == burst.results
    assert (plain.ddr == burst.ddr).all()


def test_waves_show_the_window_only(place: Workplace, tmp_path: Path) -> None:
    executable = build(loopback(), "waves")
    waves = tmp_path / f"w{wave_suffix(executable)}"
    script = JobScript()
    copy(script, 0, 0x8_0000, 100)
    with Simulation(executable, tmp_path / "simulation") as simulation:
        place.run(simulation, script, waves=waves, window=(30, 60))
        first = waves.read_bytes()
        place.run(simulation, script, waves=waves, window=(0, 200))
    assert len(first) > 1000
    if waves.suffix == ".vcd":
        times = [int(line[1:]) for line in first.decode().splitlines() if line.startswith("#")]
        assert 50 <= len(times) <= 64, "two edges a cycle"
        assert b"loopback_top" in first or b"u_top" in first
        assert len(waves.read_bytes()) > len(first)
