// SpinalHDL: streams with fragments, a flow, a memory bus of its own, Wishbone and APB3.
module SpinalBridge (
  // expect: stream subordinate
  input               io_cmd_valid,
  output              io_cmd_ready,
  input               io_cmd_payload_last,
  input      [31:0]   io_cmd_payload_fragment_address,
  input      [1:0]    io_cmd_payload_fragment_kind,
  // expect: stream manager
  output              io_flow_valid,
  output     [15:0]   io_flow_payload_a,
  output     [15:0]   io_flow_payload_b,
  // expect: split_memory manager
  output              dBus_cmd_valid,
  input               dBus_cmd_ready,
  output              dBus_cmd_payload_wr,
  output     [31:0]   dBus_cmd_payload_address,
  output     [31:0]   dBus_cmd_payload_data,
  output     [3:0]    dBus_cmd_payload_mask,
  output     [1:0]    dBus_cmd_payload_size,
  input               dBus_rsp_valid,
  input      [31:0]   dBus_rsp_payload_data,
  input               dBus_rsp_payload_error,
  // expect: apb subordinate
  input      [11:0]   io_apb_PADDR,
  input      [0:0]    io_apb_PSEL,
  input               io_apb_PENABLE,
  output              io_apb_PREADY,
  input               io_apb_PWRITE,
  input      [31:0]   io_apb_PWDATA,
  output     [31:0]   io_apb_PRDATA,
  output              io_apb_PSLVERROR,
  // expect: wishbone manager
  output              io_wb_CYC, io_wb_STB, io_wb_WE,
  input               io_wb_ACK,
  output     [29:0]   io_wb_ADR,
  input      [31:0]   io_wb_DAT_MISO,
  output     [31:0]   io_wb_DAT_MOSI,
  output     [3:0]    io_wb_SEL,
  // expect: interrupt
  output              io_interrupt,
  // expect: clock
  input               clk,
  // expect: reset
  input               reset
);
endmodule
