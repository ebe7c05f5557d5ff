"""Parameters of an interface port: given, at their defaults, and names that are not there."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyslang")

from click.testing import CliRunner

from fleet.adopt.bench.library import part_files
from fleet.adopt.bench.plan import make_plan
from fleet.adopt.bench.text import TOP, bench_text
from fleet.adopt.filelist import read_sources
from fleet.adopt.top import read_top
from fleet.adopt.workspace import open_workspace
from fleet.cli.sets.isa import command
from fleet.errors import DeviceError

DESIGN = """package word_pkg; typedef struct packed { logic last; logic [15:0] data; } word_t; endpackage
interface word_if #(parameter type T = logic [7:0], parameter int SPARE = 1) (input logic clk);
  logic valid, ready; T payload; logic [SPARE-1:0] user;
  modport src (output valid, payload, user, input ready); modport snk (input valid, payload, user, output ready);
endinterface
module t (input logic clk, rst_n, word_if.snk in, word_if.src out);
  assign in.ready = out.ready, out.valid = in.valid, out.user = in.user;
  assign out.payload = in.payload;
  wire last = in.payload.last;
endmodule
"""
GIVEN = ("in.T=word_pkg::word_t", "out.T=word_pkg::word_t", "out.SPARE=3")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "t.sv").write_text(DESIGN)
    return tmp_path / "t.sv"


def _adopt(source: Path, *words: str) -> str:
    return CliRunner().invoke(command, ["adopt", str(source), "--top", "t", *words]).output


def test_they_are_set_and_stay_in_the_workspace(tmp_path: Path, source: Path) -> None:
    said = _adopt(source, *(w for g in GIVEN for w in ("--parameter", g)), "-o", str(tmp_path / "w"))
    assert "note: in: SPARE of its interface word_if is 1, its default; --parameter in.SPARE=..." in said.splitlines()
    work = open_workspace(tmp_path / "w")
    widths = {leaf.path: leaf.width for leaf in work.top.leaves()}
    assert (widths["in.payload.data"], widths["out.payload.data"], widths["in.user"], widths["out.user"]) == (16, 16, 1, 3)
    (tmp_path / "bench.sv").write_text(bench_text(work, make_plan(work)))
    assert "word_if #(.T(word_pkg::word_t), .SPARE(3)) p_out" in (tmp_path / "bench.sv").read_text()
    top = read_top(read_sources([*part_files(()), source, tmp_path / "bench.sv"]), TOP)
    assert top.missing == ()
    manifest = tmp_path / "w" / "adopt.toml"
    manifest.write_text(manifest.read_text().replace('"in.T" =', "in.T ="))
    assert open_workspace(tmp_path / "w").parameters == {g.partition("=")[0]: g.partition("=")[2] for g in GIVEN}


@pytest.mark.parametrize("given", [{"in.T": "no_t"}, {"in.T": "word_pkg::word_t", "out.T": "no_t"}, {"in.SPARE": "no_t"}])
def test_a_value_that_cannot_be_read_is_said_of_the_parameters(source: Path, given: dict[str, str]) -> None:
    with pytest.raises(DeviceError) as caught:
        read_top(read_sources([source]), "t", given)
    assert str(caught.value).startswith("--parameter: use of undeclared identifier 'no_t'")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"i.T": "logic"}, "t has no interface port i, so no parameter i.T"),
        ({"clk.T": "logic"}, "t has no interface port clk"),
        ({"in.U": "logic"}, "word_if, the interface of in, has no parameter U"),
    ],
)
def test_one_that_is_not_there_is_one_line(source: Path, given: dict[str, str], message: str) -> None:
    with pytest.raises(DeviceError) as caught:
        read_top(read_sources([source]), "t", given)
    assert message in str(caught.value)
    assert "its " in str(caught.value), "what is there"
