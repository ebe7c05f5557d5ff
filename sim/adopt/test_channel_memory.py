"""A design with channels for reads and writes, several side by side, on memory of the bench, which watches them."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyslang")

from adopted import workspace

from fleet.adopt.bench.replay import replay
from fleet.adopt.workspace import open_workspace
from fleet.errors import ExitCode

pytestmark = pytest.mark.nightly

DESIGN = """
// Each channel fetches a constant from the program memory once, then adds it to four of its words, and writes them 128 behind.
module adder #(parameter int N = 4) (
  input  logic clk, input logic reset, input logic start, output logic done,
  output logic         program_mem_read_valid,
  output logic [7:0]   program_mem_read_address,
  input  logic         program_mem_read_ready,
  input  logic [15:0]  program_mem_read_data,
  output logic [N-1:0] data_mem_read_valid,
  output logic [7:0]   data_mem_read_address [N],
  input  logic [N-1:0] data_mem_read_ready,
  input  logic [7:0]   data_mem_read_data [N],
  output logic [N-1:0] data_mem_write_valid,
  output logic [7:0]   data_mem_write_address [N],
  output logic [7:0]   data_mem_write_data [N],
  input  logic [N-1:0] data_mem_write_ready
);
  logic [15:0] constant;
  logic fetched, running;
  logic [N-1:0][2:0] at;
  logic [N-1:0] finished;
  assign program_mem_read_address = 8'd3;
  assign program_mem_read_valid = running && !fetched;
  assign done = running && &finished;
  always_ff @(posedge clk) begin
    if (reset) begin running <= 0; fetched <= 0; end
    else begin
      if (start) running <= 1;
      if (program_mem_read_valid && program_mem_read_ready) begin fetched <= 1; constant <= program_mem_read_data; end
    end
  end
  for (genvar n = 0; n < N; n++) begin : channel
    logic writing;
    logic [7:0] sum;
    assign finished[n] = at[n] == 4;
    assign data_mem_read_valid[n] = fetched && !finished[n] && !writing;
    assign data_mem_read_address[n] = 8'(16 * n) + 8'(at[n]);
    assign data_mem_write_valid[n] = writing;
    assign data_mem_write_address[n] = 8'd128 + 8'(16 * n) + 8'(at[n]);
    assign data_mem_write_data[n] = sum;
    always_ff @(posedge clk) begin
      if (reset) begin at[n] <= 0; writing <= 0; end
      else if (writing) begin
        if (data_mem_write_ready[n]) begin writing <= 0; at[n] <= at[n] + 1; end
      end else if (data_mem_read_valid[n] && data_mem_read_ready[n]) begin
        writing <= 1;
        sum <= data_mem_read_data[n] + constant[15:8];
      end
    end
  end
endmodule
"""
TEST = """
limit = 2000

[[memory]]
port = "program_mem"
address = 6
words = [0x0700]

[[memory]]
port = "data_mem"
address = 0
bytes = "{data}"

[[step]]
set = "start"
value = 1

[[step]]
wait = "done"

[[expect]]
port = "data_mem"
address = 128
bytes = "01020304"
[[expect]]
port = "data_mem"
address = 176
bytes = "31323334"
"""
DATA = "".join(f"{(16 * n + i + 1 - 7) % 256:02x}" if i < 4 else "00" for n in range(4) for i in range(16))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("channels")


def outcome_of(home: Path, name: str, old: str = "", new: str = "", *, latency: int = 3):
    folder = home / name
    folder.mkdir()
    assert old in DESIGN
    (folder / "adder.sv").write_text(DESIGN.replace(old, new, 1) if old else DESIGN)
    (folder / "adder.f").write_text("adder.sv\n")
    work = open_workspace(workspace(folder / "w", folder / "adder.f", edits=[("latency = 1", f"latency = {latency}")]))
    assert {(g.name, g.protocol, g.lanes) for g in work.ports.groups if "memory" in g.protocol} == {
        ("program_mem", "channel_memory", 1),
        ("data_mem", "channel_memory", 4),
    }
    test = work.folder / "sums.toml"
    test.write_text(TEST.format(data=DATA))
    return replay(work, test)


@pytest.mark.parametrize("latency", [1, 3])
def test_four_channels_and_a_program(home: Path, latency: int) -> None:
    outcome = outcome_of(home, f"good{latency}", latency=latency)
    assert (outcome.differences, outcome.violations, outcome.exit_code) == ((), (), ExitCode.AGREED)
    assert outcome.compared == 8
    assert outcome.undriven == ()


@pytest.mark.parametrize(
    ("name", "old", "new", "says"),
    [
        ("sum", "constant[15:8]", "constant[7:0]", "data_mem"),
        ("address", "8'd128 + 8'(16 * n) + 8'(at[n])", "8'd128 + 8'(16 * n)", "data_mem"),
        ("word", "8'd3", "8'd2", "data_mem"),
        ("unstable", "assign data_mem_write_data[n] = sum", "logic [7:0] t; always_ff @(posedge clk) t <= t + 1;\n"
         "    assign data_mem_write_data[n] = data_mem_write_ready[n] ? sum : sum ^ t", "write: "),
        ("withdrawn", "assign data_mem_read_valid[n] = fetched", "logic t = 0; always_ff @(posedge clk) t <= !t;\n"
         "    assign data_mem_read_valid[n] = (t || data_mem_read_ready[n]) && fetched", "read: "),
    ],
)  # fmt: skip
def test_a_fault_is_found_at_its_port(home: Path, name: str, old: str, new: str, says: str) -> None:
    outcome = outcome_of(home, name, old, new)
    assert outcome.exit_code == ExitCode.DIFFERS
    assert says in f"{outcome.differences} {outcome.violations}"
