// All external memories of the bench: one AXI4 slave for each HBM port and one for DDR, each port held to AXI's rules.
//
// The slaves' state machines and the mapped files live in C++ (memory.cpp): one DPI call a cycle serves all ports, and no
// call is made in a cycle in which no port has anything to do. Addresses and data cross only when a channel carries them,
// so that an idle port costs nothing. All outputs are registered.
//
// Not synthesisable: test bench.

module fleet_memory #(
  parameter int unsigned HbmPorts = 1
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic [63:0]                cycle_i,
  output logic                       progress_o,  // some channel moved in the last cycle

  input  logic [HbmPorts-1:0]        hbm_arvalid_i,
  output logic [HbmPorts-1:0]        hbm_arready_o,
  input  logic [HbmPorts-1:0][32:0]  hbm_araddr_i,
  input  logic [HbmPorts-1:0][7:0]   hbm_arlen_i,
  output logic [HbmPorts-1:0]        hbm_rvalid_o,
  input  logic [HbmPorts-1:0]        hbm_rready_i,
  output logic [HbmPorts-1:0][255:0] hbm_rdata_o,
  output logic [HbmPorts-1:0][1:0]   hbm_rresp_o,
  output logic [HbmPorts-1:0]        hbm_rlast_o,
  input  logic [HbmPorts-1:0]        hbm_awvalid_i,
  output logic [HbmPorts-1:0]        hbm_awready_o,
  input  logic [HbmPorts-1:0][32:0]  hbm_awaddr_i,
  input  logic [HbmPorts-1:0][7:0]   hbm_awlen_i,
  input  logic [HbmPorts-1:0]        hbm_wvalid_i,
  output logic [HbmPorts-1:0]        hbm_wready_o,
  input  logic [HbmPorts-1:0][255:0] hbm_wdata_i,
  input  logic [HbmPorts-1:0][31:0]  hbm_wstrb_i,
  input  logic [HbmPorts-1:0]        hbm_wlast_i,
  output logic [HbmPorts-1:0]        hbm_bvalid_o,
  input  logic [HbmPorts-1:0]        hbm_bready_i,
  output logic [HbmPorts-1:0][1:0]   hbm_bresp_o,

  input  logic                       ddr_arvalid_i,
  output logic                       ddr_arready_o,
  input  logic [3:0]                 ddr_arid_i,
  input  logic [32:0]                ddr_araddr_i,
  input  logic [7:0]                 ddr_arlen_i,
  output logic                       ddr_rvalid_o,
  input  logic                       ddr_rready_i,
  output logic [3:0]                 ddr_rid_o,
  output logic [511:0]               ddr_rdata_o,
  output logic [1:0]                 ddr_rresp_o,
  output logic                       ddr_rlast_o,
  input  logic                       ddr_awvalid_i,
  output logic                       ddr_awready_o,
  input  logic [3:0]                 ddr_awid_i,
  input  logic [32:0]                ddr_awaddr_i,
  input  logic [7:0]                 ddr_awlen_i,
  input  logic                       ddr_wvalid_i,
  output logic                       ddr_wready_o,
  input  logic [511:0]               ddr_wdata_i,
  input  logic [63:0]                ddr_wstrb_i,
  input  logic                       ddr_wlast_i,
  output logic                       ddr_bvalid_o,
  input  logic                       ddr_bready_i,
  output logic [3:0]                 ddr_bid_o,
  output logic [1:0]                 ddr_bresp_o
);
  // Packed vectors as the DPI passes them: port 0 lowest.
  typedef bit [HbmPorts*33-1:0] address_vec_t;
  typedef bit [HbmPorts*8-1:0] len_vec_t;
  typedef bit [HbmPorts*256-1:0] data_vec_t;
  typedef bit [HbmPorts*32-1:0] strobe_vec_t;

  // Masks over ports: bit p is HBM port p, bit HbmPorts is DDR.
  // The masks say which ports take a request that comes first; without activity they stay as they are.
  import "DPI-C" function void fleet_memory_reset(
    input int unsigned hbm_ports, output longint unsigned arready, output longint unsigned awready);
  import "DPI-C" function void fleet_memory_hbm_requests(
    input address_vec_t araddr, input len_vec_t arlen, input address_vec_t awaddr, input len_vec_t awlen);
  import "DPI-C" function void fleet_memory_ddr_requests(
    input longint unsigned araddr, input int unsigned arlen, input int unsigned arid,
    input longint unsigned awaddr, input int unsigned awlen, input int unsigned awid);
  import "DPI-C" function void fleet_memory_hbm_wdata(input data_vec_t data, input strobe_vec_t strobe);
  import "DPI-C" function void fleet_memory_ddr_wdata(input bit [511:0] data, input bit [63:0] strobe);
  import "DPI-C" function int unsigned fleet_memory_cycle(
    input longint unsigned cycle,
    input longint unsigned arvalid, input longint unsigned rready,
    input longint unsigned awvalid, input longint unsigned wvalid, input longint unsigned bready,
    output longint unsigned arready, output longint unsigned rvalid, output longint unsigned rlast,
    output longint unsigned rerror, output longint unsigned awready, output longint unsigned wready,
    output longint unsigned bvalid, output longint unsigned berror, output int unsigned ddr_ids);
  import "DPI-C" function void fleet_memory_hbm_rdata(output data_vec_t data);
  import "DPI-C" function void fleet_memory_ddr_rdata(output bit [511:0] data);

  // Bits of fleet_memory_cycle's value.
  localparam int unsigned FlagBusy = 0;      // something is outstanding: call again
  localparam int unsigned FlagHbmData = 1;   // a new beat stands on some HBM read channel
  localparam int unsigned FlagDdrData = 2;
  localparam int unsigned FlagProgress = 3;  // a handshake took place

  localparam logic [1:0] RespOkay = 2'b00;
  localparam logic [1:0] RespSlvErr = 2'b10;

  if (HbmPorts < 1 || HbmPorts > 63) begin : gen_ports_check
    $error("HbmPorts must be 1 to 63");
  end

  function automatic longint unsigned mask(input logic ddr, input logic [HbmPorts-1:0] hbm);
    return 64'({ddr, hbm});
  endfunction

  typedef struct packed {
    logic [63:0] arready;
    logic [63:0] rvalid;
    logic [63:0] rlast;
    logic [63:0] rerror;
    logic [63:0] awready;
    logic [63:0] wready;
    logic [63:0] bvalid;
    logic [63:0] berror;
    logic [31:0] ddr_ids;
    logic        busy;
  } state_t;

  state_t                     state_q;
  logic                       progress_q;
  data_vec_t                  hbm_rdata_q;
  logic [511:0]               ddr_rdata_q;

  logic hbm_request, ddr_request, active;
  assign hbm_request = |hbm_arvalid_i | |hbm_awvalid_i;
  assign ddr_request = ddr_arvalid_i | ddr_awvalid_i;
  assign active = hbm_request | ddr_request | |hbm_wvalid_i | ddr_wvalid_i | state_q.busy;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      automatic longint unsigned arready, awready;
      fleet_memory_reset(HbmPorts, arready, awready);
      state_q    <= '{arready: arready, awready: awready, busy: 1'b0, default: '0};
      progress_q <= 1'b0;
    end else if (active) begin
      automatic longint unsigned arready, rvalid, rlast, rerror, awready, wready, bvalid, berror;
      automatic int unsigned ddr_ids, flags;
      automatic data_vec_t hbm_data;
      automatic bit [511:0] ddr_data;
      if (hbm_request) begin
        fleet_memory_hbm_requests(address_vec_t'(hbm_araddr_i), len_vec_t'(hbm_arlen_i), address_vec_t'(hbm_awaddr_i),
                                  len_vec_t'(hbm_awlen_i));
      end
      if (ddr_request) begin
        fleet_memory_ddr_requests(64'(ddr_araddr_i), 32'(ddr_arlen_i), 32'(ddr_arid_i), 64'(ddr_awaddr_i), 32'(ddr_awlen_i),
                                  32'(ddr_awid_i));
      end
      if (|(hbm_wvalid_i & hbm_wready_o)) fleet_memory_hbm_wdata(data_vec_t'(hbm_wdata_i), strobe_vec_t'(hbm_wstrb_i));
      if (ddr_wvalid_i && ddr_wready_o) fleet_memory_ddr_wdata(ddr_wdata_i, ddr_wstrb_i);
      flags = fleet_memory_cycle(
          cycle_i, mask(ddr_arvalid_i, hbm_arvalid_i), mask(ddr_rready_i, hbm_rready_i), mask(ddr_awvalid_i, hbm_awvalid_i),
          mask(ddr_wvalid_i, hbm_wvalid_i), mask(ddr_bready_i, hbm_bready_i), arready, rvalid, rlast, rerror, awready, wready,
          bvalid, berror, ddr_ids);
      state_q <= '{
        arready: arready, rvalid: rvalid, rlast: rlast, rerror: rerror, awready: awready, wready: wready, bvalid: bvalid,
        berror: berror, ddr_ids: ddr_ids, busy: flags[FlagBusy]
      };
      progress_q <= flags[FlagProgress];
      if (flags[FlagHbmData]) begin
        fleet_memory_hbm_rdata(hbm_data);
        hbm_rdata_q <= hbm_data;
      end
      if (flags[FlagDdrData]) begin
        fleet_memory_ddr_rdata(ddr_data);
        ddr_rdata_q <= ddr_data;
      end
    end else begin
      progress_q <= 1'b0;
    end
  end

  assign progress_o    = progress_q;
  assign hbm_arready_o = state_q.arready[HbmPorts-1:0];
  assign hbm_rvalid_o  = state_q.rvalid[HbmPorts-1:0];
  assign hbm_rlast_o   = state_q.rlast[HbmPorts-1:0];
  assign hbm_awready_o = state_q.awready[HbmPorts-1:0];
  assign hbm_wready_o  = state_q.wready[HbmPorts-1:0];
  assign hbm_bvalid_o  = state_q.bvalid[HbmPorts-1:0];
  for (genvar p = 0; p < HbmPorts; p++) begin : gen_resp
    assign hbm_rdata_o[p] = hbm_rdata_q[256*p+:256];
    assign hbm_rresp_o[p] = state_q.rerror[p] ? RespSlvErr : RespOkay;
    assign hbm_bresp_o[p] = state_q.berror[p] ? RespSlvErr : RespOkay;
  end

  assign ddr_arready_o = state_q.arready[HbmPorts];
  assign ddr_rvalid_o  = state_q.rvalid[HbmPorts];
  assign ddr_rlast_o   = state_q.rlast[HbmPorts];
  assign ddr_rresp_o   = state_q.rerror[HbmPorts] ? RespSlvErr : RespOkay;
  assign ddr_rid_o     = state_q.ddr_ids[3:0];
  assign ddr_rdata_o   = ddr_rdata_q;
  assign ddr_awready_o = state_q.awready[HbmPorts];
  assign ddr_wready_o  = state_q.wready[HbmPorts];
  assign ddr_bvalid_o  = state_q.bvalid[HbmPorts];
  assign ddr_bresp_o   = state_q.berror[HbmPorts] ? RespSlvErr : RespOkay;
  assign ddr_bid_o     = state_q.ddr_ids[11:8];

  for (genvar p = 0; p < HbmPorts; p++) begin : gen_hbm_checker
    fleet_axi_checker #(.DataWidth(256)) u_checker (
      .clk_i,
      .rst_ni,
      .cycle_i,
      .port_i   (32'(p)),
      .arvalid_i(hbm_arvalid_i[p]),
      .arready_i(hbm_arready_o[p]),
      .araddr_i (hbm_araddr_i[p]),
      .arlen_i  (hbm_arlen_i[p]),
      .arid_i   (1'b0),
      .rvalid_i (hbm_rvalid_o[p]),
      .rready_i (hbm_rready_i[p]),
      .rdata_i  (hbm_rdata_o[p]),
      .rresp_i  (hbm_rresp_o[p]),
      .rlast_i  (hbm_rlast_o[p]),
      .rid_i    (1'b0),
      .awvalid_i(hbm_awvalid_i[p]),
      .awready_i(hbm_awready_o[p]),
      .awaddr_i (hbm_awaddr_i[p]),
      .awlen_i  (hbm_awlen_i[p]),
      .awid_i   (1'b0),
      .wvalid_i (hbm_wvalid_i[p]),
      .wready_i (hbm_wready_o[p]),
      .wdata_i  (hbm_wdata_i[p]),
      .wstrb_i  (hbm_wstrb_i[p]),
      .wlast_i  (hbm_wlast_i[p]),
      .bvalid_i (hbm_bvalid_o[p]),
      .bready_i (hbm_bready_i[p]),
      .bresp_i  (hbm_bresp_o[p]),
      .bid_i    (1'b0)
    );
  end

  fleet_axi_checker #(.DataWidth(512), .IdWidth(4)) u_ddr_checker (
    .clk_i,
    .rst_ni,
    .cycle_i,
    .port_i   (32'd64),
    .arvalid_i(ddr_arvalid_i),
    .arready_i(ddr_arready_o),
    .araddr_i (ddr_araddr_i),
    .arlen_i  (ddr_arlen_i),
    .arid_i   (ddr_arid_i),
    .rvalid_i (ddr_rvalid_o),
    .rready_i (ddr_rready_i),
    .rdata_i  (ddr_rdata_o),
    .rresp_i  (ddr_rresp_o),
    .rlast_i  (ddr_rlast_o),
    .rid_i    (ddr_rid_o),
    .awvalid_i(ddr_awvalid_i),
    .awready_i(ddr_awready_o),
    .awaddr_i (ddr_awaddr_i),
    .awlen_i  (ddr_awlen_i),
    .awid_i   (ddr_awid_i),
    .wvalid_i (ddr_wvalid_i),
    .wready_i (ddr_wready_o),
    .wdata_i  (ddr_wdata_i),
    .wstrb_i  (ddr_wstrb_i),
    .wlast_i  (ddr_wlast_i),
    .bvalid_i (ddr_bvalid_o),
    .bready_i (ddr_bready_i),
    .bresp_i  (ddr_bresp_o),
    .bid_i    (ddr_bid_o)
  );
endmodule
