// Sums of pairs of words, each a pulse of one cycle without a ready. fault_i: 1: the words of a step count in the cycles between them, too.
module pulses (
  input  logic       clk, rst,
  input  logic       fault_i,
  input  logic       in_valid,
  output logic       in_ready,
  input  logic [7:0] in_data,
  output logic       sum_vld,
  output logic [8:0] sum_data
);
  logic half;
  logic [7:0] first;
  assign in_ready = 1;
  always_ff @(posedge clk) begin
    sum_vld <= 0;
    if (rst) half <= 0;
    else if (in_valid || (half && fault_i)) begin
      half <= !half;
      first <= in_data;
      sum_vld <= half;
      sum_data <= first + in_data;
    end
  end
endmodule
