"""VHDL in the sources of a design: ghdl's Verilog takes its place."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

pytest.importorskip("pyslang")

from adopted import GATHER

from fleet.adopt.classify import classify
from fleet.adopt.filelist import read_sources
from fleet.adopt.own_protocols import known_protocols
from fleet.adopt.top import read_top
from fleet.adopt.vhdl import with_verilog
from fleet.errors import DeviceError, SetupError

ghdl = pytest.mark.skipif(
    shutil.which("ghdl") is None and os.environ.get("FLEET_REQUIRE_GHDL") != "1", reason="ghdl is not installed"
)
UNIT = """library ieee; use ieee.std_logic_1164.all;
entity {name} is generic (W : positive := 8);
  port (clk : in std_logic; d : in std_logic_vector(W-1 downto 0); q : out std_logic_vector(W-1 downto 0)); end;
architecture rtl of {name} is begin {body} end;
"""
PASSES = "process (clk) begin if rising_edge(clk) then q <= d; end if; end process;"


@ghdl
def test_a_design_in_vhdl_is_mapped() -> None:
    sources, left = with_verilog(read_sources([GATHER]), "gather", {})
    assert (sources.vhdl, left) == ((), {})
    assert [p.name for p in sources.files] == ["gather.v"]
    top = read_top(sources, "gather")
    found = classify(top, known_protocols(()))
    assert [leaf.path for leaf in found.unmapped] == ["fault_i"]
    protocols = {g.name: g.protocol for g in found.groups}
    assert (protocols["apb"], protocols["m_axi"], protocols["pclk"], protocols["aclk"]) == ("apb", "axi4", "clock", "clock")
    assert with_verilog(read_sources([GATHER]), "gather", {})[0].files == sources.files  # kept


@ghdl
def test_generics_of_a_top_and_units_of_a_mixed_design(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.vhd").write_text(UNIT.format(name=name, body=PASSES))
    (tmp_path / "top.sv").write_text(
        "module top (input logic clk, input logic [7:0] d, output logic [7:0] q);\n  logic [7:0] m;\n"
        "  one a (.clk, .d, .q(m)); two b (.clk, .d(m), .q);\nendmodule\n"
    )
    wide = read_sources([tmp_path / "one.vhd"])
    sources, left = with_verilog(wide, "one", {"W": "24"})
    assert left == {}
    assert {leaf.path: leaf.width for leaf in read_top(sources, "one").leaves()} == {"clk": 1, "d": 24, "q": 24}
    mixed, left = with_verilog(read_sources([tmp_path / n for n in ("one.vhd", "two.vhd", "top.sv")]), "top", {"P": "1"})
    assert left == {"P": "1"}  # the Verilog top's, which says itself whether it has one
    assert sorted(p.name for p in mixed.files) == ["one.v", "top.sv", "two.v"]
    assert read_top(mixed, "top").missing == ()


@ghdl
def test_what_ghdl_refuses_is_one_line_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "bad.vhd").write_text(UNIT.format(name="bad", body="q <= nothing;"))
    with pytest.raises(DeviceError, match=r"ghdl does not synthesise it: .*nothing") as found:
        with_verilog(read_sources([tmp_path / "bad.vhd"]), "bad", {})
    assert "bad.vhd:4" in str(found.value)
    (tmp_path / "none.vhd").write_text("package p is end package;\n")
    with pytest.raises(DeviceError, match="there is no entity"):
        with_verilog(read_sources([tmp_path / "none.vhd"]), "", {})


@ghdl
def test_an_assertion_does_not_end_the_simulation(tmp_path: Path) -> None:
    body = PASSES + " assert d /= (d'range => '1') report \"all ones\" severity warning;"
    (tmp_path / "one.vhd").write_text(UNIT.format(name="one", body=body))
    sources, _ = with_verilog(read_sources([tmp_path / "one.vhd"]), "one", {})
    assert "$fatal" not in sources.files[0].read_text()


def test_without_ghdl_the_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "one.vhd").write_text(UNIT.format(name="one", body=PASSES))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SetupError, match=r"`ghdl` is needed for VHDL \(one.vhd\).*apt-get install ghdl"):
        with_verilog(read_sources([tmp_path / "one.vhd"]), "one", {})
