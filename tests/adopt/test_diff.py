"""`--diff`: what moved since a map was written, and the edited map goes on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("pyslang")

from fleet.adopt.classify import classify
from fleet.adopt.diff import moved, moved_registers
from fleet.adopt.filelist import read_sources
from fleet.adopt.map_file import map_text, read_map, read_recorded
from fleet.adopt.ports import Top
from fleet.adopt.protocols import PROTOCOLS
from fleet.adopt.registers import read_registers, registers_file, registers_text
from fleet.adopt.top import read_top
from fleet.errors import DeviceError

OLD = """module t #(parameter int W = 32, parameter int OLD = 1) (input clk, input rst_n, input mode_cfg,
  input s_valid, output s_ready, input [W-1:0] s_data, output m_valid, input m_ready, output [W-1:0] m_data, output irq);
endmodule
"""
NEW = """module t #(parameter int W = 64, parameter int NEW = 2) (input clk, input rst_n, input mode_config,
  input s_valid, output s_ready, input [W-1:0] s_data, output m_valid, output [W-1:0] m_data,
  output ram_en, output [3:0] ram_addr, input [7:0] ram_rdata, output irq);
endmodule
"""
RDL = """addrmap regs { default regwidth = 32; default sw = rw; default hw = r;
  reg { field {} start[0:0] = 0; field {} mode[3:1] = 5; } ctrl @ 0x0;
  reg { default sw = r; default hw = w; field {} busy[0:0]; } status @ 0x4;
  reg { field {} v[31:0] = 0; } gone @ 0x8;
};
"""


def top(folder: Path, text: str) -> Top:
    (folder / "t.sv").write_text(text)
    return read_top(read_sources([folder / "t.sv"]), "t")


def test_what_moved_is_said_and_what_was_edited_stays(tmp_path: Path) -> None:
    old = top(tmp_path, OLD)
    text = map_text(classify(old), "0" * 64, PROTOCOLS, old).replace('name = "s"', 'name = "my_input"')
    (tmp_path / "old.toml").write_text(text)
    assert read_map(tmp_path / "old.toml", old).groups[2].name == "my_input"
    recorded = read_recorded(tmp_path / "old.toml")
    assert moved(recorded, old, classify(old), PROTOCOLS).lines == ()
    new = top(tmp_path, NEW)
    found = moved(recorded, new, classify(new), PROTOCOLS)
    assert found.lines == (
        "port m_ready is gone",
        "port mode_cfg is gone; renamed to mode_config?",
        "port mode_config is new: an input of 1 bits",
        "port ram_en is new: an output of 1 bits",
        "port ram_addr is new: an output of 4 bits",
        "port ram_rdata is new: an input of 8 bits",
        "port s_data has 64 bits, it had 32",
        "port m_data has 64 bits, it had 32",
        "parameter W is 64, it was 32",
        "parameter OLD is gone (it was 1)",
        "parameter NEW is new: 2",
        "group m (stream manager) no longer holds: m_ready gone",
        "group ram is new: sram manager, ram_en, ram_addr, ram_rdata",
    )
    assert [g.name for g in found.ports.groups] == ["clk", "rst_n", "my_input", "m", "ram", "irq"]
    (tmp_path / "new.toml").write_text(map_text(found.ports, "", PROTOCOLS, new))
    assert [u.path for u in read_map(tmp_path / "new.toml", new).unmapped] == ["mode_config"]


def test_registers_that_moved(tmp_path: Path) -> None:
    (tmp_path / "old.rdl").write_text(RDL)
    new = RDL.replace("@ 0x4", "@ 0xc").replace("= 5;", "= 6;").replace("gone @ 0x8", "fresh @ 0x4")
    (tmp_path / "new.rdl").write_text(new.replace("v[31:0] = 0", "v[31:0]"))
    old = read_registers(tmp_path / "old.rdl")
    assert [(r.name, r.offset, r.reset, r.known, r.access) for r in old] == [
        ("ctrl", 0, 10, 15, "rw"), ("status", 4, 0, 0, "r"), ("gone", 8, 0, 0xFFFFFFFF, "rw"),
    ]  # fmt: skip
    (tmp_path / "registers.toml").write_text(registers_text(old, "old.rdl"))
    assert registers_file(tmp_path / "registers.toml") == old
    assert list(moved_registers(old, read_registers(tmp_path / "new.rdl"))) == [
        "register ctrl resets to 0xc, it was 0xa",
        "register status is at 0xc, it was at 0x4",
        "register gone at 0x8 is gone",
        "register fresh is new at 0x4",
    ]


def test_registers_of_ip_xact_are_the_same(tmp_path: Path) -> None:
    ipxact = pytest.importorskip("peakrdl_ipxact")
    from systemrdl.compiler import RDLCompiler

    (tmp_path / "regs.rdl").write_text(RDL)
    compiler = RDLCompiler()
    compiler.compile_file(str(tmp_path / "regs.rdl"))
    ipxact.IPXACTExporter().export(compiler.elaborate(), str(tmp_path / "regs.xml"))
    text = (tmp_path / "regs.xml").read_text().replace("$root", "root")
    (tmp_path / "regs.xml").write_text(text)
    found = read_registers(tmp_path / "regs.xml")
    assert [r.name.rpartition(".")[2] for r in found] == ["ctrl", "status", "gone"]
    assert [replace(r, name="") for r in found] == [replace(r, name="") for r in read_registers(tmp_path / "regs.rdl")]


def test_a_description_that_is_wrong_is_said_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "bad.rdl").write_text("addrmap a {\n reg { field {} x[0:0] } r;\n};\n")
    with pytest.raises(DeviceError, match=r"bad.rdl:2: "):
        read_registers(tmp_path / "bad.rdl")
    (tmp_path / "x.csv").write_text("")
    with pytest.raises(DeviceError, match=r"registers are not read from '.csv' files"):
        read_registers(tmp_path / "x.csv")
