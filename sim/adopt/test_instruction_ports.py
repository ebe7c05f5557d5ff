"""Custom instructions, packets, FIFOs and methods of a design: a test gives them words and sees what comes back."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyslang")

from adopted import workspace

from fleet.adopt.bench.replay import replay
from fleet.adopt.workspace import open_workspace
from fleet.errors import ExitCode

pytestmark = pytest.mark.nightly

DESIGN = """module ports_of_all (
  input  logic        clk, rst_n,
  input  logic        pcpi_valid, input logic [31:0] pcpi_insn, pcpi_rs1, pcpi_rs2,
  output logic        pcpi_wr, pcpi_wait, pcpi_ready, output logic [31:0] pcpi_rd,
  input  logic        nci_clk_en, nci_start, input logic [31:0] nci_dataa, nci_datab,
  output logic        nci_done, output logic [31:0] nci_result,
  input  logic [31:0] fix_dataa, fix_datab, input logic fix_start, output logic [31:0] fix_result,
  input  logic        snk_valid, snk_startofpacket, snk_endofpacket, input logic [15:0] snk_data, output logic snk_ready,
  output logic        src_valid, src_startofpacket, src_endofpacket, output logic [15:0] src_data, input logic src_ready,
  input  logic        a_wr_en, input logic [7:0] a_din, output logic a_full,
  input  logic        a_rd_en, output logic [7:0] a_dout, output logic a_empty,
  input  logic        b_rd_en, output logic [7:0] b_dout, output logic b_empty, b_valid,
  input  logic [15:0] put_x, input logic EN_put, output logic RDY_put,
  input  logic        EN_get, output logic [15:0] get, output logic RDY_get
);
  // PCPI: a sum after two cycles.
  logic [1:0] age;
  assign pcpi_wait = pcpi_valid, pcpi_ready = age == 2, pcpi_wr = pcpi_ready, pcpi_rd = pcpi_rs1 + pcpi_rs2;
  always_ff @(posedge clk) age <= !rst_n || !pcpi_valid || pcpi_ready ? 0 : age + 1;
  // Nios: a start while the last one runs is lost.
  logic [2:0] left;
  always_ff @(posedge clk) begin
    nci_done <= left == 1;
    if (!rst_n) left <= 0;
    else if (nci_start && left == 0) begin
      left <= 3;
      nci_result <= nci_dataa - nci_datab;
    end else if (left != 0) left <= left - 1;
  end
  logic [31:0] first;
  always_ff @(posedge clk) begin if (fix_start) first <= fix_dataa ^ fix_datab; fix_result <= first; end
  // Packets pass through a register.
  assign snk_ready = !src_valid || src_ready;
  always_ff @(posedge clk)
    if (!rst_n) src_valid <= 0;
    else if (snk_ready) begin
      src_valid <= snk_valid;
      {src_startofpacket, src_endofpacket, src_data} <= {snk_startofpacket, snk_endofpacket, snk_data + 16'd1};
    end
  // A FIFO of four words that shows its first one; each word also goes to one that answers a cycle later.
  logic [7:0] m[4], o[4];
  logic [2:0] w, r, ow, orr;
  assign a_empty = w == r, a_full = (w ^ r) == 4 || (ow ^ orr) == 4, a_dout = m[r[1:0]], b_empty = ow == orr;
  always_ff @(posedge clk)
    if (!rst_n) begin w <= 0; r <= 0; ow <= 0; orr <= 0; b_valid <= 0; end
    else begin
      if (a_wr_en && !a_full) begin m[w[1:0]] <= a_din; o[ow[1:0]] <= ~a_din; w <= w + 1; ow <= ow + 1; end
      if (a_rd_en && !a_empty) r <= r + 1;
      b_valid <= b_rd_en && !b_empty;
      if (b_rd_en && !b_empty) begin b_dout <= o[orr[1:0]]; orr <= orr + 1; end
    end
  // A method with an argument, one with a value.
  logic full;
  logic [15:0] kept;
  assign RDY_put = !full, RDY_get = full, get = kept + 16'd7;
  always_ff @(posedge clk)
    if (!rst_n) full <= 0;
    else if (EN_put) begin full <= 1; kept <= put_x; end
    else if (EN_get) full <= 0;
endmodule
"""
TEST = """
[[step]]
send = "pcpi"
data = [{insn = 0x0b, rs1 = 1, rs2 = 2}, {insn = 0x0b, rs1 = 3, rs2 = 4}]
[[step]]
send = "nci"
data = [{dataa = 7, datab = 6}, {dataa = 6, datab = 7}, {dataa = 5, datab = 5}]
[[step]]
send = "fix"
data = [{dataa = 12, datab = 10}, {dataa = 255, datab = 1}]
[[step]]
send = "snk"
data = [{startofpacket = 1, data = 1}, 2, {endofpacket = 1, data = 3}]
[[step]]
send = "a"
data = [1, 2, 3, 4, 5, 6, 7, 8]
[[step]]
send = "put"
data = [1, 2, 3]
[[step]]
receive = "get"
count = 3
[[expect]]
received = "pcpi"
data = [{wr = 1, rd = 3}, 7]
[[expect]]
received = "nci"
data = [1, 0xffffffff, 0]
[[expect]]
received = "fix"
data = [6, 254]
[[expect]]
received = "src"
data = [{startofpacket = 1, data = 2}, {endofpacket = 0, data = 3}, {endofpacket = 1, data = 4}]
[[expect]]
received = "a_1"
data = [1, 2, 3, 4, 5, 6, 7, 8]
[[expect]]
received = "b"
data = [254, 253, 252, 251, 250, 249, 248, 247]
[[expect]]
received = "get"
data = [8, 9, 10]
"""


@pytest.mark.parametrize("pause", [0, 3])
def test_words_go_in_and_come_back(tmp_path: Path, pause: int) -> None:
    (tmp_path / "ports_of_all.sv").write_text(DESIGN)
    (tmp_path / "t.f").write_text("ports_of_all.sv\n--top ports_of_all\n")
    edits = [("pause = 0", f"pause = {pause}"), ('"clk"\nlatency = 1', '"clk"\nlatency = 2')]
    folder = workspace(tmp_path / "w", tmp_path / "t.f", edits=edits)
    (folder / "owner.toml").write_text(TEST)
    outcome = replay(open_workspace(folder), folder / "owner.toml")
    assert (outcome.differences, outcome.violations, outcome.undriven) == ((), (), ())
    assert (outcome.exit_code, outcome.compared) == (ExitCode.AGREED, 29)
