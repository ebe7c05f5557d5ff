// The last pass of softmax: 32 exponentials times the reciprocal of their row's sum, exactly, rounded once to FP16. Six steps.
module hbm0923_sfu_scale
  import fp_pkg::*;
  import hbm0923_sfu_softmax_pkg::*;
(
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         step_i,

  input  logic         valid_i,   // a beat is taken
  input  logic [5:0]   lanes_i,   // that count
  input  logic         odd_i,     // the largest of the row is no number: none of its results is
  input  recip_t       recip_i,
  input  exps_t        e_i,       // the cycle after

  output logic         valid_o,   // for one cycle
  output logic [511:0] data_o,
  output logic         busy_o
);
  localparam int unsigned Stages = 6;
  logic [Stages-1:0] valid_q;
  logic [5:0]        lanes_q [Stages-1];
  logic              odd_q [Stages-1];
  recip_t            recip_q;
  assign busy_o = |valid_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= '0;
    else if (step_i && (valid_i || busy_o)) valid_q <= {valid_q[Stages-2:0], valid_i};
  end
  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      lanes_q[0] <= lanes_i;
      odd_q[0]   <= odd_i;
      recip_q    <= recip_i;
    end
    for (int unsigned s = 1; s < Stages - 1; s++) begin
      if (step_i && valid_q[s-1]) begin
        lanes_q[s] <= lanes_q[s-1];
        odd_q[s]   <= odd_q[s-1];
      end
    end
  end

  // 11 places and what decides on rounding them: the next place, and whether more follow.
  typedef struct packed {
    logic [10:0] kept;
    logic        half;
    logic        more;
  } places_t;

  function automatic places_t shifted(input places_t p, input logic [3:0] n);
    logic [12:0] lost;
    lost = p & ~(13'h1FFF << n);
    return places_t'((p >> n) | 13'(lost != 13'd0));
  endfunction

  for (genvar i = 0; i < 32; i++) begin : gen_lane
    logic [63:0] low_q, high_q;
    logic [54:0] product_q;                 // at least 2^53
    logic [5:0]  scale_q [2];
    places_t     leading_q, places_q;
    logic [4:0]  exp_q [2];                 // FP16's, less 1 in normal numbers
    logic [3:0]  shift_q;
    logic [15:0] y_q;
    logic [6:0]  below;                     // how far the result lies below 2 times the smallest normal number, and 15
    assign below = 7'(scale_q[1]) + 7'(!product_q[54]);
    always_ff @(posedge clk_i) begin
      if (step_i && valid_q[0]) begin
        low_q      <= 64'({1'b1, e_i[i].mantissa}) * 64'(recip_q.factor[16:0]);
        high_q     <= 64'({1'b1, e_i[i].mantissa}) * 64'({1'b1, recip_q.factor[27:17]});
        scale_q[0] <= 6'(e_i[i].places) + 6'(recip_q.places);
      end
      if (step_i && valid_q[1]) begin
        product_q  <= 55'(low_q + (high_q << 17));
        scale_q[1] <= scale_q[0];
      end
      if (step_i && valid_q[2]) begin
        leading_q <= product_q[54] ? '{kept: product_q[54:44], half: product_q[43], more: product_q[42:0] != '0}
                                   : '{kept: product_q[53:43], half: product_q[42], more: product_q[41:0] != '0};
        exp_q[0]  <= (below < 7'd14) ? 5'd14 - below[4:0] : 5'd0;
        shift_q   <= (below < 7'd15) ? 4'd0 : (below > 7'd27) ? 4'd13 : 4'(below - 7'd14);
      end
      if (step_i && valid_q[3]) begin
        places_q <= shifted(leading_q, shift_q);
        exp_q[1] <= exp_q[0];
      end
      if (step_i && valid_q[4]) begin
        if (6'(i) >= lanes_q[4]) y_q <= 16'd0;
        else if (odd_q[4]) y_q <= Fp16Nan;
        else y_q <= {1'b0, exp_q[1], 10'd0} + 16'(places_q.kept) + 16'(places_q.half && (places_q.kept[0] || places_q.more));
      end
    end
    assign data_o[16*i+:16] = y_q;
  end
  assign valid_o = step_i && valid_q[Stages-1];
endmodule
