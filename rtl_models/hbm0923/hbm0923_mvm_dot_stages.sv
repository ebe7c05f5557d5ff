// A column of the array in stages: 64 products a cycle, and the sums of its lower and its upper 32 lanes over a group's beats.
// The view of synthesis; simulation has the functions of hbm0923_mvm_array.
//
// Products, and what they add up to four by four and again; the last addition of two is that of the loop. A negative code
// multiplies the inverted operand, and what is missing then, the magnitudes of the negative codes, is added once for all lanes.
module hbm0923_mvm_dot_stages
  import hbm0923_mvm_pkg::*;
#(
  parameter int unsigned ArrayLatency = 4
) (
  input  logic               clk_i,

  input  logic signed [40:0] x_i [BeatLanes],
  input  logic [HbmBits-1:0] w_i,
  // ArrayLatency - 1 cycles later
  input  logic               sum_i,
  input  logic               first_i,

  output logic signed [63:0] low_o,   // the cycle after
  output logic signed [63:0] high_o
);
  localparam int unsigned Half   = BeatLanes / 2;
  localparam int unsigned Stages = 3;

  function automatic logic signed [43:0] product(input logic signed [40:0] x, input logic [3:0] code);
    logic signed [43:0] wide;
    wide = 44'(x) ^ $signed({44{code[3]}});
    return (code[0] ? wide : 44'sd0) + (code[1] ? wide <<< 1 : 44'sd0) + (code[2] ? wide <<< 2 : 44'sd0);
  endfunction

  function automatic logic [4:0] missing_of(input logic [3:0] code);
    return code[3] ? 5'(code[2:0]) : 5'd0;
  endfunction

  for (genvar h = 0; h < 2; h++) begin : gen_half
    logic signed [43:0] products [Half];
    for (genvar l = 0; l < Half; l++) begin : gen_lane
      fp_cut #(.data_t(logic signed [43:0]), .Stage(1), .Stages(Stages), .Latency(ArrayLatency - 1)) u_product (
        .clk_i, .en_i(1'b1), .d_i(product(x_i[Half*h+l], w_i[4*(Half*h+l)+:4])), .q_o(products[l])
      );
    end
    logic [4:0]         missing [8];
    logic signed [45:0] four [8];
    for (genvar i = 0; i < 8; i++) begin : gen_four
      logic [4:0] missing_d;
      assign missing_d = (missing_of(w_i[4*(Half*h+4*i)+:4]) + missing_of(w_i[4*(Half*h+4*i+1)+:4]))
                         + (missing_of(w_i[4*(Half*h+4*i+2)+:4]) + missing_of(w_i[4*(Half*h+4*i+3)+:4]));
      fp_cut #(.data_t(logic [4:0]), .Stage(1), .Stages(Stages), .Latency(ArrayLatency - 1)) u_missing (
        .clk_i, .en_i(1'b1), .d_i(missing_d), .q_o(missing[i])
      );
      logic signed [45:0] four_d;
      assign four_d = (46'(products[4*i]) + 46'(products[4*i+1])) + (46'(products[4*i+2]) + 46'(products[4*i+3]));
      fp_cut #(.data_t(logic signed [45:0]), .Stage(2), .Stages(Stages), .Latency(ArrayLatency - 1)) u_four (
        .clk_i, .en_i(1'b1), .d_i(four_d), .q_o(four[i])
      );
    end
    logic [6:0]         missing_four [2];
    logic signed [48:0] sixteen [2];
    for (genvar i = 0; i < 2; i++) begin : gen_sixteen
      logic [6:0] missing_d;
      assign missing_d = (7'(missing[4*i]) + 7'(missing[4*i+1])) + (7'(missing[4*i+2]) + 7'(missing[4*i+3]));
      fp_cut #(.data_t(logic [6:0]), .Stage(2), .Stages(Stages), .Latency(ArrayLatency - 1)) u_missing (
        .clk_i, .en_i(1'b1), .d_i(missing_d), .q_o(missing_four[i])
      );
      logic signed [48:0] sixteen_d;
      assign sixteen_d = (49'(four[4*i]) + 49'(four[4*i+1])) + (49'(four[4*i+2]) + 49'(four[4*i+3]));
      fp_cut #(.data_t(logic signed [48:0]), .Stage(3), .Stages(Stages), .Latency(ArrayLatency - 1)) u_sixteen (
        .clk_i, .en_i(1'b1), .d_i(sixteen_d), .q_o(sixteen[i])
      );
    end
    logic [7:0] rest;
    fp_cut #(.data_t(logic [7:0]), .Stage(3), .Stages(Stages), .Latency(ArrayLatency - 1)) u_rest (
      .clk_i, .en_i(1'b1), .d_i(8'(missing_four[0]) + 8'(missing_four[1])), .q_o(rest)
    );
    logic signed [50:0] sum_q;
    always_ff @(posedge clk_i) if (sum_i) begin
      sum_q <= (51'(sixteen[0]) + 51'(sixteen[1])) + ((first_i ? 51'sd0 : sum_q) + $signed(51'(rest)));
    end
  end
  assign low_o  = 64'(gen_half[0].sum_q);
  assign high_o = 64'(gen_half[1].sum_q);
endmodule
