// The largest of a row, a beat of 32 lanes a step, four steps; NaN where one counts.
module hbm0923_sfu_max
  import fp_pkg::*;
  import fp_fn_pkg::*;
(
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         step_i,

  input  logic         valid_i,
  input  logic         first_i,  // of a row
  input  logic         last_i,
  input  logic [5:0]   lanes_i,  // that count
  input  logic [511:0] data_i,

  output logic         valid_o,  // for one step
  output logic [15:0]  max_o
);
  typedef logic signed [16:0] key_t;
  localparam key_t NoKey = -17'sd32768;  // below every key
  logic [3:0] valid_q, last_q;
  logic [2:0] first_q;
  key_t       key_q [32];
  key_t       key8_q [8];
  key_t       key2_q [2];
  key_t       max_q;

  function automatic key_t larger(input key_t a, input key_t b);
    return (a > b) ? a : b;
  endfunction

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= '0;
      first_q <= '0;
      last_q  <= '0;
    end else if (step_i) begin
      valid_q <= {valid_q[2:0], valid_i};
      first_q <= {first_q[1:0], first_i};
      last_q  <= {last_q[2:0], last_i};
    end
  end

  always_ff @(posedge clk_i) begin
    if (step_i && valid_i) begin
      for (int unsigned i = 0; i < 32; i++) key_q[i] <= (6'(i) < lanes_i) ? fp16_order(data_i[16*i+:16]) : NoKey;
    end
    if (step_i && valid_q[0]) begin
      for (int unsigned i = 0; i < 8; i++) key8_q[i] <= larger(larger(key_q[4*i], key_q[4*i+1]), larger(key_q[4*i+2], key_q[4*i+3]));
    end
    if (step_i && valid_q[1]) begin
      for (int unsigned i = 0; i < 2; i++) key2_q[i] <= larger(larger(key8_q[4*i], key8_q[4*i+1]), larger(key8_q[4*i+2], key8_q[4*i+3]));
    end
    if (step_i && valid_q[2]) max_q <= larger(larger(key2_q[0], key2_q[1]), first_q[2] ? NoKey : max_q);
  end

  assign valid_o = valid_q[3] && last_q[3];
  assign max_o   = fp16_of_order(max_q);
endmodule
