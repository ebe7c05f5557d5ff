"""A design that reads a FIFO whose words come behind the read, and includes a file beside its source."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyslang")

from click.testing import CliRunner

from fleet.cli.sets.isa import command

DESIGN = """`include "inc/width.vh"
module tripler(input clk, input rst, output in_rd_en, input in_empty, input [`WIDTH-1:0] in_dout,
  output reg out_valid, output reg [`WIDTH-1:0] out_data, input out_stall);
  reg reads;
  assign in_rd_en = !in_empty && !reads && !out_valid;
  always @(posedge clk)
    if (rst) begin reads <= 0; out_valid <= 0; end
    else begin
      reads <= in_rd_en;
      if (reads) begin out_valid <= 1; out_data <= in_dout * 3; end
      else if (!out_stall) out_valid <= 0;
    end
endmodule
"""
WORDS = [5, 6, 7, 1, 2, 3, 40, 50, 60]
TEST = f"""[[step]]
send = "in"
data = {WORDS}
[[step]]
receive = "out"
count = {len(WORDS)}
[[expect]]
received = "out"
data = {[3 * word for word in WORDS]}
"""


def test_words_come_behind_the_read_as_latency_says(tmp_path: Path) -> None:
    (tmp_path / "rtl" / "inc").mkdir(parents=True)
    (tmp_path / "rtl" / "inc" / "width.vh").write_text("`define WIDTH 16\n")
    (tmp_path / "rtl" / "tripler.v").write_text(DESIGN)
    folder = tmp_path / "w"
    adopted = CliRunner().invoke(command, ["adopt", str(tmp_path / "rtl" / "tripler.v"), "-o", str(folder)])
    assert adopted.exit_code == 0, adopted.output
    assert "in: the names do not tell whether a word shows beside empty or behind its read" in adopted.output
    (folder / "test.toml").write_text(TEST)
    manifest = (folder / "adopt.toml").read_text()
    assert manifest.count("latency = 0") == 1

    def replay(text: str) -> str:
        (folder / "adopt.toml").write_text(text.replace("pause = 0", "pause = 3"))
        return CliRunner().invoke(command, ["replay", str(folder), str(folder / "test.toml")]).output

    assert "verdict: PASS (2 monitors quiet)" in replay(manifest.replace("latency = 0", "latency = 1"))
    assert "verdict: FAIL (2 monitors quiet)" in replay(manifest)
