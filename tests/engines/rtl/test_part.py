"""The folder of an interrupted build: what of it is gone on with."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from fleet.engines.rtl_sim import part as parts
from fleet.engines.rtl_sim.part import goes_on, mark_verilated, open_part, remove_old

FILES = [("src/a.sv", b"module a; endmodule\n"), ("src/b.cpp", b"int b;\n")]
COMMAND = ["verilator", "--cc"]


@pytest.fixture
def part(tmp_path: Path) -> Path:
    """One in which Verilator has written two files."""
    folder = open_part(tmp_path, "key", FILES)
    (folder / "obj").mkdir()
    for name in ("Vtop.mk", "Vtop.cpp"):
        (folder / "obj" / name).write_text(name)
    mark_verilated(folder, COMMAND)
    return folder


def names(part: Path) -> set[str]:
    return {p.name for p in (part / "obj").iterdir()} if (part / "obj").is_dir() else set()


def test_only_whole_files_are_gone_on_with(part: Path) -> None:
    for name in ("Vtop.o", "Vtop__pch.h.fast.gch", "Vtop", "Vtop__ALL.a", "Vtop__ALL.cpp", "b.o.part", "Vtop.d"):
        (part / "obj" / name).write_text(name)
    assert goes_on(part, COMMAND)
    assert names(part) == {"Vtop.mk", "Vtop.cpp", "Vtop.o", "Vtop__pch.h.fast.gch"}


def test_inputs_that_are_there_are_not_touched(part: Path, tmp_path: Path) -> None:
    os.utime(part / "src" / "a.sv", (1, 1))
    (part / "src" / "b.cpp").write_text("other")
    assert open_part(tmp_path, "key", FILES) == part
    assert (part / "src" / "a.sv").stat().st_mtime == 1
    assert (part / "src" / "b.cpp").read_bytes() == b"int b;\n"


def test_it_begins_anew(part: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With another command, without a generated file, where Verilator was killed, and after the machine was started again."""
    assert not goes_on(part, [*COMMAND, "-O0"])
    assert names(part) == set()
    (part / "obj").mkdir()
    (part / "obj" / "Vtop.mk").write_text("half")
    assert not goes_on(part, COMMAND)
    assert names(part) == set()
    (part / "obj").mkdir()
    (part / "obj" / "Vtop.mk").write_text("x")
    mark_verilated(part, COMMAND)
    (part / "obj" / "Vtop.mk").unlink()
    assert not goes_on(part, COMMAND)
    (part / "obj").mkdir()
    (part / "obj" / "Vtop.mk").write_text("x")
    mark_verilated(part, COMMAND)
    monkeypatch.setattr(parts, "_boot", lambda: "another one")
    open_part(tmp_path, "key", FILES)
    assert not goes_on(part, COMMAND)


def compiler(part: Path, *arguments: str) -> int:
    """Make's call of a compiler, which here is a shell."""
    return subprocess.run(["sh", "-c", f'cd obj && exec {parts.OBJCACHE} "$@"', "sh", *arguments], cwd=part, check=False).returncode


WRITES = 'for a; do [ "$o" = -o ] && echo whole > "$a"; o=$a; done'


def test_a_compilers_output_is_there_whole_or_not_at_all(part: Path) -> None:
    assert compiler(part, "sh", "-c", WRITES, "sh", "-c", "-DX=a b", "-o", "one.o", "../src/b.cpp") == 0
    assert (part / "obj" / "one.o").read_text() == "whole\n"
    assert compiler(part, "sh", "-c", WRITES, "sh", "-c", "../src/two.cpp") == 0, "an object is named after its source"
    assert (part / "obj" / "two.o").read_text() == "whole\n"
    assert compiler(part, "sh", "-c", f"{WRITES}; kill -9 $$", "sh", "-c", "-o", "three.o", "x.cpp") != 0
    assert compiler(part, "sh", "-c", f"{WRITES}; exit 3", "sh", "-c", "-o", "four.o", "x.cpp") == 3
    assert {"one.o", "two.o", "three.o.part", "four.o.part"} == names(part) - {"Vtop.mk", "Vtop.cpp"}


def test_nobodys_parts_are_removed_after_two_weeks(part: Path, tmp_path: Path) -> None:
    import fcntl

    held = tmp_path / "held.part"
    held.mkdir()
    (tmp_path / "built").mkdir()
    (tmp_path / ".key-abc").mkdir()
    for path in (part, held, tmp_path / "built", tmp_path / ".key-abc"):
        os.utime(path, (1, 1))
    with (tmp_path / "held.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        remove_old(tmp_path)
    assert {p.name for p in tmp_path.iterdir() if p.is_dir()} == {"held.part", "built"}
