// The registers behind stage `Stage` of an operator of `Stages` stages that takes `Latency` cycles: as evenly as it goes, none
// where there are fewer registers than stages, several where there are more.
module fp_cut #(
  parameter type         data_t  = logic,
  parameter int unsigned Stage   = 1,
  parameter int unsigned Stages  = 1,
  parameter int unsigned Latency = 1
) (
  input  logic  clk_i,
  input  logic  en_i,
  input  data_t d_i,
  output data_t q_o
);
  localparam int unsigned Depth = Stage * Latency / Stages - (Stage - 1) * Latency / Stages;
  if (Depth == 0) begin : gen_none
    logic unused_clock;
    assign unused_clock = clk_i ^ en_i;
    assign q_o          = d_i;
  end else begin : gen_registers
    data_t data_q [Depth];
    always_ff @(posedge clk_i) if (en_i) begin
      data_q[0] <= d_i;
      for (int unsigned i = 1; i < Depth; i++) data_q[i] <= data_q[i-1];
    end
    assign q_o = data_q[Depth-1];
  end
endmodule
