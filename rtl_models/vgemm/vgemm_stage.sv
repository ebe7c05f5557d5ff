// What the three modules have in common: the queue of instructions, tokens, cycles by class, and the queue of what is through.
module vgemm_stage
  import vgemm_types_pkg::*;
#(
  parameter int unsigned Depth = 8
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       issue_i,
  input  issue_t     issue_data_i,
  input  logic       allowed_i,     // the next instruction may begin
  input  logic [3:0] tokens_i,      // by queue: there is one
  output logic [3:0] pop_o,
  output logic [3:0] push_o,

  output logic       begin_o,       // one cycle, with the word
  output word_t      word_o,
  input  logic       end_i,         // one cycle, after begin_o
  input  logic [15:0] error_i,
  input  logic [1:0] class_i,       // of this cycle, while busy

  output logic       done_valid_o,
  output done_t      done_o,
  input  logic       done_pop_i
);
  issue_t     head;
  logic       valid, full, done_full, busy_q;
  logic [3:0] push_q;
  done_t      counts_q, counts;

  vgemm_fifo #(.Width($bits(issue_t)), .Depth(Depth)) u_queue (
    .clk_i,
    .rst_ni,
    .push_i (issue_i),
    .data_i (issue_data_i),
    .full_o (full),
    .valid_o(valid),
    .data_o (head),
    .pop_i  (begin_o)
  );
  assign begin_o = valid && !busy_q && allowed_i && (head.pop & ~tokens_i) == '0;
  assign word_o  = head.word;
  assign pop_o   = begin_o ? head.pop : '0;
  assign push_o  = end_i ? push_q : '0;

  always_comb begin
    counts = counts_q;
    if (valid && !busy_q && !begin_o) counts.dependency = counts_q.dependency + 32'd1;
    if (busy_q) counts.cycles[class_i] = counts_q.cycles[class_i] + 32'd1;
    counts.error = error_i;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q   <= 1'b0;
      push_q   <= '0;
      counts_q <= '0;
    end else begin
      counts_q <= end_i ? '0 : counts;
      if (begin_o) begin
        busy_q <= 1'b1;
        push_q <= head.push;
      end else if (end_i) begin
        busy_q <= 1'b0;
      end
    end
  end
  vgemm_fifo #(.Width($bits(done_t)), .Depth(Depth)) u_done (
    .clk_i,
    .rst_ni,
    .push_i (end_i),
    .data_i (counts),
    .full_o (done_full),
    .valid_o(done_valid_o),
    .data_o (done_o),
    .pop_i  (done_pop_i)
  );

`ifndef SYNTHESIS
  logic out_of_reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_of_reset_q <= 1'b0;
    else out_of_reset_q <= 1'b1;
  end
  always_ff @(posedge clk_i) if (out_of_reset_q && end_i) assert (busy_q && !done_full);
`endif
  logic unused;
  assign unused = ^{full, done_full};
endmodule
