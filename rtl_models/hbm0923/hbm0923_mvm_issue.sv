// Walks an instruction in the order of its outputs: blocks of Tout channels, in each all tokens, in each all beats.
//
// A beat is issued when its activations and weights are on chip; the beat that completes an output also needs what the
// epilogue will take (batch norm, residual, room for the result), so that nothing behind this module ever stalls.
// With groups of 32 a beat holds two groups, of which the last one's second may lie beyond CHin. A step of sparse weights takes
// the place of a beat: 128 inputs, one group, if half of the weights are stored, else 256 inputs and two groups.
module hbm0923_mvm_issue
  import hbm0923_mvm_pkg::*;
#(
  parameter int unsigned DatAw = 14,
  parameter int unsigned Dw    = 11,  // data ring address
  parameter int unsigned Sw    = 8,   // scale ring address
  parameter int unsigned Pw    = 9,   // place ring address
  parameter bit          Sparse = 1'b0,
  parameter int unsigned ArrayLatency = 4
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  input  logic             start_i,
  input  mvm_plan_t        plan_i,
  output logic             active_o,

  // what has arrived
  input  logic             dat_here_i,        // activations of the beat at hand
  input  logic [Dw:0]      data_end_i,
  output logic [Dw:0]      data_free_o,
  output logic [Sw:0]      scale_free_o,
  output logic [Pw:0]      place_free_o,
  input  logic             epilogue_ready_i,  // for the output at hand
  output logic [19:0]      block_o,
  output logic [15:0]      token_o,
  output logic [15:0]      beat_o,

  // the beat
  output logic             issue_o,
  output beat_ctrl_t       ctrl_o,
  output logic             output_o,          // it completes an output
  output logic [DatAw-1:0] dat_addr_o,
  output logic [Dw-1:0]    data_addr_o,
  output logic [Sw-1:0]    scale_addr_o,
  output logic [Pw-1:0]    place_addr_o,

  // why not
  output logic             wait_dat_o,
  output logic             wait_wt_o,
  output logic             wait_epilogue_o
);
  logic             active_q;
  logic [19:0]      block_q;
  logic [15:0]      token_q, beat_q;
  logic [DatAw-1:0] dat_base_q;
  logic [Dw:0]      data_base_q;
  logic [Sw:0]      scale_base_q, scale_free_q;
  logic [15:0]      group_q;
  logic [ArrayLatency+2:0] block_done_q;

  logic        last_beat, last_token, last_block, pair, block_done;
  logic        wt_here;
  logic [Dw:0] data_pos;
  logic [Sw:0] scale_pos;

  assign last_beat  = beat_q == plan_i.beats - 16'd1;
  assign last_token = token_q == plan_i.tokens - 16'd1;
  assign last_block = block_q == plan_i.blocks - 20'd1;
  assign scale_pos  = scale_base_q + (Sw + 1)'(group_q[15:4]);

  // ---- sparse weights: which beats of codes and places a step takes
  kept_e       kept;
  logic [15:0] data_beat;
  logic [Pw:0] place_beat, place_pos;
  assign kept      = Sparse ? plan_i.kept : Dense;
  assign data_beat = kept == KeptEighth ? beat_q >> 1 : beat_q;
  assign data_pos  = data_base_q + (Dw + 1)'(data_beat);
  // Of four beats of codes the first three have places before them.
  assign place_beat = (Pw + 1)'(kept == KeptHalf ? beat_q >> 1 : data_beat - (data_beat >> 2));
  if (Sparse) begin : gen_places
    logic [Pw:0] place_base_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) place_base_q <= '0;
      else if (block_done) place_base_q <= place_base_q + (Pw + 1)'(plan_i.place_beats);
    end
    assign place_pos    = place_base_q + place_beat;
    assign place_free_o = (last_token && kept != Dense) ? place_pos : place_base_q;
  end else begin : gen_places
    assign place_pos    = '0;
    assign place_free_o = '0;
    logic unused_place;
    assign unused_place = ^place_beat;
  end
  assign place_addr_o = place_pos[Pw-1:0];

  assign wt_here = data_end_i != data_pos;

  always_comb begin
    pair = plan_i.group == 2'd0 && !(last_beat && !plan_i.last_mask[32]);
    if (kept == KeptHalf) pair = 1'b0;
    else if (kept != Dense) pair = !(last_beat && plan_i.last_lanes <= 9'd128);
  end
  assign block_done = issue_o && last_beat && last_token;

  assign wait_dat_o      = active_q && !dat_here_i;
  assign wait_wt_o       = active_q && dat_here_i && !wt_here;
  assign wait_epilogue_o = active_q && dat_here_i && wt_here && last_beat && !epilogue_ready_i;
  assign issue_o         = active_q && dat_here_i && wt_here && (!last_beat || epilogue_ready_i);

  always_comb begin
    ctrl_o             = '0;
    ctrl_o.group_first = plan_i.group != 2'd2 || !beat_q[0] || kept != Dense;
    ctrl_o.group_end   = plan_i.group != 2'd2 || beat_q[0] || last_beat || kept != Dense;
    ctrl_o.pair        = pair;
    ctrl_o.acc_first   = group_q == 16'd0;
    ctrl_o.acc_last    = last_beat;
    ctrl_o.scale_load  = ctrl_o.group_end && group_q[3:0] == 4'd0;
    ctrl_o.scale_lane  = group_q[3:0];
    ctrl_o.mask        = last_beat;
    ctrl_o.kept        = kept;
    ctrl_o.turn        = beat_q[2:0];
  end

  assign output_o     = issue_o && last_beat;
  always_comb begin
    dat_addr_o = dat_base_q + DatAw'(beat_q);
    if (kept == KeptHalf) dat_addr_o = dat_base_q + DatAw'({beat_q, 1'b0});
    else if (kept != Dense) dat_addr_o = dat_base_q + DatAw'({beat_q, 2'b0});
  end
  assign data_addr_o  = data_pos[Dw-1:0];
  assign scale_addr_o = scale_pos[Sw-1:0];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      active_q     <= 1'b0;
      block_q      <= '0;
      token_q      <= '0;
      beat_q       <= '0;
      dat_base_q   <= '0;
      data_base_q  <= '0;
      scale_base_q <= '0;
      scale_free_q <= '0;
      group_q      <= '0;
      block_done_q <= '0;
    end else begin
      if (start_i) begin
        active_q   <= 1'b1;
        block_q    <= '0;
        token_q    <= '0;
        beat_q     <= '0;
        dat_base_q <= '0;
        group_q    <= '0;
      end else if (issue_o) begin
        if (ctrl_o.group_end) group_q <= group_q + (pair ? 16'd2 : 16'd1);
        beat_q <= beat_q + 16'd1;
        if (last_beat) begin
          beat_q     <= '0;
          group_q    <= '0;
          token_q    <= last_token ? 16'd0 : token_q + 16'd1;
          dat_base_q <= last_token ? '0 : dat_base_q + DatAw'(plan_i.row);
        end
        if (block_done) begin
          block_q      <= block_q + 20'd1;
          data_base_q  <= data_base_q + (Dw + 1)'(plan_i.data_beats);
          scale_base_q <= scale_base_q + (Sw + 1)'(plan_i.scale_beats);
          if (last_block) active_q <= 1'b0;
        end
      end
      // A block's last scales are read two cycles (sparse weights: three) and those of the array after its last beat was issued:
      // free them after that.
      block_done_q <= {block_done_q[ArrayLatency+1:0], block_done};
      if (block_done_q[ArrayLatency+2]) scale_free_q <= scale_free_q + (Sw + 1)'(plan_i.scale_beats);
    end
  end

  assign active_o     = active_q;
  assign block_o      = block_q;
  assign token_o      = token_q;
  assign beat_o       = beat_q;
  assign data_free_o  = last_token ? data_pos : data_base_q;
  assign scale_free_o = scale_free_q;

  // Fields of the plan that other modules use.
  logic unused_plan;
  assign unused_plan = ^{plan_i, scale_pos[Sw], place_pos[Pw]};
endmodule
