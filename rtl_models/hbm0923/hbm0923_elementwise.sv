// Sums, differences and products of two features. A beat of 32 lanes is taken once in SfuInterval cycles.
module hbm0923_elementwise
  import hbm0923_pkg::*;
  import hbm0923_unit_pkg::*;
  import hbm0923_feature_pkg::*;
  import fleet_axi_pkg::*;
#(
  parameter int unsigned MaxToken      = 2048,
  parameter int unsigned OnchipDepth   = 8192,  // beats of a half
  parameter int unsigned SfuInterval   = 1,     // cycles of a step
  parameter int unsigned AddLatency    = 9,     // cycles of a sum or product in binary32
  parameter int unsigned NarrowLatency = 2,     // of its rounding to FP16
  parameter int unsigned DdrMegabytes  = 1024,
  parameter int unsigned StartLatency  = 1
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  input  logic                  start_i,
  input  logic [31:0]           mode_i,
  input  elementwise_operands_t operands_i,
  output logic                  busy_o,
  input  logic                  oldest_i,
  output logic                  checked_o,
  output hulls_t                hulls_o,
  input  logic                  data_go_i,
  input  bound_t [1:0]          bounds_i,
  output bound_t                settled_o,

  output logic                  commit_valid_o,
  output logic [15:0]           commit_opcode_o,
  output logic [15:0]           commit_error_o,
  output logic                  commit_result_valid_o,
  output logic [31:0]           commit_result_o,
  output logic [5:0][31:0]      commit_cycles_o,

  output ddr_rd_req_t           ddr_rd_req_o,
  input  ddr_rd_rsp_t           ddr_rd_rsp_i,
  output ddr_wr_req_t           ddr_wr_req_o,
  input  ddr_wr_rsp_t           ddr_wr_rsp_i
);
  localparam int unsigned MaxBurst = 32, Depth = 128, WriteDepth = 32;
  localparam int unsigned Aw = $clog2(Depth);

  // ---- the instruction
  logic [31:0]           mode_q;
  elementwise_operands_t operands_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      mode_q     <= '0;
      operands_q <= '0;
    end else if (start_i && !busy_o) begin
      mode_q     <= mode_i;
      operands_q <= operands_i;
    end
  end

  logic        check, check_done, run, flush, running, suppress, bus_error, writer_idle, write_error;
  logic [15:0] check_error, opcode;
  logic        wait_dependency, wait_activation, wait_write;
  sizes_t      sizes;
  logic [4:0]  last_lanes;
  feature_t    a, b, out;

  bound_t settled;
  logic   settles, unused_legal, unused_idle, unused_launch;
  assign settled_o = settles ? settled : '0;
  hbm0923_unit_ctrl #(.StartLatency(StartLatency)) u_ctrl (
    .clk_i, .rst_ni, .start_i, .busy_o, .oldest_i,
    .check_o (check), .check_done_i (check_done), .check_error_i (check_error), .checked_o,
    .may_run_i (1'b1), .legal_o (unused_legal), .idle_o (unused_idle), .launch_o (unused_launch),
    .settles_o (settles), .run_o (run), .running_i (running), .need_flush_i (1'b0), .flush_o (flush), .flushing_i (1'b0),
    .draining_i (!writer_idle), .bus_error_i (bus_error), .suppress_o (suppress),
    .wait_dependency_i (wait_dependency), .wait_activation_i (wait_activation), .wait_weight_i (1'b0),
    .wait_write_i (wait_write),
    .opcode_i (opcode), .result_valid_i (1'b0), .result_i (32'd0),
    .commit_valid_o, .commit_opcode_o, .commit_error_o, .commit_result_valid_o, .commit_result_o, .commit_cycles_o
  );
  hbm0923_elementwise_check #(.MaxToken(MaxToken), .OnchipDepth(OnchipDepth), .DdrMegabytes(DdrMegabytes)) u_check (
    .clk_i, .rst_ni, .start_i (check), .mode_i (mode_q), .operands_i (operands_q), .done_o (check_done),
    .error_o (check_error), .hulls_o, .opcode_o (opcode), .sizes_o (sizes), .lanes_o (last_lanes), .a_o (a), .b_o (b), .out_o (out)
  );

  logic step;
  if (SfuInterval == 1) begin : gen_every
    assign step = busy_o;
  end else begin : gen_some
    logic [3:0] count_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) count_q <= '0;
      else count_q <= (!busy_o || count_q == 4'(SfuInterval - 1)) ? 4'd0 : count_q + 4'd1;
    end
    assign step = busy_o && count_q == '0;
  end

  // ---- reads, into a ring each
  walk_t a_walk_q, b_walk_q, out_walk_q;
  always_ff @(posedge clk_i) begin
    if (check_done) begin
      a_walk_q   <= walk_surfaces(a, sizes);
      b_walk_q   <= walk_surfaces(b, sizes);
      out_walk_q <= walk_surfaces(out, sizes);
    end
  end
  logic [1:0] ask, given, left, blocked, valid, ready;
  read_t      a_read, b_read;
  logic       take;
  hbm0923_beat_reader #(.Depth(Depth), .MaxBurst(MaxBurst)) u_a_reader (
    .clk_i, .rst_ni, .start_i (run), .none_i (1'b0), .walk_i (a_walk_q), .go_i (data_go_i), .bound_i (bounds_i[0]), .left_o (left[0]),
    .blocked_o (blocked[0]), .valid_o (ask[0]), .read_o (a_read), .ready_i (given[0]), .pop_i (take)
  );
  hbm0923_beat_reader #(.Depth(Depth), .MaxBurst(MaxBurst)) u_b_reader (
    .clk_i, .rst_ni, .start_i (run), .none_i (1'b0), .walk_i (b_walk_q), .go_i (data_go_i), .bound_i (bounds_i[1]), .left_o (left[1]),
    .blocked_o (blocked[1]), .valid_o (ask[1]), .read_o (b_read), .ready_i (given[1]), .pop_i (take)
  );
  hbm0923_beat_arbiter #(.Id(IdElt)) u_arbiter (
    .clk_i, .rst_ni, .valid_i (ask), .read0_i (a_read), .read1_i (b_read), .ready_o (given),
    .ar_valid_o (ddr_rd_req_o.ar_valid), .ar_ready_i (ddr_rd_rsp_i.ar_ready), .ar_o (ddr_rd_req_o.ar)
  );
  assign ddr_rd_req_o.r_ready = 1'b1;
  logic [511:0] r_data;
  assign r_data    = ddr_rd_rsp_i.r.data;
  assign valid[0]  = ddr_rd_rsp_i.r_valid && ddr_rd_rsp_i.r.id == IdElt;
  assign valid[1]  = ddr_rd_rsp_i.r_valid && ddr_rd_rsp_i.r.id == IdElt + 4'd1;
  assign bus_error = (valid != '0 && ddr_rd_rsp_i.r.resp[1]) || write_error;

  logic [511:0]     a_mem [Depth];
  logic [511:0]     b_mem [Depth];
  logic [1:0][Aw:0] wr_q;
  logic [Aw:0]      rd_q;
  logic [511:0]     a_q, b_q;
  assign ready = {wr_q[1] != rd_q, wr_q[0] != rd_q};
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wr_q <= '0;
      rd_q <= '0;
    end else if (run) begin
      wr_q <= '0;
      rd_q <= '0;
    end else begin
      for (int unsigned i = 0; i < 2; i++) if (valid[i]) wr_q[i] <= wr_q[i] + (Aw + 1)'(1'b1);
      if (take) rd_q <= rd_q + (Aw + 1)'(1'b1);
    end
  end
  always_ff @(posedge clk_i) begin
    if (valid[0]) a_mem[wr_q[0][Aw-1:0]] <= r_data;
    if (valid[1]) b_mem[wr_q[1][Aw-1:0]] <= r_data;
    if (take) begin
      a_q <= a_mem[rd_q[Aw-1:0]];
      b_q <= b_mem[rd_q[Aw-1:0]];
    end
  end

  // ---- beats
  localparam int unsigned Cw = $clog2(WriteDepth) + 1;
  logic [Cw-1:0] room_q;
  logic [15:0]   tokens_q, surfaces_q;
  logic [7:0]    lines_q;
  logic          write_pop, more;
  assign more = lines_q != '0;
  assign take = step && more && ready == 2'b11 && room_q != '0;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      room_q     <= Cw'(WriteDepth);
      tokens_q   <= '0;
      surfaces_q <= '0;
      lines_q    <= '0;
    end else begin
      room_q <= room_q - Cw'(take) + Cw'(write_pop);
      if (run) begin
        tokens_q   <= sizes.tokens;
        surfaces_q <= sizes.surfaces;
        lines_q    <= sizes.lines;
      end else if (take) begin
        tokens_q <= tokens_q - 16'd1;
        if (tokens_q == 16'd1) begin
          tokens_q   <= sizes.tokens;
          surfaces_q <= surfaces_q - 16'd1;
          if (surfaces_q == 16'd1) begin
            surfaces_q <= sizes.surfaces;
            lines_q    <= lines_q - 8'd1;
          end
        end
      end
    end
  end

  // ---- operands, a cycle after they are taken, and what is made of them
  logic         valid_q, partial_q, computing, y_valid;
  logic [31:0]  mask;
  logic [511:0] y;
  assign mask = (partial_q && last_lanes != '0) ? ~(32'hFFFF_FFFF << last_lanes) : '1;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= 1'b0;
    else valid_q <= take;
  end
  always_ff @(posedge clk_i) if (take) partial_q <= surfaces_q == 16'd1;

  hbm0923_elementwise_lanes #(.AddLatency(AddLatency), .NarrowLatency(NarrowLatency)) u_lanes (
    .clk_i, .rst_ni, .multiply_i (operands_q.mode[1]), .subtract_i (operands_q.mode[0]), .valid_i (valid_q), .a_i (a_q), .b_i (b_q),
    .mask_i (mask), .busy_o (computing), .valid_o (y_valid), .y_o (y)
  );

  hbm0923_beat_writer #(.Id(IdElt), .Depth(WriteDepth)) u_writer (
    .clk_i, .rst_ni, .start_i (run), .walk_i (out_walk_q), .go_i (oldest_i), .suppress_i (suppress),
    .valid_i (y_valid), .data_i (y), .pop_o (write_pop), .idle_o (writer_idle), .error_o (write_error), .settled_o (settled),
    .ddr_req_o (ddr_wr_req_o), .ddr_rsp_i (ddr_wr_rsp_i)
  );

  // ---- what a cycle is spent on
  assign running         = more || valid_q || computing;
  assign wait_dependency = blocked != '0 || (more && room_q == '0 && !oldest_i);
  assign wait_activation = more && ready != 2'b11;
  assign wait_write      = more && room_q == '0;

  if (MaxToken > 32768 || SfuInterval < 1 || SfuInterval > 15) begin : gen_check_sizes
    $error("sizes beyond what the counters hold");
  end

  logic unused_signals;
  assign unused_signals = ^{flush, left, ddr_rd_rsp_i.r.resp[0], ddr_rd_rsp_i.r.last};
`ifndef SYNTHESIS
  // Assertions hold from the first cycle out of reset; a flop, so that the reset stays purely asynchronous.
  logic out_of_reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_of_reset_q <= 1'b0;
    else out_of_reset_q <= 1'b1;
  end
  always_ff @(posedge clk_i) if (out_of_reset_q) begin
    for (int unsigned i = 0; i < 2; i++) if (valid[i]) assert (wr_q[i] - rd_q != (Aw + 1)'(Depth));
    if (take) assert (room_q != '0 && wr_q[0] != rd_q && wr_q[1] != rd_q);
    assert (room_q <= Cw'(WriteDepth));
  end
`endif
endmodule
