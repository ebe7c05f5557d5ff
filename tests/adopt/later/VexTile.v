module VexTile (
  // expect: split_memory manager
  output        iBus_cmd_valid,
  input         iBus_cmd_ready,
  output [31:0] iBus_cmd_payload_pc,
  input         iBus_rsp_valid,
  input         iBus_rsp_payload_error,
  input  [31:0] iBus_rsp_payload_inst,
  // expect: split_memory manager
  output        dBusSimple_cmd_valid,
  input         dBusSimple_cmd_ready,
  output        dBusSimple_cmd_payload_wr,
  output [31:0] dBusSimple_cmd_payload_address, dBusSimple_cmd_payload_data,
  output [1:0]  dBusSimple_cmd_payload_size,
  input         dBusSimple_rsp_ready, dBusSimple_rsp_error,
  input  [31:0] dBusSimple_rsp_data,
  // expect: interrupt
  input         timerInterrupt, externalInterrupt, softwareInterrupt,
  // expect: jtag subordinate
  input         jtag_tms, jtag_tdi, jtag_tck,
  output        jtag_tdo,
  // expect: reset
  input         debugReset, reset,
  // expect: clock
  input         clk
);
endmodule
