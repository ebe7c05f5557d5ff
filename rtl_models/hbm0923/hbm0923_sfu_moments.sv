// Sums of a row of norm, exact: of X^2 in two words, and of X where its mean is to be subtracted. A beat a step, five steps to
// the sums.
module hbm0923_sfu_moments
  import hbm0923_sfu_softmax_pkg::*;
  import hbm0923_sfu_norm_pkg::*;
(
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         step_i,
  input  logic         layer_i,    // stands still

  input  logic         valid_i,
  input  logic         first_i,    // of a row
  input  logic         last_i,
  input  logic [31:0]  mask_i,     // lanes that count
  input  logic [511:0] data_i,

  output logic         valid_o,    // for one step
  output squares_t     squares_o,
  output row_sum_t     sum_o,
  output logic         odd_o,      // a lane that counts is not finite
  output logic         busy_o
);
  localparam int unsigned Stages = 5;
  logic [Stages-1:0] valid_q, en;  // the last one of a row's last beat
  logic [Stages-2:0] first_q, last_q;
  assign en     = {valid_q[Stages-2:0], valid_i} & {Stages{step_i}};
  assign busy_o = |valid_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= '0;
      first_q <= '0;
      last_q  <= '0;
    end else if (step_i && (valid_i || busy_o)) begin
      valid_q <= {valid_q[Stages-2] && last_q[Stages-2], valid_q[Stages-3:0], valid_i};
      first_q <= {first_q[Stages-3:0], first_i};
      last_q  <= {last_q[Stages-3:0], last_i};
    end
  end

  // ---- a beat's squares
  lane_square_t square_q [32];
  logic [63:0]  low_q [32];
  logic [63:0]  high_q [32];
  logic [63:0]  low8_q [8];
  logic [63:0]  high8_q [8];
  logic [63:0]  low2_q [2];
  logic [63:0]  high2_q [2];
  logic [31:0]  mask_q, lane_odd_q;
  logic [2:0]   odd_q;

  always_ff @(posedge clk_i) begin
    if (en[0]) begin
      mask_q <= mask_i;
      for (int unsigned i = 0; i < 32; i++) begin
        square_q[i]   <= lane_square(data_i[16*i+:16]);
        lane_odd_q[i] <= data_i[16*i+10+:5] == 5'd31 && mask_i[i];
      end
    end
    if (en[1]) begin
      odd_q[0] <= lane_odd_q != '0;
      for (int unsigned i = 0; i < 32; i++) begin
        low_q[i]  <= mask_q[i] ? square_low(square_q[i]) : 64'd0;
        high_q[i] <= mask_q[i] ? square_high(square_q[i]) : 64'd0;
      end
    end
    if (en[2]) begin
      odd_q[1] <= odd_q[0];
      for (int unsigned i = 0; i < 8; i++) begin
        low8_q[i]  <= (low_q[4*i] + low_q[4*i+1]) + (low_q[4*i+2] + low_q[4*i+3]);
        high8_q[i] <= (high_q[4*i] + high_q[4*i+1]) + (high_q[4*i+2] + high_q[4*i+3]);
      end
    end
    if (en[3]) begin
      odd_q[2] <= odd_q[1];
      for (int unsigned i = 0; i < 2; i++) begin
        low2_q[i]  <= (low8_q[4*i] + low8_q[4*i+1]) + (low8_q[4*i+2] + low8_q[4*i+3]);
        high2_q[i] <= (high8_q[4*i] + high8_q[4*i+1]) + (high8_q[4*i+2] + high8_q[4*i+3]);
      end
    end
  end

  // ---- its sum
  logic signed [40:0] x_q [32];
  logic signed [40:0] x2_q [32];
  logic signed [42:0] sum8_q [8];
  logic signed [44:0] sum2_q [2];

  always_ff @(posedge clk_i) if (layer_i) begin
    if (en[0]) for (int unsigned i = 0; i < 32; i++) x_q[i] <= 41'(fixed(data_i[16*i+:16]));
    if (en[1]) for (int unsigned i = 0; i < 32; i++) x2_q[i] <= mask_q[i] ? x_q[i] : 41'sd0;
    if (en[2]) begin
      for (int unsigned i = 0; i < 8; i++) begin
        sum8_q[i] <= (43'(x2_q[4*i]) + 43'(x2_q[4*i+1])) + (43'(x2_q[4*i+2]) + 43'(x2_q[4*i+3]));
      end
    end
    if (en[3]) begin
      for (int unsigned i = 0; i < 2; i++) begin
        sum2_q[i] <= (45'(sum8_q[4*i]) + 45'(sum8_q[4*i+1])) + (45'(sum8_q[4*i+2]) + 45'(sum8_q[4*i+3]));
      end
    end
  end

  // ---- the loop over a row's beats
  squares_t squares_q;
  row_sum_t row_sum_q;
  logic     row_odd_q;
  always_ff @(posedge clk_i) begin
    if (en[4]) begin
      squares_q.low  <= (first_q[3] ? '0 : squares_q.low) + WordBits'(low2_q[0] + low2_q[1]);
      squares_q.high <= (first_q[3] ? '0 : squares_q.high) + WordBits'(high2_q[0] + high2_q[1]);
      row_odd_q      <= odd_q[2] || (!first_q[3] && row_odd_q);
      if (layer_i) row_sum_q <= (first_q[3] ? row_sum_t'(0) : row_sum_q) + RowSumBits'(sum2_q[0]) + RowSumBits'(sum2_q[1]);
    end
  end

  assign valid_o   = valid_q[Stages-1];
  assign squares_o = squares_q;
  assign sum_o     = row_sum_q;
  assign odd_o     = row_odd_q;
endmodule
