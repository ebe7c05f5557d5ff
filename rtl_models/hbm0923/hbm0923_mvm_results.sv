// What becomes of finished outputs: argmax looks at them, the writer takes them to DDR. Promises the writer's room to the
// outputs that are issued, so that the pipeline before it never stalls.
module hbm0923_mvm_results
  import hbm0923_mvm_pkg::*;
  import hbm0923_unit_pkg::*;
  import fleet_axi_pkg::*;
#(
  parameter int unsigned Tout     = 32,
  parameter int unsigned MaxToken = 2048,
  parameter int unsigned Depth    = 32    // outputs that the writer's queue holds
) (
  input  logic               clk_i,
  input  logic               rst_ni,

  input  logic               start_i,
  input  mvm_plan_t          plan_i,
  input  logic               go_i,        // may put writes on the channel
  input  logic               suppress_i,  // write no more

  input  logic               issue_i,     // an output is issued
  output logic               room_o,      // there is room for one
  output logic               pending_o,   // outputs are on their way here
  input  logic               valid_i,     // Tout outputs
  input  out_ctrl_t          out_i,
  input  logic [Tout*16-1:0] y_i,

  input  logic               flush_i,     // one cycle: write the indices of argmax
  output logic               flushing_o,
  output logic [31:0]        argmax_o,    // the last token's
  output logic               idle_o,      // everything written and answered
  output logic               error_o,     // a response was an error
  output bound_t             settled_o,   // from the first beat on all below is written

  output ddr_wr_req_t        ddr_req_o,
  input  ddr_wr_rsp_t        ddr_rsp_i
);
  localparam int unsigned Cw = $clog2(Depth) + 1;

  logic       index_valid, index_ready, pop;
  ddr_write_t index_write;

  hbm0923_mvm_argmax #(
    .Tout(Tout), .MaxToken(MaxToken)
  ) u_argmax (
    .clk_i,
    .rst_ni,
    .plan_i,
    .valid_i,
    .out_i,
    .y_i,
    .flush_i,
    .busy_o  (flushing_o),
    .valid_o (index_valid),
    .ready_i (index_ready),
    .write_o (index_write),
    .result_o(argmax_o)
  );

  hbm0923_ddr_writer #(
    .Tout(Tout), .Depth(Depth)
  ) u_writer (
    .clk_i,
    .rst_ni,
    .start_i,
    .plan_i,
    .go_i,
    .suppress_i,
    .valid_i,
    .out_i,
    .y_i,
    .extra_valid_i(index_valid),
    .extra_ready_o(index_ready),
    .extra_i      (index_write),
    .pop_o        (pop),
    .idle_o,
    .error_o,
    .settled_o,
    .ddr_req_o,
    .ddr_rsp_i
  );

  // Outputs issued and not yet in the queue; places of the queue not yet promised.
  logic [Cw-1:0] in_flight_q, room_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      in_flight_q <= '0;
      room_q      <= Cw'(Depth);
    end else begin
      in_flight_q <= in_flight_q + Cw'(issue_i) - Cw'(valid_i);
      room_q      <= room_q - Cw'(issue_i) - Cw'(index_valid && index_ready) + Cw'(pop);
    end
  end
  assign room_o    = room_q != '0;
  assign pending_o = in_flight_q != '0;
`ifndef SYNTHESIS
  // Assertions hold from the first cycle out of reset; a flop, so that the reset stays purely asynchronous.
  logic out_of_reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_of_reset_q <= 1'b0;
    else out_of_reset_q <= 1'b1;
  end
  // Room that was promised is there; no more is promised than the writer has.
  always_ff @(posedge clk_i) if (out_of_reset_q) begin
    assert (room_q <= Cw'(Depth));
    if (issue_i || (index_valid && index_ready)) assert (room_q >= Cw'(issue_i) + Cw'(index_valid && index_ready));
    if (valid_i) assert (in_flight_q != '0);
  end
`endif
endmodule
