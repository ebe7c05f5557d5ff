// A core that a Python generator writes: flat names, two underscores, records side by side.
module litex_core (
  input logic sys_clk,
  input logic sys_rst,
  input logic sink_valid,
  output logic sink_ready,
  input logic sink_first,
  input logic sink_last,
  input logic [31:0] sink_payload_data,
  output logic source_valid,
  input logic source_ready,
  output logic source_first,
  output logic source_last,
  output logic [31:0] source_payload_data,
  input logic bus__cyc,
  input logic bus__stb,
  input logic bus__we,
  input logic [29:0] bus__adr,
  input logic [31:0] bus__dat_w,
  input logic [3:0] bus__sel,
  output logic [31:0] bus__dat_r,
  output logic bus__ack
);
endmodule
