// Counts through the beats of an instruction: row by row (a row is a token of a line), or, by_surface, through the tokens
// of a surface. Says of each beat how many of its lanes count.
module hbm0923_sfu_walk
  import hbm0923_feature_pkg::*;
  import hbm0923_sfu_plan_pkg::*;
#(
  parameter bit Padded = 1'b0  // a row ends with its last surface, not with the last one that has a lane that counts
) (
  input  logic      clk_i,
  input  logic      rst_ni,

  input  logic      start_i,
  input  logic      none_i,        // nothing to do
  input  logic      by_surface_i,
  input  sfu_plan_t plan_i,
  input  logic      take_i,

  output logic       left_o,       // there is a beat
  output logic       first_o,      // of a row
  output logic       last_o,
  output logic       line_last_o,  // the last beat of a line
  output logic [5:0] lanes_o       // that count, 0 to 32
);
  logic [LaneBits-1:0] lanes_q, row_q;
  logic [15:0]         surfaces_q, tokens_q;
  logic [7:0]          lines_q;
  logic                first_q, line_end, token_end;

  assign left_o      = lines_q != '0;
  assign first_o     = first_q;
  assign lanes_o     = (lanes_q >= LaneBits'(6'd32)) ? 6'd32 : lanes_q[5:0];
  assign last_o      = Padded ? surfaces_q == 16'd1 : lanes_q <= LaneBits'(6'd32);
  assign token_end   = tokens_q == 16'd1;
  assign line_end    = token_end && last_o;
  assign line_last_o = line_end;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      lanes_q    <= '0;
      row_q      <= '0;
      surfaces_q <= '0;
      tokens_q   <= '0;
      lines_q    <= '0;
      first_q    <= 1'b0;
    end else if (start_i) begin
      lanes_q    <= plan_i.lanes;
      row_q      <= plan_i.lanes;
      surfaces_q <= plan_i.sizes.surfaces;
      tokens_q   <= plan_i.sizes.tokens;
      lines_q    <= none_i ? 8'd0 : plan_i.sizes.lines;
      first_q    <= 1'b1;
    end else if (take_i) begin
      if (line_end) begin
        lanes_q    <= plan_i.lanes;
        row_q      <= plan_i.lanes;
        surfaces_q <= plan_i.sizes.surfaces;
        tokens_q   <= plan_i.sizes.tokens;
        lines_q    <= lines_q - 8'd1;
        first_q    <= 1'b1;
      end else if (by_surface_i) begin
        tokens_q <= token_end ? plan_i.sizes.tokens : tokens_q - 16'd1;
        if (token_end) begin
          surfaces_q <= surfaces_q - 16'd1;
          lanes_q    <= lanes_q - LaneBits'(6'd32);
        end
      end else if (last_o) begin
        lanes_q    <= row_q + LaneBits'(plan_i.causal);
        row_q      <= row_q + LaneBits'(plan_i.causal);
        surfaces_q <= plan_i.sizes.surfaces;
        tokens_q   <= tokens_q - 16'd1;
        first_q    <= 1'b1;
      end else begin
        lanes_q    <= lanes_q - LaneBits'(lanes_o);
        surfaces_q <= surfaces_q - 16'd1;
        first_q    <= 1'b0;
      end
    end
  end

  logic unused_plan;
  assign unused_plan = ^plan_i;
endmodule
