// The sum of a row's exponentials, exact, and its reciprocal: a beat a step, seven steps to the result.
module hbm0923_sfu_recip
  import hbm0923_sfu_softmax_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        step_i,

  input  logic        valid_i,
  input  logic        first_i,      // of a row
  input  logic        last_i,
  input  logic [31:0] mask_i,       // lanes that count
  input  logic [36:0] term_i [32],

  output logic        valid_o,      // for one step
  output recip_t      recip_o,
  output logic        busy_o
);
  localparam int unsigned Stages = 7;
  logic [Stages-1:0]  valid_q;      // from the third on, of the last beat
  logic [1:0]         first_q, last_q;
  logic [63:0]        sum8_q [8];
  logic [63:0]        sum2_q [2];
  logic [SumBits-1:0] sum_q;
  logic [25:0]        fraction_q;
  logic [3:0]         places_q [3];
  parabola_t          parabola_q;
  parabola_terms_t    terms_q;
  recip_t             recip_q;

  assign busy_o = |valid_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= '0;
      first_q <= '0;
      last_q  <= '0;
    end else if (step_i && (valid_i || busy_o)) begin
      valid_q <= {valid_q[Stages-2:2], valid_q[1] && last_q[1], valid_q[0], valid_i};
      first_q <= {first_q[0], first_i};
      last_q  <= {last_q[0], last_i};
    end
  end

  function automatic logic [63:0] term(input logic [36:0] value, input logic counts);
    return counts ? 64'(value) : 64'd0;
  endfunction

  always_ff @(posedge clk_i) begin
    if (step_i && valid_i) begin
      for (int unsigned i = 0; i < 8; i++) begin
        sum8_q[i] <= (term(term_i[4*i], mask_i[4*i]) + term(term_i[4*i+1], mask_i[4*i+1]))
                     + (term(term_i[4*i+2], mask_i[4*i+2]) + term(term_i[4*i+3], mask_i[4*i+3]));
      end
    end
    if (step_i && valid_q[0]) begin
      for (int unsigned i = 0; i < 2; i++) sum2_q[i] <= (sum8_q[4*i] + sum8_q[4*i+1]) + (sum8_q[4*i+2] + sum8_q[4*i+3]);
    end
    // The loop over a row's beats.
    if (step_i && valid_q[1]) sum_q <= (first_q[1] ? '0 : sum_q) + SumBits'(sum2_q[0] + sum2_q[1]);
    if (step_i && valid_q[2]) begin
      fraction_q  <= sum_fraction(sum_q, sum_places(sum_q));
      places_q[0] <= sum_places(sum_q);
    end
    if (step_i && valid_q[3]) begin
      parabola_q  <= recip_parabola(fraction_q);
      places_q[1] <= places_q[0];
    end
    if (step_i && valid_q[4]) begin
      terms_q     <= parabola_terms(parabola_q);
      places_q[2] <= places_q[1];
    end
    if (step_i && valid_q[5]) recip_q <= '{factor: 28'(parabola_sum(terms_q) >> 3), places: places_q[2]};
  end

  assign valid_o = valid_q[Stages-1];
  assign recip_o = recip_q;
endmodule
