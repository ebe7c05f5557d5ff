// The weights' way from HBM to the array: a port's reader for each column, and the buffer that all of them fill in step.
module hbm0923_mvm_weights
  import hbm0923_mvm_pkg::*;
#(
  parameter int unsigned Ports         = 32,
  parameter int unsigned PortFifoDepth = 128,   // beats a port
  parameter int unsigned DataDepth     = 2048,  // beats a port
  parameter int unsigned ScaleDepth    = 256,   // beats a port
  parameter int unsigned Log2BankStep  = 28,
  localparam int unsigned Dw = $clog2(DataDepth),
  localparam int unsigned Sw = $clog2(ScaleDepth)
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  input  logic                     enable_i,     // the unit is busy; nothing happens otherwise

  input  logic                     start_i,
  input  mvm_plan_t                plan_i,
  output logic                     busy_o,       // beats are still to come
  output logic                     error_o,      // a response was an error

  output logic [Ports-1:0]         hbm_arvalid_o,
  input  logic [Ports-1:0]         hbm_arready_i,
  output logic [Ports-1:0][32:0]   hbm_araddr_o,
  output logic [Ports-1:0][7:0]    hbm_arlen_o,
  input  logic [Ports-1:0]         hbm_rvalid_i,
  input  logic [Ports-1:0][255:0]  hbm_rdata_i,
  input  logic [Ports-1:0][1:0]    hbm_rresp_i,

  // reader: see the buffer
  output logic [Dw+1:0]            data_end_o,
  input  logic [Dw+1:0]            data_free_i,
  input  logic [Sw:0]              scale_free_i,
  input  logic                     data_read_i,
  input  logic [Dw-1:0]            data_addr_i,
  output logic [Ports*HbmBits-1:0] data_o,       // one cycle later
  input  logic                     scale_read_i,
  input  logic [Sw-1:0]            scale_addr_i,
  output logic [Ports*HbmBits-1:0] scale_o
);
  logic [Ports-1:0]         valid, error, unused_resp;
  logic [Ports*HbmBits-1:0] data;
  logic                     pop;

  for (genvar p = 0; p < Ports; p++) begin : gen_port
    hbm0923_hbm_port #(
      .Port(p), .Depth(PortFifoDepth), .Log2BankStep(Log2BankStep)
    ) u_port (
      .clk_i,
      .rst_ni,
      .enable_i,
      .start_i,
      .addr_i   (plan_i.wt_addr),
      .beats_i  (plan_i.port_beats),
      .arvalid_o(hbm_arvalid_o[p]),
      .arready_i(hbm_arready_i[p]),
      .araddr_o (hbm_araddr_o[p]),
      .arlen_o  (hbm_arlen_o[p]),
      .rvalid_i (hbm_rvalid_i[p]),
      .rdata_i  (hbm_rdata_i[p]),
      .valid_o  (valid[p]),
      .pop_i    (pop),
      .data_o   (data[HbmBits*p+:HbmBits])
    );
    assign error[p] = hbm_rvalid_i[p] && hbm_rresp_i[p][1];
    // Bit 0 of a response tells exclusive from plain.
    assign unused_resp[p] = hbm_rresp_i[p][0];
  end
  assign error_o      = |error;

  hbm0923_wt_buffer #(
    .Ports(Ports), .DataDepth(DataDepth), .ScaleDepth(ScaleDepth)
  ) u_wt_buffer (
    .clk_i,
    .rst_ni,
    .start_i,
    .plan_i,
    .busy_o,
    .valid_i(valid),
    .pop_o  (pop),
    .data_i (data),
    .data_end_o,
    .data_free_i,
    .scale_free_i,
    .data_read_i,
    .data_addr_i,
    .data_o,
    .scale_read_i,
    .scale_addr_i,
    .scale_o
  );
endmodule
