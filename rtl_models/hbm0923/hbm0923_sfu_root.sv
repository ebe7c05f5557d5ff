// recip and rsqrt: a table of 64 intervals and a polynomial, one operation a step on the same adders and multipliers, ten
// steps, a new argument each step.
module hbm0923_sfu_root
  import fp_pkg::*;
  import fp_fn_pkg::*;
  import hbm0923_tables_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        step_i,

  input  logic        valid_i,
  input  logic        root_i,    // rsqrt; stands still while anything is under way
  input  logic [31:0] x_i,

  output logic        valid_o,   // for one step
  output logic [31:0] y_o,
  output logic        busy_o
);
  localparam int unsigned Stages = 10;
  localparam logic [31:0] C2 = 32'h3EA0_0000, C1 = 32'h3EC0_0000, Half = 32'h3F00_0000;  // 5/16, 3/8, 1/2

  // The result where the polynomial does not count.
  typedef struct packed {
    logic        special;
    logic [31:0] value;
    logic signed [8:0] k;  // the result's power of two otherwise
  } fate_t;

  logic [Stages-1:0] valid_q, en;
  fate_t             fate_q [Stages-1];
  logic [31:0] seed_q [Stages-1];
  logic [31:0] m_q, square_q, t_q, e_q, u3_q, u4_q, u5_q, u6_q, u7_q, yu_q, y_q;
  logic [31:0] e3_q, e4_q, e5_q, e6_q;

  assign en     = {valid_q[Stages-2:0], valid_i} & {Stages{step_i}};
  assign busy_o = |valid_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= '0;
    else if (step_i && (valid_i || busy_o)) valid_q <= {valid_q[Stages-2:0], valid_i};
  end

  function automatic fate_t recip_fate(input logic [31:0] x);
    fate_t f;
    f.k       = 9'sd127 - $signed({1'b0, x[30:23]});
    f.special = 1'b1;
    f.value   = {x[31], 31'd0};
    if (x[30:0] > 31'h7F80_0000)  f.value = Fp32Nan;
    else if (x[30:23] == 8'd0)    f.value = {x[31], 31'h7F80_0000};
    else if (x[30:23] < 8'd253)   f.special = 1'b0;
    return f;
  endfunction

  function automatic fate_t rsqrt_fate(input logic [31:0] x);
    fate_t             f;
    logic signed [8:0] e;
    e         = $signed({1'b0, x[30:23]}) - 9'sd127;
    f.k       = -(e >>> 1);
    f.special = 1'b1;
    f.value   = 32'd0;
    if (x[30:0] > 31'h7F80_0000)      f.value = Fp32Nan;
    else if (x[30:23] == 8'd0)        f.value = Fp32Inf;
    else if (x[31])                   f.value = Fp32Nan;
    else if (x[30:23] != 8'd255)      f.special = 1'b0;
    return f;
  endfunction

  // The table's entry, and the argument in [1, 2), for rsqrt in [1, 4): an even power of two stands in the result.
  logic [31:0] seed, argument;
  logic        odd;
  always_comb begin
    odd      = !x_i[23];  // bias 127
    seed     = root_i ? RsqrtTable[{odd, x_i[22:17]}] : RecipTable[x_i[22:17]];
    argument = {1'b0, (root_i && odd) ? 8'd128 : 8'd127, x_i[22:0]};
  end

  always_ff @(posedge clk_i) begin
    if (en[0]) begin
      fate_q[0] <= root_i ? rsqrt_fate(x_i) : recip_fate(x_i);
      seed_q[0] <= root_i ? seed : {x_i[31], seed[30:0]};
      m_q       <= argument;
      square_q  <= root_i ? fp32_mul(seed, seed) : seed;
    end
    for (int unsigned s = 1; s < Stages - 1; s++) begin
      if (en[s]) begin
        fate_q[s] <= fate_q[s-1];
        seed_q[s] <= seed_q[s-1];
      end
    end
    if (en[1]) t_q <= fp32_mul(m_q, square_q);
    if (en[2]) e_q <= fp32_add(Fp32One, {!t_q[31], t_q[30:0]});
    if (en[3]) begin
      u3_q <= root_i ? fp32_mul(e_q, C2) : e_q;
      e3_q <= e_q;
    end
    if (en[4]) begin
      u4_q <= fp32_add(u3_q, root_i ? C1 : Fp32One);
      e4_q <= e3_q;
    end
    if (en[5]) begin
      u5_q <= fp32_mul(u4_q, e4_q);
      e5_q <= e4_q;
    end
    if (en[6]) begin
      u6_q <= fp32_add(u5_q, root_i ? Half : Fp32One);
      e6_q <= e5_q;
    end
    if (en[7]) u7_q <= fp32_mul(u6_q, e6_q);
    if (en[8]) yu_q <= fp32_mul(seed_q[7], u7_q);
    if (en[9]) begin
      y_q <= fate_q[8].special ? fate_q[8].value : fp32_scale(fp32_add(seed_q[8], yu_q), 32'(fate_q[8].k));
    end
  end

  assign valid_o = valid_q[Stages-1];
  assign y_o     = y_q;
endmodule
