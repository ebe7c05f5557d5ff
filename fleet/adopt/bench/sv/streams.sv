// Valid and ready: a monitor (IN_RESET: the protocol forbids a valid during reset), a source that the script drives, a sink that takes and records.
module fleet_handshake_monitor #(parameter int W = 1, parameter string PORT = "", parameter string CHANNEL = "",
                                 parameter string SENDER = "design", parameter bit STABLE = 1, parameter bit IN_RESET = 0) (
  input logic clk, rst, valid, ready,
  input logic [W-1:0] payload
);
  logic waits = 0, told = 0;
  logic [W-1:0] held, seen;
  int unsigned age = 0;  // of a reset; in its first cycles a register has no value yet
  // Blocking: nobody else reads these, and the payload is looked at only while it waits.
  always @(posedge clk)
    if (rst) begin
      if (IN_RESET && valid && age >= 3 && !told) begin
        told = 1;
        fleet_bench_pkg::violation(PORT, {CHANNEL, "valid during reset"}, SENDER);
      end
      if (age < 3) age = age + 1;
      waits = 0;
    end else begin
      age = 0;
      if (valid) begin
        if (waits || !ready) begin
          seen = payload;
          if (waits && STABLE && seen !== held) fleet_bench_pkg::violation(PORT, {CHANNEL, "payload changed while valid waits"}, SENDER);
          held = seen;
          waits = !ready;
        end
      end else if (waits) begin
        if (STABLE) fleet_bench_pkg::violation(PORT, {CHANNEL, "valid dropped before ready"}, SENDER);
        waits = 0;
      end
    end
endmodule

// Of the cycles of a part those in which it waits, by PAUSE.
module fleet_pause #(parameter int PAUSE = 0) (input logic clk, output logic now);
  int unsigned step;
  initial step = fleet_bench_pkg::seed_of($sformatf("%m"));
  assign now = fleet_bench_pkg::refuses(PAUSE, 64'(step));
  if (PAUSE != 0) begin : counts
    always @(posedge clk) step <= step + 1;
  end
endmodule

// op: {more, 0, payload}. Words of one step of a script (more: others follow) wait for each other and go without a gap but those of
// PAUSE; the last one is done when all were taken.
module fleet_source #(parameter int W = 1, parameter int PAUSE = 0, parameter int OPW = 1280) (
  input  logic clk, rst, go,
  input  logic [OPW-1:0] op,
  output logic done,
  output logic valid,
  input  logic ready,
  output logic [W-1:0] payload
);
  localparam int DEPTH = 64;
  bit [W-1:0] queue [$];
  logic waits;
  fleet_pause #(.PAUSE(PAUSE)) pause (.clk, .now(waits));
  logic last = 0, leaves = 0;  // the last word of a step is there; words leave
  initial begin valid = 0; done = 0; payload = '0; end
  always @(posedge clk) begin
    done <= 0;
    if (rst) begin valid <= 0; queue.delete(); last = 0; leaves = 0; end
    else begin
      if (go && !done && !last && queue.size() < DEPTH) begin
        queue.push_back(op[W-1:0]);
        if (op[OPW-1]) done <= 1;
        else last = 1;
      end
      if (valid && ready && queue.size() == 0) begin
        leaves = 0;
        if (last) begin last = 0; done <= 1; end
      end
      if (last || queue.size() == DEPTH) leaves = 1;
      if (!valid || ready) begin
        valid <= leaves && queue.size() > 0 && !waits;
        if (leaves && queue.size() > 0 && !waits) payload <= queue.pop_front();
      end
    end
  end
endmodule

// PAUSE: of so many cycles one is refused; 0: none. REFUSES: whether the sender looks at ready; else each word that comes is taken.
module fleet_sink #(parameter int W = 1, parameter string PORT = "", parameter int PAUSE = 0, parameter bit REFUSES = 1,
                    parameter int OPW = 1280) (
  input  logic clk, rst, valid,
  output logic ready,
  input  logic [W-1:0] payload,
  output logic [OPW-1:0] result
);
  int unsigned step, taken = 0;
  initial begin ready = 0; step = fleet_bench_pkg::seed_of($sformatf("%m")); end
  assign result = OPW'(taken);
  always @(posedge clk) begin
    step <= step + 1;
    ready <= !rst && !fleet_bench_pkg::refuses(PAUSE, 64'(step));
    if (!rst && valid && (ready || !REFUSES)) begin
      taken <= taken + 1;
      $fdisplay(fleet_bench_pkg::results, "S|%0d|%s|%h|%0d", fleet_bench_pkg::cycle, PORT, payload, $time);
      fleet_bench_pkg::gave(PORT, 2048'(payload));
    end
  end
endmodule

module fleet_stream_manager #(parameter int W_PAYLOAD = 1, parameter int PAUSE = 0, parameter int OPW = 1280) (
  input logic clk, rst, go, input logic [OPW-1:0] op, output logic done,
  output logic valid,
  input  logic ready,
  output logic [W_PAYLOAD-1:0] payload
);
  fleet_source #(.W(W_PAYLOAD), .PAUSE(PAUSE), .OPW(OPW)) source (.*);
endmodule

module fleet_stream_subordinate #(parameter int W_PAYLOAD = 1, parameter string PORT = "", parameter int PAUSE = 0,
                                  parameter bit HAS_READY = 1, parameter int OPW = 1280) (
  input logic clk, rst,
  output logic [OPW-1:0] result,
  input  logic valid,
  output logic ready,
  input  logic [W_PAYLOAD-1:0] payload
);
  fleet_sink #(.W(W_PAYLOAD), .PORT(PORT), .PAUSE(PAUSE), .REFUSES(HAS_READY), .OPW(OPW)) sink (.*);
endmodule

module fleet_stream_monitor #(parameter int W_PAYLOAD = 1, parameter string PORT = "", parameter string MANAGER = "design",
                              parameter string SUBORDINATE = "bench", parameter bit STABLE = 1) (
  input logic clk, rst,
  input logic valid,
  input logic ready,
  input logic [W_PAYLOAD-1:0] payload
);
  fleet_handshake_monitor #(.W(W_PAYLOAD), .PORT(PORT), .SENDER(MANAGER), .STABLE(STABLE)) monitor (.*);
endmodule

module fleet_valid_yumi_manager #(parameter int W_PAYLOAD = 1, parameter int PAUSE = 0, parameter int OPW = 1280) (
  input logic clk, rst, go, input logic [OPW-1:0] op, output logic done,
  output logic valid,
  input  logic yumi,
  output logic [W_PAYLOAD-1:0] payload
);
  fleet_source #(.W(W_PAYLOAD), .PAUSE(PAUSE), .OPW(OPW)) source (.clk, .rst, .go, .op, .done, .valid, .ready(yumi), .payload);
endmodule

module fleet_valid_yumi_subordinate #(parameter int W_PAYLOAD = 1, parameter string PORT = "", parameter int PAUSE = 0,
                                      parameter int OPW = 1280) (
  input logic clk, rst,
  output logic [OPW-1:0] result,
  input  logic valid,
  output logic yumi,
  input  logic [W_PAYLOAD-1:0] payload
);
  logic ready;
  assign yumi = valid && ready;
  fleet_sink #(.W(W_PAYLOAD), .PORT(PORT), .PAUSE(PAUSE), .OPW(OPW)) sink (.clk, .rst, .valid, .ready, .payload, .result);
endmodule

module fleet_valid_yumi_monitor #(parameter int W_PAYLOAD = 1, parameter string PORT = "", parameter string MANAGER = "design",
                                  parameter string SUBORDINATE = "bench", parameter bit STABLE = 1) (
  input logic clk, rst,
  input logic valid,
  input logic yumi,
  input logic [W_PAYLOAD-1:0] payload
);
  fleet_handshake_monitor #(.W(W_PAYLOAD), .PORT(PORT), .SENDER(MANAGER), .STABLE(STABLE)) monitor (
    .clk, .rst, .valid, .ready(yumi), .payload);
  always @(posedge clk) if (!rst && yumi && !valid) fleet_bench_pkg::violation(PORT, "yumi without a valid word", SUBORDINATE);
endmodule

// op: {last, keep, user, dest, id, data}, widths as the port has them.
module fleet_axi4_stream_manager #(parameter int W_TDATA = 8, parameter int W_TKEEP = 1, parameter int W_TUSER = 1,
                                   parameter int W_TID = 1, parameter int W_TDEST = 1, parameter int PAUSE = 0, parameter int OPW = 1280) (
  input logic clk, rst, go, input logic [OPW-1:0] op, output logic done,
  output logic tvalid,
  input  logic tready,
  output logic [W_TDATA-1:0] tdata,
  output logic tlast,
  output logic [W_TKEEP-1:0] tkeep,
  output logic [W_TKEEP-1:0] tstrb,
  output logic [W_TUSER-1:0] tuser,
  output logic [W_TDEST-1:0] tdest,
  output logic [W_TID-1:0] tid
);
  localparam int W = 1 + W_TKEEP + W_TUSER + W_TDEST + W_TID + W_TDATA;
  logic [W-1:0] payload;
  assign {tlast, tkeep, tuser, tdest, tid, tdata} = payload;
  assign tstrb = tkeep;
  fleet_source #(.W(W), .PAUSE(PAUSE), .OPW(OPW)) source (.clk, .rst, .go, .op, .done, .valid(tvalid), .ready(tready), .payload);
endmodule

module fleet_axi4_stream_subordinate #(parameter int W_TDATA = 8, parameter int W_TKEEP = 1, parameter int W_TUSER = 1,
                                       parameter int W_TID = 1, parameter int W_TDEST = 1, parameter string PORT = "",
                                       parameter int PAUSE = 0, parameter bit HAS_TREADY = 1, parameter int OPW = 1280) (
  input logic clk, rst,
  output logic [OPW-1:0] result,
  input  logic tvalid,
  output logic tready,
  input  logic [W_TDATA-1:0] tdata,
  input  logic tlast,
  input  logic [W_TKEEP-1:0] tkeep,
  input  logic [W_TUSER-1:0] tuser,
  input  logic [W_TDEST-1:0] tdest,
  input  logic [W_TID-1:0] tid
);
  localparam int W = 1 + W_TKEEP + W_TUSER + W_TDEST + W_TID + W_TDATA;
  fleet_sink #(.W(W), .PORT(PORT), .PAUSE(PAUSE), .REFUSES(HAS_TREADY), .OPW(OPW)) sink (
    .clk, .rst, .valid(tvalid), .ready(tready), .payload({tlast, tkeep, tuser, tdest, tid, tdata}), .result);
endmodule

module fleet_axi4_stream_monitor #(parameter int W_TDATA = 8, parameter int W_TKEEP = 1, parameter int W_TUSER = 1,
                                   parameter int W_TID = 1, parameter int W_TDEST = 1, parameter string PORT = "",
                                   parameter string MANAGER = "design", parameter bit STABLE = 1) (
  input logic clk, rst,
  input logic tvalid,
  input logic tready,
  input logic [W_TDATA-1:0] tdata,
  input logic tlast,
  input logic [W_TKEEP-1:0] tkeep,
  input logic [W_TUSER-1:0] tuser,
  input logic [W_TDEST-1:0] tdest,
  input logic [W_TID-1:0] tid
);
  localparam int W = 1 + W_TKEEP + W_TUSER + W_TDEST + W_TID + W_TDATA;
  fleet_handshake_monitor #(.W(W), .PORT(PORT), .CHANNEL("t"), .SENDER(MANAGER), .STABLE(STABLE), .IN_RESET(1)) monitor (
    .clk, .rst, .valid(tvalid), .ready(tready), .payload({tlast, tkeep, tuser, tdest, tid, tdata}));
endmodule

// A design that pops: the bench shows that it is not empty and its word, LATENCY cycles behind the read; 0: beside empty.
module fleet_fifo_read_subordinate #(parameter int W_DOUT = 1, parameter int LATENCY = 0, parameter int PAUSE = 0, parameter int OPW = 1280) (
  input logic clk, rst, go, input logic [OPW-1:0] op, output logic done,
  input  logic rd_en,
  output logic [W_DOUT-1:0] dout,
  output logic empty
);
  logic valid;
  logic [W_DOUT-1:0] word;
  assign empty = !valid;
  fleet_source #(.W(W_DOUT), .PAUSE(PAUSE), .OPW(OPW)) source (.clk, .rst, .go, .op, .done, .valid, .ready(rd_en), .payload(word));
  if (LATENCY == 0) begin : shown
    assign dout = word;
  end else begin : behind
    logic [W_DOUT-1:0] read [LATENCY];
    initial for (int n = 0; n < LATENCY; n++) read[n] = '0;
    always @(posedge clk) begin
      if (valid && rd_en) read[0] <= word;
      for (int n = 1; n < LATENCY; n++) read[n] <= read[n-1];
    end
    assign dout = read[LATENCY-1];
  end
endmodule

module fleet_fifo_read_monitor #(parameter string PORT = "", parameter string MANAGER = "design") (
  input logic clk, rst,
  input logic rd_en,
  input logic empty
);
  always @(posedge clk) if (!rst && rd_en && empty) fleet_bench_pkg::violation(PORT, "read while empty", MANAGER);
endmodule

// A design that pushes: the bench takes.
module fleet_fifo_write_subordinate #(parameter int W_DIN = 1, parameter string PORT = "", parameter int PAUSE = 0, parameter bit HAS_FULL = 1,
                                      parameter int OPW = 1280) (
  input logic clk, rst,
  output logic [OPW-1:0] result,
  input  logic wr_en,
  input  logic [W_DIN-1:0] din,
  output logic full
);
  logic ready;
  assign full = !ready;
  fleet_sink #(.W(W_DIN), .PORT(PORT), .PAUSE(PAUSE), .REFUSES(HAS_FULL), .OPW(OPW)) sink (.clk, .rst, .valid(wr_en), .ready, .payload(din), .result);
endmodule

module fleet_fifo_write_monitor #(parameter string PORT = "", parameter string MANAGER = "design") (
  input logic clk, rst,
  input logic wr_en,
  input logic full
);
  always @(posedge clk) if (!rst && wr_en && full) fleet_bench_pkg::violation(PORT, "written while full", MANAGER);
endmodule
