// wt2hbm: copies bytes from DDR to the bank of one HBM port.
//
// DDR delivers 64 bytes a beat, HBM takes 32: the copy runs at half the rate of DDR. Bursts of HBM stay in windows of 512
// bytes; the last beat may be partial, by strobes.
module hbm0923_wt2hbm
  import hbm0923_pkg::*;
  import hbm0923_unit_pkg::*;
  import hbm0923_aux_pkg::*;
  import fleet_axi_pkg::*;
#(
  parameter int unsigned Ports        = 32,
  parameter int unsigned Log2BankStep = 28,
  parameter int unsigned DdrMegabytes = 4096,
  parameter int unsigned HbmMegabytes = 256,
  parameter int unsigned Depth        = 32      // DDR beats of the ring, a power of two
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  input  logic             start_i,
  input  logic [31:0]      mode_i,
  input  aux_operands_t    operands_i,
  output logic             busy_o,
  input  logic             oldest_i,
  output logic             checked_o,
  output hulls_t           hulls_o,
  input  logic             data_go_i,

  output logic             commit_valid_o,
  output logic [15:0]      commit_opcode_o,
  output logic [15:0]      commit_error_o,
  output logic             commit_result_valid_o,
  output logic [31:0]      commit_result_o,
  output logic [5:0][31:0] commit_cycles_o,

  output ddr_rd_req_t      ddr_req_o,
  input  ddr_rd_rsp_t      ddr_rsp_i,      // r_valid: of this unit's ID, while it is busy

  output hbm_wr_req_t [Ports-1:0] hbm_req_o,
  input  hbm_wr_rsp_t [Ports-1:0] hbm_rsp_i
);
  localparam int unsigned Aw     = $clog2(Depth);
  localparam int unsigned Pw     = (Ports > 1) ? $clog2(Ports) : 1;
  localparam logic [33:0] DdrEnd = 34'(DdrMegabytes) << 20;
  localparam logic [33:0] HbmEnd = (HbmMegabytes >> (Log2BankStep - 20)) != 0 ? 34'd1 << Log2BankStep : 34'(HbmMegabytes) << 20;

  // ---- the operands, and what is wrong with them
  logic          check, check_done_q, run, active_q, bus_error_q;
  logic [31:0]   mode_q;
  aux_operands_t operands_q;
  logic [15:0]   error, error_q;
  logic [33:0]   ddr_end, hbm_end;
  logic [28:0]   bytes;
  assign bytes   = operands_q.bits[31:3];
  assign ddr_end = 34'(operands_q.ddr_addr) + 34'(bytes);
  assign hbm_end = 34'(operands_q.hbm_low) + 34'(bytes);
  always_comb begin
    error = ErrNone;
    // Later lines win.
    if (ddr_end > DdrEnd || hbm_end > HbmEnd) error = ErrOutOfRange;
    if (operands_q.ddr_addr[5:0] != '0 || operands_q.hbm_low[4:0] != '0) error = ErrUnaligned;
    if (bytes == '0 || operands_q.bits[2:0] != '0 || operands_q.port >= Ports) error = ErrBadSize;
    if (operands_q.hbm_high != '0) error = ErrUnsupported;
    if (mode_q != StartWt2hbm) error = ErrIllegalMode;
  end

  always_comb begin
    hulls_o         = '0;
    hulls_o.data[0] = '{valid: 1'b1, lo: 34'(operands_q.ddr_addr), hi: ddr_end};
    hulls_o.hbm_wr  = '{valid: 1'b1, lo: 34'(operands_q.hbm_low), hi: hbm_end};
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      mode_q       <= '0;
      operands_q   <= '0;
      error_q      <= ErrNone;
      check_done_q <= 1'b0;
    end else begin
      if (start_i) begin
        mode_q     <= mode_i;
        operands_q <= operands_i;
      end
      check_done_q <= check;
      if (check) error_q <= error;
    end
  end

  // ---- reads
  logic [31:0]   read_addr_q;
  logic [22:0]   read_left_q;                 // DDR beats to ask for
  logic [Aw:0]   free_q, used_q, flying_q;
  logic [Aw-1:0] wr_q, rd_q;
  logic [511:0]  mem [Depth];
  logic [4:0]    burst;
  logic          ask, ask_taken, pop, r_valid, r_error;
  logic [511:0]  r_data;
  always_comb begin
    burst = 5'd16 - {1'b0, read_addr_q[9:6]};
    if (read_left_q < 23'(burst)) burst = read_left_q[4:0];
  end
  assign ask                = read_left_q != '0 && free_q >= (Aw + 1)'(burst) && data_go_i;
  assign ask_taken          = ask && ddr_rsp_i.ar_ready;
  assign ddr_req_o.ar_valid = ask;
  assign ddr_req_o.ar       = '{id: IdAux, addr: {1'b0, read_addr_q}, len: 8'(burst) - 8'd1};
  assign ddr_req_o.r_ready  = 1'b1;
  assign r_valid            = ddr_rsp_i.r_valid;
  assign r_error            = ddr_rsp_i.r.resp[1];
  assign r_data             = ddr_rsp_i.r.data;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      read_addr_q <= '0;
      read_left_q <= '0;
      free_q      <= (Aw + 1)'(Depth);
      used_q      <= '0;
      flying_q    <= '0;
      wr_q        <= '0;
      rd_q        <= '0;
    end else begin
      if (run) begin
        read_addr_q <= operands_q.ddr_addr;
        read_left_q <= 23'((30'(bytes) + 30'd63) >> 6);
      end else if (ask_taken) begin
        read_addr_q <= read_addr_q + {21'd0, burst, 6'd0};
        read_left_q <= read_left_q - 23'(burst);
      end
      if (r_valid) wr_q <= wr_q + Aw'(1'b1);
      if (pop) rd_q <= rd_q + Aw'(1'b1);
      free_q   <= free_q - (ask_taken ? (Aw + 1)'(burst) : '0) + (Aw + 1)'(pop);
      flying_q <= flying_q + (ask_taken ? (Aw + 1)'(burst) : '0) - (Aw + 1)'(r_valid);
      used_q   <= used_q + (Aw + 1)'(r_valid) - (Aw + 1)'(pop);
    end
  end
  always_ff @(posedge clk_i) if (r_valid) mem[wr_q] <= r_data;

  // ---- writes: one burst's data after the other; the address of the next one when it is all there
  logic [Pw-1:0] port;
  logic [27:0]   write_addr_q;
  logic [28:0]   write_left_q;                // bytes
  logic [23:0]   beats_left;
  logic [4:0]    write_burst, burst_left_q;   // beats
  logic          aw_q, half_q, aw_valid, w_valid, aw_take, w_take, last_beat;
  hbm_ax_t       aw;
  hbm_w_t        w;
  hbm_wr_rsp_t   hbm_rsp;                     // of the port
  logic [15:0]   waiting_q;                   // bursts without an answer
  assign port       = Pw'(operands_q.port);
  assign beats_left = 24'((30'(write_left_q) + 30'd31) >> 5);
  assign last_beat  = write_left_q <= 29'd32;
  always_comb begin
    write_burst = 5'd16 - {1'b0, write_addr_q[8:5]};
    if (beats_left < 24'(write_burst)) write_burst = beats_left[4:0];
  end
  assign aw_valid = aw_q && oldest_i;
  assign w_valid  = burst_left_q != '0 && used_q != '0;
  assign aw_take  = aw_valid && hbm_rsp.aw_ready;
  assign w_take   = w_valid && hbm_rsp.w_ready;
  assign pop      = w_take && (half_q || last_beat);

  assign aw.addr = (33'(port) << Log2BankStep) | 33'(write_addr_q);
  assign aw.len  = 8'(write_burst) - 8'd1;
  assign w.data  = half_q ? mem[rd_q][511:256] : mem[rd_q][255:0];
  assign w.strb  = last_beat ? ~32'd0 >> (5'd0 - write_left_q[4:0]) : '1;
  assign w.last  = burst_left_q == 5'd1;

  // One port at a time.
  assign hbm_rsp = hbm_rsp_i[port];
  for (genvar p = 0; p < Ports; p++) begin : gen_port
    logic here;
    assign here         = port == Pw'(p);
    assign hbm_req_o[p] = '{aw: aw, aw_valid: aw_valid && here, w_valid: w_valid && here, b_ready: 1'b1, w: w};
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      active_q     <= 1'b0;
      write_addr_q <= '0;
      write_left_q <= '0;
      burst_left_q <= '0;
      aw_q         <= 1'b0;
      half_q       <= 1'b0;
      waiting_q    <= '0;
      bus_error_q  <= 1'b0;
    end else begin
      if (run) begin
        active_q     <= 1'b1;
        write_addr_q <= operands_q.hbm_low[27:0];
        write_left_q <= bytes;
        aw_q         <= 1'b1;
        half_q       <= 1'b0;
      end else begin
        if (aw_take) begin
          aw_q         <= 1'b0;
          burst_left_q <= write_burst;
        end
        if (w_take) begin
          half_q       <= !half_q;
          burst_left_q <= burst_left_q - 5'd1;
          write_addr_q <= write_addr_q + 28'd32;
          write_left_q <= last_beat ? '0 : write_left_q - 29'd32;
          if (last_beat) active_q <= 1'b0;
          else if (w.last) aw_q <= 1'b1;
        end
      end
      waiting_q   <= waiting_q + 16'(aw_take) - 16'(hbm_rsp.b_valid);
      bus_error_q <= (r_valid && r_error) || (hbm_rsp.b_valid && hbm_rsp.b.resp[1]);
    end
  end

  // ---- the life of the instruction
  logic unused_flush, unused_suppress;
  logic unused_legal, unused_idle, unused_launch, unused_settles;
  hbm0923_unit_ctrl u_ctrl (
    .clk_i,
    .rst_ni,
    .start_i,
    .busy_o,
    .oldest_i,
    .check_o          (check),
    .check_done_i     (check_done_q),
    .check_error_i    (error_q),
    .checked_o,
    .may_run_i        (1'b1),
    .legal_o          (unused_legal),
    .idle_o           (unused_idle),
    .launch_o         (unused_launch),
    .settles_o        (unused_settles),
    .run_o            (run),
    .running_i        (active_q),
    .need_flush_i     (1'b0),
    .flush_o          (unused_flush),
    .flushing_i       (1'b0),
    .draining_i       (waiting_q != '0 || bus_error_q),
    .bus_error_i      (bus_error_q),
    .suppress_o       (unused_suppress),
    .wait_dependency_i((used_q == '0 && flying_q == '0 && !data_go_i) || (aw_q && !oldest_i)),
    .wait_activation_i(1'b0),
    .wait_weight_i    (burst_left_q != '0 && used_q == '0),
    .wait_write_i     (aw_q || (burst_left_q != '0 && !hbm_rsp.w_ready)),
    .opcode_i         ((mode_q == StartWt2hbm) ? OpWt2hbm : 16'd0),
    .result_valid_i   (1'b0),
    .result_i         (32'd0),
    .commit_valid_o,
    .commit_opcode_o,
    .commit_error_o,
    .commit_result_valid_o,
    .commit_result_o,
    .commit_cycles_o
  );

  if (2 ** Aw != Depth || Depth < 16) begin : gen_check
    $error("the ring holds at least a burst, and a power of two");
  end

  // Fields that the fetch uses; bit 0 of a response tells exclusive from plain; the other ports' answers.
  logic unused_fields;
  assign unused_fields = ^{operands_q, ddr_rsp_i.r.id, ddr_rsp_i.r.resp[0], ddr_rsp_i.r.last, hbm_rsp_i};
`ifndef SYNTHESIS
  // Assertions hold from the first cycle out of reset; a flop, so that the reset stays purely asynchronous.
  logic out_of_reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_of_reset_q <= 1'b0;
    else out_of_reset_q <= 1'b1;
  end
  always_ff @(posedge clk_i) if (out_of_reset_q) begin
    if (r_valid) assert (flying_q != '0);
    if (ask_taken) assert (free_q >= (Aw + 1)'(burst));
    assert (used_q + flying_q + free_q == (Aw + 1)'(Depth));
  end
`endif
endmodule
