// The reading side of one HBM port in the attention unit: bursts from a common sequence into a FIFO.
//
// Ports are not in step: each has the next bursts in a queue of its own, so that one that is late holds the others back
// only when all that they may run ahead is used up. A burst is asked for only when the FIFO has room for all of it.
module hbm0923_att_port
  import hbm0923_att_pkg::*;
  import fleet_axi_pkg::*;
#(
  parameter int unsigned Port         = 0,
  parameter int unsigned Depth        = 128,  // beats, a power of two, at least 16
  parameter int unsigned Log2BankStep = 28
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               enable_i,  // the unit is busy; nothing happens otherwise

  input  logic               push_i,
  input  att_burst_t         burst_i,
  output logic               ready_o,

  output hbm_rd_req_t        hbm_req_o,
  input  hbm_rd_rsp_t        hbm_rsp_i,

  output logic               valid_o,   // a beat stands at the head
  input  logic               pop_i,
  input  logic               read_i,    // pop_i of the cycle before
  output logic               error_o,   // with read_i: the beat was answered with an error
  output logic [HbmBits-1:0] data_o     // one cycle after read_i
);
  localparam int unsigned Aw = $clog2(Depth);
  localparam int unsigned Queue = 32;
  localparam int unsigned Qw = $clog2(Queue);

  att_burst_t         queue [Queue];
  logic [Qw-1:0]      queue_wr_q, queue_rd_q;
  logic [Qw:0]        queue_used_q;
  logic [HbmBits-1:0] mem [Depth];
  logic [Aw-1:0]      wr_q, rd_q;
  logic [Aw:0]        used_q, free_q;   // beats held; beats neither held nor asked for
  logic               arvalid_q;
  att_burst_t         ar_q;

  att_burst_t         next;
  logic               launch, ar_ready, r_valid;
  logic [HbmBits-1:0] r_data;
  assign ar_ready = hbm_rsp_i.ar_ready;
  assign r_valid  = hbm_rsp_i.r_valid;
  assign r_data   = hbm_rsp_i.r.data;
  always_comb begin
    next   = '0;
    launch = 1'b0;
    if (queue_used_q != '0) begin
      next   = queue[queue_rd_q];
      launch = free_q >= (Aw + 1)'(next.beats) && (!arvalid_q || ar_ready);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      queue_wr_q   <= '0;
      queue_rd_q   <= '0;
      queue_used_q <= '0;
      wr_q         <= '0;
      rd_q         <= '0;
      used_q       <= '0;
      free_q       <= (Aw + 1)'(Depth);
      arvalid_q    <= 1'b0;
      ar_q         <= '0;
    end else if (enable_i) begin
      if (push_i) queue_wr_q <= queue_wr_q + Qw'(1'b1);
      queue_used_q <= queue_used_q + (Qw + 1)'(push_i) - (Qw + 1)'(launch);
      if (launch) begin
        queue_rd_q <= queue_rd_q + Qw'(1'b1);
        arvalid_q  <= 1'b1;
        ar_q       <= next;
      end else if (ar_ready) begin
        arvalid_q <= 1'b0;
      end
      free_q <= free_q - (launch ? (Aw + 1)'(next.beats) : '0) + (Aw + 1)'(pop_i);
      used_q <= used_q + (Aw + 1)'(r_valid) - (Aw + 1)'(pop_i);
      if (r_valid) wr_q <= wr_q + Aw'(1'b1);
      if (read_i) rd_q <= rd_q + Aw'(1'b1);
    end
  end

  always_ff @(posedge clk_i) begin
    if (push_i) queue[queue_wr_q] <= burst_i;
    if (r_valid) mem[wr_q] <= r_data;
    if (read_i) data_o <= mem[rd_q];
  end

  hbm0923_beat_errors #(.Depth(Depth)) u_errors (
    .clk_i, .rst_ni, .write_i (r_valid), .write_at_i (wr_q), .error_i (hbm_rsp_i.r.resp[1]), .read_i (read_i), .read_at_i (rd_q), .error_o
  );

  assign ready_o            = queue_used_q != (Qw + 1)'(Queue);
  assign valid_o            = used_q != '0;
  assign hbm_req_o.ar_valid = arvalid_q;
  assign hbm_req_o.ar.addr  = (33'(Port) << Log2BankStep) | 33'(ar_q.addr);
  assign hbm_req_o.ar.len   = {3'd0, ar_q.beats - 5'd1};
  assign hbm_req_o.r_ready  = 1'b1;

  if (Depth < Burst || 2 ** Aw != Depth) begin : gen_check
    $error("PortFifoDepth must be a power of two of at least 16 beats");
  end
  if (Log2BankStep != 28) begin : gen_step
    $error("the bank step must be 28");
  end
`ifndef SYNTHESIS
  // Assertions hold from the first cycle out of reset; a flop, so that the reset stays purely asynchronous.
  logic out_of_reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_of_reset_q <= 1'b0;
    else out_of_reset_q <= 1'b1;
  end
  // Where something moves: 32 ports pay for what is looked at in every cycle.
  always_ff @(posedge clk_i) if (out_of_reset_q && enable_i) begin
    if (launch) assert (free_q >= (Aw + 1)'(next.beats));
    if (r_valid) assert (used_q != (Aw + 1)'(Depth));
    if (pop_i) assert (valid_o);
    if (launch || pop_i) assert (free_q <= (Aw + 1)'(Depth) - used_q);
  end
`endif
  // Bit 0 of a response tells exclusive from plain.
  logic unused_fields;
  assign unused_fields = ^{hbm_rsp_i.r.resp[0], hbm_rsp_i.r.last};
endmodule
