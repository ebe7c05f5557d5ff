"""Mutants of hardware: sites of a small design, and that the text with all of them means the design when none is active."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("pyslang")

import pyslang

from fleet.engines.rtl_sim.build import Design
from fleet.engines.rtl_sim.dut import Dut
from fleet.verify.mutation.schemata import rtl_mutants

DESIGN = """module top #(parameter int unsigned N = 3) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic [7:0]        a_i,
  input  logic signed [3:0] s_i,
  output logic [8:0]        y_o
);
  typedef enum logic [1:0] {Idle, Run, Wait} state_e;
  state_e      state_q, state_d;
  logic [8:0]  sum;
  logic [7:0]  q;
  assign sum = 9'(a_i) + 9'(s_i) - 9'd1;
  always_comb begin
    state_d = state_q;
    case (state_q)
      Idle: if (a_i < 8'(N) && !a_i[3]) state_d = Run;
      Run:  state_d = Wait;
      default: state_d = Idle;
    endcase
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
      q       <= '0;
    end else begin
      state_q <= state_d;
      if (state_q == Run) q <= a_i[7:4] + 8'd1;
    end
  end
  assign y_o = (state_q == Wait) ? {1'b0, q} : sum;
`ifndef SYNTHESIS
  always_ff @(posedge clk_i) assert (q + 1 != 0);
`endif
  logic unused;
  assign unused = ^{a_i + 8'd1};
endmodule
"""


def _design(folder: Path, text: str = DESIGN) -> Design:
    (folder / "top.sv").write_text(text)
    return Design(Dut("top", {"N": 3}, None), (folder / "top.sv",))


def test_sites_of_every_operator(tmp_path: Path) -> None:
    found = {(m.operator, m.before, m.after) for m in rtl_mutants(_design(tmp_path), tmp_path).mutants}
    assert found >= {
        ("relational", "a_i < 8'(N)", "(a_i) <= (8'(N))"),
        ("logical", "a_i < 8'(N) && !a_i[3]", "(a_i < 8'(N)) || (!a_i[3])"),
        ("sign", "9'(s_i)", "$signed(9'($unsigned(s_i)))"),
        ("constant", "9'd1", "9'h2"),
        ("constant", "N", "32'(N + 1)"),
        ("select", "a_i[7:4]", "a_i[6:3]"),
        ("reset", "'0", "q"),
        ("hold", "state_d", "state_q"),
    }
    assert any(m[0] == "arms" and m[2].endswith("? sum : {1'b0, q}") for m in found)
    assert any(m[0] == "label" for m in found)
    assert not any("unused" in m[1] or "q + 1" in m[1] for m in found), "linter's sinks and assertions stay"


def test_ids_do_not_depend_on_lines(tmp_path: Path) -> None:
    before = [m.id for m in rtl_mutants(_design(tmp_path), tmp_path).mutants]
    after = [m.id for m in rtl_mutants(_design(tmp_path, "// one line more\n" + DESIGN), tmp_path).mutants]
    assert before == after
    assert len(set(before)) == len(before)


ESCAPED = re.sub(r"\b(sum|q|state_q)\b", r"\\\1$0 ", DESIGN)
"""The same with names as Amaranth writes them."""


@pytest.mark.parametrize("design", [DESIGN, ESCAPED], ids=["plain", "escaped names"])
def test_widths_and_signs_stay_in_the_text_with_all_mutants(tmp_path: Path, design: str) -> None:
    """slang's own types of every assignment's right side, before and after."""
    schemata = rtl_mutants(_design(tmp_path, design), tmp_path)
    written = schemata.write(tmp_path / "out")
    assert _types((tmp_path / "top.sv",)) == _types(written.sources)
    text = (tmp_path / "out" / "top.sv").read_text()
    assert text.count("fleet_mutant_pkg::active == ") == len(schemata.mutants)


def _types(sources: tuple[Path, ...]) -> list[tuple[int, bool]]:
    driver = pyslang.driver.Driver()
    driver.addStandardArgs()
    driver.parseCommandLine("slang -DSYNTHESIS --top top -GN=3 " + " ".join(f'"{s}"' for s in sources))
    assert driver.processOptions()
    assert driver.parseAllSources()
    compilation = driver.createCompilation()
    driver.reportCompilation(compilation, True)
    assert driver.reportDiagnostics(True), "slang reports an error"
    found: list[tuple[int, bool]] = []

    def look(node: object) -> None:
        if isinstance(node, pyslang.ast.AssignmentExpression):
            found.append((int(node.right.type.bitWidth), bool(node.right.type.isSigned)))

    compilation.getRoot().visit(look)
    return found
