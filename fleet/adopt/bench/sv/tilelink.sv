// TileLink: UL and the bursts of UH; no atomics, no caches.
module fleet_tilelink_subordinate #(parameter int W_A_ADDRESS = 32, parameter int W_A_SIZE = 3, parameter int W_A_SOURCE = 1,
                                    parameter int W_D_DATA = 32, parameter int W_A_MASK = 4, parameter int SPACE = 0,
                                    parameter int PAUSE = 0) (
  input logic clk, rst,
  input  logic a_valid,
  output logic a_ready,
  input  logic [2:0] a_opcode,
  input  logic [W_A_SIZE-1:0] a_size,
  input  logic [W_A_SOURCE-1:0] a_source,
  input  logic [W_A_ADDRESS-1:0] a_address,
  input  logic [W_A_MASK-1:0] a_mask,
  input  logic [W_D_DATA-1:0] a_data,
  output logic d_valid,
  input  logic d_ready,
  output logic [2:0] d_opcode,
  output logic [W_A_SIZE-1:0] d_size,
  output logic [W_A_SOURCE-1:0] d_source,
  output logic [W_D_DATA-1:0] d_data,
  output logic d_denied
);
  localparam int BYTES = W_D_DATA / 8;
  int unsigned left = 0, writing = 0;
  bit [55:0] next, place;
  assign d_denied = 0;
  logic waits, late, owes = 0;  // owes: a beat that is not shown yet
  bit owed = 0;
  fleet_pause #(.PAUSE(PAUSE)) pause (.clk, .now(waits));
  fleet_pause #(.PAUSE(PAUSE)) gap (.clk, .now(late));
  assign a_ready = !rst && !d_valid && !owes && !waits;
  function automatic int unsigned beats(bit [31:0] size);
    return (32'd1 << size) > BYTES ? (32'd1 << size) / BYTES : 1;
  endfunction
  initial d_valid = 0;
  always @(posedge clk) begin : step
    if (rst) begin d_valid <= 0; left = 0; writing = 0; owed = 0; end
    else begin
      if (d_valid && d_ready) begin
        d_valid <= 0;
        if (left > 0) begin
          owed = 1;
          for (int i = 0; i < BYTES; i++) d_data[i*8 +: 8] <= fleet_bench_pkg::get(8'(SPACE), next + 56'(i));
          next = next + 56'(BYTES);
          left = left - 1;
        end
      end
      if (a_valid && a_ready) begin
        d_size <= a_size; d_source <= a_source;
        if (a_opcode == 4) begin
          next = 56'(a_address) / BYTES * BYTES;
          for (int i = 0; i < BYTES; i++) d_data[i*8 +: 8] <= fleet_bench_pkg::get(8'(SPACE), next + 56'(i));
          next = next + 56'(BYTES);
          left = beats(32'(a_size)) - 1;
          d_opcode <= 1; owed = 1;
        end else begin
          place = writing == 0 ? 56'(a_address) / BYTES * BYTES : place + 56'(BYTES);
          writing = writing == 0 ? beats(32'(a_size)) : writing;
          for (int i = 0; i < BYTES; i++)
            if (a_mask[W_A_MASK == BYTES ? i : 0]) fleet_bench_pkg::put(8'(SPACE), place + 56'(i), a_data[i*8 +: 8]);
          writing = writing - 1;
          d_opcode <= 0;
          owed = writing == 0;
        end
      end
      if (owed && !late) begin d_valid <= 1; owed = 0; end
    end
    owes <= owed;
  end
endmodule

module fleet_tilelink_manager #(parameter int W_A_ADDRESS = 32, parameter int W_A_SIZE = 2, parameter int W_D_DATA = 32, parameter int W_A_MASK = 4,
                                parameter int PAUSE = 0, parameter int OPW = 1280) (
  input logic clk, rst, go, input logic [OPW-1:0] op, output logic done, output logic [OPW-1:0] result,
  output logic a_valid,
  input  logic a_ready,
  output logic [2:0] a_opcode,
  output logic [W_A_SIZE-1:0] a_size,
  output logic [W_A_ADDRESS-1:0] a_address,
  output logic [W_A_MASK-1:0] a_mask,
  output logic [W_D_DATA-1:0] a_data,
  input  logic d_valid,
  output logic d_ready,
  input  logic [W_D_DATA-1:0] d_data,
  input  logic d_denied,
  input  logic d_error
);
  logic waits = 0;
  logic refuses;
  fleet_pause #(.PAUSE(PAUSE)) pause (.clk, .now(refuses));
  assign d_ready = !refuses;
  localparam int BYTES = W_D_DATA / 8;
  int unsigned log2, lane;
  initial begin a_valid = 0; done = 0; end
  always @(posedge clk) begin
    done <= 0;
    if (a_valid && a_ready) a_valid <= 0;
    if (rst) begin a_valid <= 0; waits <= 0; end
    else if (waits) begin
      if (d_valid && d_ready) begin
        waits <= 0; done <= 1;
        result <= '0; result[1024] <= d_denied || d_error; result[1023:0] <= (1024'(d_data) >> 8 * lane) & ((1024'd1 << (8 << log2)) - 1);
      end
    end else if (go && !done) begin
      log2 = fleet_bench_pkg::log2_of(op[1092:1089], op[1087:1024], BYTES);
      lane = 32'(op[1087:1024] % 64'(BYTES));
      a_size <= W_A_SIZE'(log2);
      a_mask <= W_A_MASK == BYTES ? W_A_MASK'(((129'd1 << (1 << log2)) - 1) << lane) : '1;
      waits <= 1; a_valid <= 1; a_opcode <= op[1088] ? 0 : 4; a_address <= W_A_ADDRESS'(op[1087:1024]); a_data <= W_D_DATA'(op[1023:0]) << 8 * lane;
    end
  end
endmodule

module fleet_tilelink_monitor #(parameter int W_A_ADDRESS = 32, parameter int W_A_SIZE = 3, parameter int W_A_SOURCE = 1,
                                parameter int W_D_DATA = 32, parameter int W_A_MASK = 4, parameter string PORT = "",
                                parameter string MANAGER = "design", parameter string SUBORDINATE = "bench", parameter bit STABLE = 1) (
  input logic clk, rst,
  input logic a_valid,
  input logic a_ready,
  input logic [2:0] a_opcode,
  input logic [W_A_SIZE-1:0] a_size,
  input logic [W_A_SOURCE-1:0] a_source,
  input logic [W_A_ADDRESS-1:0] a_address,
  input logic [W_A_MASK-1:0] a_mask,
  input logic [W_D_DATA-1:0] a_data,
  input logic d_valid,
  input logic d_ready,
  input logic [2:0] d_opcode,
  input logic [W_A_SOURCE-1:0] d_source,
  input logic [W_D_DATA-1:0] d_data
);
  // TileLink lets a valid be taken back; what is shown must not change while it waits.
  fleet_handshake_monitor #(.W(W_A_ADDRESS + W_A_SIZE + W_A_SOURCE + W_A_MASK + W_D_DATA + 3), .PORT(PORT), .CHANNEL("a: "), .SENDER(MANAGER), .STABLE(STABLE),
                            .IN_RESET(1)) a (
    .clk, .rst, .valid(a_valid), .ready(a_ready), .payload({a_opcode, a_size, a_source, a_address, a_mask, a_data}));
  fleet_handshake_monitor #(.W(W_A_SOURCE + W_D_DATA + 3), .PORT(PORT), .CHANNEL("d: "), .SENDER(SUBORDINATE), .STABLE(STABLE), .IN_RESET(1)) d (
    .clk, .rst, .valid(d_valid), .ready(d_ready), .payload({d_opcode, d_source, d_data}));
  bit [255:0] open = '0;
  always @(posedge clk) if (rst) open = '0; else begin
    // An answer may be shown beside its request.
    if (d_valid && !open[8'(d_source)] && !(a_valid && a_source == d_source)) fleet_bench_pkg::violation(PORT, "d: response without a request", SUBORDINATE);
    if (a_valid && 64'(a_address) % (64'd1 << a_size) != 0) fleet_bench_pkg::violation(PORT, "a: address is not aligned to its size", MANAGER);
    if (a_valid && a_ready) open[8'(a_source)] = 1;
  end
endmodule
