// Copies accumulators, or their lowest bytes, into a two-dimensional range of DDR: an element a cycle into a beat, then the beat.
module vgemm_storer
  import vgemm_types_pkg::*;
  import fleet_axi_pkg::*;
#(
  parameter int unsigned Block = 4,
  parameter int unsigned Aw    = 10
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                start_i,         // one cycle, with the transfer
  input  transfer_t           transfer_i,
  output logic                done_o,          // when the last write was answered
  output logic                error_o,

  output logic [Aw-1:0]       read_o,
  input  logic [Block*32-1:0] read_i,

  output ddr_wr_req_t         ddr_req_o,
  input  ddr_wr_rsp_t         ddr_rsp_i
);
  localparam int unsigned Log2Block = $clog2(Block);

  typedef enum logic [1:0] {StIdle, StGather, StWrite, StResp} state_e;

  state_e       state_q, state_d;
  transfer_t    t_q;
  logic         error_q, over_q, aw_done_q, w_done_q;
  logic [15:0]  x_q, y_q;
  logic [16:0]  elem_q;
  logic [31:0]  row_q, addr_q;
  logic [25:0]  beat_addr_q;
  logic [511:0] data_q;
  logic [63:0]  strb_q;

  logic         out;
  logic [2:0]   log2_elem;
  assign out       = t_q.memory_type == TypeOut;
  assign log2_elem = out ? 3'(Log2Block) : 3'(Log2Block + 2);

  logic last_column, last_row, flush;
  logic [31:0] next_addr;
  assign last_column = x_q == t_q.x_size - 16'd1;
  assign last_row    = y_q == t_q.y_size - 16'd1;
  assign next_addr   = addr_q + (32'd1 << log2_elem);
  assign flush       = last_column || next_addr[31:6] != addr_q[31:6];

  logic aw_over, w_over;
  assign aw_over = aw_done_q || ddr_rsp_i.aw_ready;
  assign w_over  = w_done_q || ddr_rsp_i.w_ready;

  always_comb begin
    state_d = state_q;
    case (state_q)
      StIdle:   if (start_i) state_d = StGather;
      StGather: if (flush) state_d = StWrite;
      StWrite:  if (aw_over && w_over) state_d = StResp;
      StResp:   if (ddr_rsp_i.b_valid) state_d = over_q ? StIdle : StGather;
      default:  state_d = StIdle;
    endcase
  end
  assign done_o  = state_q == StResp && ddr_rsp_i.b_valid && over_q;
  assign error_o = error_q || ddr_rsp_i.b.resp[1];

  // The element to its place in the beat.
  logic [511:0] elem, elem_mask;
  logic [63:0]  elem_strb;
  for (genvar b = 0; b < 64; b++) begin : gen_elem
    logic [7:0] narrow, wide;
    if (b < Block) begin : gen_narrow
      assign narrow = read_i[32*b+:8];
    end else begin : gen_no_narrow
      assign narrow = '0;
    end
    if (b < 4 * Block) begin : gen_wide
      assign wide = read_i[8*b+:8];
    end else begin : gen_no_wide
      assign wide = '0;
    end
    assign elem[8*b+:8]      = out ? narrow : wide;
    assign elem_strb[b]      = out ? b < Block : b < 4 * Block;
    assign elem_mask[8*b+:8] = {8{strb_q[b]}};
  end
  assign read_o = Aw'(elem_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q     <= StIdle;
      t_q         <= '0;
      error_q     <= 1'b0;
      over_q      <= 1'b0;
      aw_done_q   <= 1'b0;
      w_done_q    <= 1'b0;
      x_q         <= '0;
      y_q         <= '0;
      elem_q      <= '0;
      row_q       <= '0;
      addr_q      <= '0;
      beat_addr_q <= '0;
      data_q      <= '0;
      strb_q      <= '0;
    end else begin
      state_q <= state_d;
      case (state_q)
        StIdle: if (start_i) begin
          t_q     <= transfer_i;
          error_q <= 1'b0;
          over_q  <= 1'b0;
          x_q     <= '0;
          y_q     <= '0;
          elem_q  <= 17'(transfer_i.sram_base);
          row_q   <= transfer_i.address;
          addr_q  <= transfer_i.address;
          strb_q  <= '0;
        end
        StGather: begin
          data_q      <= (data_q & elem_mask) | (elem << {addr_q[5:0], 3'd0});
          strb_q      <= strb_q | (elem_strb << addr_q[5:0]);
          beat_addr_q <= addr_q[31:6];
          elem_q      <= elem_q + 17'd1;
          aw_done_q   <= 1'b0;
          w_done_q    <= 1'b0;
          over_q      <= last_column && last_row;
          if (last_column) begin
            x_q    <= '0;
            y_q    <= y_q + 16'd1;
            row_q  <= row_q + (32'(t_q.x_stride) << log2_elem);
            addr_q <= row_q + (32'(t_q.x_stride) << log2_elem);
          end else begin
            x_q    <= x_q + 16'd1;
            addr_q <= next_addr;
          end
        end
        StWrite: begin
          aw_done_q <= aw_over;
          w_done_q  <= w_over;
        end
        default: if (ddr_rsp_i.b_valid) begin
          strb_q <= '0;
          if (ddr_rsp_i.b.resp[1]) error_q <= 1'b1;
        end
      endcase
    end
  end

  assign ddr_req_o.aw.id    = '0;
  assign ddr_req_o.aw.len   = '0;
  assign ddr_req_o.w.last   = 1'b1;
  assign ddr_req_o.aw_valid = state_q == StWrite && !aw_done_q;
  assign ddr_req_o.aw.addr  = {1'b0, beat_addr_q, 6'd0};
  assign ddr_req_o.w_valid  = state_q == StWrite && !w_done_q;
  assign ddr_req_o.w.data   = data_q & elem_mask;
  assign ddr_req_o.w.strb   = strb_q;
  assign ddr_req_o.b_ready  = state_q == StResp;

  logic unused;
  assign unused = ^{t_q.sram_base, t_q.address, t_q.y_pad_before, t_q.y_pad_after, t_q.x_pad_before, t_q.x_pad_after,
                    elem_q[16:Aw], ddr_rsp_i.b.id, ddr_rsp_i.b.resp[0]};
endmodule
