// HBM0923: register block and the MVM unit, with the ports of every instruction set's top.
module hbm0923_top
  import hbm0923_pkg::*;
#(
  parameter int unsigned Tin           = 128,
  parameter int unsigned Tout          = 32,
  parameter int unsigned HbmPorts      = 32,
  parameter int unsigned Tblk          = 128,
  parameter int unsigned TgroupCh      = 2048,
  parameter int unsigned DatDepth      = 8192,
  parameter int unsigned WtDepth       = 1024,
  parameter int unsigned PortFifoDepth = 128,
  parameter int unsigned MaxToken      = 2048,
  parameter int unsigned Log2BankStep  = 28,
  parameter logic [31:0] DescHash      = 32'd0
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,

  input  logic                       s_axil_awvalid_i,
  output logic                       s_axil_awready_o,
  input  logic [15:0]                s_axil_awaddr_i,
  input  logic                       s_axil_wvalid_i,
  output logic                       s_axil_wready_o,
  input  logic [31:0]                s_axil_wdata_i,
  input  logic [3:0]                 s_axil_wstrb_i,
  output logic                       s_axil_bvalid_o,
  input  logic                       s_axil_bready_i,
  output logic [1:0]                 s_axil_bresp_o,
  input  logic                       s_axil_arvalid_i,
  output logic                       s_axil_arready_o,
  input  logic [15:0]                s_axil_araddr_i,
  output logic                       s_axil_rvalid_o,
  input  logic                       s_axil_rready_i,
  output logic [31:0]                s_axil_rdata_o,
  output logic [1:0]                 s_axil_rresp_o,

  output logic [HbmPorts-1:0]        hbm_arvalid_o,
  input  logic [HbmPorts-1:0]        hbm_arready_i,
  output logic [HbmPorts-1:0][32:0]  hbm_araddr_o,
  output logic [HbmPorts-1:0][7:0]   hbm_arlen_o,
  input  logic [HbmPorts-1:0]        hbm_rvalid_i,
  output logic [HbmPorts-1:0]        hbm_rready_o,
  input  logic [HbmPorts-1:0][255:0] hbm_rdata_i,
  input  logic [HbmPorts-1:0][1:0]   hbm_rresp_i,
  input  logic [HbmPorts-1:0]        hbm_rlast_i,
  output logic [HbmPorts-1:0]        hbm_awvalid_o,
  input  logic [HbmPorts-1:0]        hbm_awready_i,
  output logic [HbmPorts-1:0][32:0]  hbm_awaddr_o,
  output logic [HbmPorts-1:0][7:0]   hbm_awlen_o,
  output logic [HbmPorts-1:0]        hbm_wvalid_o,
  input  logic [HbmPorts-1:0]        hbm_wready_i,
  output logic [HbmPorts-1:0][255:0] hbm_wdata_o,
  output logic [HbmPorts-1:0][31:0]  hbm_wstrb_o,
  output logic [HbmPorts-1:0]        hbm_wlast_o,
  input  logic [HbmPorts-1:0]        hbm_bvalid_i,
  output logic [HbmPorts-1:0]        hbm_bready_o,
  input  logic [HbmPorts-1:0][1:0]   hbm_bresp_i,

  output logic                       ddr_arvalid_o,
  input  logic                       ddr_arready_i,
  output logic [3:0]                 ddr_arid_o,
  output logic [32:0]                ddr_araddr_o,
  output logic [7:0]                 ddr_arlen_o,
  input  logic                       ddr_rvalid_i,
  output logic                       ddr_rready_o,
  input  logic [3:0]                 ddr_rid_i,
  input  logic [511:0]               ddr_rdata_i,
  input  logic [1:0]                 ddr_rresp_i,
  input  logic                       ddr_rlast_i,
  output logic                       ddr_awvalid_o,
  input  logic                       ddr_awready_i,
  output logic [3:0]                 ddr_awid_o,
  output logic [32:0]                ddr_awaddr_o,
  output logic [7:0]                 ddr_awlen_o,
  output logic                       ddr_wvalid_o,
  input  logic                       ddr_wready_i,
  output logic [511:0]               ddr_wdata_o,
  output logic [63:0]                ddr_wstrb_o,
  output logic                       ddr_wlast_o,
  input  logic                       ddr_bvalid_i,
  output logic                       ddr_bready_o,
  input  logic [3:0]                 ddr_bid_i,
  input  logic [1:0]                 ddr_bresp_i,

  output logic                       irq_o,
  output logic                       commit_valid_o,
  output logic [15:0]                commit_opcode_o,
  output logic [15:0]                commit_error_o,
  output logic                       commit_result_valid_o,
  output logic [31:0]                commit_result_o,
  output logic [5:0][31:0]           commit_cycles_o
);
  logic             start, done, busy, irq_done, irq_error;
  logic [31:0]      mode, result, cycles;
  logic [15:0]      err_cause, err_instr;
  logic [5:0][31:0] classes;
  mvm_operands_t    operands;

  hbm0923_registers #(.DescHash(DescHash)) u_registers (
    .clk_i,
    .rst_ni,
    .s_axil_awvalid_i,
    .s_axil_awready_o,
    .s_axil_awaddr_i,
    .s_axil_wvalid_i,
    .s_axil_wready_o,
    .s_axil_wdata_i,
    .s_axil_wstrb_i,
    .s_axil_bvalid_o,
    .s_axil_bready_i,
    .s_axil_bresp_o,
    .s_axil_arvalid_i,
    .s_axil_arready_o,
    .s_axil_araddr_i,
    .s_axil_rvalid_o,
    .s_axil_rready_i,
    .s_axil_rdata_o,
    .s_axil_rresp_o,
    .start_o    (start),
    .mode_o     (mode),
    .operands_o (operands),
    .busy_i     (busy),
    .done_i     (done),
    .irq_done_i (irq_done),
    .irq_error_i(irq_error),
    .err_cause_i(err_cause),
    .err_instr_i(err_instr),
    .result_i   (result),
    .cycles_i   (cycles),
    .class_i    (classes),
    .irq_o
  );

  hbm0923_mvm #(
    .Tin(Tin),
    .Tout(Tout),
    .TgroupCh(TgroupCh),
    .DatDepth(DatDepth),
    .WtDepth(WtDepth),
    .PortFifoDepth(PortFifoDepth),
    .MaxToken(MaxToken),
    .Log2BankStep(Log2BankStep)
  ) u_mvm (
    .clk_i,
    .rst_ni,
    .start_i    (start),
    .mode_i     (mode),
    .operands_i (operands),
    .busy_o     (busy),
    .done_o     (done),
    .irq_done_o (irq_done),
    .irq_error_o(irq_error),
    .err_cause_o(err_cause),
    .err_instr_o(err_instr),
    .result_o   (result),
    .cycles_o   (cycles),
    .class_o    (classes),
    .hbm_arvalid_o,
    .hbm_arready_i,
    .hbm_araddr_o,
    .hbm_arlen_o,
    .hbm_rvalid_i,
    .hbm_rready_o,
    .hbm_rdata_i,
    .hbm_rresp_i,
    .ddr_arvalid_o,
    .ddr_arready_i,
    .ddr_arid_o,
    .ddr_araddr_o,
    .ddr_arlen_o,
    .ddr_rvalid_i,
    .ddr_rready_o,
    .ddr_rid_i,
    .ddr_rdata_i,
    .ddr_rresp_i,
    .ddr_awvalid_o,
    .ddr_awready_i,
    .ddr_awid_o,
    .ddr_awaddr_o,
    .ddr_awlen_o,
    .ddr_wvalid_o,
    .ddr_wready_i,
    .ddr_wdata_o,
    .ddr_wstrb_o,
    .ddr_wlast_o,
    .ddr_bvalid_i,
    .ddr_bready_o,
    .ddr_bresp_i,
    .commit_valid_o,
    .commit_opcode_o,
    .commit_error_o,
    .commit_result_valid_o,
    .commit_result_o,
    .commit_cycles_o
  );

  // This unit writes nothing to HBM.
  assign hbm_awvalid_o = '0;
  assign hbm_awaddr_o  = '0;
  assign hbm_awlen_o   = '0;
  assign hbm_wvalid_o  = '0;
  assign hbm_wdata_o   = '0;
  assign hbm_wstrb_o   = '0;
  assign hbm_wlast_o   = '0;
  assign hbm_bready_o  = '1;

  if (HbmPorts != Tout) begin : gen_ports
    $error("every HBM port feeds one output channel: HbmPorts must equal Tout");
  end
  if (Tblk != 32 && Tblk != 64 && Tblk != 128) begin : gen_group
    $error("Tblk must be 32, 64 or 128");
  end

  // Beats are counted, IDs of writes are all alike.
  logic unused_inputs;
  assign unused_inputs = ^{hbm_rlast_i, hbm_awready_i, hbm_wready_i, hbm_bvalid_i, hbm_bresp_i, ddr_rlast_i, ddr_bid_i};
endmodule
