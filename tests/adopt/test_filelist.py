"""File lists as simulators take them."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleet.adopt.filelist import read_sources
from fleet.errors import DeviceError


def test_a_nested_list_with_folders_macros_and_comments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("rtl/a.sv", "rtl/b.v", "common/c.sv", "common/inc/x.svh", "cells/d.v", "rtl/w.vlt", "rtl/dpi.cpp"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "common/c.f").write_text("+incdir+inc\nc.sv // behind\n")
    (tmp_path / "rtl/top.f").write_text(
        '# first\n/* two\nlines */ -f ../common/c.f\n+define+W=32+SIM +define+T="a b"\n-y ../cells +libext+.v\n'
        "-sverilog -timescale 1ns/1ps\n${HERE}/rtl/a.sv b.v w.vlt dpi.cpp\n+incdir+gone\n"
    )
    monkeypatch.setenv("HERE", str(tmp_path))
    s = read_sources([tmp_path / "rtl/top.f"])
    assert [p.relative_to(tmp_path).as_posix() for p in s.files] == ["common/c.sv", "rtl/a.sv", "rtl/b.v"]
    assert (s.include_dirs, s.library_dirs) == ((tmp_path / "common/inc",), (tmp_path / "cells",))
    assert dict(s.defines) == {"W": "32", "SIM": "", "T": "a b"}
    assert (s.waivers, s.cpp) == ((tmp_path / "rtl/w.vlt",), (tmp_path / "rtl/dpi.cpp",))
    assert [(i.word, i.where.rpartition(":")[2]) for i in s.ignored] == [
        ("-sverilog", "6"), ("-timescale 1ns/1ps", "6"), ("+incdir+gone (no such folder)", "8"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\nno.sv\n", "t.f:2: the file no.sv is missing"),
        ("-f t.f", "t.f:1: the file list t.f reads itself"),
        ("$NO_SUCH_VARIABLE/a.sv", "t.f:1: the environment variable NO_SUCH_VARIABLE is not set"),
        ("-y", "t.f:1: -y needs a word behind it"),
        ("// nothing", "no source files"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "a.vhd").write_text("")
    (tmp_path / "t.f").write_text(text)
    with pytest.raises(DeviceError) as caught:
        read_sources([tmp_path / "t.f"])
    assert message in str(caught.value)
