// Writes pixels and argmax words to DDR, a beat a burst, with byte strobes so that each byte is written exactly once.
//
// One beat a cycle, with many bursts under way: as fast as the array can finish outputs. The parts of a pixel (Tout below
// 32) come a whole line of tokens apart, so they are not merged.
// Outputs come in the order of their addresses within a surface. Producers have been promised room (credits, in the
// controller), except argmax, which asks. After a bus error nothing more is written.
module hbm0923_ddr_writer
  import hbm0923_mvm_pkg::*;
  import hbm0923_unit_pkg::*;
  import fleet_axi_pkg::*;
#(
  parameter int unsigned Tout  = 32,
  parameter int unsigned Depth = 32
) (
  input  logic               clk_i,
  input  logic               rst_ni,

  input  logic               start_i,
  input  mvm_plan_t          plan_i,
  input  logic               go_i,        // may put writes on the channel; does not fall while any are left
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
  output bound_t             settled_o,   // from the first beat on all below is written

  output ddr_wr_req_t        ddr_req_o,
  input  ddr_wr_rsp_t        ddr_rsp_i
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
    pixel.addr = {plan_i.out_chip, line_q + {10'd0, out_i.token, 6'd0}};
    pixel.data = 512'(y_i) << {lane, 4'd0};
    // The last block also clears what is left of the pixel.
    pixel.strb = (out_i.last_block ? {64{1'b1}} : 64'((65'd1 << (2 * Tout)) - 65'd1)) << {lane, 1'b0};
  end

  // ---- what is settled: pixels. Their parts come side by side only where there is one token.
  localparam int unsigned Pw = (Sub > 1) ? $clog2(Sub) : 1;
  logic [Pw-1:0] part_q;      // of a pixel's writes: answered
  logic          whole;       // the last part of a pixel is answered
  assign whole = ddr_rsp_i.b_valid && 32'(part_q) == Sub - 1;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) part_q <= '0;
    else if (start_i || whole) part_q <= '0;
    else if (ddr_rsp_i.b_valid) part_q <= part_q + 1'b1;
  end
  hbm0923_settled u_settled (
    .clk_i, .rst_ni, .start_i, .first_i ({1'b0, plan_i.out_chip, plan_i.out_addr[31:6]}),
    .valid_i (valid_i && last_sub && (Sub == 1 || plan_i.tokens == 16'd1)), .beat_i ({1'b0, pixel.addr[32:6]}),
    .answered_i (whole), .settled_o
  );

  // ---- the queue: addresses and data leave on their own, each at one a cycle, the data of an entry never before its
  // address is offered.
  logic [32:0]   addr_mem [Depth];
  logic [511:0]  data_mem [Depth];
  logic [63:0]   strb_mem [Depth];
  logic [Aw-1:0] wr_q, aw_q, w_q;
  logic [Aw:0]   aw_left_q, w_left_q;   // entries whose address, whose data are still to be taken
  logic [Aw:0]   aw_left_d, w_left_d, used;
  logic          push, extra_push, drop, aw_valid, w_valid, aw_take, w_take, b_valid;
  logic [32:0]   aw_addr;
  logic [511:0]  w_data;
  logic [63:0]   w_strb;
  logic          live_q;                // an address is offered, and stays so, whatever happens to suppress_i meanwhile
  logic [15:0]   waiting_q;             // bursts without a response

  assign used          = (aw_left_q > w_left_q) ? aw_left_q : w_left_q;
  assign extra_ready_o = !valid_i && used != (Aw + 1)'(Depth);
  assign extra_push    = extra_valid_i && extra_ready_o;
  assign push          = valid_i || extra_push;

  // What has not been offered when writing is suppressed is thrown away, once the data of all before it has left.
  assign drop      = suppress_i && !live_q && aw_left_q != '0 && aw_left_q == w_left_q;
  assign aw_valid  = live_q && go_i;
  assign w_valid   = ((w_left_q == aw_left_q) ? live_q : w_left_q > aw_left_q) && go_i;
  assign aw_take   = aw_valid && ddr_rsp_i.aw_ready;
  assign w_take    = w_valid && ddr_rsp_i.w_ready;
  assign b_valid   = ddr_rsp_i.b_valid;
  assign aw_left_d = aw_left_q - (Aw + 1)'(aw_take || drop);
  assign w_left_d  = w_left_q - (Aw + 1)'(w_take || drop);
  assign pop_o     = aw_left_d < used && w_left_d < used;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      line_q    <= '0;
      wr_q      <= '0;
      aw_q      <= '0;
      w_q       <= '0;
      aw_left_q <= '0;
      w_left_q  <= '0;
      live_q    <= 1'b0;
      waiting_q <= '0;
    end else begin
      if (start_i) line_q <= plan_i.out_addr;
      else if (valid_i && out_i.last_token && last_sub) line_q <= line_q + plan_i.out_surface;
      if (push) wr_q <= wr_q + Aw'(1'b1);
      if (aw_take || drop) aw_q <= aw_q + Aw'(1'b1);
      if (w_take || drop) w_q <= w_q + Aw'(1'b1);
      aw_left_q <= aw_left_d + (Aw + 1)'(push);
      w_left_q  <= w_left_d + (Aw + 1)'(push);
      if (aw_take || !live_q) live_q <= !suppress_i && (push || aw_left_d != '0);
      waiting_q <= waiting_q + 16'(aw_take) - 16'(b_valid);
    end
  end

  always_ff @(posedge clk_i) begin
    if (push) begin
      addr_mem[wr_q] <= valid_i ? pixel.addr : extra_i.addr;
      data_mem[wr_q] <= valid_i ? pixel.data : extra_i.data;
      strb_mem[wr_q] <= valid_i ? pixel.strb : extra_i.strb;
    end
  end

  assign aw_addr            = addr_mem[aw_q];
  assign w_data             = data_mem[w_q];
  assign w_strb             = strb_mem[w_q];
  assign ddr_req_o.aw_valid = aw_valid;
  assign ddr_req_o.aw       = '{id: 4'd0, addr: aw_addr, len: 8'd0};
  assign ddr_req_o.w_valid  = w_valid;
  assign ddr_req_o.w        = '{last: 1'b1, strb: w_strb, data: w_data};
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
  // What was offered and not taken must stand; kept only then, so that checking costs nothing while all is quiet.
  logic         aw_waits_q, w_waits_q;
  logic [32:0]  aw_was_q;
  logic [575:0] w_was_q;
  always_ff @(posedge clk_i) begin
    if (out_of_reset_q) begin
      if (push) assert (used != (Aw + 1)'(Depth));
      if (aw_waits_q) assert (aw_valid && aw_was_q == aw_addr);
      if (w_waits_q) assert (w_valid && w_was_q == {w_data, w_strb});
      assert (w_left_q >= aw_left_q || (live_q && w_left_q + (Aw + 1)'(1'b1) == aw_left_q));
    end
    aw_waits_q <= out_of_reset_q && aw_valid && !aw_take;
    if (aw_valid && !aw_take) aw_was_q <= aw_addr;
    w_waits_q <= out_of_reset_q && w_valid && !w_take;
    if (w_valid && !w_take) w_was_q <= {w_data, w_strb};
  end
`endif
  // Fields that other modules use; bit 0 of a response tells exclusive from plain.
  logic unused_fields;
  assign unused_fields = ^{plan_i, out_i, ddr_rsp_i.b.id, ddr_rsp_i.b.resp[0]};
endmodule
