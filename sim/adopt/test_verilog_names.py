"""A design of Verilog whose names are words of SystemVerilog, built and driven as it is; its registers are behind two strobes."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyslang")

from adopted import workspace

from fleet.adopt.bench.replay import replay
from fleet.adopt.workspace import open_workspace
from fleet.errors import ExitCode

pytestmark = pytest.mark.nightly

DESIGN = """module cells (input clk, input we, input [3:0] a, input [7:0] di, output reg [7:0] do);
  reg [7:0] byte [0:15];
  always @(posedge clk) begin if (we) byte[a] <= di; do <= byte[a]; end
endmodule
module adder (input clk, input rst, input c_rd, input c_wr, input [3:0] c_addr, input [7:0] c_wdata, output [7:0] c_rdata,
  output [7:0] do);
  wire [7:0] bit; integer final;
  cells unique (.clk(clk), .we(c_wr), .a(c_addr), .di(c_wdata + 8'd1), .do(bit));
  assign c_rdata = bit;
  assign do = bit;
endmodule
"""


@pytest.mark.parametrize(("expected", "code"), [(8, ExitCode.AGREED), (7, ExitCode.DIFFERS)])
def test_it_is_built_and_its_owners_test_compares(tmp_path: Path, expected: int, code: ExitCode) -> None:
    (tmp_path / "adder.v").write_text(DESIGN)
    (tmp_path / "adder.f").write_text("adder.v\n")
    work = open_workspace(workspace(tmp_path / "w", tmp_path / "adder.f"))
    assert work.top.keywords == "1364-2005"
    [name] = work.settings.ports
    test = work.folder / "owner.toml"
    steps = f'[[step]]\nidle = 20\n[[step]]\nwrite = "{name}"\naddress = 3\ndata = 7\n'
    test.write_text(f'{steps}[[step]]\nread = "{name}"\naddress = 3\nexpect = {expected}\n')
    outcome = replay(work, test)
    assert (outcome.exit_code, outcome.compared, outcome.violations) == (code, 1, ())


@pytest.mark.parametrize(("expected", "code"), [(8, ExitCode.AGREED), (7, ExitCode.DIFFERS)])
def test_an_output_comes_to_the_number_that_the_test_states(tmp_path: Path, expected: int, code: ExitCode) -> None:
    """Of a wait without a number nothing is compared; the output's name is a word of SystemVerilog, too."""
    (tmp_path / "adder.v").write_text(DESIGN)
    (tmp_path / "adder.f").write_text("adder.v\n")
    work = open_workspace(workspace(tmp_path / "w", tmp_path / "adder.f"))
    [name] = work.settings.ports
    test = work.folder / "owner.toml"
    steps = f'[[step]]\nwrite = "{name}"\naddress = 3\ndata = 7\n[[step]]\nread = "{name}"\naddress = 3\n'
    test.write_text(f'{steps}[[step]]\nwait = "do"\nvalue = {expected}\nlimit = 100\n')
    outcome = replay(work, test)
    assert (outcome.exit_code, outcome.compared) == (code, 1)
    test.write_text(f'{steps.replace("data = 7", "data = 0")}[[step]]\nwait = "do"\nlimit = 100\n')  # for 1
    assert replay(work, test).exit_code is ExitCode.INCOMPLETE
