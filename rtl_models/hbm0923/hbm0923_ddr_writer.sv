// Writes pixels and argmax words to DDR, a beat a burst, with byte strobes so that each byte is written exactly once.
//
// Outputs come in the order of their addresses within a surface. Producers have been promised room (credits, in the
// controller), except argmax, which asks. After a bus error nothing more is written.
module hbm0923_ddr_writer
  import hbm0923_mvm_pkg::*;
#(
  parameter int unsigned Tout  = 32,
  parameter int unsigned Depth = 32
) (
  input  logic               clk_i,
  input  logic               rst_ni,

  input  logic               start_i,
  input  mvm_plan_t          plan_i,
  input  logic               suppress_i,

  input  logic               valid_i,     // Tout outputs
  input  out_ctrl_t          out_i,
  input  logic [Tout*16-1:0] y_i,

  input  logic               extra_valid_i,
  output logic               extra_ready_o,
  input  ddr_write_t         extra_i,

  output logic               pop_o,       // an entry has left
  output logic               idle_o,      // everything written and answered
  output logic               error_o,     // a response was an error

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
  localparam int unsigned Aw  = $clog2(Depth);
  localparam int unsigned Sub = PixelLanes / Tout;

  // ---- outputs to beats
  logic [31:0] line_q;
  logic [4:0]  lane;
  logic        last_sub;
  ddr_write_t  pixel;
  assign lane     = 5'(32'(out_i.block) * Tout);
  assign last_sub = 32'(lane) == Tout * (Sub - 1);

  always_comb begin
    pixel.addr = line_q + {10'd0, out_i.token, 6'd0};
    pixel.data = 512'(y_i) << {lane, 4'd0};
    // The last block also clears what is left of the pixel.
    pixel.strb = (out_i.last_block ? {64{1'b1}} : 64'((65'd1 << (2 * Tout)) - 65'd1)) << {lane, 1'b0};
  end

  // ---- the queue
  ddr_write_t    mem [Depth];
  ddr_write_t    head;
  logic [Aw-1:0] wr_q, rd_q;
  logic [Aw:0]   used_q;
  logic          push, extra_push, drop;
  logic          aw_done_q, w_done_q, live_q;
  logic [15:0]   waiting_q;   // bursts without a response
  logic          aw_take;

  assign extra_ready_o = !valid_i && used_q != (Aw + 1)'(Depth);
  assign extra_push    = extra_valid_i && extra_ready_o;
  assign push          = valid_i || extra_push;
  assign head          = mem[rd_q];

  // live_q: the head is to be written (and stays so, whatever happens to suppress_i meanwhile).
  assign drop      = used_q != '0 && !live_q && suppress_i;
  assign awvalid_o = live_q && !aw_done_q;
  assign wvalid_o  = live_q && !w_done_q;
  assign aw_take   = awvalid_o && awready_i;
  assign pop_o     = drop || (live_q && (aw_done_q || awready_i) && (w_done_q || wready_i));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      line_q    <= '0;
      wr_q      <= '0;
      rd_q      <= '0;
      used_q    <= '0;
      live_q    <= 1'b0;
      aw_done_q <= 1'b0;
      w_done_q  <= 1'b0;
      waiting_q <= '0;
    end else begin
      if (start_i) line_q <= plan_i.out_addr;
      else if (valid_i && out_i.last_token && last_sub) line_q <= line_q + plan_i.out_surface;
      if (push) wr_q <= wr_q + Aw'(1'b1);
      if (pop_o) rd_q <= rd_q + Aw'(1'b1);
      used_q <= used_q + (Aw + 1)'(push) - (Aw + 1)'(pop_o);
      if (pop_o || !live_q) live_q <= !suppress_i && (used_q > (Aw + 1)'(pop_o));
      aw_done_q <= live_q && !pop_o && (aw_done_q || awready_i);
      w_done_q  <= live_q && !pop_o && (w_done_q || wready_i);
      waiting_q <= waiting_q + 16'(aw_take) - 16'(bvalid_i);
    end
  end

  always_ff @(posedge clk_i) begin
    if (push) mem[wr_q] <= valid_i ? pixel : extra_i;
  end

  assign awid_o   = 4'd0;
  assign awaddr_o = {1'b0, head.addr};
  assign awlen_o  = 8'd0;
  assign wdata_o  = head.data;
  assign wstrb_o  = head.strb;
  assign wlast_o  = 1'b1;
  assign bready_o = 1'b1;
  assign error_o  = bvalid_i && bresp_i[1];
  assign idle_o   = used_q == '0 && waiting_q == '0;

`ifndef SYNTHESIS
  // Assertions hold from the first cycle out of reset; a flop, so that the reset stays purely asynchronous.
  logic out_of_reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_of_reset_q <= 1'b0;
    else out_of_reset_q <= 1'b1;
  end
  assert property (@(posedge clk_i) disable iff (!out_of_reset_q) push |-> used_q != (Aw + 1)'(Depth));
  assert property (@(posedge clk_i) disable iff (!out_of_reset_q) awvalid_o && !awready_i |=> awvalid_o && $stable(awaddr_o));
  assert property (@(posedge clk_i) disable iff (!out_of_reset_q)
    wvalid_o && !wready_i |=> wvalid_o && $stable(wdata_o) && $stable(wstrb_o));
`endif
  // Fields that other modules use; bit 0 of a response tells exclusive from plain.
  logic unused_fields;
  assign unused_fields = ^{plan_i, out_i, bresp_i[0]};
endmodule
