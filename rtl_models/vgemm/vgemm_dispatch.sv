// Takes instructions from the registers or from the fetch, checks them, puts them into their module's queue in program order, and
// commits them in that order however the modules overlap.
//
// A pop takes effect when an earlier instruction, in program order, pushed a token that no pop took: nothing waits for ever. A push
// beyond MaxTokens takes none. A finish waits until everything has committed and empties the queues of tokens.
module vgemm_dispatch
  import vgemm_pkg::*;
  import vgemm_types_pkg::*;
#(
  parameter int unsigned Block        = 4,
  parameter int unsigned UopDepth     = 512,
  parameter int unsigned InpDepth     = 1024,
  parameter int unsigned WgtDepth     = 1024,
  parameter int unsigned AccDepth     = 1024,
  parameter int unsigned DdrMegabytes = 16,
  parameter int unsigned Depth        = 8       // instructions under way
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  input  logic             start_i,             // from the registers
  input  logic [31:0]      mode_i,
  input  word_t            word_i,
  input  logic             binary_start_i,      // seen here only to refuse it
  input  logic             fetch_busy_i,
  input  logic             fetch_over_i,
  input  logic [15:0]      fetch_error_i,
  input  logic             fetch_valid_i,
  output logic             fetch_ready_o,
  input  logic [31:0]      fetch_mode_i,
  input  word_t            fetch_word_i,
  output logic             fetch_stop_o,
  output logic             fetch_end_o,
  output logic             fetch_start_o,

  output logic [2:0]       issue_o,             // by module, one cycle
  output issue_t           issue_data_o,
  output logic             clear_tokens_o,
  input  logic [2:0]       done_valid_i,        // by module: its oldest instruction is through
  input  done_t [2:0]      done_i,
  output logic [2:0]       done_pop_o,
  output logic             store_oldest_o,      // the oldest instruction is the module's
  output logic [2:0]       observe_o,           // by module: tell what its oldest instruction wrote; the cycle before the commit

  output logic             idle_o,
  output logic             run_done_o,
  output logic             commit_valid_o,
  output logic [15:0]      commit_opcode_o,
  output logic [15:0]      commit_error_o,
  output logic [5:0][31:0] commit_cycles_o
);
  typedef struct packed {
    module_e     owner;
    logic [15:0] opcode;
    logic [15:0] error;
    logic [31:0] stamp;
  } entry_t;

  localparam int unsigned CheckCycles = 4;

  logic [31:0] now_q;

  // ---- one instruction that was taken
  logic        in_valid_q, in_take;
  logic [31:0] in_mode_q, in_stamp_q;
  word_t       in_word_q;
  logic        refuse_q;                        // a start that came at the wrong time; one is remembered
  logic [15:0] refuse_opcode_q;
  logic [31:0] refuse_stamp_q;
  logic        run_error_q, fetch_told_q;

  logic        reg_ok;
  assign reg_ok        = !in_valid_q && !fetch_busy_i && !binary_start_i;
  assign fetch_start_o = binary_start_i && !fetch_busy_i && !in_valid_q;
  assign fetch_ready_o = !in_valid_q && !refuse_q;

  // ---- checks
  module_e     owner;
  logic [15:0] opcode, error;
  logic [3:0]  pop, push;
  vgemm_check #(
    .Block(Block),
    .UopDepth(UopDepth),
    .InpDepth(InpDepth),
    .WgtDepth(WgtDepth),
    .AccDepth(AccDepth),
    .DdrMegabytes(DdrMegabytes)
  ) u_check (
    .word_i  (in_word_q),
    .mode_i  (in_mode_q),
    .module_o(owner),
    .opcode_o(opcode),
    .error_o (error),
    .pop_o   (pop),
    .push_o  (push)
  );

  // Its products and sums are a path of several cycles.
  logic [2:0] age_q;
  logic       settled;
  assign settled = 32'(age_q) == CheckCycles;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) age_q <= '0;
    else if (!in_valid_q || in_take) age_q <= '0;
    else if (!settled) age_q <= age_q + 3'd1;
  end

  // ---- the order of commits
  logic   full, head_valid, push_entry, pop_entry;
  entry_t entry, head;
  logic   finish, fetch_fails;
  assign finish      = opcode == OpFinish && error == ErrNone;
  assign in_take     = in_valid_q && settled && !full && !(finish && head_valid);
  assign fetch_fails = fetch_over_i && fetch_error_i != ErrNone && !fetch_told_q && !in_valid_q && !full;
  assign push_entry  = in_take || ((refuse_q || fetch_fails) && !full && !in_valid_q);
  always_comb begin
    entry = '{owner: owner, opcode: opcode, error: error, stamp: in_stamp_q};
    if (error != ErrNone) entry.owner = ModNone;
    if (!in_valid_q) begin
      entry.owner  = ModNone;
      entry.opcode = fetch_fails ? OpBinaryRun : refuse_opcode_q;
      entry.error  = fetch_fails ? fetch_error_i : ErrBusy;
      entry.stamp  = fetch_fails ? now_q : refuse_stamp_q;
    end
  end
  vgemm_fifo #(.Width($bits(entry_t)), .Depth(Depth)) u_order (
    .clk_i,
    .rst_ni,
    .push_i (push_entry),
    .data_i (entry),
    .full_o (full),
    .valid_o(head_valid),
    .data_o (head),
    .pop_i  (pop_entry)
  );

  // ---- tokens in program order
  logic [3:0][5:0] tokens_q, tokens_d;
  logic [3:0]      pop_now, push_now;
  always_comb begin
    tokens_d = tokens_q;
    for (int unsigned q = 0; q < 4; q++) begin
      pop_now[q]  = pop[q] && tokens_q[q] != '0;
      push_now[q] = push[q] && (32'(tokens_q[q]) < MaxTokens || pop_now[q]);
      if (in_take && error == ErrNone) tokens_d[q] = tokens_q[q] - 6'(pop_now[q]) + 6'(push_now[q]);
    end
    if (clear_tokens_o) tokens_d = '0;
  end
  assign clear_tokens_o = in_take && finish;
  assign issue_data_o   = '{word: in_word_q, pop: pop_now, push: push_now};
  always_comb begin
    issue_o = '0;
    if (in_take && error == ErrNone && owner != ModNone) issue_o[owner] = 1'b1;
  end

  // ---- commits: one cycle to tell what was written, one to commit
  logic   telling_q, tell;
  done_t  done;
  logic   ready;
  always_comb begin
    done  = '0;
    ready = 1'b1;
    if (head.owner != ModNone) begin
      done  = done_i[head.owner];
      ready = done_valid_i[head.owner];
    end
  end
  assign tell           = head_valid && ready && !telling_q;
  assign pop_entry      = telling_q;
  assign store_oldest_o = head_valid && head.owner == ModStore && !done_valid_i[ModStore];
  always_comb begin
    observe_o  = '0;
    done_pop_o = '0;
    if (head.owner != ModNone) begin
      observe_o[head.owner]  = tell;
      done_pop_o[head.owner] = telling_q;
    end
  end
  assign commit_valid_o  = telling_q;
  assign commit_opcode_o = head.opcode;
  assign commit_error_o  = (head.error != ErrNone) ? head.error : done.error;

  logic [31:0] whole, told;
  assign whole = now_q - head.stamp + 32'd1;
  assign told  = done.cycles[0] + done.cycles[1] + done.cycles[2] + done.cycles[3] + done.dependency;
  assign commit_cycles_o[3:0] = done.cycles;
  assign commit_cycles_o[4]   = whole - told;
  assign commit_cycles_o[5]   = done.dependency;

  logic commits_error;
  assign commits_error = commit_valid_o && commit_error_o != ErrNone;
  assign fetch_stop_o  = commits_error || run_error_q || (in_take && error != ErrNone);
  assign fetch_end_o   = fetch_over_i && !head_valid && !in_valid_q && !refuse_q && (fetch_error_i == ErrNone || fetch_told_q);
  assign run_done_o    = fetch_end_o && !run_error_q;
  assign idle_o        = !head_valid && !in_valid_q && !refuse_q && !fetch_busy_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      now_q           <= '0;
      in_valid_q      <= 1'b0;
      in_mode_q       <= '0;
      in_stamp_q      <= '0;
      in_word_q       <= '0;
      refuse_q        <= 1'b0;
      refuse_opcode_q <= '0;
      refuse_stamp_q  <= '0;
      run_error_q     <= 1'b0;
      fetch_told_q    <= 1'b0;
      tokens_q        <= '0;
      telling_q       <= 1'b0;
    end else begin
      now_q     <= now_q + 32'd1;
      tokens_q  <= tokens_d;
      telling_q <= tell;
      if (in_take) in_valid_q <= 1'b0;
      if (start_i && reg_ok) begin
        in_valid_q <= 1'b1;
        in_mode_q  <= mode_i;
        in_word_q  <= word_i;
        in_stamp_q <= now_q;
      end else if (fetch_valid_i && fetch_ready_o) begin
        in_valid_q <= 1'b1;
        in_mode_q  <= fetch_mode_i;
        in_word_q  <= fetch_word_i;
        in_stamp_q <= now_q;
      end
      if (push_entry && !in_take && !fetch_fails) refuse_q <= 1'b0;
      if ((start_i && !reg_ok) || (binary_start_i && !fetch_start_o)) begin
        refuse_q        <= 1'b1;
        refuse_opcode_q <= binary_start_i ? OpBinaryRun : mode_i[15:0];
        refuse_stamp_q  <= now_q;
      end
      if (push_entry && !in_take && fetch_fails) fetch_told_q <= 1'b1;
      if (fetch_end_o || !fetch_busy_i) begin
        run_error_q  <= 1'b0;
        fetch_told_q <= 1'b0;
      end else if (commits_error || (in_take && error != ErrNone)) begin
        run_error_q <= 1'b1;
      end
    end
  end

`ifndef SYNTHESIS
  // Assertions hold from the first cycle out of reset; a flop, so that the reset stays purely asynchronous.
  logic out_of_reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_of_reset_q <= 1'b0;
    else out_of_reset_q <= 1'b1;
  end
  // No queue of tokens holds more than its counter can, and nothing is issued with a token that is not there.
  always_ff @(posedge clk_i) if (out_of_reset_q && in_take) begin
    for (int unsigned q = 0; q < 4; q++) begin
      if (pop_now[q]) assert (tokens_q[q] != '0);
      if (push_now[q]) assert (32'(tokens_q[q]) < MaxTokens || pop_now[q]);
    end
  end
`endif
endmodule
