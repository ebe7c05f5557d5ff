// Writes pixels to DDR or on chip, a beat a burst. Addresses and data leave a queue on their own, each at one a cycle,
// the data never before its address is offered. Its producer has been promised room. Nothing is offered before the
// instruction is the oldest, and nothing more after a bus error.
module hbm0923_att_writer
  import hbm0923_att_pkg::*;
  import hbm0923_unit_pkg::*;
  import fleet_axi_pkg::*;
#(
  parameter int unsigned Depth = 16,     // pixels, a power of two
  parameter logic [3:0]  Id    = 4'd0
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               enable_i,
  input  logic               oldest_i,
  input  logic               suppress_i,

  input  logic               start_i,
  input  bound_t             first_i,   // the lowest beat, at the start

  input  logic               valid_i,
  input  logic [32:0]        addr_i,
  input  logic [DdrBits-1:0] data_i,

  output logic               pop_o,     // an entry has left
  output logic               idle_o,    // everything written and answered
  output logic               error_o,   // a response was an error
  output bound_t             settled_o, // below this beat all is written

  output ddr_wr_req_t        ddr_req_o,
  input  ddr_wr_rsp_t        ddr_rsp_i
);
  localparam int unsigned Aw = $clog2(Depth);

  logic [32:0]   addr_mem [Depth];
  logic [511:0]  data_mem [Depth];
  logic [Aw-1:0] wr_q, aw_q, w_q;
  logic [Aw:0]   aw_left_q, w_left_q;   // entries whose address, whose data are still to be taken
  logic [Aw:0]   aw_left_d, w_left_d, used;
  logic          live_q;                // an address is offered, and stays so
  logic [15:0]   waiting_q;             // bursts without a response
  logic          drop, w_valid, aw_take, w_take, b_valid;

  hbm0923_settled u_settled (
    .clk_i, .rst_ni, .start_i, .first_i, .valid_i, .beat_i ({1'b0, addr_i[32:6]}), .answered_i (b_valid),
    .settled_o
  );

  assign used      = (aw_left_q > w_left_q) ? aw_left_q : w_left_q;
  // What has not been offered when writing is suppressed is thrown away, once the data of all before it has left.
  assign drop      = suppress_i && !live_q && aw_left_q != '0 && aw_left_q == w_left_q;
  assign w_valid   = (w_left_q == aw_left_q) ? live_q : w_left_q > aw_left_q;
  assign aw_take   = live_q && ddr_rsp_i.aw_ready;
  assign w_take    = w_valid && ddr_rsp_i.w_ready;
  assign b_valid   = ddr_rsp_i.b_valid;
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
      waiting_q <= waiting_q + 16'(aw_take) - 16'(b_valid);
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      addr_mem[wr_q] <= addr_i;
      data_mem[wr_q] <= data_i;
    end
  end

  assign ddr_req_o.aw_valid = live_q;
  assign ddr_req_o.aw       = '{id: Id, addr: addr_mem[aw_q], len: 8'd0};
  assign ddr_req_o.w_valid  = w_valid;
  assign ddr_req_o.w        = '{last: 1'b1, strb: '1, data: data_mem[w_q]};
  assign ddr_req_o.b_ready  = 1'b1;
  assign error_o            = ddr_rsp_i.b_valid && ddr_rsp_i.b.resp[1];
  assign idle_o             = used == '0 && waiting_q == '0;

`ifndef SYNTHESIS
  // Assertions hold from the first cycle out of reset; a flop, so that the reset stays purely asynchronous.
  logic out_of_reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_of_reset_q <= 1'b0;
    else out_of_reset_q <= 1'b1;
  end
  always_ff @(posedge clk_i) if (out_of_reset_q) begin
    if (valid_i) assert (used != (Aw + 1)'(Depth));
    if (live_q) assert (oldest_i);
  end
`endif
  logic unused_response;
  assign unused_response = ^{ddr_rsp_i.b.id, ddr_rsp_i.b.resp[0]};
endmodule
