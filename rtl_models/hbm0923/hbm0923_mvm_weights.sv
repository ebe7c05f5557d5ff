// The weights' way from HBM to the array: a port's reader for each column, and the buffer that all of them fill in step.
//
// The next instruction's beats are asked for when all of this one's have been, and go into the rings behind them, however
// long the array still works on this one.
module hbm0923_mvm_weights
  import hbm0923_mvm_pkg::*;
  import fleet_axi_pkg::*;
#(
  parameter int unsigned Ports         = 32,
  parameter int unsigned PortFifoDepth = 128,   // beats a port
  parameter int unsigned DataDepth     = 2048,  // beats a port
  parameter int unsigned ScaleDepth    = 256,   // beats a port
  parameter int unsigned Log2BankStep  = 28,
  parameter bit          Sparse        = 1'b0,
  parameter int unsigned PlaceDepth    = 512,   // beats a port
  localparam int unsigned Dw = $clog2(DataDepth),
  localparam int unsigned Sw = $clog2(ScaleDepth),
  localparam int unsigned Pw = $clog2(PlaceDepth)
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  input  logic                     enable_i,     // the unit is busy; nothing happens otherwise
  input  logic                     go_i,         // the ports may ask

  output logic                     ready_o,      // an instruction may start; only while ask_i
  input  logic                     ask_i,
  input  logic                     start_i,      // one cycle, only while ready_o; the plan stands until the next one's check
  input  logic                     slot_i,       // a name for it
  input  mvm_plan_t                plan_i,
  output logic [1:0]               busy_o,       // beats of the instruction with this name are still to come
  output logic [1:0]               error_o,      // one of its beats was answered with an error

  output hbm_rd_req_t [Ports-1:0]  hbm_req_o,
  input  hbm_rd_rsp_t [Ports-1:0]  hbm_rsp_i,

  // reader: see the buffer
  output logic [Dw:0]              data_end_o,
  input  logic [Dw:0]              data_free_i,
  input  logic [Sw:0]              scale_free_i,
  input  logic                     data_read_i,
  input  logic [Dw-1:0]            data_addr_i,
  output logic [Ports*HbmBits-1:0] data_o,       // one cycle later
  input  logic                     scale_read_i,
  input  logic [Sw-1:0]            scale_addr_i,
  output logic [Ports*HbmBits-1:0] scale_o,
  input  logic [Pw:0]              place_free_i,
  input  logic                     place_read_i,
  input  logic [Pw-1:0]            place_addr_i,
  output logic [Ports*HbmBits-1:0] place_o
);
  logic [Ports-1:0]         valid, error, quiet;
  logic [Ports*HbmBits-1:0] data;
  logic                     pop;

  // ---- the ports begin with an instruction before the buffer does
  logic wait_q, wait_slot_q, slot_q, buffer_ready, buffer_start, buffer_busy;
  assign ready_o      = ask_i && !wait_q && quiet == '1;
  assign buffer_start = (start_i || wait_q) && buffer_ready;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wait_q      <= 1'b0;
      wait_slot_q <= 1'b0;
      slot_q      <= 1'b0;
    end else begin
      wait_q <= (start_i || wait_q) && !buffer_ready;
      if (start_i) wait_slot_q <= slot_i;
      if (buffer_start) slot_q <= start_i ? slot_i : wait_slot_q;
    end
  end
  for (genvar s = 0; s < 2; s++) begin : gen_slot
    assign busy_o[s]  = (buffer_busy && slot_q == 1'(s)) || (wait_q && wait_slot_q == 1'(s));
    assign error_o[s] = error != '0 && slot_q == 1'(s);
  end

  for (genvar p = 0; p < Ports; p++) begin : gen_port
    hbm0923_hbm_port #(
      .Port(p), .Depth(PortFifoDepth), .Log2BankStep(Log2BankStep)
    ) u_port (
      .clk_i,
      .rst_ni,
      .enable_i,
      .go_i,
      .quiet_o  (quiet[p]),
      .start_i,
      .addr_i   (plan_i.wt_addr),
      .beats_i  (plan_i.port_beats),
      .hbm_req_o(hbm_req_o[p]),
      .hbm_rsp_i(hbm_rsp_i[p]),
      .valid_o  (valid[p]),
      .pop_i    (pop),
      .error_o  (error[p]),
      .data_o   (data[HbmBits*p+:HbmBits])
    );
  end

  hbm0923_wt_buffer #(
    .Ports(Ports), .DataDepth(DataDepth), .ScaleDepth(ScaleDepth), .Sparse(Sparse), .PlaceDepth(PlaceDepth)
  ) u_wt_buffer (
    .clk_i,
    .rst_ni,
    .start_i(buffer_start),
    .plan_i,
    .ready_o(buffer_ready),
    .busy_o (buffer_busy),
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
    .scale_o,
    .place_free_i,
    .place_read_i,
    .place_addr_i,
    .place_o
  );
endmodule
