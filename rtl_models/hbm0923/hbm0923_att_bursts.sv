// The sequence of HBM bursts of trp_mvm and f2w_mvm, the same for every port: for each K/V head, as often as there are
// groups of query heads and tokens that use it, its rows; a row, or a whole head where its rows stand side by side, in bursts.
module hbm0923_att_bursts
  import hbm0923_att_pkg::*;
(
  input  logic       clk_i,
  input  logic       rst_ni,

  input  logic       start_i,
  input  att_plan_t  plan_i,
  input  logic       go_i,

  output logic       left_o,
  output logic       valid_o,
  output att_burst_t burst_o,
  input  logic       ready_i
);
  logic [27:0] head_addr_q, run_addr_q, addr_q;
  logic [7:0]  heads_q;
  logic [19:0] groups_q;
  logic [8:0]  runs_q, all_runs_q;
  logic [15:0] left_q, beats_q;
  logic [4:0]  burst;
  logic        run_end, head_end, group_end;

  always_comb begin
    burst = 5'd16 - {1'b0, addr_q[8:5]};
    if (left_q < 16'(burst)) burst = left_q[4:0];
  end
  assign left_o     = heads_q != 8'd0;
  assign valid_o    = left_o && go_i;
  assign burst_o    = '{addr: addr_q, beats: burst};
  assign run_end    = left_q == 16'(burst);
  assign group_end  = run_end && runs_q == 9'd1;
  assign head_end   = group_end && groups_q == 20'd1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      head_addr_q <= '0;
      run_addr_q  <= '0;
      addr_q      <= '0;
      heads_q     <= '0;
      groups_q   <= '0;
      runs_q      <= '0;
      all_runs_q  <= '0;
      left_q      <= '0;
      beats_q     <= '0;
    end else if (start_i) begin
      head_addr_q <= plan_i.wt_addr;
      run_addr_q  <= plan_i.wt_addr;
      addr_q      <= plan_i.wt_addr;
      heads_q     <= plan_i.store ? 8'd0 : plan_i.kv_heads;
      groups_q   <= plan_i.groups;
      runs_q      <= plan_i.joined ? 9'd1 : plan_i.rows;
      all_runs_q  <= plan_i.joined ? 9'd1 : plan_i.rows;
      left_q      <= plan_i.joined ? plan_i.head_beats : 16'(plan_i.beats);
      beats_q     <= plan_i.joined ? plan_i.head_beats : 16'(plan_i.beats);
    end else if (valid_o && ready_i) begin
      addr_q <= addr_q + {18'd0, burst, 5'd0};
      left_q <= left_q - 16'(burst);
      if (run_end) begin
        left_q     <= beats_q;
        runs_q     <= runs_q - 9'd1;
        addr_q     <= run_addr_q + plan_i.wt_line;
        run_addr_q <= run_addr_q + plan_i.wt_line;
      end
      if (group_end) begin
        runs_q     <= all_runs_q;
        groups_q  <= groups_q - 20'd1;
        addr_q     <= head_addr_q;
        run_addr_q <= head_addr_q;
      end
      if (head_end) begin
        groups_q   <= plan_i.groups;
        heads_q     <= heads_q - 8'd1;
        addr_q      <= head_addr_q + plan_i.wt_head;
        run_addr_q  <= head_addr_q + plan_i.wt_head;
        head_addr_q <= head_addr_q + plan_i.wt_head;
      end
    end
  end

  logic unused_plan;
  assign unused_plan = ^plan_i;
endmodule
