// Writes the 64-byte beats of a walk, in its order, each a burst of its own; the data of a beat follows its address. Both
// channels run at one a cycle. After an error nothing more is written: what has not been offered is thrown away.
//
// Producers count the room: Depth beats, one more with every pop_o.
module hbm0923_beat_writer
  import hbm0923_feature_pkg::*;
  import hbm0923_unit_pkg::*;
  import fleet_axi_pkg::*;
#(
  parameter logic [3:0]  Id    = 4'd0,
  parameter int unsigned Depth = 32
) (
  input  logic         clk_i,
  input  logic         rst_ni,

  input  logic         start_i,
  input  walk_t        walk_i,
  input  logic         go_i,        // may put writes on the channel; does not fall while any are left
  input  logic         suppress_i,

  input  logic         valid_i,
  input  logic [511:0] data_i,
  output logic         pop_o,
  output logic         idle_o,      // everything written and answered
  output logic         error_o,     // an answer was an error
  output bound_t       settled_o,   // from the first beat on all below is written

  output ddr_wr_req_t  ddr_req_o,
  input  ddr_wr_rsp_t  ddr_rsp_i
);
  localparam int unsigned Aw = $clog2(Depth);

  // ---- addresses
  walk_t       walk_q;
  logic [31:0] addr_q, run_q, line_q;
  logic [15:0] left0_q, left1_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      walk_q  <= '0;
      addr_q  <= '0;
      run_q   <= '0;
      line_q  <= '0;
      left0_q <= '0;
      left1_q <= '0;
    end else if (start_i) begin
      walk_q  <= walk_i;
      addr_q  <= walk_i.addr[31:0];
      run_q   <= walk_i.addr[31:0];
      line_q  <= walk_i.addr[31:0];
      left0_q <= walk_i.n0;
      left1_q <= walk_i.n1;
    end else if (valid_i) begin
      if (left0_q != 16'd1) begin
        left0_q <= left0_q - 16'd1;
        addr_q  <= addr_q + walk_q.stride0;
      end else begin
        left0_q <= walk_q.n0;
        if (left1_q != 16'd1) begin
          left1_q <= left1_q - 16'd1;
          run_q   <= run_q + walk_q.stride1;
          addr_q  <= run_q + walk_q.stride1;
        end else begin
          left1_q <= walk_q.n1;
          line_q  <= line_q + walk_q.stride2;
          run_q   <= line_q + walk_q.stride2;
          addr_q  <= line_q + walk_q.stride2;
        end
      end
    end
  end

  hbm0923_settled u_settled (
    .clk_i, .rst_ni, .start_i, .first_i ({1'b0, walk_i.addr[32:6]}), .valid_i, .beat_i ({1'b0, walk_q.addr[32], addr_q[31:6]}),
    .answered_i (ddr_rsp_i.b_valid), .settled_o
  );

  // ---- the queue
  logic [31:0]   addr_mem [Depth];
  logic [511:0]  data_mem [Depth];
  logic [Aw-1:0] wr_q, aw_q, w_q;
  logic [Aw:0]   aw_left_q, w_left_q;  // beats whose address, whose data are still to be taken
  logic [Aw:0]   aw_left_d;
  logic          live_q;               // an address is offered, and stays so, whatever happens to suppress_i meanwhile
  logic [15:0]   waiting_q;            // writes without an answer
  logic          w_valid, aw_take, w_take, b_valid, drop;
  logic [32:0]   aw_addr;
  logic [511:0]  w_data;

  assign w_valid   = w_left_q != aw_left_q;
  assign aw_take   = live_q && ddr_rsp_i.aw_ready;
  assign w_take    = w_valid && ddr_rsp_i.w_ready;
  assign b_valid   = ddr_rsp_i.b_valid;
  assign drop      = suppress_i && !live_q && aw_left_q != '0 && w_left_q == aw_left_q;
  assign aw_left_d = aw_left_q - (Aw + 1)'(aw_take || drop);
  assign pop_o     = w_take || drop;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wr_q      <= '0;
      aw_q      <= '0;
      w_q       <= '0;
      aw_left_q <= '0;
      w_left_q  <= '0;
      live_q    <= 1'b0;
      waiting_q <= '0;
    end else begin
      if (valid_i) wr_q <= wr_q + Aw'(1'b1);
      if (aw_take || drop) aw_q <= aw_q + Aw'(1'b1);
      if (w_take || drop) w_q <= w_q + Aw'(1'b1);
      aw_left_q <= aw_left_d + (Aw + 1)'(valid_i);
      w_left_q  <= w_left_q - (Aw + 1)'(w_take || drop) + (Aw + 1)'(valid_i);
      if (aw_take || !live_q) live_q <= go_i && !suppress_i && (valid_i || aw_left_d != '0);
      waiting_q <= waiting_q + 16'(aw_take) - 16'(b_valid);
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      addr_mem[wr_q] <= addr_q;
      data_mem[wr_q] <= data_i;
    end
  end

  assign aw_addr            = {walk_q.addr[32], addr_mem[aw_q]};
  assign w_data             = data_mem[w_q];
  assign ddr_req_o.aw_valid = live_q;
  assign ddr_req_o.aw       = '{id: Id, addr: aw_addr, len: 8'd0};
  assign ddr_req_o.w_valid  = w_valid;
  assign ddr_req_o.w        = '{last: 1'b1, strb: '1, data: w_data};
  assign ddr_req_o.b_ready  = 1'b1;
  assign error_o            = ddr_rsp_i.b_valid && ddr_rsp_i.b.resp[1];
  assign idle_o             = w_left_q == '0 && waiting_q == '0;

  if (2 ** Aw != Depth) begin : gen_check
    $error("Depth must be a power of two");
  end

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
  logic [511:0] w_was_q;
  always_ff @(posedge clk_i) begin
    if (out_of_reset_q) begin
      if (valid_i) assert (w_left_q != (Aw + 1)'(Depth));
      assert (w_left_q >= aw_left_q);
      if (aw_waits_q) assert (live_q && aw_was_q == aw_addr);
      if (w_waits_q) assert (w_valid && w_was_q == w_data);
    end
    aw_waits_q <= out_of_reset_q && live_q && !aw_take;
    if (live_q && !aw_take) aw_was_q <= aw_addr;
    w_waits_q <= out_of_reset_q && w_valid && !w_take;
    if (w_valid && !w_take) w_was_q <= w_data;
  end
`endif
  // The writer only counts beats; bit 0 of an answer tells exclusive from plain.
  logic unused_fields;
  assign unused_fields = ^{walk_q, ddr_rsp_i.b.id, ddr_rsp_i.b.resp[0]};
endmodule
