// The host on the register port: plays a register script (DPI: bench.cpp) as AXI4-Lite transfers, one after the other, and
// waits for the interrupt, so that whole models run without any Python. Where the job's memory stalls so does the host: address and
// data of a write come at different times, and responses wait for ready.
//
// Not synthesisable: test bench.

module fleet_host
  import fleet_axi_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        enable_i,
  input  logic [63:0] cycle_i,
  input  logic        irq_i,
  output logic        progress_o,  // the script's position moved in the last cycle

  output axil_req_t   axil_req_o,
  input  axil_rsp_t   axil_rsp_i
);
  import "DPI-C" function int unsigned fleet_host_next(
    input longint unsigned cycle, output shortint unsigned address, output int unsigned data);
  import "DPI-C" function void fleet_host_written(input longint unsigned cycle, input int unsigned resp);
  // Cycles by which the next transfer's address (bits 3:0), data (7:4) and readiness for the response (11:8) come later.
  import "DPI-C" function int unsigned fleet_host_hold();
  // Returns whether the step is over (a POLL may want the register again).
  import "DPI-C" function int unsigned fleet_host_read(
    input longint unsigned cycle, input int unsigned data, input int unsigned resp);
  // Called in every cycle of a WAIT_IRQ whose limit has passed.
  import "DPI-C" function void fleet_host_late(input longint unsigned cycle);

  // Values of fleet_host_next; 4 (POLL) comes as a READ.
  localparam logic [31:0] OpWrite = 32'd1;
  localparam logic [31:0] OpWaitIrq = 32'd2;
  localparam logic [31:0] OpRead = 32'd3;

  typedef enum logic [2:0] {StFetch, StWrite, StWriteResponse, StRead, StReadData, StWaitIrq, StIdle} state_e;

  state_e      state_q;
  logic        aw_done_q, w_done_q, limited_q, progress_q;
  logic [15:0] addr_q;
  logic [31:0] data_q;
  logic [3:0]  addr_hold_q, data_hold_q, resp_hold_q;

  logic aw_done, w_done;
  assign aw_done = aw_done_q | (axil_req_o.aw_valid & axil_rsp_i.aw_ready);
  assign w_done  = w_done_q | (axil_req_o.w_valid & axil_rsp_i.w_ready);

  always_ff @(posedge clk_i) begin
    if (!rst_ni || !enable_i) begin
      state_q    <= StFetch;
      aw_done_q  <= 1'b0;
      w_done_q   <= 1'b0;
      limited_q  <= 1'b0;
      progress_q <= 1'b0;
      addr_q     <= '0;
      data_q     <= '0;
      addr_hold_q <= '0;
      data_hold_q <= '0;
      resp_hold_q <= '0;
    end else begin
      progress_q <= 1'b0;
      if (addr_hold_q != '0) addr_hold_q <= addr_hold_q - 4'd1;
      if (data_hold_q != '0) data_hold_q <= data_hold_q - 4'd1;
      if (resp_hold_q != '0 && (axil_rsp_i.b_valid || axil_rsp_i.r_valid)) resp_hold_q <= resp_hold_q - 4'd1;
      case (state_q)
        StFetch: begin
          automatic int unsigned op, data;
          automatic logic [11:0] hold;
          automatic shortint unsigned address;
          op = fleet_host_next(cycle_i, address, data);
          hold = 12'(fleet_host_hold());
          addr_hold_q <= hold[3:0];
          data_hold_q <= hold[7:4];
          resp_hold_q <= hold[11:8];
          addr_q     <= address;
          data_q     <= data;
          limited_q  <= data != 0;
          progress_q <= 1'b1;
          case (op)
            OpWrite:   state_q <= StWrite;
            OpRead:    state_q <= StRead;
            OpWaitIrq: state_q <= StWaitIrq;
            default:   state_q <= StIdle;
          endcase
        end
        StWrite: begin
          aw_done_q <= aw_done;
          w_done_q  <= w_done;
          if (aw_done && w_done) begin
            fleet_host_written(cycle_i, 32'd0);
            aw_done_q <= 1'b0;
            w_done_q  <= 1'b0;
            state_q   <= StWriteResponse;
          end
        end
        StWriteResponse: begin
          if (axil_rsp_i.b_valid && axil_req_o.b_ready) begin
            if (axil_rsp_i.b.resp != 2'b00) fleet_host_written(cycle_i, 32'(axil_rsp_i.b.resp));
            state_q <= StFetch;
          end
        end
        StRead: begin
          if (axil_req_o.ar_valid && axil_rsp_i.ar_ready) state_q <= StReadData;
        end
        StReadData: begin
          if (axil_rsp_i.r_valid && axil_req_o.r_ready) begin
            if (fleet_host_read(cycle_i, axil_rsp_i.r.data, 32'(axil_rsp_i.r.resp)) != 0) state_q <= StFetch;
            else state_q <= StRead;
          end
        end
        StWaitIrq: begin
          if (irq_i) state_q <= StFetch;
          else if (limited_q && data_q == 0) fleet_host_late(cycle_i);
          if (limited_q && data_q != 0) data_q <= data_q - 1;
        end
        default: ;  // the script is over
      endcase
    end
  end

  assign progress_o          = progress_q;
  assign axil_req_o.aw_valid = state_q == StWrite && !aw_done_q && addr_hold_q == '0;
  assign axil_req_o.w_valid  = state_q == StWrite && !w_done_q && data_hold_q == '0;
  assign axil_req_o.aw.addr  = addr_q;
  assign axil_req_o.ar.addr  = addr_q;
  assign axil_req_o.w.strb   = '1;
  assign axil_req_o.w.data   = data_q;
  assign axil_req_o.b_ready  = state_q == StWriteResponse && resp_hold_q == '0;
  assign axil_req_o.ar_valid = state_q == StRead && addr_hold_q == '0;
  assign axil_req_o.r_ready  = state_q == StReadData && resp_hold_q == '0;
endmodule
