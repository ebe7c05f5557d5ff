// The life of one instruction in a unit: start, check, run, flush, drain, commit; and the account of its cycles.
//
// The dispatcher holds a younger instruction back: it may not write or commit before it is the oldest (oldest_i). Every
// cycle from the acceptance of the start to the commit, both included, is in exactly one class.
module hbm0923_unit_ctrl
  import hbm0923_pkg::*;
#(
  // Cycles from the acceptance of the start register's write to start_i, which belong to the instruction too.
  parameter int unsigned StartLatency = 1
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  input  logic             start_i,       // one cycle, only while busy_o is low
  output logic             busy_o,        // from the cycle after start_i to the commit, included
  input  logic             oldest_i,      // no earlier instruction is under way

  output logic             check_o,       // one cycle: check the latched operands
  input  logic             check_done_i,  // one cycle, with the cause; ErrNone: legal
  input  logic [15:0]      check_error_i,
  output logic             checked_o,     // level: found legal, the hulls hold

  input  logic             may_run_i,     // the unit's datapath is free; a legal instruction waits for it (class dependency)
  output logic             legal_o,       // level: found legal, to the last response
  output logic             idle_o,        // level: the datapath is another instruction's
  output logic             launch_o,      // the cycle before run_o
  output logic             run_o,         // one cycle: go
  output logic             settles_o,     // level: from the cycle after to the last response, what is written is this instruction's
  input  logic             running_i,     // results are still to be made or are in the pipeline
  input  logic             need_flush_i,  // something is written at the end
  output logic             flush_o,       // one cycle: write it
  input  logic             flushing_i,
  input  logic             draining_i,    // reads or writes are still under way
  input  logic             bus_error_i,
  output logic             suppress_o,    // an error has been seen: write no more

  // What a running cycle is spent on, the first that is high; none: compute.
  input  logic             wait_dependency_i,
  input  logic             wait_activation_i,
  input  logic             wait_weight_i,
  input  logic             wait_write_i,

  input  logic [15:0]      opcode_i,
  input  logic             result_valid_i,
  input  logic [31:0]      result_i,

  output logic             commit_valid_o,  // one cycle
  output logic [15:0]      commit_opcode_o,
  output logic [15:0]      commit_error_o,
  output logic             commit_result_valid_o,
  output logic [31:0]      commit_result_o,
  output logic [5:0][31:0] commit_cycles_o
);
  typedef enum logic [6:0] {
    StIdle   = 7'b0000001,
    StCheck  = 7'b0000010,
    StReady  = 7'b0000100,
    StRun    = 7'b0001000,
    StFlush  = 7'b0010000,
    StDrain  = 7'b0100000,
    StCommit = 7'b1000000
  } state_e;

  localparam int unsigned Compute = 0, WeightWait = 1, ActivationWait = 2, WriteBack = 3, Issue = 4, Dependency = 5;

  state_e      state_q, state_d;
  logic [15:0] error_q;
  logic        first_q, ok, launch;

  assign ok     = error_q == ErrNone;
  // From registers and the check alone: the first reads of the datapath follow from it in the same cycle.
  assign launch = may_run_i && (state_q == StReady || (state_q == StCheck && check_done_i && check_error_i == ErrNone));

  always_comb begin
    state_d = state_q;
    case (state_q)
      StIdle:   if (start_i) state_d = StCheck;
      StCheck:  if (check_done_i) state_d = (check_error_i != ErrNone) ? StCommit : launch ? StRun : StReady;
      StReady:  if (launch) state_d = StRun;
      StRun:    if (!first_q && !running_i) state_d = need_flush_i ? StFlush : StDrain;
      StFlush:  if (!first_q && !flushing_i) state_d = StDrain;
      StDrain:  if (!draining_i) state_d = StCommit;
      StCommit: if (oldest_i) state_d = StIdle;
      default:  state_d = StIdle;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StIdle;
      first_q <= 1'b0;
      error_q <= ErrNone;
    end else begin
      state_q <= state_d;
      first_q <= state_d != state_q;
      if (state_q == StIdle) error_q <= ErrNone;
      else if (state_q == StCheck && check_done_i) error_q <= check_error_i;
      else if (bus_error_i && ok) error_q <= ErrBusError;
    end
  end

  assign check_o    = state_q == StCheck && first_q;
  assign legal_o    = state_q == StReady || state_q == StRun || state_q == StFlush || state_q == StDrain;
  assign idle_o     = state_q != StRun && state_q != StFlush && state_q != StDrain;
  assign launch_o   = launch;
  assign run_o      = state_q == StRun && first_q;
  assign flush_o    = state_q == StFlush && first_q;
  assign settles_o  = (state_q == StRun && !first_q) || state_q == StFlush || state_q == StDrain;
  assign suppress_o = !ok;
  assign busy_o     = state_q != StIdle;
  assign checked_o  = state_q != StIdle && state_q != StCheck;

  // ---- the account of cycles
  logic [5:0][31:0] class_q, class_d;
  logic [2:0]       spent;
  always_comb begin
    case (state_q)
      StRun: begin
        if (first_q)                spent = 3'(Issue);
        else if (wait_dependency_i) spent = 3'(Dependency);
        else if (wait_activation_i) spent = 3'(ActivationWait);
        else if (wait_weight_i)     spent = 3'(WeightWait);
        else if (wait_write_i)      spent = 3'(WriteBack);
        else                        spent = 3'(Compute);
      end
      StReady:          spent = 3'(Dependency);
      StFlush, StDrain: spent = oldest_i ? 3'(WriteBack) : 3'(Dependency);
      StCommit:         spent = oldest_i ? 3'(Issue) : 3'(Dependency);
      default:          spent = 3'(Issue);
    endcase
    class_d = class_q;
    if (state_q == StIdle) begin
      class_d        = '0;
      class_d[Issue] = StartLatency + 32'(start_i);
    end else begin
      for (int unsigned i = 0; i < 6; i++) begin
        if (spent == 3'(i)) class_d[i] = class_q[i] + 32'd1;
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) class_q <= '0;
    else if (state_q != StIdle || start_i) class_q <= class_d;
  end

  assign commit_valid_o        = state_q == StCommit && oldest_i;
  assign commit_opcode_o       = opcode_i;
  assign commit_error_o        = error_q;
  assign commit_result_valid_o = ok && result_valid_i;
  assign commit_result_o       = result_i;
  always_comb begin
    commit_cycles_o        = class_q;
    commit_cycles_o[Issue] = class_q[Issue] + 32'd1;  // the cycle of the commit
  end

`ifndef SYNTHESIS
  // Assertions hold from the first cycle out of reset; a flop, so that the reset stays purely asynchronous.
  logic        out_of_reset_q;
  logic [31:0] total_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      out_of_reset_q <= 1'b0;
      total_q        <= '0;
    end else begin
      out_of_reset_q <= 1'b1;
      total_q        <= (state_q == StIdle) ? StartLatency + 32'(start_i) : total_q + 32'd1;
    end
  end
  always_ff @(posedge clk_i) if (out_of_reset_q) begin
    assert ($onehot(state_q));
    if (start_i) assert (state_q == StIdle);
    // Every cycle is in exactly one class.
    if (commit_valid_o) begin
      assert (commit_cycles_o == class_d);
      assert (class_d[0] + class_d[1] + class_d[2] + class_d[3] + class_d[4] + class_d[5] == total_q + 32'd1);
    end
    assert (launch_o == (state_d == StRun && state_q != StRun));
  end
`endif
endmodule
