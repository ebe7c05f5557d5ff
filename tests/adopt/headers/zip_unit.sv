// Wishbone B4 pipelined with the direction in front of the name; a port of a generated system.
module zip_unit (
  input logic i_clk,
  input logic i_reset,
  input logic i_wb_cyc,
  input logic i_wb_stb,
  input logic i_wb_we,
  input logic [7:0] i_wb_addr,
  input logic [31:0] i_wb_data,
  input logic [3:0] i_wb_sel,
  output logic o_wb_stall,
  output logic o_wb_ack,
  output logic [31:0] o_wb_data,
  output logic bus_cyc,
  output logic bus_stb,
  output logic bus_we,
  output logic [29:0] bus_adr,
  output logic [31:0] bus_dat_w,
  output logic [3:0] bus_sel,
  input logic [31:0] bus_dat_r,
  input logic bus_ack,
  output logic o_interrupt
);
endmodule
