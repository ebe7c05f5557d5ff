"""Files that a design reads when it starts ($readmemh of weights, programs): found beside its sources, in place when it runs."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyslang")

from fleet.adopt.bench.replay import missing_data
from fleet.adopt.closure import closure_hash
from fleet.adopt.data_files import place_data
from fleet.adopt.filelist import read_sources
from fleet.adopt.ports import Top
from fleet.adopt.top import read_top
from fleet.errors import DeviceError

ROM = """module rom #(parameter INIT = "weights/w.hex") (input clk, output reg [7:0] q);
  localparam BIAS = {"./", "b.mem"};
  reg [7:0] w [0:3], b [0:3], s [0:3];
  initial begin if (INIT != "") $readmemh(INIT, w); $readmemb(BIAS, b); end
  task load; $readmemh("late.hex", s); endtask
  always @(posedge clk) q <= w[0] + b[0] + s[0];
endmodule
module top (input clk, output [7:0] q, r, s);
  rom a (.clk(clk), .q(q)); rom #(.INIT("")) c (.clk(clk), .q(r)); rom #(.INIT("../up.hex")) d (.clk(clk), .q(s));
endmodule
"""


def design(folder: Path) -> Top:
    for name in ("rtl/weights/w.hex", "rtl/b.mem", "up.hex"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("1 2 3 4\n")
    (folder / "rtl" / "t.v").write_text(ROM)
    return read_top(read_sources([folder / "rtl" / "t.v"]), "top")


def test_what_is_read_is_found_by_the_values_of_parameters(tmp_path: Path) -> None:
    top = design(tmp_path)
    found = {d.name: d.path for d in top.data}
    assert found == {
        "weights/w.hex": tmp_path / "rtl/weights/w.hex", "./b.mem": tmp_path / "rtl/b.mem", "late.hex": None,
        "../up.hex": tmp_path / "up.hex",
    }  # fmt: skip
    assert {d.where.rpartition(":")[2] for d in top.data} == {"4", "5"}


def test_a_name_that_leads_out_of_the_folder_of_a_run_is_refused(tmp_path: Path) -> None:
    top = design(tmp_path)
    with pytest.raises(DeviceError, match=r"reads \.\./up\.hex, outside of the folder that it runs in"):
        place_data(top, tmp_path / "run")


def test_files_lie_where_the_design_looks_for_them(tmp_path: Path) -> None:
    (tmp_path / "t.v").write_text(ROM.replace(' rom #(.INIT("../up.hex")) d (.clk(clk), .q(s));', ""))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "w.hex").write_text("5\n")
    (tmp_path / "t.f").write_text("t.v\n+incdir+other\n")
    top = read_top(read_sources([tmp_path / "t.f"]), "top")
    place_data(top, tmp_path / "run")
    assert (tmp_path / "run" / "weights" / "w.hex").read_text() == "5\n"
    assert not (tmp_path / "run" / "b.mem").exists()


def test_other_contents_are_another_design(tmp_path: Path) -> None:
    sources = read_sources([design(tmp_path).files[0]])
    before = closure_hash(read_top(sources, "top"), sources)
    (tmp_path / "rtl" / "b.mem").write_text("9 9 9 9\n")
    assert closure_hash(read_top(sources, "top"), sources) != before


@pytest.mark.parametrize(
    ("log", "name"),
    [
        ("%Warning: ./weights/w2_rom.dat:0: $readmem file not found\n- bench.sv:179: Verilog $finish\n", "./weights/w2_rom.dat"),
        ("WARNING: rtl/t.v:4: $readmemh: Unable to open late.hex for reading.\n", "late.hex"),
        ("- bench.sv:179: Verilog $finish\n", ""),
    ],
)
def test_a_file_that_a_simulation_did_not_find_is_not_taken_for_zeros(log: str, name: str) -> None:
    assert missing_data(log) == name
