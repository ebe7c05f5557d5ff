// Takes instructions from the registers or from a binary, hands them to their units, and sees to their order.
//
// At most two are under way, in different units. The younger one may read what the oldest does not write: both tell the
// hulls of what they read and write, and a class of reads is let go when they do not meet. Only the oldest writes and
// commits, so that memory changes and commits happen in program order.
// From a binary, the next task is handed over when the one before was found legal: after a refused one nothing runs.
module hbm0923_dispatch
  import hbm0923_pkg::*;
  import hbm0923_unit_pkg::*;
  import hbm0923_fabric_pkg::*;
  import hbm0923_aux_pkg::*;
#(
  // Cycles from the acceptance of a start register's write to its pulse, which belong to the instruction too.
  parameter int unsigned StartLatency = 1
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  // ---- starts: a register's pulse, or a task of the binary
  input  logic [Groups-1:0]        pulse_i,       // at most one
  input  logic [Groups-1:0][31:0]  mode_i,
  input  start_t                   task_i,
  output logic                     task_ready_o,

  // ---- the binary
  output logic                     run_start_o,   // fetch it
  output logic                     run_o,         // a run is on: the units take a task's operands
  output logic                     run_stop_o,    // hand over no more: a task was refused
  output logic                     run_end_o,
  input  logic                     run_over_i,    // nothing more will come
  input  logic [15:0]              run_error_i,   // with run_over_i: why the binary is refused

  // ---- units
  output logic [Units-1:0]         start_o,
  output logic [31:0]              mode_o,
  input  logic [Units-1:0]         busy_i,
  input  logic [Units-1:0]         checked_i,
  input  hulls_t [Units-1:0]       hulls_i,
  output logic [Units-1:0]         oldest_o,
  output logic [Units-1:0]         data_go_o,
  output logic [Units-1:0]         coef_go_o,
  output logic [Units-1:0]         hbm_go_o,
  input  logic [Units-1:0]         commit_valid_i,
  input  logic [Units-1:0][15:0]   commit_error_i,
  input  commit_t [Units-1:0]      commit_i,
  output logic                     commit_valid_o,
  output logic [15:0]              commit_error_o,
  output commit_t                  commit_o,

  // ---- what the registers show
  output logic [Groups-1:0]        status_o,
  output logic                     irq_done_o,    // one cycle each
  output logic                     irq_error_o,
  output logic [15:0]              err_cause_o,
  output logic [15:0]              err_instr_o,
  output logic [31:0]              result_o,
  output logic [31:0]              cycles_o,
  output logic [5:0][31:0]         class_o,
  output logic [31:0]              commits_o,
  output logic [31:0]              tasks_o
);
  localparam int unsigned Issue = 4;

  // ---- who is under way
  logic [1:0] count_q, count_d;
  logic [2:0] old_q, young_q, old_d;
  logic       old_task_q, young_task_q, old_task_d;
  logic       run_q, stop_q, run_refused;
  logic       push, pop, pop_error;
  logic [2:0] new_unit;

  // ---- a register's start
  logic        pulse, taken, refused, run_wanted;
  logic [1:0]  group;
  logic [2:0]  wanted;
  logic [31:0] mode;
  always_comb begin
    group = '0;
    for (int unsigned g = 0; g < Groups; g++) if (pulse_i[g]) group = 2'(g);
    mode = mode_i[group];
    case (group)
      2'(GroupMvm): wanted = taker(AuxUnitMvm, mode);
      2'(GroupElt): wanted = taker(AuxUnitElementwise, mode);
      2'(GroupAux): wanted = taker(AuxUnitAux, mode);
      default:      wanted = taker(AuxUnitSfu, mode);
    endcase
  end
  assign pulse       = |pulse_i;
  assign run_wanted  = 32'(group) == GroupAux && mode == StartAuxRun;
  assign taken       = pulse && !run_q && !busy_i[wanted] && (run_wanted || count_q != 2'd2);
  assign refused     = pulse && !taken;
  assign run_start_o = taken && run_wanted;

  // ---- a task's
  logic old_legal;
  assign old_legal    = count_q == 2'd0 || (count_q == 2'd1 && checked_i[old_q] && !pop_error);
  assign task_ready_o = run_q && !stop_q && old_legal && !busy_i[task_i.unit];

  assign push     = (taken && !run_wanted) || (task_i.valid && task_ready_o);
  assign new_unit = run_q ? task_i.unit : wanted;
  assign mode_o   = run_q ? task_i.mode : mode;
  always_comb begin
    start_o           = '0;
    start_o[new_unit] = push;
  end

  // ---- order
  assign pop       = count_q != 2'd0 && commit_valid_i[old_q];
  assign pop_error = pop && commit_error_i[old_q] != ErrNone;

  always_comb begin
    count_d    = count_q + 2'(push) - 2'(pop);
    old_d      = old_q;
    old_task_d = old_task_q;
    if (pop && count_q == 2'd2) begin
      old_d      = young_q;
      old_task_d = young_task_q;
    end else if (push && (count_q == 2'd0 || pop)) begin
      old_d      = new_unit;
      old_task_d = run_q;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q      <= '0;
      old_q        <= '0;
      young_q      <= '0;
      old_task_q   <= 1'b0;
      young_task_q <= 1'b0;
    end else begin
      count_q    <= count_d;
      old_q      <= old_d;
      old_task_q <= old_task_d;
      if (push) begin
        young_q      <= new_unit;
        young_task_q <= run_q;
      end
    end
  end

  // ---- what the younger one may read
  logic   data_q, coef_q, hbm_q, judge;
  hulls_t old_hulls, young_hulls;
  logic   data_meets, coef_meets, hbm_meets;
  assign judge = count_q == 2'd2 && !pop && checked_i[old_q] && checked_i[young_q];
  always_comb begin
    old_hulls   = '0;
    young_hulls = '0;
    // Evaluated only while something waits for it.
    if (judge && !(data_q && coef_q && hbm_q)) begin
      for (int unsigned u = 0; u < Units; u++) begin
        if (old_q == 3'(u)) old_hulls = hulls_i[u];
        if (young_q == 3'(u)) young_hulls = hulls_i[u];
      end
    end
    data_meets = 1'b0;
    coef_meets = 1'b0;
    for (int unsigned w = 0; w < 2; w++) begin
      for (int unsigned d = 0; d < 2; d++) data_meets = data_meets || meets(young_hulls.data[d], old_hulls.wr[w]);
      coef_meets = coef_meets || meets(young_hulls.coef, old_hulls.wr[w]);
    end
    hbm_meets = meets(young_hulls.hbm, old_hulls.hbm_wr);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      data_q <= 1'b0;
      coef_q <= 1'b0;
      hbm_q  <= 1'b0;
    end else begin
      data_q <= judge && (data_q || !data_meets);
      coef_q <= judge && (coef_q || !coef_meets);
      hbm_q  <= judge && (hbm_q || !hbm_meets);
    end
  end

  always_comb begin
    for (int unsigned u = 0; u < Units; u++) begin
      oldest_o[u]  = count_q != 2'd0 && old_q == 3'(u);
      data_go_o[u] = oldest_o[u] || (count_q == 2'd2 && young_q == 3'(u) && data_q);
      coef_go_o[u] = oldest_o[u] || (count_q == 2'd2 && young_q == 3'(u) && coef_q);
      hbm_go_o[u]  = oldest_o[u] || (count_q == 2'd2 && young_q == 3'(u) && hbm_q);
    end
  end

  // ---- the binary: over when nothing more comes and what came has committed; a refused one then commits itself
  logic [31:0] run_cycles_q;
  assign run_end_o   = run_q && run_over_i && count_q == 2'd0;
  assign run_refused = run_end_o && !stop_q && run_error_i != ErrNone;
  assign run_o       = run_q;
  assign run_stop_o  = stop_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      run_q        <= 1'b0;
      stop_q       <= 1'b0;
      run_cycles_q <= '0;
    end else if (run_start_o) begin
      run_q        <= 1'b1;
      stop_q       <= 1'b0;
      run_cycles_q <= 32'(StartLatency) + 32'd1;
    end else if (run_q) begin
      run_cycles_q <= run_cycles_q + 32'd1;
      if (run_end_o) run_q <= 1'b0;
      if (pop_error && old_task_q) stop_q <= 1'b1;
    end
  end

  always_comb begin
    commit_valid_o = pop;
    commit_error_o = commit_error_i[old_q];
    commit_o       = '0;
    for (int unsigned u = 0; u < Units; u++) if (pop && old_q == 3'(u)) commit_o = commit_i[u];
    if (run_refused) begin
      commit_valid_o         = 1'b1;
      commit_error_o         = run_error_i;
      commit_o.opcode        = OpAuxRun;
      commit_o.cycles[Issue] = run_cycles_q + 32'd1;
    end
  end

  // ---- what the registers show
  logic [Groups-1:0] done_q, under_way, begun;
  logic [31:0]       last_total;
  always_comb begin
    under_way = '0;
    begun     = '0;
    if (count_q != 2'd0) under_way[group_of(old_q)] = 1'b1;
    if (count_q == 2'd2) under_way[group_of(young_q)] = 1'b1;
    if (push) begun[group_of(new_unit)] = 1'b1;
    if (run_q) under_way[GroupAux] = 1'b1;
    if (run_start_o) begun[GroupAux] = 1'b1;
    last_total = '0;
    for (int unsigned c = 0; c < 6; c++) last_total = last_total + commit_o.cycles[c];
  end
  // A start clears the status in the cycle in which it is seen.
  assign status_o = done_q & ~under_way & ~begun;

  assign irq_done_o  = (pop && !old_task_q) || run_end_o;
  assign irq_error_o = (commit_valid_o && commit_error_o != ErrNone) || refused;

  logic [15:0]      err_cause_q, err_instr_q;
  logic [31:0]      result_q, cycles_q, commits_q, tasks_q;
  logic [5:0][31:0] class_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      done_q      <= '0;
      err_cause_q <= '0;
      err_instr_q <= '0;
      result_q    <= '0;
      cycles_q    <= '0;
      class_q     <= '0;
      commits_q   <= '0;
      tasks_q     <= '0;
    end else begin
      for (int unsigned g = 0; g < Groups; g++) begin
        if (begun[g]) done_q[g] <= 1'b0;
        else if (pop && 32'(group_of(old_q)) == g) done_q[g] <= 1'b1;
        else if (run_end_o && g == GroupAux) done_q[g] <= 1'b1;
      end
      if (commit_valid_o) begin
        cycles_q  <= last_total;
        class_q   <= commit_o.cycles;
        commits_q <= commits_q + 32'd1;
        if (commit_o.result_valid) result_q <= commit_o.result;
        if (commit_error_o != ErrNone) begin
          err_cause_q <= commit_error_o;
          err_instr_q <= commit_o.opcode;
        end
      end
      if (run_start_o) tasks_q <= '0;
      else if (pop && old_task_q) tasks_q <= tasks_q + 32'd1;
      if (refused) begin
        err_cause_q <= ErrBusy;
        err_instr_q <= opcode_of(wanted, mode);
      end
    end
  end
  assign err_cause_o = err_cause_q;
  assign err_instr_o = err_instr_q;
  assign result_o    = result_q;
  assign cycles_o    = cycles_q;
  assign class_o     = class_q;
  assign commits_o   = commits_q;
  assign tasks_o     = tasks_q;

  // What the one reads and the other writes is all that counts.
  logic unused_hulls;
  assign unused_hulls = ^{old_hulls, young_hulls};

`ifndef SYNTHESIS
  // Assertions hold from the first cycle out of reset; a flop, so that the reset stays purely asynchronous.
  logic out_of_reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_of_reset_q <= 1'b0;
    else out_of_reset_q <= 1'b1;
  end
  always_ff @(posedge clk_i) if (out_of_reset_q) begin
    assert ($onehot0(pulse_i));
    assert (count_q != 2'd3);
    if (count_q == 2'd2) assert (old_q != young_q);
    if (push) assert (count_q != 2'd2 && !busy_i[new_unit]);
  end
  for (genvar u = 0; u < Units; u++) begin : gen_unit_rules
    logic   data_went_q, coef_went_q, hbm_went_q, judged_q;
    hulls_t hulls_was_q;
    always_ff @(posedge clk_i) begin
      if (out_of_reset_q) begin
        assert (busy_i[u] == (count_q != 2'd0 && old_q == 3'(u) || count_q == 2'd2 && young_q == 3'(u)));
        // Commits in program order, by whoever is under way.
        if (commit_valid_i[u]) assert (oldest_o[u]);
        // Levels rise once.
        if (data_went_q) assert (data_go_o[u]);
        if (coef_went_q) assert (coef_go_o[u]);
        if (hbm_went_q) assert (hbm_go_o[u]);
        // A judged instruction's hulls stand still.
        if (judged_q) assert (checked_i[u] && hulls_was_q == hulls_i[u]);
      end
      data_went_q <= out_of_reset_q && data_go_o[u] && !commit_valid_i[u];
      coef_went_q <= out_of_reset_q && coef_go_o[u] && !commit_valid_i[u];
      hbm_went_q  <= out_of_reset_q && hbm_go_o[u] && !commit_valid_i[u];
      judged_q    <= out_of_reset_q && checked_i[u] && !commit_valid_i[u];
      if (checked_i[u] && !judged_q) hulls_was_q <= hulls_i[u];
    end
  end
`endif
endmodule
