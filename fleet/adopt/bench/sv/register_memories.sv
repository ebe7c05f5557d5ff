// Memories and registers with strobes of their own for reads and writes, with one address or two.

// With ready a strobe waits for it, and the data that were read lie beside it and beside rvalid; without ready, a word stays until
// the next one is read.
module fleet_strobe_memory_subordinate #(parameter int W_ADDR = 32, parameter int W_RDATA = 32, parameter int W_BE = 4,
                                         parameter int SHIFT = 0, parameter bit HAS_READY = 0, parameter int SPACE = 0,
                                         parameter int LATENCY = 1, parameter int PAUSE = 0, parameter string PORT = "", parameter bit STABLE = 1,
                                         parameter bit HAS_READ_DONE = 0, parameter bit HAS_WRITE_DONE = 0) (
  input logic clk, rst,
  input  logic read,
  input  logic write,
  input  logic [W_ADDR-1:0] addr,
  input  logic [W_RDATA-1:0] wdata,
  input  logic [W_BE-1:0] be,
  output logic [W_RDATA-1:0] rdata,
  output logic rvalid,
  output logic read_done,
  output logic write_done,
  output logic ready
);
  localparam bit WAITS = HAS_READY || HAS_READ_DONE || HAS_WRITE_DONE;
  localparam int BYTES = (W_RDATA + 7) / 8;
  logic [W_RDATA-1:0] mask, found, kept;
  logic [LATENCY-1:0] reads = '0;
  logic busy = 0, take, valid, late;
  fleet_pause #(.PAUSE(PAUSE)) pause (.clk, .now(late));
  assign ready = WAITS && valid;
  assign read_done = rvalid;
  assign write_done = valid && !reads[LATENCY-1];
  assign rvalid = valid && reads[LATENCY-1];
  assign take = (read || write) && !(WAITS && (busy || late));
  assign rdata = rvalid ? found : kept;
  fleet_spread #(.W(W_RDATA), .WM(W_BE)) spread (.mask(be), .bits(mask));
  fleet_memory_pipe #(.W(W_RDATA), .SPACE(SPACE), .LATENCY(LATENCY)) pipe (
    .clk, .rst, .take, .write, .address((64'(addr) << SHIFT) / BYTES * BYTES), .wdata, .wmask(mask), .valid, .rdata(found));
  always @(posedge clk) begin
    busy <= !rst && (busy ? !valid : take);
    reads[0] <= take && !write && !rst;
    for (int i = LATENCY - 1; i > 0; i--) reads[i] <= reads[i-1];
    if (rst) reads <= '0;
    if (rvalid) kept <= found;
    if (WAITS && !rst && read && write) fleet_bench_pkg::violation(PORT, "read and write in one cycle", "design");
  end
  if (WAITS) begin : waits
    fleet_handshake_monitor #(.W(W_ADDR + W_RDATA + W_BE + 1), .PORT(PORT), .SENDER("design"), .STABLE(STABLE)) monitor (
      .clk, .rst, .valid(read || write), .ready, .payload({write, be, addr, write ? wdata : W_RDATA'(0)}));
  end
endmodule

module fleet_strobe_memory_manager #(parameter int W_ADDR = 10, parameter int W_RDATA = 32, parameter int W_BE = 4,
                                     parameter int SHIFT = 2, parameter bit HAS_READY = 0, parameter bit HAS_RVALID = 0,
                                     parameter bit HAS_READ_DONE = 0, parameter bit HAS_WRITE_DONE = 0,
                                     parameter int LATENCY = 1, parameter int OPW = 1280) (
  input logic clk, rst, go, input logic [OPW-1:0] op, output logic done, output logic [OPW-1:0] result,
  output logic read,
  output logic write,
  output logic [W_ADDR-1:0] addr,
  output logic [W_RDATA-1:0] wdata,
  output logic [W_BE-1:0] be,
  input  logic [W_RDATA-1:0] rdata,
  input  logic rvalid,
  input  logic read_done,
  input  logic write_done,
  input  logic ready,
  input  logic error
);
  localparam bit WAITS = HAS_READY || HAS_READ_DONE || HAS_WRITE_DONE;
  int left = 0;
  logic taken;
  assign taken = (read && HAS_READ_DONE && read_done) || (write && HAS_WRITE_DONE && write_done) || (HAS_READY && ready);
  logic waits = 0;
  assign be = '1;
  initial begin read = 0; write = 0; done = 0; end
  always @(posedge clk) begin
    done <= 0;
    if (rst) begin read <= 0; write <= 0; left <= 0; waits <= 0; end
    else if (HAS_RVALID && (waits || read) && rvalid) begin
      read <= 0; left <= 0; waits <= 0; done <= 1;
      result <= '0; result[1024] <= error; result[1023:0] <= 1024'(rdata);
    end else if (WAITS && (read || write)) begin
      if (taken) begin
        read <= 0; write <= 0; waits <= HAS_RVALID && read; done <= !(HAS_RVALID && read);
        result <= '0; result[1024] <= error; result[1023:0] <= 1024'(rdata);
      end
    end else if (HAS_RVALID && read) begin read <= 0; waits <= 1; end
    else if (waits) begin end
    else if (left > 1) begin read <= 0; write <= 0; left <= left - 1; end
    else if (left == 1) begin
      read <= 0; write <= 0; left <= 0; done <= 1;
      result <= '0; result[1024] <= error; result[1023:0] <= 1024'(rdata);
    end
    else if (go && !done) begin
      left <= WAITS || (HAS_RVALID && !op[1088]) ? 0 : LATENCY + 1;
      read <= !op[1088]; write <= op[1088]; addr <= W_ADDR'(op[1087:1024] >> SHIFT); wdata <= W_RDATA'(op[1023:0]);
    end
  end
endmodule

module fleet_two_port_sram_manager #(parameter int W_RADDR = 10, parameter int W_WADDR = 10, parameter int W_RDATA = 32,
                                     parameter int W_WDATA = 32, parameter int W_BE = 4, parameter int SHIFT = 2,
                                     parameter int LATENCY = 1, parameter int OPW = 1280) (
  input logic clk, rst, go, input logic [OPW-1:0] op, output logic done, output logic [OPW-1:0] result,
  output logic re,
  output logic [W_RADDR-1:0] raddr,
  input  logic [W_RDATA-1:0] rdata,
  output logic we,
  output logic [W_WADDR-1:0] waddr,
  output logic [W_BE-1:0] be,
  output logic [W_WDATA-1:0] wdata
);
  int left = 0;
  assign be = '1;
  initial begin re = 0; we = 0; done = 0; end
  always @(posedge clk) begin
    done <= 0; re <= 0; we <= 0;
    if (rst) left <= 0;
    else if (left > 1) left <= left - 1;
    else if (left == 1) begin left <= 0; done <= 1; result <= '0; result[1023:0] <= 1024'(rdata); end
    else if (go && !done) begin
      left <= LATENCY + 1;
      re <= !op[1088]; we <= op[1088];
      if (op[1088]) begin waddr <= W_WADDR'(op[1087:1024] >> SHIFT); wdata <= W_WDATA'(op[1023:0]); end
      else raddr <= W_RADDR'(op[1087:1024] >> SHIFT);
    end
  end
endmodule
