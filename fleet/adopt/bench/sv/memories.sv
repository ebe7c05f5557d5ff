// Memories of requests: each reads and writes fleet_bench_pkg's memory.

// What a memory does with a request of at most 128 bytes; LATENCY cycles later the answer is there, in order.
module fleet_memory_pipe #(parameter int W = 32, parameter int SPACE = 0, parameter int LATENCY = 1) (
  input  logic clk, rst, take, write,
  input  logic [63:0] address,             // bytes, of lane 0
  input  logic [W-1:0] wdata, wmask,       // a bit a bit
  output logic valid,
  output logic [W-1:0] rdata
);
  localparam int BYTES = (W + 7) / 8;
  logic [LATENCY-1:0] there = '0;
  logic [LATENCY*W-1:0] held;  // no array: Icarus Verilog 11 may miss that an element of one changes
  assign valid = there[LATENCY-1];
  assign rdata = held[LATENCY*W-1 -: W];
  always @(posedge clk) begin : pipe
    logic [BYTES*8-1:0] found, mask, data;
    for (int i = LATENCY - 1; i > 0; i--) begin there[i] <= there[i-1]; held[i*W +: W] <= held[(i-1)*W +: W]; end
    there[0] <= take && !rst;
    if (take && !rst) begin
      found = '0; mask = (BYTES*8)'(wmask); data = (BYTES*8)'(wdata);
      for (int b = 0; b < BYTES; b++) begin
        if (!write) found[b*8 +: 8] = fleet_bench_pkg::get(8'(SPACE), address[55:0] + 56'(b));
        else if (mask[b*8 +: 8] == 8'hff) fleet_bench_pkg::put(8'(SPACE), address[55:0] + 56'(b), data[b*8 +: 8]);
        else if (mask[b*8 +: 8] != 0)
          fleet_bench_pkg::put(8'(SPACE), address[55:0] + 56'(b), (data[b*8 +: 8] & mask[b*8 +: 8])
            | (fleet_bench_pkg::get(8'(SPACE), address[55:0] + 56'(b)) & ~mask[b*8 +: 8]));
      end
      held[W-1:0] <= found[W-1:0];
    end
    if (rst) there <= '0;
  end
endmodule

// A bit a byte, or a bit a bit, as a mask of bits.
module fleet_spread #(parameter int W = 32, parameter int WM = 4) (input logic [WM-1:0] mask, output logic [W-1:0] bits);
  always_comb for (int i = 0; i < W; i++) bits[i] = mask[WM == W ? i : WM == 1 ? 0 : (i / 8) % WM];
endmodule

module fleet_obi_subordinate #(parameter int W_ADDR = 32, parameter int W_RDATA = 32, parameter int W_BE = 4, parameter int W_AID = 1,
                               parameter int SPACE = 0, parameter int LATENCY = 1, parameter int PAUSE = 0) (
  input logic clk, rst,
  input  logic req,
  output logic gnt,
  input  logic [W_ADDR-1:0] addr,
  input  logic we,
  input  logic [W_BE-1:0] be,
  input  logic [W_RDATA-1:0] wdata,
  input  logic [W_AID-1:0] aid,
  output logic rvalid,
  output logic [W_RDATA-1:0] rdata,
  output logic [W_AID-1:0] rid,
  output logic err
);
  localparam int BYTES = (W_RDATA + 7) / 8;
  logic [W_RDATA-1:0] mask;
  logic [LATENCY*W_AID-1:0] ids;
  int unsigned step;
  initial step = fleet_bench_pkg::seed_of($sformatf("%m"));
  assign err = 0;
  assign rid = ids[LATENCY*W_AID-1 -: W_AID];
  assign gnt = req && !rst && !fleet_bench_pkg::refuses(PAUSE, 64'(step));
  always @(posedge clk) begin
    step <= step + 1;
    for (int i = LATENCY - 1; i > 0; i--) ids[i*W_AID +: W_AID] <= ids[(i-1)*W_AID +: W_AID];
    ids[W_AID-1:0] <= aid;
  end
  fleet_spread #(.W(W_RDATA), .WM(W_BE)) spread (.mask(be), .bits(mask));
  fleet_memory_pipe #(.W(W_RDATA), .SPACE(SPACE), .LATENCY(LATENCY)) pipe (
    .clk, .rst, .take(req && gnt), .write(we), .address(64'(addr) / BYTES * BYTES), .wdata, .wmask(mask), .valid(rvalid), .rdata);
endmodule

module fleet_obi_monitor #(parameter int W_ADDR = 32, parameter int W_RDATA = 32, parameter int W_BE = 4, parameter string PORT = "",
                           parameter string MANAGER = "design", parameter string SUBORDINATE = "bench", parameter bit STABLE = 1) (
  input logic clk, rst,
  input logic req,
  input logic gnt,
  input logic [W_ADDR-1:0] addr,
  input logic we,
  input logic [W_BE-1:0] be,
  input logic [W_RDATA-1:0] wdata,
  input logic rvalid
);
  fleet_handshake_monitor #(.W(W_ADDR + W_BE + W_RDATA + 1), .PORT(PORT), .CHANNEL("request: "), .SENDER(MANAGER), .STABLE(STABLE),
                            .IN_RESET(1))
    monitor (.clk, .rst, .valid(req), .ready(gnt), .payload({we, be, addr, we ? wdata : '0}));
  fleet_answer_monitor #(.PORT(PORT), .SENDER(SUBORDINATE)) answers (.clk, .rst, .ask(req && gnt), .answer(rvalid));
endmodule

// Answers are at most as many as were asked for before.
module fleet_answer_monitor #(parameter string PORT = "", parameter string SENDER = "bench", parameter bit SAME_CYCLE = 0) (
  input logic clk, rst, ask, answer
);
  int open = 0;
  always @(posedge clk) begin
    if (rst) open <= 0;
    else begin
      if (answer && open + (SAME_CYCLE && ask ? 1 : 0) <= 0) fleet_bench_pkg::violation(PORT, "response without a request", SENDER);
      open <= open + (ask ? 1 : 0) - (answer && open + (SAME_CYCLE && ask ? 1 : 0) > 0 ? 1 : 0);
    end
  end
endmodule

module fleet_hci_subordinate #(parameter int W_ADD = 32, parameter int W_DATA = 32, parameter int W_BE = 4, parameter int SPACE = 0,
                               parameter int LATENCY = 1, parameter int PAUSE = 0) (
  input logic clk, rst,
  input  logic req,
  output logic gnt,
  input  logic [W_ADD-1:0] add,
  input  logic wen,
  input  logic [W_BE-1:0] be,
  input  logic [W_DATA-1:0] data,
  output logic [W_DATA-1:0] r_data,
  output logic r_valid
);
  fleet_obi_subordinate #(.W_ADDR(W_ADD), .W_RDATA(W_DATA), .W_BE(W_BE), .SPACE(SPACE), .LATENCY(LATENCY), .PAUSE(PAUSE)) obi (
    .clk, .rst, .req, .gnt, .addr(add), .we(wen), .be, .wdata(data), .aid(1'b0), .rvalid(r_valid), .rdata(r_data), .rid(), .err());
endmodule

module fleet_hci_monitor #(parameter int W_ADD = 32, parameter int W_DATA = 32, parameter int W_BE = 4, parameter string PORT = "",
                           parameter string MANAGER = "design", parameter string SUBORDINATE = "bench", parameter bit STABLE = 1) (
  input logic clk, rst,
  input logic req,
  input logic gnt,
  input logic [W_ADD-1:0] add,
  input logic wen,
  input logic [W_BE-1:0] be,
  input logic [W_DATA-1:0] data
);
  fleet_handshake_monitor #(.W(W_ADD + W_BE + W_DATA + 1), .PORT(PORT), .CHANNEL("request: "), .SENDER(MANAGER), .STABLE(STABLE))
    monitor (.clk, .rst, .valid(req), .ready(gnt), .payload({wen, be, add, wen ? data : '0}));
endmodule

// No handshake: words of the port's own width, numbered from 0.
module fleet_sram_subordinate #(parameter int W_ADDR = 10, parameter int W_RDATA = 1, parameter int W_WDATA = 1, parameter int W_BE = 1,
                                parameter int SPACE = 0, parameter int LATENCY = 1) (
  input logic clk, rst,
  input  logic en,
  input  logic we,
  input  logic [W_ADDR-1:0] addr,
  input  logic [W_BE-1:0] be,
  input  logic [W_WDATA-1:0] wdata,
  output logic [W_RDATA-1:0] rdata,
  output logic rvalid
);
  localparam int W = W_RDATA > W_WDATA ? W_RDATA : W_WDATA;
  logic [W-1:0] mask, found, kept;
  logic valid;
  assign rvalid = valid;
  assign rdata = valid ? found[W_RDATA-1:0] : kept[W_RDATA-1:0];  // holds its last word
  always @(posedge clk) if (valid) kept <= found;
  fleet_spread #(.W(W), .WM(W_BE)) spread (.mask(be), .bits(mask));
  fleet_memory_pipe #(.W(W), .SPACE(SPACE), .LATENCY(LATENCY)) pipe (
    .clk, .rst, .take(en), .write(we), .address(64'(addr) * ((W + 7) / 8)), .wdata(W'(wdata)), .wmask(mask), .valid, .rdata(found));
endmodule

// A port for reads and one for writes, on one memory.
module fleet_two_port_sram_subordinate #(parameter int W_RADDR = 10, parameter int W_WADDR = 10, parameter int W_RDATA = 1,
                                         parameter int W_WDATA = 1, parameter int W_BE = 1, parameter bit HAS_RE = 0,
                                         parameter int SPACE = 0, parameter int LATENCY = 1) (
  input logic clk, rst,
  input  logic re,
  input  logic [W_RADDR-1:0] raddr,
  output logic [W_RDATA-1:0] rdata,
  input  logic we,
  input  logic [W_WADDR-1:0] waddr,
  input  logic [W_BE-1:0] be,
  input  logic [W_WDATA-1:0] wdata
);
  localparam int W = W_RDATA > W_WDATA ? W_RDATA : W_WDATA;
  logic [W-1:0] found;
  logic none;
  assign rdata = found[W_RDATA-1:0];
  fleet_sram_subordinate #(.W_ADDR(W_RADDR), .W_RDATA(W), .W_WDATA(W), .SPACE(SPACE), .LATENCY(LATENCY)) read (
    .clk, .rst, .en(!HAS_RE || re), .we(1'b0), .addr(raddr), .be(1'b1), .wdata('0), .rdata(found), .rvalid(none));
  logic [W-1:0] nothing;
  logic never;
  fleet_sram_subordinate #(.W_ADDR(W_WADDR), .W_RDATA(W), .W_WDATA(W), .W_BE(W_BE), .SPACE(SPACE), .LATENCY(LATENCY)) write (
    .clk, .rst, .en(we), .we(1'b1), .addr(waddr), .be, .wdata(W'(wdata)), .rdata(nothing), .rvalid(never));
endmodule

module fleet_native_memory_subordinate #(parameter int W_ADDR = 32, parameter int W_RDATA = 32, parameter int W_WSTRB = 4,
                                         parameter int SPACE = 0, parameter int LATENCY = 1, parameter bit HAS_WRITE = 0,
                                         parameter bit HAS_WSTRB = 0, parameter int PAUSE = 0) (
  input logic clk, rst,
  input  logic valid,
  output logic ready,
  input  logic write,
  input  logic [W_ADDR-1:0] addr,
  input  logic [W_RDATA-1:0] wdata,
  input  logic [W_WSTRB-1:0] wstrb,
  output logic [W_RDATA-1:0] rdata
);
  localparam int BYTES = (W_RDATA + 7) / 8;
  logic [W_RDATA-1:0] mask;
  logic busy = 0, waits;
  wire take = valid && !busy && !waits;
  fleet_pause #(.PAUSE(PAUSE)) pause (.clk, .now(waits));
  fleet_spread #(.W(W_RDATA), .WM(W_WSTRB)) spread (.mask(wstrb), .bits(mask));
  always @(posedge clk) busy <= !rst && (busy ? !ready : take);
  fleet_memory_pipe #(.W(W_RDATA), .SPACE(SPACE), .LATENCY(LATENCY)) pipe (
    .clk, .rst, .take, .write(HAS_WRITE ? write : HAS_WSTRB && |wstrb), .address(64'(addr) / BYTES * BYTES), .wdata,
    .wmask(mask), .valid(ready), .rdata);
endmodule

module fleet_native_memory_monitor #(parameter int W_ADDR = 32, parameter int W_RDATA = 32, parameter int W_WSTRB = 4,
                                     parameter string PORT = "", parameter string MANAGER = "design",
                                     parameter string SUBORDINATE = "bench", parameter bit STABLE = 1) (
  input logic clk, rst,
  input logic valid,
  input logic ready,
  input logic write,
  input logic [W_ADDR-1:0] addr,
  input logic [W_RDATA-1:0] wdata,
  input logic [W_WSTRB-1:0] wstrb
);
  fleet_handshake_monitor #(.W(W_ADDR + W_RDATA + W_WSTRB + 1), .PORT(PORT), .SENDER(MANAGER), .STABLE(STABLE)) monitor (
    .clk, .rst, .valid, .ready, .payload({write, wstrb, addr, wdata}));
  always @(posedge clk) if (!rst && ready && !valid) fleet_bench_pkg::violation(PORT, "ready without valid", SUBORDINATE);
endmodule

// Two of these handshakes, one for reads and one for writes, on one memory.
module fleet_channel_memory_subordinate #(parameter int W_READ_ADDR = 8, parameter int W_READ_DATA = 8, parameter int W_WRITE_ADDR = 8,
                                          parameter int W_WRITE_DATA = 8, parameter int W_WRITE_STRB = 1, parameter int SPACE = 0,
                                          parameter int LATENCY = 1, parameter int PAUSE = 0, parameter int SHIFT = 0) (
  input logic clk, rst,
  input  logic read_valid,
  output logic read_ready,
  input  logic [W_READ_ADDR-1:0] read_addr,
  output logic [W_READ_DATA-1:0] read_data,
  input  logic write_valid,
  output logic write_ready,
  input  logic [W_WRITE_ADDR-1:0] write_addr,
  input  logic [W_WRITE_DATA-1:0] write_data,
  input  logic [W_WRITE_STRB-1:0] write_strb
);
  logic [W_WRITE_DATA-1:0] nothing;
  fleet_native_memory_subordinate #(.W_ADDR(64), .W_RDATA(W_READ_DATA), .W_WSTRB(1), .SPACE(SPACE), .PAUSE(PAUSE), .LATENCY(LATENCY)) read (
    .clk, .rst, .valid(read_valid), .ready(read_ready), .write(1'b0), .addr(64'(read_addr) << SHIFT), .wdata('0), .wstrb('0),
    .rdata(read_data));
  fleet_native_memory_subordinate #(.W_ADDR(64), .W_RDATA(W_WRITE_DATA), .W_WSTRB(W_WRITE_STRB), .SPACE(SPACE), .PAUSE(PAUSE), .LATENCY(LATENCY),
                                    .HAS_WRITE(1)) write (
    .clk, .rst, .valid(write_valid), .ready(write_ready), .write(1'b1), .addr(64'(write_addr) << SHIFT), .wdata(write_data),
    .wstrb(write_strb), .rdata(nothing));
endmodule

module fleet_channel_memory_monitor #(parameter int W_READ_ADDR = 8, parameter int W_WRITE_ADDR = 8, parameter int W_WRITE_DATA = 8,
                                      parameter int W_WRITE_STRB = 1, parameter string PORT = "", parameter string MANAGER = "design",
                                      parameter string SUBORDINATE = "bench", parameter bit STABLE = 1,
                                      parameter bit HAS_READ_VALID = 0, parameter bit HAS_WRITE_VALID = 0) (
  input logic clk, rst,
  input logic read_valid,
  input logic read_ready,
  input logic [W_READ_ADDR-1:0] read_addr,
  input logic write_valid,
  input logic write_ready,
  input logic [W_WRITE_ADDR-1:0] write_addr,
  input logic [W_WRITE_DATA-1:0] write_data,
  input logic [W_WRITE_STRB-1:0] write_strb
);
  fleet_handshake_monitor #(.W(W_READ_ADDR), .PORT(PORT), .CHANNEL("read: "), .SENDER(MANAGER), .STABLE(STABLE)) reads (
    .clk, .rst, .valid(read_valid), .ready(read_ready), .payload(read_addr));
  fleet_handshake_monitor #(.W(W_WRITE_ADDR + W_WRITE_DATA + W_WRITE_STRB), .PORT(PORT), .CHANNEL("write: "), .SENDER(MANAGER),
                            .STABLE(STABLE)) writes (
    .clk, .rst, .valid(write_valid), .ready(write_ready), .payload({write_strb, write_addr, write_data}));
  always @(posedge clk) if (!rst) begin
    if (HAS_READ_VALID && read_ready && !read_valid) fleet_bench_pkg::violation(PORT, "read: ready without valid", SUBORDINATE);
    if (HAS_WRITE_VALID && write_ready && !write_valid) fleet_bench_pkg::violation(PORT, "write: ready without valid", SUBORDINATE);
  end
endmodule

module fleet_split_memory_subordinate #(parameter int W_REQ_ADDR = 32, parameter int W_RESP_DATA = 32, parameter int W_REQ_MASK = 4,
                                        parameter int W_REQ_ID = 1, parameter int W_REQ_WRITE = 1, parameter int SPACE = 0,
                                        parameter int LATENCY = 1, parameter int PAUSE = 0) (
  input logic clk, rst,
  input  logic req_valid,
  output logic req_ready,
  input  logic [W_REQ_ADDR-1:0] req_addr,
  input  logic [W_REQ_WRITE-1:0] req_write,
  input  logic [W_RESP_DATA-1:0] req_data,
  input  logic [W_REQ_MASK-1:0] req_mask,
  input  logic [W_REQ_ID-1:0] req_id,
  output logic resp_valid,
  input  logic resp_ready,
  output logic [W_RESP_DATA-1:0] resp_data,
  output logic [W_REQ_ID-1:0] resp_id,
  output logic resp_last
);
  localparam int BYTES = (W_RESP_DATA + 7) / 8;
  logic [W_RESP_DATA-1:0] mask, found, kept;
  logic [W_REQ_ID-1:0] id;
  logic busy = 0, valid, waits = 0;
  assign resp_last = 1;
  assign resp_id = id;
  int unsigned step;
  initial step = fleet_bench_pkg::seed_of($sformatf("%m"));
  assign req_ready = !rst && !busy && !fleet_bench_pkg::refuses(PAUSE, 64'(step));
  assign resp_valid = valid || waits;
  assign resp_data = valid ? found : kept;
  fleet_spread #(.W(W_RESP_DATA), .WM(W_REQ_MASK)) spread (.mask(req_mask), .bits(mask));
  always @(posedge clk) begin
    step <= step + 1;
    if (req_valid && req_ready) id <= req_id;
    if (valid) kept <= found;
    waits <= !rst && resp_valid && !resp_ready;
    busy <= !rst && (busy ? !(resp_valid && resp_ready) : req_valid && req_ready);
  end
  fleet_memory_pipe #(.W(W_RESP_DATA), .SPACE(SPACE), .LATENCY(LATENCY)) pipe (
    .clk, .rst, .take(req_valid && req_ready), .write(|req_write), .address(64'(req_addr) / BYTES * BYTES), .wdata(req_data),
    .wmask(mask), .valid, .rdata(found));
endmodule

module fleet_split_memory_monitor #(parameter int W_REQ_ADDR = 32, parameter int W_RESP_DATA = 32, parameter int W_REQ_MASK = 4,
                                    parameter int W_REQ_WRITE = 1, parameter string PORT = "", parameter string MANAGER = "design",
                                    parameter string SUBORDINATE = "bench", parameter bit STABLE = 1) (
  input logic clk, rst,
  input logic req_valid,
  input logic req_ready,
  input logic [W_REQ_ADDR-1:0] req_addr,
  input logic [W_REQ_WRITE-1:0] req_write,
  input logic [W_RESP_DATA-1:0] req_data,
  input logic [W_REQ_MASK-1:0] req_mask,
  input logic resp_valid,
  input logic resp_ready,
  input logic [W_RESP_DATA-1:0] resp_data
);
  fleet_handshake_monitor #(.W(W_REQ_ADDR + W_RESP_DATA + W_REQ_MASK + W_REQ_WRITE), .PORT(PORT), .CHANNEL("request: "),
                            .SENDER(MANAGER), .STABLE(STABLE))
    requests (.clk, .rst, .valid(req_valid), .ready(req_ready), .payload({req_write, req_mask, req_addr, req_data}));
  fleet_handshake_monitor #(.W(W_RESP_DATA), .PORT(PORT), .CHANNEL("response: "), .SENDER(SUBORDINATE), .STABLE(STABLE))
    responses (.clk, .rst, .valid(resp_valid), .ready(resp_ready), .payload(resp_data));
  fleet_answer_monitor #(.PORT(PORT), .SENDER(SUBORDINATE)) answers (
    .clk, .rst, .ask(req_valid && req_ready), .answer(resp_valid && resp_ready));
endmodule
