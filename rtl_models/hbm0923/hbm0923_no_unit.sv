// Stands for a unit that is not there: refuses every start as unsupported.
module hbm0923_no_unit
  import hbm0923_pkg::*;
  import hbm0923_aux_pkg::*;
#(
  parameter logic [2:0] Number = 3'd1
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  input  logic             start_i,
  input  logic [31:0]      mode_i,
  output logic             busy_o,
  input  logic             oldest_i,
  output logic             checked_o,

  output logic             commit_valid_o,
  output logic [15:0]      commit_opcode_o,
  output logic [15:0]      commit_error_o,
  output logic             commit_result_valid_o,
  output logic [31:0]      commit_result_o,
  output logic [5:0][31:0] commit_cycles_o
);
  logic [31:0] mode_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) mode_q <= '0;
    else if (start_i) mode_q <= mode_i;
  end

  logic [15:0] opcode;
  logic        check, unused_run, unused_flush, unused_suppress;
  assign opcode = opcode_of(Number, mode_q);

  hbm0923_unit_ctrl u_ctrl (
    .clk_i,
    .rst_ni,
    .start_i,
    .busy_o,
    .oldest_i,
    .check_o          (check),
    .check_done_i     (check),
    .check_error_i    ((opcode == 16'd0) ? ErrIllegalMode : ErrUnsupported),
    .checked_o,
    .run_o            (unused_run),
    .running_i        (1'b0),
    .need_flush_i     (1'b0),
    .flush_o          (unused_flush),
    .flushing_i       (1'b0),
    .draining_i       (1'b0),
    .bus_error_i      (1'b0),
    .suppress_o       (unused_suppress),
    .wait_dependency_i(1'b0),
    .wait_activation_i(1'b0),
    .wait_weight_i    (1'b0),
    .wait_write_i     (1'b0),
    .opcode_i         (opcode),
    .result_valid_i   (1'b0),
    .result_i         (32'd0),
    .commit_valid_o,
    .commit_opcode_o,
    .commit_error_o,
    .commit_result_valid_o,
    .commit_result_o,
    .commit_cycles_o
  );
endmodule
