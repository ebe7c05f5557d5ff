// One HBM port: reads a contiguous range in bursts of up to 16 beats into a FIFO.
//
// A burst is asked for only when the FIFO has room for all of it, so that responses are always taken and several bursts
// are under way. The first burst is short where the range does not start on 512 bytes; none then crosses 4 KiB. The next
// range may start when all of this one has been asked for: its beats come behind.
module hbm0923_hbm_port
  import hbm0923_mvm_pkg::*;
  import fleet_axi_pkg::*;
#(
  parameter int unsigned Port         = 0,
  parameter int unsigned Depth        = 128,  // beats, a power of two, at least 16
  parameter int unsigned Log2BankStep = 28
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               enable_i,  // the unit is busy; nothing happens otherwise
  input  logic               go_i,      // may ask; does not fall while a burst is offered

  output logic               quiet_o,   // the range has been asked for: the next one may start
  input  logic               start_i,   // one cycle, with the next range, only while quiet_o
  input  logic [31:0]        addr_i,    // offset in the bank, 32-byte aligned
  input  logic [31:0]        beats_i,   // at least 1

  output hbm_rd_req_t        hbm_req_o,
  input  hbm_rd_rsp_t        hbm_rsp_i,

  output logic               valid_o,   // a beat stands at the head
  input  logic               pop_i,
  output logic               error_o,   // the popped beat was answered with an error
  output logic [HbmBits-1:0] data_o     // the popped beat, one cycle later
);
  localparam int unsigned Aw = $clog2(Depth);

  logic [HbmBits-1:0] mem [Depth];
  logic [Aw-1:0]      wr_q, rd_q;
  logic [Aw:0]        used_q, free_q;   // beats held; beats neither held nor asked for
  logic [27:0]        addr_q;
  logic [31:0]        left_q;
  logic               arvalid_q;
  logic [27:0]        araddr_q;
  logic [4:0]         arbeats_q;

  logic [4:0]         burst;
  logic               launch, ar_ready, r_valid, r_error;
  logic [HbmBits-1:0] r_data;
  assign ar_ready = hbm_rsp_i.ar_ready && go_i;
  assign r_valid  = hbm_rsp_i.r_valid;
  assign r_error  = hbm_rsp_i.r.resp[1];
  assign r_data   = hbm_rsp_i.r.data;

  always_comb begin
    burst  = 5'd0;
    launch = 1'b0;
    if (left_q != 32'd0) begin
      burst = 5'd16 - {1'b0, addr_q[8:5]};
      if (left_q < 32'(burst)) burst = left_q[4:0];
      launch = free_q >= (Aw + 1)'(burst) && (!arvalid_q || ar_ready);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wr_q      <= '0;
      rd_q      <= '0;
      used_q    <= '0;
      free_q    <= (Aw + 1)'(Depth);
      addr_q    <= '0;
      left_q    <= '0;
      arvalid_q <= 1'b0;
      araddr_q  <= '0;
      arbeats_q <= '0;
    end else if (enable_i) begin
      if (start_i) begin
        addr_q <= addr_i[27:0];
        left_q <= beats_i;
      end else if (launch) begin
        addr_q <= addr_q + {18'd0, burst, 5'd0};
        left_q <= left_q - 32'(burst);
      end
      if (launch) begin
        arvalid_q <= 1'b1;
        araddr_q  <= addr_q;
        arbeats_q <= burst;
      end else if (ar_ready) begin
        arvalid_q <= 1'b0;
      end
      free_q <= free_q - (launch ? (Aw + 1)'(burst) : '0) + (Aw + 1)'(pop_i);
      used_q <= used_q + (Aw + 1)'(r_valid) - (Aw + 1)'(pop_i);
      if (r_valid) wr_q <= wr_q + Aw'(1'b1);
      if (pop_i) rd_q <= rd_q + Aw'(1'b1);
    end
  end

  always_ff @(posedge clk_i) begin
    if (r_valid) mem[wr_q] <= r_data;
    if (pop_i) data_o <= mem[rd_q];
  end

  hbm0923_beat_errors #(.Depth(Depth)) u_errors (
    .clk_i, .rst_ni, .write_i (r_valid), .write_at_i (wr_q), .error_i (r_error), .read_i (pop_i), .read_at_i (rd_q), .error_o
  );

  assign quiet_o            = left_q == 32'd0 && !arvalid_q;
  assign valid_o            = used_q != '0;
  assign hbm_req_o.ar_valid = arvalid_q && go_i;
  assign hbm_req_o.ar.addr  = (33'(Port) << Log2BankStep) | 33'(araddr_q);
  assign hbm_req_o.ar.len   = {3'd0, arbeats_q - 5'd1};
  assign hbm_req_o.r_ready  = 1'b1;

  if (Depth < HbmBurst || 2 ** Aw != Depth) begin : gen_check
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
  // What was offered and not taken must stand; kept only then, so that checking costs nothing while all is quiet.
  logic    ar_waits_q;
  hbm_ax_t ar_was_q;
  always_ff @(posedge clk_i) begin
    if (out_of_reset_q) begin
      if (ar_waits_q) assert (hbm_req_o.ar_valid && ar_was_q == hbm_req_o.ar);
      if (pop_i) assert (valid_o);
      if (start_i) assert (quiet_o);
      assert (used_q + free_q <= (Aw + 1)'(Depth));
      if (launch) assert (free_q >= (Aw + 1)'(burst));
      if (r_valid) assert (used_q != (Aw + 1)'(Depth));
    end
    ar_waits_q <= out_of_reset_q && hbm_req_o.ar_valid && !ar_ready;
    if (hbm_req_o.ar_valid && !ar_ready) ar_was_q <= hbm_req_o.ar;
  end
`endif
  // Bit 0 of a response tells exclusive from plain.
  logic unused_fields;
  assign unused_fields = ^{addr_i[31:28], hbm_rsp_i.r.resp[0], hbm_rsp_i.r.last};
endmodule
