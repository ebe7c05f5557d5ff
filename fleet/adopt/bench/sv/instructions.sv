// Streams and custom instructions in other forms: Avalon-ST, a design's own FIFOs, methods of Bluespec, PCPI, custom instructions of Nios.

// op: {startofpacket, endofpacket, empty, channel, error, data}, widths as the port has them. ready has no latency.
module fleet_avalon_st_manager #(parameter int W_DATA = 8, parameter int W_EMPTY = 1, parameter int W_CHANNEL = 1,
                                 parameter int W_ERROR = 1, parameter int OPW = 1280) (
  input logic clk, rst, go, input logic [OPW-1:0] op, output logic done,
  output logic valid,
  input  logic ready,
  output logic startofpacket,
  output logic endofpacket,
  output logic [W_EMPTY-1:0] empty,
  output logic [W_CHANNEL-1:0] channel,
  output logic [W_ERROR-1:0] error,
  output logic [W_DATA-1:0] data
);
  localparam int W = 2 + W_EMPTY + W_CHANNEL + W_ERROR + W_DATA;
  logic [W-1:0] payload;
  assign {startofpacket, endofpacket, empty, channel, error, data} = payload;
  fleet_source #(.W(W), .OPW(OPW)) source (.clk, .rst, .go, .op, .done, .valid, .ready, .payload);
endmodule

module fleet_avalon_st_subordinate #(parameter int W_DATA = 8, parameter int W_EMPTY = 1, parameter int W_CHANNEL = 1,
                                     parameter int W_ERROR = 1, parameter string PORT = "", parameter int PAUSE = 0,
                                     parameter int OPW = 1280) (
  input logic clk, rst,
  output logic [OPW-1:0] result,
  input  logic valid,
  output logic ready,
  input  logic startofpacket,
  input  logic endofpacket,
  input  logic [W_EMPTY-1:0] empty,
  input  logic [W_CHANNEL-1:0] channel,
  input  logic [W_ERROR-1:0] error,
  input  logic [W_DATA-1:0] data
);
  localparam int W = 2 + W_EMPTY + W_CHANNEL + W_ERROR + W_DATA;
  fleet_sink #(.W(W), .PORT(PORT), .PAUSE(PAUSE), .OPW(OPW)) sink (
    .clk, .rst, .valid, .ready, .payload({startofpacket, endofpacket, empty, channel, error, data}), .result);
endmodule

module fleet_avalon_st_monitor #(parameter int W_DATA = 8, parameter string PORT = "", parameter string MANAGER = "design",
                                 parameter bit STABLE = 1) (
  input logic clk, rst,
  input logic valid,
  input logic ready,
  input logic startofpacket,
  input logic endofpacket,
  input logic [W_DATA-1:0] data
);
  bit open = 0;  // a packet
  fleet_handshake_monitor #(.W(2 + W_DATA), .PORT(PORT), .SENDER(MANAGER), .STABLE(STABLE)) monitor (
    .clk, .rst, .valid, .ready, .payload({startofpacket, endofpacket, data}));
  always @(posedge clk)
    if (rst) open = 0;
    else if (valid && ready) begin
      if (startofpacket && open) fleet_bench_pkg::violation(PORT, "a packet begins before the last one ended", MANAGER);
      open = (open || startofpacket) && !endofpacket;
    end
endmodule

// The bench writes into a FIFO of the design.
module fleet_fifo_write_manager #(parameter int W_DIN = 1, parameter int OPW = 1280) (
  input logic clk, rst, go, input logic [OPW-1:0] op, output logic done,
  output logic wr_en,
  output logic [W_DIN-1:0] din,
  input  logic full
);
  logic valid;
  assign wr_en = valid && !full;
  fleet_source #(.W(W_DIN), .OPW(OPW)) source (.clk, .rst, .go, .op, .done, .valid, .ready(!full), .payload(din));
endmodule

// The bench reads from a FIFO of the design: with a `valid` the word comes beside it, without one dout shows it while there is one.
module fleet_fifo_read_manager #(parameter int W_DOUT = 1, parameter int HAS_VALID = 0, parameter string PORT = "",
                                 parameter int PAUSE = 0, parameter int OPW = 1280) (
  input logic clk, rst,
  output logic [OPW-1:0] result,
  output logic rd_en,
  input  logic [W_DOUT-1:0] dout,
  input  logic empty,
  input  logic valid
);
  logic takes, ready;
  int unsigned step;
  initial begin takes = 0; step = fleet_bench_pkg::seed_of($sformatf("%m")); end
  assign rd_en = takes && !empty;
  always @(posedge clk) begin
    step <= step + 1;
    takes <= !rst && ready && !fleet_bench_pkg::refuses(PAUSE, 64'(step));
  end
  fleet_sink #(.W(W_DOUT), .PORT(PORT), .OPW(OPW)) sink (
    .clk, .rst, .valid(HAS_VALID != 0 ? valid : rd_en), .ready, .payload(dout), .result);
endmodule

// A method that takes arguments: the bench calls it when it is ready.
module fleet_bluespec_method_manager #(parameter int W_PAYLOAD = 1, parameter int OPW = 1280) (
  input logic clk, rst, go, input logic [OPW-1:0] op, output logic done,
  output logic en,
  input  logic rdy,
  output logic [W_PAYLOAD-1:0] payload
);
  logic valid;
  assign en = valid && rdy;
  fleet_source #(.W(W_PAYLOAD), .OPW(OPW)) source (.clk, .rst, .go, .op, .done, .valid, .ready(rdy), .payload);
endmodule

// A method that returns a value: the bench calls it whenever it is ready, and records what it gives.
module fleet_bluespec_method_taker #(parameter int W_PAYLOAD = 1, parameter string PORT = "", parameter int PAUSE = 0,
                                     parameter int OPW = 1280) (
  input logic clk, rst,
  output logic [OPW-1:0] result,
  output logic en,
  input  logic rdy,
  input  logic [W_PAYLOAD-1:0] payload
);
  logic ready;
  assign en = ready && rdy;
  fleet_sink #(.W(W_PAYLOAD), .PORT(PORT), .PAUSE(PAUSE), .OPW(OPW)) sink (.clk, .rst, .valid(rdy), .ready, .payload, .result);
endmodule

// op: {insn, rs1, rs2}; the response is {wr, rd}. As PicoRV32 the bench drops valid for a cycle after each answer.
module fleet_pcpi_manager #(parameter string PORT = "", parameter int OPW = 1280) (
  input logic clk, rst, go, input logic [OPW-1:0] op, output logic done, output logic [OPW-1:0] result,
  output logic valid,
  output logic [31:0] insn,
  output logic [31:0] rs1,
  output logic [31:0] rs2,
  input  logic wr,
  input  logic [31:0] rd,
  input  logic ready
);
  logic there, listens, pauses = 0;
  assign valid = there && listens && !pauses;
  always @(posedge clk) pauses <= !rst && valid && ready;
  fleet_source #(.W(96), .OPW(OPW)) source (
    .clk, .rst, .go, .op, .done, .valid(there), .ready(valid && ready), .payload({insn, rs1, rs2}));
  fleet_sink #(.W(33), .PORT(PORT), .OPW(OPW)) sink (
    .clk, .rst, .valid(valid && ready), .ready(listens), .payload({wr, rd}), .result);
endmodule

// op: {readra, readrb, writerc, a, b, c, n, dataa, datab}; operands stay until the answer. Without a `done` it comes LATENCY cycles after
// the start.
module fleet_nios_custom_manager #(parameter int W_N = 8, parameter int HAS_DONE = 0, parameter int LATENCY = 1,
                                   parameter string PORT = "", parameter int OPW = 1280) (
  input logic clk, rst, go, input logic [OPW-1:0] op, output logic done, output logic [OPW-1:0] result,
  output logic clk_en,
  output logic start,
  output logic readra,
  output logic readrb,
  output logic writerc,
  output logic [4:0] a,
  output logic [4:0] b,
  output logic [4:0] c,
  output logic [W_N-1:0] n,
  output logic [31:0] dataa,
  output logic [31:0] datab,
  input  logic done_signal,
  input  logic [31:0] result_signal
);
  logic there, listens, ends;
  int unsigned age = 0;  // cycles since the start
  assign clk_en = 1;
  assign start = there && listens && age == 0;
  assign ends = there && listens && (HAS_DONE != 0 ? done_signal : age >= LATENCY);
  always @(posedge clk) age <= rst || ends || !(there && listens) ? 0 : age + 1;
  fleet_source #(.W(18 + W_N + 64), .OPW(OPW)) source (
    .clk, .rst, .go, .op, .done, .valid(there), .ready(ends), .payload({readra, readrb, writerc, a, b, c, n, dataa, datab}));
  fleet_sink #(.W(32), .PORT(PORT), .OPW(OPW)) sink (
    .clk, .rst, .valid(ends), .ready(listens), .payload(result_signal), .result);
endmodule
