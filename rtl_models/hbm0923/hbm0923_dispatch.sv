// Takes instructions from the registers or from a binary, hands them to their units, and sees to their order.
//
// Several are under way, each in a slot of its own (a unit's; MVM and attention have two): up to two that were written to the
// registers, up to InFlight tasks of a binary. A younger one may read what no older one writes: all tell the hulls of what
// they read and write, and a class of reads is let go when these do not meet; of activations also what an older one has
// already settled (hbm0923_follow). Only the oldest writes and commits, so that memory changes and commits happen in program order.
// From a binary, the next task is handed over when the one before was found legal: after a refused one nothing runs.
module hbm0923_dispatch
  import hbm0923_pkg::*;
  import hbm0923_unit_pkg::*;
  import hbm0923_fabric_pkg::*;
  import hbm0923_aux_pkg::*;
#(
  // Cycles from the acceptance of a start register's write to its pulse, which belong to the instruction too.
  parameter int unsigned StartLatency = 1,
  parameter int unsigned InFlight     = 4
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

  // ---- slots
  output logic [Slots-1:0]         start_o,
  output logic [31:0]              mode_o,
  input  logic [Slots-1:0]         busy_i,
  input  logic [Slots-1:0]         checked_i,
  input  hulls_t [Slots-1:0]       hulls_i,
  output logic [Slots-1:0]         oldest_o,
  output logic [Slots-1:0]         data_go_o,
  output logic [Slots-1:0]         coef_go_o,
  output logic [Slots-1:0]         hbm_go_o,
  input  bound_t [Slots-1:0]       settled_i,
  output bound_t [Slots-1:0][1:0]  bounds_o,
  input  logic [Slots-1:0]         commit_valid_i,
  input  logic [Slots-1:0][15:0]   commit_error_i,
  input  commit_t [Slots-1:0]      commit_i,
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

  // ---- who is under way, the oldest first
  localparam int unsigned Cw = $clog2(InFlight + 1);
  logic [Cw-1:0]            count_q, count_d;
  logic [InFlight-1:0][2:0] order_q, order_d;
  logic [InFlight-1:0]      task_q, task_d;
  logic [2:0]               old, youngest;
  logic                     run_q, stop_q, run_refused;
  logic                     push, pop, pop_error;
  logic [2:0]               new_slot;
  assign old = order_q[0];
  always_comb begin
    youngest = order_q[0];
    for (int unsigned i = 1; i < InFlight; i++) if (32'(count_q) > i) youngest = order_q[i];
  end

  // Only tasks of a binary go to the other slot of a unit that is busy.
  function automatic logic unit_busy(input logic [2:0] unit, input logic [Slots-1:0] busy);
    return busy[unit] || busy[other_slot(unit)];
  endfunction

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
  assign taken       = pulse && !run_q && !unit_busy(wanted, busy_i) && (run_wanted || count_q < Cw'(2));
  assign refused     = pulse && !taken;
  assign run_start_o = taken && run_wanted;

  // ---- a task's
  logic       before_legal;
  logic [2:0] task_slot;
  assign task_slot    = busy_i[task_i.unit] ? other_slot(task_i.unit) : task_i.unit;
  assign before_legal = count_q == '0
                        || (32'(count_q) < InFlight && checked_i[youngest] && commit_error_i[youngest] == ErrNone && !pop_error);
  assign task_ready_o = run_q && !stop_q && before_legal && !busy_i[task_slot];

  assign push     = (taken && !run_wanted) || (task_i.valid && task_ready_o);
  assign new_slot = run_q ? task_slot : wanted;
  assign mode_o   = run_q ? task_i.mode : mode;
  always_comb begin
    start_o           = '0;
    start_o[new_slot] = push;
  end

  // ---- order
  assign pop       = count_q != '0 && commit_valid_i[old];
  assign pop_error = pop && commit_error_i[old] != ErrNone;

  always_comb begin
    count_d = count_q + Cw'(push) - Cw'(pop);
    order_d = order_q;
    task_d  = task_q;
    if (pop) begin
      for (int unsigned i = 1; i < InFlight; i++) begin
        order_d[i-1] = order_q[i];
        task_d[i-1]  = task_q[i];
      end
    end
    for (int unsigned i = 0; i < InFlight; i++) begin
      if (push && 32'(count_q) == i + 32'(pop)) begin
        order_d[i] = new_slot;
        task_d[i]  = run_q;
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
      order_q <= '0;
      task_q  <= '0;
    end else if (push || pop) begin
      count_q <= count_d;
      order_q <= order_d;
      task_q  <= task_d;
    end
  end

  // ---- what a younger one may read: judged once all older ones and itself were found legal, whose hulls then stand still.
  // What was let go stays so: older ones only become fewer.
  logic [Slots-1:0]    data_q, coef_q, hbm_q, data_d, coef_d, hbm_d;
  logic [InFlight-1:0] known, waits;
  hulls_t              older, younger;
  always_comb begin
    known = '0;
    waits = '0;
    for (int unsigned i = 0; i < InFlight; i++) begin
      known[i] = 32'(count_q) > i && checked_i[order_q[i]] && (i == 0 || known[i-1]);
      waits[i] = i != 0 && known[i] && !(data_q[order_q[i]] && coef_q[order_q[i]] && hbm_q[order_q[i]]);
    end
  end
  always_comb begin
    data_d  = data_q;
    coef_d  = coef_q;
    hbm_d   = hbm_q;
    older   = '0;
    younger = '0;
    // Evaluated only while something waits for it.
    for (int unsigned i = 1; i < InFlight; i++) begin
      if (waits[i]) begin
        younger            = hulls_i[order_q[i]];
        data_d[order_q[i]] = 1'b1;
        coef_d[order_q[i]] = 1'b1;
        hbm_d[order_q[i]]  = 1'b1;
        for (int unsigned j = 0; j < i; j++) begin
          older = hulls_i[order_q[j]];
          for (int unsigned w = 0; w < 2; w++) begin
            for (int unsigned r = 0; r < 2; r++) begin
              if (meets(younger.data[r], older.wr[w]) && !data_q[order_q[i]]) data_d[order_q[i]] = 1'b0;
            end
            if (meets(younger.coef, older.wr[w]) && !coef_q[order_q[i]]) coef_d[order_q[i]] = 1'b0;
          end
          if (meets(younger.hbm, older.hbm_wr) && !hbm_q[order_q[i]]) hbm_d[order_q[i]] = 1'b0;
        end
      end
    end
    if (pop) begin
      data_d[old] = 1'b0;
      coef_d[old] = 1'b0;
      hbm_d[old]  = 1'b0;
    end
  end

  hbm0923_follow #(.InFlight(InFlight)) u_follow (
    .clk_i, .rst_ni, .order_i (order_q), .waits_i (waits), .hulls_i, .settled_i, .bounds_o
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      data_q <= '0;
      coef_q <= '0;
      hbm_q  <= '0;
    end else begin
      data_q <= data_d;
      coef_q <= coef_d;
      hbm_q  <= hbm_d;
    end
  end

  always_comb begin
    for (int unsigned u = 0; u < Slots; u++) begin
      oldest_o[u]  = count_q != '0 && old == 3'(u);
      data_go_o[u] = oldest_o[u] || data_q[u];
      coef_go_o[u] = oldest_o[u] || coef_q[u];
      hbm_go_o[u]  = oldest_o[u] || hbm_q[u];
    end
  end

  // ---- the binary: over when nothing more comes and what came has committed; a refused one then commits itself
  logic [31:0] run_cycles_q;
  assign run_end_o   = run_q && run_over_i && count_q == '0;
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
      if (pop_error && task_q[0]) stop_q <= 1'b1;
    end
  end

  always_comb begin
    commit_valid_o = pop;
    commit_error_o = commit_error_i[old];
    commit_o       = '0;
    for (int unsigned u = 0; u < Slots; u++) if (pop && old == 3'(u)) commit_o = commit_i[u];
    if (run_refused) begin
      commit_valid_o         = 1'b1;
      commit_error_o         = run_error_i;
      commit_o.opcode        = OpAuxRun;
      commit_o.cycles[Issue] = run_cycles_q + 32'd1;
    end
  end

  // ---- what the registers show
  logic [Groups-1:0] done_q, under_way, begun;
  logic [5:0][31:0]  class_q;
  logic [31:0]       last_total;
  logic              sum_q;       // a cycle after a commit, whose cycles are added up: before anybody can have read of it
  always_comb begin
    under_way = '0;
    begun     = '0;
    for (int unsigned i = 0; i < InFlight; i++) if (32'(count_q) > i) under_way[group_of(order_q[i])] = 1'b1;
    if (push) begun[group_of(new_slot)] = 1'b1;
    if (run_q) under_way[GroupAux] = 1'b1;
    if (run_start_o) begun[GroupAux] = 1'b1;
    last_total = '0;
    if (sum_q) for (int unsigned c = 0; c < 6; c++) last_total = last_total + class_q[c];
  end
  // A start clears the status in the cycle in which it is seen.
  assign status_o = done_q & ~under_way & ~begun;

  assign irq_done_o  = (pop && !task_q[0]) || run_end_o;
  assign irq_error_o = (commit_valid_o && commit_error_o != ErrNone) || refused;

  logic [15:0]      err_cause_q, err_instr_q;
  logic [31:0]      result_q, cycles_q, commits_q, tasks_q;
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
      sum_q       <= 1'b0;
    end else begin
      for (int unsigned g = 0; g < Groups; g++) begin
        if (begun[g]) done_q[g] <= 1'b0;
        else if (pop && 32'(group_of(old)) == g) done_q[g] <= 1'b1;
        else if (run_end_o && g == GroupAux) done_q[g] <= 1'b1;
      end
      if (commit_valid_o) begin
        class_q   <= commit_o.cycles;
        commits_q <= commits_q + 32'd1;
        if (commit_o.result_valid) result_q <= commit_o.result;
        if (commit_error_o != ErrNone) begin
          err_cause_q <= commit_error_o;
          err_instr_q <= commit_o.opcode;
        end
      end
      sum_q <= commit_valid_o;
      if (sum_q) cycles_q <= last_total;
      if (run_start_o) tasks_q <= '0;
      else if (pop && task_q[0]) tasks_q <= tasks_q + 32'd1;
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
  assign unused_hulls = ^{older, younger};

`ifndef SYNTHESIS
  // Assertions hold from the first cycle out of reset; a flop, so that the reset stays purely asynchronous.
  logic out_of_reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_of_reset_q <= 1'b0;
    else out_of_reset_q <= 1'b1;
  end
  always_ff @(posedge clk_i) if (out_of_reset_q) begin
    assert ($onehot0(pulse_i));
    assert (32'(count_q) <= InFlight);
    if (push) assert (32'(count_q) < InFlight && !busy_i[new_slot]);
  end
  logic [Slots-1:0] under_way_slots;
  always_comb begin
    under_way_slots = '0;
    for (int unsigned i = 0; i < InFlight; i++) if (32'(count_q) > i) under_way_slots[order_q[i]] = 1'b1;
  end
  for (genvar u = 0; u < Slots; u++) begin : gen_slot_rules
    logic   data_went_q, coef_went_q, hbm_went_q, judged_q;
    hulls_t hulls_was_q;
    always_ff @(posedge clk_i) begin
      if (out_of_reset_q) begin
        assert (busy_i[u] == under_way_slots[u]);
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
