// exp32 on lanes, a beat a step, twelve steps. What comes along (tag) leaves with it.
module hbm0923_sfu_exp
  import fp_pkg::*;
  import fp_fn_pkg::*;
  import hbm0923_tables_pkg::*;
#(
  parameter int unsigned Lanes = 32,
  parameter int unsigned TagW  = 8
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             step_i,

  input  logic             valid_i,
  input  logic [TagW-1:0]  tag_i,
  input  logic [31:0]      x_i [Lanes],

  output logic             valid_o,  // for one step
  output logic [TagW-1:0]  tag_o,
  output logic [31:0]      e_o [Lanes],
  output logic             busy_o
);
  localparam int unsigned Stages = 12;
  localparam logic [31:0] Low = 32'hC2AE_0000, High = 32'h42B0_0000;  // -87, 88
  localparam logic [31:0] Sixth = 32'h3E2A_AAAB, Half = 32'h3F00_0000;

  // What becomes of a lane: the polynomial, or a value known from the start.
  typedef enum logic [1:0] {LaneNumber, LaneZero, LaneInf, LaneNan} lane_e;

  // Index s: behind step s + 1.
  logic [Stages-1:0] valid_q, en;
  logic [TagW-1:0]   tag_q [Stages];
  lane_e             lane_q [Stages-1][Lanes];
  logic signed [12:0] n_q [Stages-1][Lanes];  // from index 1 on
  logic [31:0] x_q  [3][Lanes];
  logic [31:0] t_q  [Lanes];
  logic [31:0] nf_q [Lanes];
  logic [31:0] hi_q [Lanes];
  logic [31:0] lo_q [2][Lanes];
  logic [31:0] a_q  [Lanes];
  logic [31:0] r_q  [5][Lanes];
  logic [31:0] q_q  [4][Lanes];
  logic [31:0] p_q  [Lanes];
  logic [31:0] tp_q [Lanes];
  logic [31:0] e_q  [Lanes];

  assign en     = {valid_q[Stages-2:0], valid_i} & {Stages{step_i}};
  assign busy_o = |valid_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= '0;
    else if (step_i && (valid_i || busy_o)) valid_q <= {valid_q[Stages-2:0], valid_i};
  end

  always_ff @(posedge clk_i) begin
    if (en[0]) tag_q[0] <= tag_i;
    for (int unsigned s = 1; s < Stages; s++) if (en[s]) tag_q[s] <= tag_q[s-1];
    for (int unsigned s = 1; s < Stages - 1; s++) if (en[s]) for (int unsigned i = 0; i < Lanes; i++) lane_q[s][i] <= lane_q[s-1][i];
    for (int unsigned s = 2; s < Stages - 1; s++) if (en[s]) for (int unsigned i = 0; i < Lanes; i++) n_q[s][i] <= n_q[s-1][i];
  end

  // n = rint(x * 32 / ln 2)
  always_ff @(posedge clk_i) begin
    if (en[0]) begin
      for (int unsigned i = 0; i < Lanes; i++) begin
        if (x_i[i][30:0] > 31'h7F80_0000)                           lane_q[0][i] <= LaneNan;
        else if (x_i[i][31] && x_i[i][30:0] > Low[30:0])            lane_q[0][i] <= LaneZero;
        else if (!x_i[i][31] && x_i[i][30:0] > High[30:0])          lane_q[0][i] <= LaneInf;
        else                                                        lane_q[0][i] <= LaneNumber;
        // Where the polynomial does not count it gets an argument that it can take.
        x_q[0][i] <= (x_i[i][30:0] > High[30:0]) ? 32'd0 : x_i[i];
        t_q[i]    <= fp32_mul((x_i[i][30:0] > High[30:0]) ? 32'd0 : x_i[i], ExpPerLn2);
      end
    end
    if (en[1]) begin
      for (int unsigned i = 0; i < Lanes; i++) begin
        n_q[1][i]  <= 13'(fp32_rint(t_q[i]));
        nf_q[i]    <= int_to_fp32(fp32_rint(t_q[i]));
        x_q[1][i]  <= x_q[0][i];
      end
    end
  end

  // r = x - n * ln 2 / 32, in two parts
  always_ff @(posedge clk_i) begin
    if (en[2]) begin
      for (int unsigned i = 0; i < Lanes; i++) begin
        hi_q[i]    <= fp32_mul(nf_q[i], ExpLn2High);
        lo_q[0][i] <= fp32_mul(nf_q[i], ExpLn2Low);
        x_q[2][i]  <= x_q[1][i];
      end
    end
    if (en[3]) begin
      for (int unsigned i = 0; i < Lanes; i++) begin
        a_q[i]     <= fp32_add(x_q[2][i], {!hi_q[i][31], hi_q[i][30:0]});
        lo_q[1][i] <= lo_q[0][i];
      end
    end
    if (en[4]) for (int unsigned i = 0; i < Lanes; i++) r_q[0][i] <= fp32_add(a_q[i], {!lo_q[1][i][31], lo_q[1][i][30:0]});
  end

  // p = r + r^2 / 2 + r^3 / 6
  always_ff @(posedge clk_i) begin
    if (en[5]) begin
      for (int unsigned i = 0; i < Lanes; i++) begin
        q_q[0][i] <= fp32_mul(r_q[0][i], Sixth);
        r_q[1][i] <= r_q[0][i];
      end
    end
    if (en[6]) begin
      for (int unsigned i = 0; i < Lanes; i++) begin
        q_q[1][i] <= fp32_add(q_q[0][i], Half);
        r_q[2][i] <= r_q[1][i];
      end
    end
    if (en[7]) begin
      for (int unsigned i = 0; i < Lanes; i++) begin
        q_q[2][i] <= fp32_mul(q_q[1][i], r_q[2][i]);
        r_q[3][i] <= r_q[2][i];
      end
    end
    if (en[8]) begin
      for (int unsigned i = 0; i < Lanes; i++) begin
        q_q[3][i] <= fp32_mul(q_q[2][i], r_q[3][i]);
        r_q[4][i] <= r_q[3][i];
      end
    end
    if (en[9]) for (int unsigned i = 0; i < Lanes; i++) p_q[i] <= fp32_add(q_q[3][i], r_q[4][i]);
  end

  // e = (T + T * p) * 2^k
  always_ff @(posedge clk_i) begin
    if (en[10]) begin
      for (int unsigned i = 0; i < Lanes; i++) tp_q[i] <= fp32_mul(ExpTable[n_q[9][i][4:0]], p_q[i]);
    end
    if (en[11]) begin
      for (int unsigned i = 0; i < Lanes; i++) begin
        case (lane_q[10][i])
          LaneNan:  e_q[i] <= Fp32Nan;
          LaneInf:  e_q[i] <= Fp32Inf;
          LaneZero: e_q[i] <= 32'd0;
          default:  e_q[i] <= fp32_scale(fp32_add(ExpTable[n_q[10][i][4:0]], tp_q[i]), 32'(n_q[10][i] >>> 5));
        endcase
      end
    end
  end

  assign valid_o = valid_q[Stages-1];
  assign tag_o   = tag_q[Stages-1];
  assign e_o     = e_q;
endmodule
