// The unit's controller: takes a start, has it checked, runs it, waits for the last write's answer, commits. Counts every
// cycle into exactly one class and keeps what the registers show of the last instruction.
module hbm0923_mvm_ctrl
  import hbm0923_pkg::*;
#(
  // Cycles from the acceptance of the start register's write to start_i, which belong to the instruction too.
  parameter int unsigned StartLatency = 1
) (
  input  logic          clk_i,
  input  logic          rst_ni,

  input  logic          start_i,      // the start register was written
  input  logic [31:0]   mode_i,
  input  mvm_operands_t operands_i,

  // latched at the start
  output logic          check_o,
  output logic [31:0]   mode_o,
  output mvm_operands_t operands_o,
  input  logic          check_done_i,
  input  logic [15:0]   check_error_i,

  output logic          run_o,        // one cycle: go
  input  logic          running_i,    // outputs are still to be issued or are in the pipeline
  output logic          flush_o,      // one cycle: write the indices of argmax
  input  logic          flushing_i,
  input  logic          draining_i,   // reads or writes are still under way
  input  logic          bus_error_i,
  output logic          suppress_o,   // a bus error has been seen: write no more

  // what the running cycle is spent on
  input  logic          wait_weight_i,
  input  logic          wait_activation_i,
  input  logic          wait_write_i,

  input  logic [31:0]   result_i,

  output logic             busy_o,
  output logic             done_o,        // the last instruction has committed
  output logic             irq_done_o,    // one cycle each
  output logic             irq_error_o,
  output logic [15:0]      err_cause_o,
  output logic [15:0]      err_instr_o,
  output logic [31:0]      result_o,
  output logic [31:0]      cycles_o,      // of the last instruction
  output logic [5:0][31:0] class_o,

  output logic             commit_valid_o,
  output logic [15:0]      commit_opcode_o,
  output logic [15:0]      commit_error_o,
  output logic             commit_result_valid_o,
  output logic [31:0]      commit_result_o,
  output logic [5:0][31:0] commit_cycles_o
);
  typedef enum logic [5:0] {
    StIdle   = 6'b000001,
    StCheck  = 6'b000010,
    StRun    = 6'b000100,
    StFlush  = 6'b001000,
    StDrain  = 6'b010000,
    StCommit = 6'b100000
  } state_e;

  localparam int unsigned Compute = 0, WeightWait = 1, ActivationWait = 2, WriteBack = 3, Issue = 4;

  state_e        state_q, state_d;
  logic [31:0]   mode_q;
  mvm_operands_t operands_q;
  logic [15:0]   error_q, err_cause_q, err_instr_q;
  logic          done_q, first_q, ok;
  logic [31:0]   result_q;

  function automatic logic [15:0] opcode(input logic [31:0] mode);
    if ((mode & ~StartMvmOptional) == StartMvm) return OpMvm;
    if ((mode & ~StartMvmBnOptional) == StartMvmBn) return OpMvmBn;
    if ((mode & ~StartMvmBnResOptional) == StartMvmBnRes) return OpMvmBnRes;
    return 16'd0;
  endfunction

  logic argmax;
  assign argmax = mode_q[MvmStartArgmaxLsb];
  assign ok     = error_q == ErrNone;

  always_comb begin
    state_d = state_q;
    case (state_q)
      StIdle:   if (start_i) state_d = StCheck;
      StCheck:  if (check_done_i) state_d = (check_error_i == ErrNone) ? StRun : StCommit;
      StRun:    if (!first_q && !running_i) state_d = argmax ? StFlush : StDrain;
      StFlush:  if (!first_q && !flushing_i) state_d = StDrain;
      StDrain:  if (!draining_i) state_d = StCommit;
      StCommit: state_d = StIdle;
      default:  state_d = StIdle;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q     <= StIdle;
      first_q     <= 1'b0;
      mode_q      <= '0;
      operands_q  <= '0;
      error_q     <= '0;
      err_cause_q <= '0;
      err_instr_q <= '0;
      done_q      <= 1'b0;
      result_q    <= '0;
    end else begin
      state_q <= state_d;
      first_q <= state_d != state_q;
      if (state_q == StIdle && start_i) begin
        mode_q     <= mode_i;
        operands_q <= operands_i;
        error_q    <= ErrNone;
        done_q     <= 1'b0;
      end
      if (state_q == StCheck && check_done_i) error_q <= check_error_i;
      else if (bus_error_i && state_q != StIdle && ok) error_q <= ErrBusError;
      if (state_q == StCommit) begin
        done_q <= 1'b1;
        if (ok && argmax) result_q <= result_i;
        if (!ok) begin
          err_cause_q <= error_q;
          err_instr_q <= opcode(mode_q);
        end
      end
      if (start_i && state_q != StIdle) begin
        err_cause_q <= ErrBusy;
        err_instr_q <= opcode(mode_i);
      end
    end
  end

  assign check_o    = state_q == StCheck && first_q;
  assign mode_o     = mode_q;
  assign operands_o = operands_q;
  assign run_o      = state_q == StRun && first_q;
  assign flush_o    = state_q == StFlush && first_q;
  assign suppress_o = !ok;
  assign busy_o     = state_q != StIdle;

  // ---- the account of cycles
  logic [5:0][31:0] class_q, class_d, last_q;
  logic [31:0]      total_q, last_total_q;
  always_comb begin
    class_d = class_q;
    case (state_q)
      StIdle: begin
        class_d        = '0;
        class_d[Issue] = StartLatency + 32'(start_i);
      end
      StCheck, StCommit: class_d[Issue] = class_q[Issue] + 32'd1;
      StRun: begin
        if (first_q)                class_d[Issue]          = class_q[Issue] + 32'd1;
        else if (wait_activation_i) class_d[ActivationWait] = class_q[ActivationWait] + 32'd1;
        else if (wait_weight_i)     class_d[WeightWait]     = class_q[WeightWait] + 32'd1;
        else if (wait_write_i)      class_d[WriteBack]      = class_q[WriteBack] + 32'd1;
        else                        class_d[Compute]        = class_q[Compute] + 32'd1;
      end
      default: class_d[WriteBack] = class_q[WriteBack] + 32'd1;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      class_q      <= '0;
      last_q       <= '0;
      total_q      <= '0;
      last_total_q <= '0;
    end else begin
      class_q <= class_d;
      total_q <= (state_q == StIdle) ? StartLatency + 32'(start_i) : total_q + 32'd1;
      if (state_q == StCommit) begin
        last_q       <= class_d;
        last_total_q <= total_q + 32'd1;
      end
    end
  end

  assign done_o      = done_q;
  assign irq_done_o  = state_q == StCommit;
  assign irq_error_o = (state_q == StCommit && !ok) || (start_i && state_q != StIdle);
  assign err_cause_o = err_cause_q;
  assign err_instr_o = err_instr_q;
  assign result_o    = result_q;
  assign cycles_o    = last_total_q;
  assign class_o     = last_q;

  assign commit_valid_o        = state_q == StCommit;
  assign commit_opcode_o       = opcode(mode_q);
  assign commit_error_o        = error_q;
  assign commit_result_valid_o = ok && argmax;
  assign commit_result_o       = result_i;
  assign commit_cycles_o       = class_d;

`ifndef SYNTHESIS
  // Assertions hold from the first cycle out of reset; a flop, so that the reset stays purely asynchronous.
  logic out_of_reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_of_reset_q <= 1'b0;
    else out_of_reset_q <= 1'b1;
  end
  assert property (@(posedge clk_i) disable iff (!out_of_reset_q) $onehot(state_q));
  // Every cycle is in exactly one class.
  assert property (@(posedge clk_i) disable iff (!out_of_reset_q) state_q == StCommit |->
    class_d[0] + class_d[1] + class_d[2] + class_d[3] + class_d[4] + class_d[5] == total_q + 32'd1);
`endif
endmodule
