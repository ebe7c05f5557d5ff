// Writes pixels to DDR or on chip, a beat a burst. Addresses and data leave a queue on their own, each at one a cycle,
// the data never before its address is offered. Its producer has been promised room. Nothing is offered before the
// instruction is the oldest, and nothing more after a bus error.
module hbm0923_att_writer
  import hbm0923_att_pkg::*;
#(
  parameter int unsigned Depth = 16,     // pixels, a power of two
  parameter logic [3:0]  Id    = 4'd0
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               enable_i,
  input  logic               oldest_i,
  input  logic               suppress_i,

  input  logic               valid_i,
  input  logic [32:0]        addr_i,
  input  logic [DdrBits-1:0] data_i,

  output logic               pop_o,     // an entry has left
  output logic               idle_o,    // everything written and answered
  output logic               error_o,   // a response was an error

  output logic               awvalid_o,
  input  logic               awready_i,
  output logic [3:0]         awid_o,
  output logic [32:0]        awaddr_o,
  output logic [7:0]         awlen_o,
  output logic               wvalid_o,
  input  logic               wready_i,
  output logic [511:0]       wdata_o,
  output logic [63:0]        wstrb_o,
  output logic               wlast_o,
  input  logic               bvalid_i,
  output logic               bready_o,
  input  logic [1:0]         bresp_i
);
  localparam int unsigned Aw = $clog2(Depth);

  logic [32:0]   addr_mem [Depth];
  logic [511:0]  data_mem [Depth];
  logic [Aw-1:0] wr_q, aw_q, w_q;
  logic [Aw:0]   aw_left_q, w_left_q;   // entries whose address, whose data are still to be taken
  logic [Aw:0]   aw_left_d, w_left_d, used;
  logic          live_q;                // an address is offered, and stays so
  logic [15:0]   waiting_q;             // bursts without a response
  logic          drop, aw_take, w_take;

  assign used      = (aw_left_q > w_left_q) ? aw_left_q : w_left_q;
  // What has not been offered when writing is suppressed is thrown away, once the data of all before it has left.
  assign drop      = suppress_i && !live_q && aw_left_q != '0 && aw_left_q == w_left_q;
  assign awvalid_o = live_q;
  assign wvalid_o  = (w_left_q == aw_left_q) ? live_q : w_left_q > aw_left_q;
  assign aw_take   = awvalid_o && awready_i;
  assign w_take    = wvalid_o && wready_i;
  assign aw_left_d = aw_left_q - (Aw + 1)'(aw_take || drop);
  assign w_left_d  = w_left_q - (Aw + 1)'(w_take || drop);
  assign pop_o     = aw_left_d < used && w_left_d < used;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wr_q      <= '0;
      aw_q      <= '0;
      w_q       <= '0;
      aw_left_q <= '0;
      w_left_q  <= '0;
      live_q    <= 1'b0;
      waiting_q <= '0;
    end else if (enable_i) begin
      if (valid_i) wr_q <= wr_q + Aw'(1'b1);
      if (aw_take || drop) aw_q <= aw_q + Aw'(1'b1);
      if (w_take || drop) w_q <= w_q + Aw'(1'b1);
      aw_left_q <= aw_left_d + (Aw + 1)'(valid_i);
      w_left_q  <= w_left_d + (Aw + 1)'(valid_i);
      if (aw_take || !live_q) live_q <= oldest_i && !suppress_i && (valid_i || aw_left_d != '0);
      waiting_q <= waiting_q + 16'(aw_take) - 16'(bvalid_i);
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      addr_mem[wr_q] <= addr_i;
      data_mem[wr_q] <= data_i;
    end
  end

  assign awid_o   = Id;
  assign awaddr_o = addr_mem[aw_q];
  assign awlen_o  = 8'd0;
  assign wdata_o  = data_mem[w_q];
  assign wstrb_o  = '1;
  assign wlast_o  = 1'b1;
  assign bready_o = 1'b1;
  assign error_o  = bvalid_i && bresp_i[1];
  assign idle_o   = used == '0 && waiting_q == '0;

`ifndef SYNTHESIS
  // Assertions hold from the first cycle out of reset; a flop, so that the reset stays purely asynchronous.
  logic out_of_reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_of_reset_q <= 1'b0;
    else out_of_reset_q <= 1'b1;
  end
  always_ff @(posedge clk_i) if (out_of_reset_q) begin
    if (valid_i) assert (used != (Aw + 1)'(Depth));
    if (awvalid_o) assert (oldest_i);
  end
`endif
  logic unused_response;
  assign unused_response = bresp_i[0];
endmodule
