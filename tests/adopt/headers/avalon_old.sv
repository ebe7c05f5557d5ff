// Avalon-MM of the older kind: chip select, active-low strobes, no prefix.
module avalon_old (
  input logic clk,
  input logic rst,
  input logic chipselect,
  input logic [3:0] address,
  input logic read_n,
  input logic write_n,
  input logic [31:0] writedata,
  output logic [31:0] readdata,
  output logic irq_n
);
endmodule
