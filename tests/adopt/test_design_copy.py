"""The sources of a design in a folder of their own: a list that another place can use, and the files as they were."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

pytest.importorskip("pyslang")

from adopted import COPIER, GATHER, NETWORK, workspace

from fleet.adopt.bench.design_copy import copy_design
from fleet.adopt.filelist import read_sources
from fleet.adopt.top import read_top
from fleet.adopt.workspace import open_workspace
from fleet.errors import DeviceError

FILES = {
    "rtl/top.sv": '`include "sizes.vh"\n`include "deep/more.vh"\nmodule top (input logic clk, output logic [`BITS-1:0] q);\n'
    "  cell_a a (.clk, .q);\n  logic unused = `MORE;\nendmodule\n",
    "rtl/idle.sv": "module idle (input logic clk);\nendmodule\n",
    "inc/sizes.vh": "`define BITS `WIDE\n",
    "inc/deep/more.vh": "`define MORE 1'b1\n",
    "lib/cells.v": "module cell_a (input wire clk, output reg [7:0] q);\n  always @(posedge clk) q <= q + 1;\nendmodule\n"
    "module cell_b (input wire clk);\nendmodule\n",
    "lists/top.f": "+incdir+../inc\n+define+WIDE=8\n../rtl/idle.sv\n../rtl/top.sv\n-v ../lib/cells.v\n",
}


def test_what_a_list_names_is_found_from_the_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = tmp_path / "theirs"
    for name, text in FILES.items():
        (theirs / name).parent.mkdir(parents=True, exist_ok=True)
        (theirs / name).write_text(text)
    sources = read_sources([theirs / "lists" / "top.f"])
    before = read_top(sources, "top")
    work = open_workspace(_adopted(tmp_path, theirs))
    left = tmp_path / "left"
    left.mkdir()
    (left / "top.f").write_text("\n".join(copy_design(work, left)) + "\n")
    copied = {str(p.relative_to(left / "design")): p.read_text() for p in (left / "design").rglob("*") if p.is_file()}
    assert copied == {n: t for n, t in FILES.items() if n not in ("rtl/idle.sv", "lists/top.f")}
    shutil.rmtree(theirs)
    monkeypatch.chdir(left)
    after = read_top(read_sources([Path("top.f")]), "top")
    assert (after.modules, [(p.name, p.width) for p in after.ports]) == (before.modules, [(p.name, p.width) for p in before.ports])


def _adopted(folder: Path, theirs: Path) -> Path:
    (folder / "one.f").write_text(f"--top-module top\n-f {theirs / 'lists' / 'top.f'}\n")
    return workspace(folder / "w", folder / "one.f")


@pytest.mark.parametrize("files", [COPIER, NETWORK], ids=lambda p: p.stem)
def test_each_file_is_there_once_byte_by_byte(tmp_path: Path, files: Path) -> None:
    work = open_workspace(workspace(tmp_path / "w", files))
    lines = copy_design(work, tmp_path / "left")
    assert [(tmp_path / "left" / line).read_bytes() for line in lines] == [p.read_bytes() for p in work.top.files]
    assert all(line.startswith("design/") for line in lines)


@pytest.mark.skipif(shutil.which("ghdl") is None, reason="ghdl is not installed")
def test_verilog_that_was_made_of_vhdl_goes_along(tmp_path: Path) -> None:
    work = open_workspace(workspace(tmp_path / "w", GATHER))
    assert copy_design(work, tmp_path / "left") == ["design/made/gather.v"]
    assert "module gather" in (tmp_path / "left" / "design" / "made" / "gather.v").read_text()


def test_a_file_that_went_away_is_named(tmp_path: Path) -> None:
    source = tmp_path / "copier.sv"
    source.write_bytes(COPIER.with_suffix(".sv").read_bytes())
    work = open_workspace(workspace(tmp_path / "w", source))
    source.unlink()
    with pytest.raises(DeviceError, match=r"copier\.sv: cannot be copied"):
        copy_design(work, tmp_path / "left")
