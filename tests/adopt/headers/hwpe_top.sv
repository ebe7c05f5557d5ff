// SystemVerilog interfaces with modports: a wide memory port, a port of registers, events of two cores.
interface hci_if #(parameter int DW = 256, parameter int AW = 32) (input logic clk);
  logic req, gnt, wen, r_ready, r_valid; logic [AW-1:0] add; logic [DW-1:0] data, r_data; logic [DW/8-1:0] be; logic user, r_user; logic [7:0] id, r_id;
  modport initiator(output req, add, wen, data, be, r_ready, user, id, input gnt, r_data, r_valid, r_user, r_id);
  modport target(input req, add, wen, data, be, r_ready, user, id, output gnt, r_data, r_valid, r_user, r_id);
endinterface
interface periph_if (input logic clk);
  logic req, gnt, wen, r_valid; logic [31:0] add, data, r_data; logic [3:0] be; logic [9:0] id, r_id;
  modport slave(input req, add, wen, data, be, id, output gnt, r_data, r_valid, r_id);
endinterface
module hwpe_top (
  input logic clk_i,
  input logic rst_ni,
  input logic test_mode_i,
  output logic [3:0] evt_o,
  hci_if.initiator tcdm,
  periph_if.slave periph
);
endmodule
