"""Whether a reset or an enable is active low: by the sources where the name does not say it, or says otherwise."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

pytest.importorskip("pyslang")

from fleet.adopt.classify import classify
from fleet.adopt.filelist import read_sources
from fleet.adopt.port_map import PortGroup
from fleet.adopt.top import read_top
from fleet.adopt.vhdl import with_verilog


def groups(path: Path, top: str = "t") -> dict[str, PortGroup]:
    sources, _ = with_verilog(read_sources([path]), top, {})
    return {g.name: g for g in classify(read_top(sources, top)).groups}


def reset(tmp_path: Path, name: str, body: str, more: str = "") -> PortGroup:
    text = f"module t(input clk, input {name}, input d, input e, output reg q, output reg [3:0] n);\n{body}\nendmodule\n{more}"
    (tmp_path / "t.sv").write_text(text.replace("RST", name))
    return groups(tmp_path / "t.sv")[name]


LOW = (
    ("always @(posedge clk or negedge RST) if (!RST) q <= 0; else q <= d;", "negedge RST"),
    ("always_ff @(negedge RST, posedge clk) begin if (RST == 1'b0) begin q <= '0; end else q <= d; end", "negedge RST"),
    ("always @(posedge clk) if (~RST) begin q <= 1'b0; n <= 4'd3; end else if (e) q <= d;", "if (!RST)"),
    ("always @(posedge clk) if (RST == 0 || e) q <= 0; else q <= d;", "if (!RST)"),
    ("localparam ON = 1'b0; always @(posedge clk) if (RST == ON) q <= 0; else q <= d;", "if (!RST)"),
    ("always @(posedge clk) if (RST) begin if (e) q <= d; end else q <= 0;", "if (RST) ... else reset"),
    ("wire away = ~RST; always @(posedge clk) if (away) q <= 0; else q <= d;", "if (away)"),
    ("assign q = 0; leaf l(.c(clk), .r(!RST), .d(d));", "if (r)"),
    ("for (genvar i = 0; i < 2; i++) begin : g leaf2 l(clk, RST, d); end", "negedge r"),
    ("integer i; always @(posedge clk) if (!RST) for (i = 0; i < 4; i = i + 1) n[i] <= 0; else n <= n + 1;", "if (!RST)"),
)
HIGH = (
    "always @(posedge clk or posedge RST) if (RST) q <= 0; else q <= d;",
    "always @(posedge clk) if (RST) q <= 0; else if (e) q <= d;",
    "always @(posedge clk) if (!RST) begin if (e) q <= d; end else q <= 0;",
    "wire go = e & ~RST; always @(posedge clk) begin if (go) q <= 1; if (RST) q <= 0; end",
    "always @(posedge clk) begin if (e && !RST) q <= 1; end leaf2 l(clk, ~RST, d);",
    "always @(posedge clk) begin if (!RST) n <= n + 1; end leaf l(clk, RST, d);",
)
LEAVES = (
    "module leaf(input c, input r, input d); reg q; always @(posedge c) if (r) q <= 0; else q <= d; endmodule\n"
    "module leaf2(input c, input r, input d); reg q; always @(posedge c or negedge r) if (!r) q <= 0; else q <= d; endmodule\n"
)


@pytest.mark.parametrize("name", ["n_rst", "rst", "arst", "rst_low", "rst_x", "i_rst_an", "rst_sync", "rst_n", "reset"])
def test_a_reset_that_the_sources_use_as_active_low_is(tmp_path: Path, name: str) -> None:
    for body, text in LOW:
        group = reset(tmp_path, name, body, LEAVES)
        said = f"{name} is active low: `{text.replace('RST', name)}` at t.sv:"
        assert group.low == ("reset",), body
        says = name in ("n_rst", "rst_low", "rst_n")
        assert [n.rstrip("0123456789") for n in group.notes] == ([] if says else [said]), body


@pytest.mark.parametrize("name", ["rst", "arst", "rst_x", "rst_n", "n_rst"])
def test_a_reset_that_the_sources_use_as_active_high_is(tmp_path: Path, name: str) -> None:
    for body in HIGH:
        group = reset(tmp_path, name, body, LEAVES)
        assert group.low == (), body
        assert len(group.notes) == (name in ("rst_x", "rst_n", "n_rst")), (body, group.notes)


def test_where_nothing_tells_a_note_says_so(tmp_path: Path) -> None:
    assert reset(tmp_path, "rst_x", "assign q = rst_x;").notes == ("the name rst_x does not tell whether it is active low",)
    both = "always @(posedge clk or negedge rst) if (!rst) q <= 0; else q <= d;"
    both += " always @(posedge clk) if (rst) n <= 0; else n <= n + 1;"
    group = reset(tmp_path, "rst", both)
    assert (group.low, group.notes) == ((), ("the sources use rst as active low and as active high",))
    assert reset(tmp_path, "n_rst", "").low == ("reset",)


@pytest.mark.skipif(shutil.which("ghdl") is None and os.environ.get("FLEET_REQUIRE_GHDL") != "1", reason="ghdl is not installed")
@pytest.mark.parametrize("level", ["0", "1"])
@pytest.mark.parametrize("waits", [True, False])
def test_a_reset_of_vhdl(tmp_path: Path, level: str, waits: bool) -> None:
    sync = f"if rising_edge(clk) then if rst = '{level}' then q <= \"01\"; else q <= d; end if; end if;"
    loose = f"if rst = '{level}' then q <= \"01\"; elsif rising_edge(clk) then q <= d; end if;"
    (tmp_path / "t.vhd").write_text(
        "library ieee; use ieee.std_logic_1164.all;\nentity t is port (clk, rst : in std_logic;\n"
        "  d : in std_logic_vector(1 downto 0); q : out std_logic_vector(1 downto 0)); end;\narchitecture r of t is begin\n"
        f"  process (clk, rst) begin\n    {sync if waits else loose}\n  end process;\nend;\n"
    )
    group = groups(tmp_path / "t.vhd")["rst"]
    assert group.low == (("reset",) if level == "0" else ())
    said = [n.rstrip("0123456789") for n in group.notes]
    assert said == (["rst is active low: `rst = '0'` at t.vhd:"] if level == "0" else [])


MEMORY = """module t(input clk, input cen, input wen, input [3:0] addr, input [7:0] din, output reg [7:0] dout);
  reg [7:0] m [0:15];
  always @(posedge clk) if ({cen}) begin if ({wen}) m[addr] <= din; else dout <= m[addr]; end
endmodule
"""
MASTER = """module t(input clk, input rst_n, output reg ram_cen, output ram_wen, output [3:0] ram_a,
  output [7:0] ram_d, input [7:0] ram_q);
  reg go; assign ram_wen = {wen}, ram_a = 0, ram_d = ram_q;
  always @(posedge clk or negedge rst_n) if (!rst_n) begin ram_cen <= {cen}; go <= 0; end else begin ram_cen <= go; go <= ~go; end
endmodule
"""


def test_enables_of_a_memory(tmp_path: Path) -> None:
    def memory(text: str) -> PortGroup:
        (tmp_path / "t.v").write_text(text)
        [group] = [g for g in groups(tmp_path / "t.v").values() if g.protocol == "sram"]
        return group

    assert memory(MEMORY.format(cen="!cen", wen="~wen")).low == ("en", "we")
    assert memory(MEMORY.format(cen="cen", wen="wen == 1'b0")).low == ("we",)
    assert memory(MEMORY.format(cen="!cen && !wen", wen="1")).low == ("en", "we")
    group = memory(MEMORY.format(cen="cen", wen="wen"))
    assert group.low == ()
    assert group.notes == ("cen is active high: `if (cen)` at t.v:3", "wen is active high: `if (wen)` at t.v:3")
    group = memory(MASTER.format(cen="1'b1", wen="~(go == 1)"))
    assert group.low == ("en", "we")
    assert group.notes[0] == "ram_cen is active low: `ram_cen <= 1 in reset` at t.v:4"
    assert group.notes[1:] == ("ram_wen is active low: `ram_wen = ~...` at t.v:3",)
    group = memory(MASTER.format(cen="1'b0", wen="go"))
    assert group.low == ()
    assert group.notes[1:] == ("the name ram_wen does not tell whether it is active low",)
