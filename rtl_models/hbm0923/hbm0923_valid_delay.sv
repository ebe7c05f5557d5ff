// A valid that comes `Latency` cycles later.
module hbm0923_valid_delay #(
  parameter int unsigned Latency = 1
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic valid_i,
  output logic valid_o
);
  if (Latency == 0) begin : gen_none
    logic unused_clock;
    assign unused_clock = clk_i ^ rst_ni;
    assign valid_o      = valid_i;
  end else begin : gen_registers
    logic [Latency-1:0] valid_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) valid_q <= '0;
      else valid_q <= Latency'({valid_q, valid_i});
    end
    assign valid_o = valid_q[Latency-1];
  end
endmodule
