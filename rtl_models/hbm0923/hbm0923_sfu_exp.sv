// Exponentials of the differences to a row's maximum, a beat a step, eight steps. What comes along leaves with it.
module hbm0923_sfu_exp
  import hbm0923_sfu_softmax_pkg::*;
#(
  parameter int unsigned Lanes = 32,
  parameter int unsigned TagW  = 8
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic                       step_i,

  input  logic                       valid_i,
  input  logic [TagW-1:0]            tag_i,
  input  logic [16*Lanes-1:0]        x_i,
  input  logic [15:0]                max_i,

  output logic                       valid_o,  // for one step
  output logic [TagW-1:0]            tag_o,
  output exp_t [Lanes-1:0]           e_o,
  output logic [36:0]                term_o [Lanes],  // the same, in units of 2^-36
  output logic                       busy_o
);
  localparam int unsigned Stages = 8;
  // Index s: behind step s + 1.
  logic [Stages-1:0] valid_q, en;
  logic [TagW-1:0]   tag_q [Stages];
  assign en     = {valid_q[Stages-2:0], valid_i} & {Stages{step_i}};
  assign busy_o = |valid_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= '0;
    else if (step_i && (valid_i || busy_o)) valid_q <= {valid_q[Stages-2:0], valid_i};
  end
  always_ff @(posedge clk_i) begin
    if (en[0]) tag_q[0] <= tag_i;
    for (int unsigned s = 1; s < Stages; s++) if (en[s]) tag_q[s] <= tag_q[s-1];
  end

  logic signed [63:0] max_q;
  always_ff @(posedge clk_i) if (en[0]) max_q <= fixed(max_i);

  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    logic signed [63:0] x_q;
    logic signed [29:0] z_q;
    logarithm_terms_t   product_q;
    logic [30:0]        u_q;
    parabola_t          parabola_q;
    parabola_terms_t    terms_q;
    logic [25:0]        mantissa_q;
    logic [5:0]         n_q [3];
    exp_t               e_q;
    logic [36:0]        term_q;
    always_ff @(posedge clk_i) begin
      if (en[0]) x_q <= fixed(x_i[16*i+:16]);
      if (en[1]) z_q <= difference(x_q, max_q);
      if (en[2]) product_q <= logarithm_terms(z_q);
      if (en[3]) u_q <= logarithm(product_q);
      if (en[4]) begin
        parabola_q <= exp_parabola(u_q[24:0]);
        n_q[0]     <= 6'd0 - u_q[30:25];
      end
      if (en[5]) begin
        terms_q <= parabola_terms(parabola_q);
        n_q[1]  <= n_q[0];
      end
      if (en[6]) begin
        mantissa_q <= 26'(parabola_sum(terms_q) >> 4);
        n_q[2]     <= n_q[1];
      end
      if (en[7]) begin
        e_q    <= '{mantissa: mantissa_q[24:0], places: n_q[2][5] ? 5'd31 : n_q[2][4:0]};
        term_q <= {mantissa_q, 11'd0} >> n_q[2];
      end
    end
    assign e_o[i]    = e_q;
    assign term_o[i] = term_q;
  end

  assign valid_o = valid_q[Stages-1];
  assign tag_o   = tag_q[Stages-1];
endmodule
