"""Foreign top modules: ports with resolved types, the closure of files, modules without a source."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyslang")

from fleet.adopt.filelist import read_sources
from fleet.adopt.ports import Top
from fleet.adopt.top import read_top
from fleet.errors import DeviceError

FILES = {
    "macros.sv": "`define DEPTH 4\n",
    "p.sv": "package p;\n typedef struct packed {logic [31:0] addr; logic [1:0] burst;} aw_t;\n"
    " typedef struct packed {aw_t aw; logic aw_valid;} req_t;\nendpackage\n",
    "q.sv": "package q; localparam int X = 1; endpackage\n",
    "bus.sv": "interface bus_if #(parameter W = 32) (); logic [W-1:0] data; logic valid, ready;\n"
    " modport mst(output data, valid, input ready); endinterface\n",
    "leaf.sv": "module leaf(input logic a); endmodule\n",
    "unused.sv": "module unused(input logic a); localparam int Y = q::X; endmodule\n",
    "top.sv": "module top #(parameter int W = 64, parameter type T = p::req_t) (\n input clk_i, input T req_i,\n"
    " output p::aw_t rsp_o [3], bus_if.mst bus [2], output logic [1:0][W-1:0] z);\n leaf l(.a(clk_i));\n"
    " cell_gate g(.clk(clk_i), .q());\n for (genvar i = 0; i < `DEPTH; i++) begin : gen\n  RAM_1RW m(.A(W));\n end\nendmodule\n",
}


def read(folder: Path, top: str = "top", **parameters: str) -> Top:
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return read_top(read_sources([folder / n for n in FILES]), top, parameters)


def test_ports_have_resolved_types_and_widths(tmp_path: Path) -> None:
    top = read(tmp_path)
    assert [(x.path, x.direction, x.width, x.count) for x in top.leaves()] == [
        ("clk_i", "in", 1, 1), ("req_i.aw.addr", "in", 32, 1), ("req_i.aw.burst", "in", 2, 1), ("req_i.aw_valid", "in", 1, 1),
        ("rsp_o.addr", "out", 32, 3), ("rsp_o.burst", "out", 2, 3), ("bus.data", "out", 32, 2), ("bus.valid", "out", 1, 2),
        ("bus.ready", "in", 1, 2), ("z", "out", 128, 1),
    ]  # fmt: skip
    bus = top.ports[3]
    assert (bus.interface, bus.modport, bus.array, bus.width) == ("bus_if", "mst", (2,), 34)


def test_parameters_and_type_parameters_are_given(tmp_path: Path) -> None:
    top = read(tmp_path, W="16", T="p::aw_t")
    assert [(x.path, x.width) for x in top.leaves()][1:3] == [("req_i.addr", 32), ("req_i.burst", 2)]
    assert (top.ports[-1].width, next((p.name, p.value, p.given) for p in top.parameters)) == (32, ("W", "16", True))
    assert not any("wrapper" in str(p) for p in (*top.files, *top.modules))


def test_only_what_is_instantiated_is_kept_in_its_order(tmp_path: Path) -> None:
    top = read(tmp_path)
    assert [p.name for p in top.files] == ["macros.sv", "p.sv", "bus.sv", "leaf.sv", "top.sv"]
    assert [p.name for p in top.pruned] == ["q.sv", "unused.sv"]
    assert top.modules == ("bus_if", "leaf", "top")


def test_a_module_without_a_source_is_listed_where_it_stands(tmp_path: Path) -> None:
    ram, gate = read(tmp_path).missing
    assert (ram.name, ram.count, ram.ports, ram.where) == ("RAM_1RW", 4, ("A",), f"{tmp_path}/top.sv:7")
    assert (gate.name, gate.path, gate.ports) == ("cell_gate", "top.g", ("clk", "q"))


def test_what_is_wrong_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(DeviceError, match="there is no module tap; name one with --top: bus_if, leaf, top, unused"):
        read(tmp_path, "tap")
    with pytest.raises(DeviceError, match=r"top.sv:1: top has no parameter V; its parameters: W, T"):
        read(tmp_path, V="1")
    (tmp_path / "bad.sv").write_text("module bad(;\nendmodule\n")
    with pytest.raises(DeviceError, match=r"bad.sv:1: "):
        read_top(read_sources([tmp_path / "bad.sv"]), "bad")


OLD = """module ram(input clk, we, input [3:0] a, input [7:0] di, output reg [7:0] do);
  reg [7:0] m [0:15]; integer final;
  always @(posedge clk) begin if (we) m[a] <= di; do <= m[a]; end
endmodule
module old(input clk, we, input [7:0] di, output [7:0] q);
  wire [7:0] byte; ram r(clk, we, 4'd0, di, byte); assign q = byte;
endmodule
"""


def test_names_of_verilog_that_systemverilog_took_are_names_in_v_files(tmp_path: Path) -> None:
    (tmp_path / "old.v").write_text(OLD)
    top = read_top(read_sources([tmp_path / "old.v"]), "old")
    assert (top.keywords, top.modules) == ("1364-2005", ("old", "ram"))
    (tmp_path / "new.v").write_text("module new_top(input logic [1:0] a); endmodule\n")
    assert read_top(read_sources([tmp_path / "new.v"]), "new_top").keywords == ""


def test_names_that_are_words_stay_mistakes_in_sv_files_and_beside_systemverilog(tmp_path: Path) -> None:
    (tmp_path / "old.sv").write_text(OLD)
    with pytest.raises(DeviceError, match=r"old\.sv:1"):
        read_top(read_sources([tmp_path / "old.sv"]), "old")
    (tmp_path / "old.v").write_text(OLD)
    (tmp_path / "logic.v").write_text("module l(input logic a); always_comb begin end endmodule\n")
    with pytest.raises(DeviceError, match=r"old\.v:1: expected identifier"):
        read_top(read_sources([tmp_path / "old.v", tmp_path / "logic.v"]), "old")


@pytest.mark.parametrize(
    ("text", "hint"), [('`include "config.svh"\n', "--include FOLDER"), ("wire [`WIDTH:0] w;\n", "--define NAME=VALUE")]
)
def test_a_message_says_what_to_do_about_a_missing_include_or_macro(tmp_path: Path, text: str, hint: str) -> None:
    (tmp_path / "t.sv").write_text(
        f"module t(input a); {'' if 'include' in text else text} endmodule\n{text if 'include' in text else ''}"
    )
    with pytest.raises(DeviceError) as caught:
        read_top(read_sources([tmp_path / "t.sv"]), "t")
    assert hint in (caught.value.hint or "")


@pytest.mark.parametrize("comment", [b"// \xc4\xe3\xba\xc3 of GBK", b"/* 25 \xb0C */", b"// \xff\xfe"])
def test_comments_in_any_coding_are_read(tmp_path: Path, comment: bytes) -> None:
    (tmp_path / "t.v").write_bytes(b"\xef\xbb\xbf// with a mark\r\nmodule t(input clk); " + comment + b"\r\nendmodule\r\n")
    assert [leaf.path for leaf in read_top(read_sources([tmp_path / "t.v"])).leaves()] == ["clk"]


def test_a_parameter_without_a_default_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "t.sv").write_text("module t #(parameter int W) (input logic [W-1:0] a); endmodule\n")
    sources = read_sources([tmp_path / "t.sv"])
    for top in ("", "t"):
        with pytest.raises(DeviceError, match="--parameter NAME=VALUE"):
            read_top(sources, top)
    assert [leaf.width for leaf in read_top(sources, "t", {"W": "5"}).leaves()] == [5]
