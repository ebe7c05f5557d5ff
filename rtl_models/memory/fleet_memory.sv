// All external memories of the bench: one AXI4 slave for each HBM port and one for DDR, each port held to AXI's rules.
//
// The slaves' state machines and the mapped files live in C++ (memory.cpp): one DPI call a cycle serves all ports, and no
// call is made in a cycle in which no port has anything to do. Addresses and data cross only when a channel carries them,
// so that an idle port costs nothing. All outputs are registered.
//
// Not synthesisable: test bench.

module fleet_memory
  import fleet_axi_pkg::*;
#(
  parameter int unsigned HbmPorts = 1
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic [63:0]            cycle_i,
  output logic                   progress_o,  // some channel moved in the last cycle

  input  hbm_req_t [HbmPorts-1:0] hbm_req_i,
  output hbm_rsp_t [HbmPorts-1:0] hbm_rsp_o,
  input  ddr_req_t                ddr_req_i,
  output ddr_rsp_t                ddr_rsp_o
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

  // The ports' signals side by side, as masks and as vectors for the DPI.
  logic [HbmPorts-1:0] arvalid, rready, awvalid, wvalid, bready;
  address_vec_t        araddr, awaddr;
  len_vec_t            arlen, awlen;
  data_vec_t           wdata;
  strobe_vec_t         wstrb;
  for (genvar p = 0; p < HbmPorts; p++) begin : gen_req
    assign arvalid[p]        = hbm_req_i[p].ar_valid;
    assign rready[p]         = hbm_req_i[p].r_ready;
    assign awvalid[p]        = hbm_req_i[p].aw_valid;
    assign wvalid[p]         = hbm_req_i[p].w_valid;
    assign bready[p]         = hbm_req_i[p].b_ready;
    assign araddr[33*p+:33]  = hbm_req_i[p].ar.addr;
    assign arlen[8*p+:8]     = hbm_req_i[p].ar.len;
    assign awaddr[33*p+:33]  = hbm_req_i[p].aw.addr;
    assign awlen[8*p+:8]     = hbm_req_i[p].aw.len;
    assign wdata[256*p+:256] = hbm_req_i[p].w.data;
    assign wstrb[32*p+:32]   = hbm_req_i[p].w.strb;
  end

  logic hbm_request, ddr_request, active;
  assign hbm_request = |arvalid | |awvalid;
  assign ddr_request = ddr_req_i.ar_valid | ddr_req_i.aw_valid;
  assign active = hbm_request | ddr_request | |wvalid | ddr_req_i.w_valid | state_q.busy;

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
        fleet_memory_hbm_requests(araddr, arlen, awaddr, awlen);
      end
      if (ddr_request) begin
        fleet_memory_ddr_requests(64'(ddr_req_i.ar.addr), 32'(ddr_req_i.ar.len), 32'(ddr_req_i.ar.id), 64'(ddr_req_i.aw.addr), 32'(ddr_req_i.aw.len),
                                  32'(ddr_req_i.aw.id));
      end
      if (|(wvalid & state_q.wready[HbmPorts-1:0])) fleet_memory_hbm_wdata(wdata, wstrb);
      if (ddr_req_i.w_valid && ddr_rsp_o.w_ready) fleet_memory_ddr_wdata(ddr_req_i.w.data, ddr_req_i.w.strb);
      flags = fleet_memory_cycle(
          cycle_i, mask(ddr_req_i.ar_valid, arvalid), mask(ddr_req_i.r_ready, rready), mask(ddr_req_i.aw_valid, awvalid),
          mask(ddr_req_i.w_valid, wvalid), mask(ddr_req_i.b_ready, bready), arready, rvalid, rlast, rerror, awready, wready,
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
  for (genvar p = 0; p < HbmPorts; p++) begin : gen_rsp
    assign hbm_rsp_o[p].ar_ready = state_q.arready[p];
    assign hbm_rsp_o[p].r_valid  = state_q.rvalid[p];
    assign hbm_rsp_o[p].r.last   = state_q.rlast[p];
    assign hbm_rsp_o[p].r.resp   = state_q.rerror[p] ? RespSlvErr : RespOkay;
    assign hbm_rsp_o[p].r.data   = hbm_rdata_q[256*p+:256];
    assign hbm_rsp_o[p].aw_ready = state_q.awready[p];
    assign hbm_rsp_o[p].w_ready  = state_q.wready[p];
    assign hbm_rsp_o[p].b_valid  = state_q.bvalid[p];
    assign hbm_rsp_o[p].b.resp   = state_q.berror[p] ? RespSlvErr : RespOkay;
  end

  assign ddr_rsp_o.ar_ready = state_q.arready[HbmPorts];
  assign ddr_rsp_o.r_valid  = state_q.rvalid[HbmPorts];
  assign ddr_rsp_o.r.last   = state_q.rlast[HbmPorts];
  assign ddr_rsp_o.r.resp   = state_q.rerror[HbmPorts] ? RespSlvErr : RespOkay;
  assign ddr_rsp_o.r.id     = state_q.ddr_ids[3:0];
  assign ddr_rsp_o.r.data   = ddr_rdata_q;
  assign ddr_rsp_o.aw_ready = state_q.awready[HbmPorts];
  assign ddr_rsp_o.w_ready  = state_q.wready[HbmPorts];
  assign ddr_rsp_o.b_valid  = state_q.bvalid[HbmPorts];
  assign ddr_rsp_o.b.resp   = state_q.berror[HbmPorts] ? RespSlvErr : RespOkay;
  assign ddr_rsp_o.b.id     = state_q.ddr_ids[11:8];

  // HBM is read in most cycles and written in few. Of a fast build the rules of its writes have no edges meanwhile, but one behind
  // the last channel that was valid, at which what was withdrawn is seen.
  logic hbm_write_clk;
`ifdef FLEET_FAST
  logic writing, wrote_q, open;
  assign writing = !rst_ni || |awvalid || |wvalid || |state_q.bvalid[HbmPorts-1:0];
  always_ff @(posedge clk_i) wrote_q <= writing;
  always_latch if (!clk_i) open = writing || wrote_q;
  assign hbm_write_clk = clk_i && open;
`else
  assign hbm_write_clk = clk_i;
`endif

  for (genvar p = 0; p < HbmPorts; p++) begin : gen_hbm_checker
    fleet_axi_checker #(.req_t(hbm_req_t), .rsp_t(hbm_rsp_t), .DataWidth(256)) u_checker (
      .clk_i,
      .write_clk_i(hbm_write_clk),
      .rst_ni,
      .cycle_i,
      .port_i(32'(p)),
      .req_i (hbm_req_i[p]),
      .rsp_i (hbm_rsp_o[p])
    );
  end

  fleet_axi_checker #(.IdWidth(4)) u_ddr_checker (
    .clk_i,
    .write_clk_i(clk_i),
    .rst_ni,
    .cycle_i,
    .port_i(32'd64),
    .req_i (ddr_req_i),
    .rsp_i (ddr_rsp_o)
  );
endmodule
