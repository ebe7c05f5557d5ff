// LiteX: Wishbone without prefix order, CSR bus, streams named sink and source, native DRAM port.
module litex_dma (
  // expect: clock
  input  wire        sys_clk,
  // expect: reset
  input  wire        sys_rst,
  // expect: wishbone manager
  output wire [29:0] bus_adr,
  output wire [31:0] bus_dat_w,
  input  wire [31:0] bus_dat_r,
  output wire [3:0]  bus_sel,
  output wire        bus_cyc, bus_stb, bus_we,
  input  wire        bus_ack, bus_err,
  output wire [2:0]  bus_cti,
  output wire [1:0]  bus_bte,
  // expect: csr_bus subordinate
  input  wire [13:0] csr_adr,
  input  wire        csr_we, csr_re,
  input  wire [31:0] csr_dat_w,
  output wire [31:0] csr_dat_r,
  // expect: stream subordinate
  input  wire        sink_valid, sink_first, sink_last,
  output wire        sink_ready,
  input  wire [31:0] sink_payload_data,
  input  wire [3:0]  sink_param_dest,
  // expect: stream manager
  output wire        source_valid, source_last,
  input  wire        source_ready,
  output wire [63:0] source_data,
  // expect: stream manager
  output wire        port_cmd_valid,
  input  wire        port_cmd_ready,
  output wire        port_cmd_we,
  output wire [23:0] port_cmd_addr,
  output wire        port_wdata_valid,
  input  wire        port_wdata_ready,
  output wire [127:0] port_wdata_data,
  output wire [15:0] port_wdata_we,
  // expect: stream subordinate
  input  wire        port_rdata_valid,
  output wire        port_rdata_ready,
  input  wire [127:0] port_rdata_data
);
endmodule
