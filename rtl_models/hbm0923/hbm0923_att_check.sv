// Derives an instruction's sizes from its operands and finds what is illegal, in ten steps with one multiplier.
module hbm0923_att_check
  import hbm0923_pkg::*;
  import hbm0923_unit_pkg::*;
  import hbm0923_att_pkg::*;
  import fp_fn_pkg::*;
#(
  parameter int unsigned Ports        = 32,
  parameter int unsigned Queries      = 1,   // pairs of query head and token that K and V are read for at once
  parameter int unsigned MaxToken     = 2048,
  parameter int unsigned OnchipDepth  = 8192,
  parameter bit          ScaleFp20    = 1'b0,
  parameter int unsigned Log2BankStep = 28,
  parameter int unsigned DdrMegabytes = 1024,
  parameter int unsigned HbmMegabytes = 64
) (
  input  logic              clk_i,
  input  logic              rst_ni,

  input  logic              start_i,     // one cycle; the operands stand still until done_o
  input  logic [31:0]       mode_i,
  input  trp_mvm_operands_t operands_i,

  output logic              done_o,      // one cycle: plan_o, hulls_o and error_o hold
  output logic [15:0]       error_o,
  output att_plan_t         plan_o,
  output hulls_t            hulls_o
);
  localparam int unsigned Log2Ports   = $clog2(Ports);
  localparam int unsigned Log2Queries = $clog2(Queries);
  localparam logic [43:0] DdrBytes  = 44'(DdrMegabytes) << 20;
  localparam logic [43:0] HbmBytes  = 44'(HbmMegabytes) << 20;
  localparam logic [43:0] HalfBytes = 44'(OnchipDepth) << 6;

  // The three instructions as one: features of `heads` lines and some groups, K or V of `kv` heads.
  typedef struct packed {
    logic        legal_mode;
    logic        store;
    logic        keys;
    logic [31:0] in_addr, in_surface, in_line;
    logic [31:0] out_addr, out_surface, out_line;
    logic [31:0] wt_addr, wt_head, wt_line;
    logic [31:0] depth;      // D
    logic [32:0] positions;  // T, or the first position beyond what is stored
    logic [31:0] last;       // the first one
    logic [31:0] tokens;
    logic [31:0] heads, kv;
    logic        unsupported, bad_heads;
    logic        in_onchip, out_onchip;
    logic [31:0] scale;
  } request_t;

  function automatic request_t decode(input logic [31:0] mode, input trp_mvm_operands_t o);
    /*verilator no_inline_task*/
    request_t          r;
    dat2hbm_operands_t s;
    s            = dat2hbm_operands_t'(o);
    r            = '0;
    r.legal_mode = 1'b1;
    if (mode == StartTrpMvm || mode == StartF2wMvm) begin
      r.keys        = mode == StartTrpMvm;
      r.in_addr     = o.in_addr;
      r.in_surface  = o.in_surface;
      r.in_line     = o.in_line;
      r.out_addr    = o.out_addr;
      r.out_surface = o.out_surface;
      r.out_line    = o.out_line;
      r.wt_addr     = o.wt_addr;
      r.wt_head     = o.wt_head;
      r.wt_line     = o.wt_line;
      r.depth       = o.chin;
      r.positions   = 33'(o.total);
      r.tokens      = o.tokens;
      r.heads       = 32'(o.heads[15:8]);
      r.kv          = 32'(o.heads[7:0]);
      r.in_onchip   = o.onchip[0];
      r.out_onchip  = o.onchip[1];
      r.unsupported = o.onchip[31:2] != '0;
      if (ScaleFp20) begin
        r.scale = fp20_to_fp32(o.scale[19:0]);
        if (o.scale[31:20] != 12'(Log2BankStep)) r.unsupported = 1'b1;
      end else begin
        r.scale = fp_pkg::fp16_to_fp32(o.scale[15:0]);
        if (o.scale[31:16] != 16'(Log2BankStep)) r.unsupported = 1'b1;
      end
      r.bad_heads = r.kv == '0 || r.heads == '0 || o.total == '0 || o.total > MaxToken;
    end else if (mode == StartDat2hbm) begin
      r.store       = 1'b1;
      r.keys        = s.trp[0];
      r.in_addr     = s.in_addr;
      r.in_surface  = s.in_surface;
      r.in_line     = s.in_line;
      r.last        = s.last;
      r.wt_addr     = s.out_addr;
      r.wt_head     = s.wt_head;
      r.wt_line     = s.wt_line;
      r.depth       = s.surfaces << 5;
      r.positions   = 33'(s.last) + 33'(s.tokens);
      r.tokens      = s.tokens;
      r.heads       = s.heads;
      r.kv          = s.heads;
      r.unsupported = {s.zero194, s.zero207, s.zero208} != '0 || s.bank_step != Log2BankStep || s.trp > 32'd1
                      || s.surfaces[31:27] != '0;
      r.bad_heads   = s.heads == '0 || s.heads > 32'd255;
    end else begin
      r.legal_mode = 1'b0;
    end
    return r;
  endfunction

  // Outside its memory, or in both halves of the on-chip memory.
  function automatic logic beyond(input logic onchip, input logic [31:0] lo, input logic [43:0] hi);
    if (!onchip) return hi > DdrBytes;
    return !(hi <= HalfBytes || (44'(lo) >= HalfBytes && hi <= HalfBytes << 1));
  endfunction

  function automatic logic [33:0] with_space(input logic onchip, input logic [33:0] address);
    return address | (34'(onchip) << OnchipBit);
  endfunction

  logic [3:0]  step_q;
  logic [31:0] a_q, b_q;
  logic [63:0] product;
  assign product = 64'(a_q) * 64'(b_q);

  request_t    r_q;
  logic        size_q, unaligned_q, range_q;
  logic [15:0] in_groups_q, out_groups_q, rows_q;
  logic [31:0] row_bytes_q, token_bytes_q;
  logic [43:0] in_end_q, out_end_q, wt_end_q, head_bytes_q, span_q;
  att_plan_t   plan_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      step_q        <= '0;
      a_q           <= '0;
      b_q           <= '0;
      r_q           <= '0;
      size_q        <= 1'b0;
      unaligned_q   <= 1'b0;
      range_q       <= 1'b0;
      in_groups_q   <= '0;
      out_groups_q  <= '0;
      rows_q        <= '0;
      row_bytes_q   <= '0;
      token_bytes_q <= '0;
      in_end_q      <= '0;
      out_end_q     <= '0;
      wt_end_q      <= '0;
      head_bytes_q  <= '0;
      span_q        <= '0;
      plan_q        <= '0;
    end else begin
      if (start_i) step_q <= 4'd1;
      else if (step_q != 4'd0) step_q <= (step_q == 4'd13) ? 4'd0 : step_q + 4'd1;

      case (step_q)
        4'd1: r_q <= decode(mode_i, operands_i);
        4'd2: begin
          if (r_q.depth != 32'd64 && r_q.depth != 32'd128) r_q.unsupported <= 1'b1;
          size_q      <= r_q.bad_heads || r_q.positions > 33'(MaxToken) || r_q.tokens == '0 || r_q.tokens > MaxToken;
          unaligned_q <= {r_q.in_addr[5:0], r_q.in_surface[5:0], r_q.in_line[5:0], r_q.out_addr[5:0], r_q.out_surface[5:0],
                          r_q.out_line[5:0], r_q.wt_addr[4:0], r_q.wt_head[4:0], r_q.wt_line[4:0]} != '0;
          in_groups_q   <= (r_q.keys || r_q.store) ? 16'(r_q.depth >> 5) : 16'((r_q.positions + 33'd31) >> 5);
          out_groups_q  <= r_q.store ? 16'd1 : r_q.keys ? 16'((r_q.positions + 33'd31) >> 5) : 16'(r_q.depth >> 5);
          rows_q        <= r_q.keys ? 16'((r_q.positions + 33'(Ports - 1)) >> Log2Ports) : 16'(r_q.depth >> Log2Ports);
          row_bytes_q   <= r_q.keys ? r_q.depth << 1 : 32'((r_q.positions + 33'd15) >> 4) << 5;
          token_bytes_q <= {r_q.tokens[25:0], 6'd0};
        end
        4'd3: begin
          a_q <= 32'(in_groups_q) - 32'd1;
          b_q <= r_q.in_surface;
          if ((in_groups_q != 16'd1 && r_q.in_surface < token_bytes_q) || (r_q.heads != 32'd1 && r_q.in_line < token_bytes_q)
              || (!r_q.store && out_groups_q != 16'd1 && r_q.out_surface < token_bytes_q)
              || (!r_q.store && r_q.heads != 32'd1 && r_q.out_line < token_bytes_q)
              || (rows_q != 16'd1 && r_q.wt_line < row_bytes_q)) size_q <= 1'b1;
        end
        4'd4: begin
          in_end_q <= 44'(r_q.in_addr) + product[43:0] + 44'(token_bytes_q);
          a_q      <= r_q.heads - 32'd1;
          b_q      <= r_q.in_line;
        end
        4'd5: begin
          in_end_q <= in_end_q + product[43:0];
          a_q      <= 32'(out_groups_q) - 32'd1;
          b_q      <= r_q.out_surface;
        end
        4'd6: begin
          span_q    <= product[43:0];
          out_end_q <= 44'(r_q.out_addr) + product[43:0] + 44'(token_bytes_q);
          a_q       <= r_q.heads - 32'd1;
          b_q       <= r_q.out_line;
        end
        4'd7: begin
          // Rows of the output that overlap would be written twice: one stride steps over all of the other's.
          if (!r_q.store && r_q.heads != 32'd1 && out_groups_q != 16'd1 && 44'(r_q.out_line) < span_q + 44'(token_bytes_q)
              && 44'(r_q.out_surface) < product[43:0] + 44'(token_bytes_q)) size_q <= 1'b1;
          out_end_q <= out_end_q + product[43:0];
          a_q       <= 32'(rows_q) - 32'd1;
          b_q       <= r_q.wt_line;
        end
        4'd8: begin
          head_bytes_q <= product[43:0] + 44'(row_bytes_q);
          a_q          <= r_q.kv - 32'd1;
          b_q          <= r_q.wt_head;
        end
        4'd9: begin
          wt_end_q <= 44'(r_q.wt_addr) + product[43:0] + head_bytes_q;
          if (r_q.kv != 32'd1 && 44'(r_q.wt_head) < head_bytes_q) size_q <= 1'b1;
          // The ratio, and query heads by it.
          a_q <= 32'(operands_i.heads[31:16]) + 32'd1;
          b_q <= r_q.kv;
        end
        4'd10: begin
          if (!r_q.store && product != 64'(r_q.heads)) size_q <= 1'b1;
          b_q <= r_q.tokens;
        end
        4'd11: begin
          plan_q.groups <= 20'((product[20:0] + 21'(Queries - 1)) >> Log2Queries);
          plan_q.tail   <= 4'((product[3:0] - 4'd1) & 4'(Queries - 1)) + 4'd1;
          a_q           <= r_q.last >> Log2Ports;
          b_q           <= r_q.wt_line;
          range_q       <= beyond(r_q.in_onchip, r_q.in_addr, in_end_q) || wt_end_q > HbmBytes;
          if (!r_q.store) begin
            if (beyond(r_q.out_onchip, r_q.out_addr, out_end_q)) range_q <= 1'b1;
            if (r_q.in_onchip == r_q.out_onchip && 44'(r_q.in_addr) < out_end_q && 44'(r_q.out_addr) < in_end_q) range_q <= 1'b1;
            if (r_q.in_onchip && r_q.out_onchip && (44'(r_q.in_addr) < HalfBytes) == (44'(r_q.out_addr) < HalfBytes)) range_q <= 1'b1;
          end
        end
        4'd12: begin
          plan_q.store         <= r_q.store;
          plan_q.keys          <= r_q.keys;
          plan_q.scale         <= r_q.scale;
          plan_q.tokens        <= r_q.tokens[15:0];
          plan_q.in_addr       <= {r_q.in_onchip, r_q.in_addr};
          plan_q.outer         <= r_q.heads[15:0];
          plan_q.outer_stride  <= r_q.in_line;
          plan_q.middle        <= r_q.store ? in_groups_q : r_q.tokens[15:0];
          plan_q.middle_stride <= r_q.store ? r_q.in_surface : 32'd64;
          plan_q.inner         <= r_q.store ? r_q.tokens[15:0] : in_groups_q;
          plan_q.inner_stride  <= r_q.store ? 32'd64 : r_q.in_surface;
          plan_q.out_addr      <= {r_q.out_onchip, r_q.out_addr};
          plan_q.out_surface   <= r_q.out_surface;
          plan_q.out_line      <= r_q.out_line;
          plan_q.wt_addr       <= r_q.wt_addr[27:0];
          plan_q.wt_head       <= r_q.wt_head[27:0];
          plan_q.wt_line       <= r_q.wt_line[27:0];
          plan_q.kv_heads      <= r_q.kv[7:0];
          plan_q.rows          <= rows_q[8:0];
          plan_q.beats         <= row_bytes_q[12:5];
          plan_q.joined        <= r_q.wt_line == row_bytes_q || rows_q == 16'd1;
          plan_q.head_beats    <= head_bytes_q[20:5];
          plan_q.mask          <= r_q.keys ? '1 : 16'hFFFF >> (4'd0 - r_q.positions[3:0]);
          plan_q.keep          <= r_q.keys ? 6'(6'((r_q.positions - 33'd1) & 33'(Ports - 1)) + 6'd1) : 6'(Ports);
          plan_q.last          <= 16'(r_q.last);
          plan_q.first         <= r_q.keys ? product[27:0] : 28'(r_q.last >> 4) << 5;
        end
        default: ;
      endcase
    end
  end

  assign done_o  = step_q == 4'd13;
  assign error_o = !r_q.legal_mode ? ErrIllegalMode : r_q.unsupported ? ErrUnsupported : size_q ? ErrBadSize
                   : unaligned_q ? ErrUnaligned : range_q ? ErrOutOfRange : ErrNone;
  assign plan_o  = plan_q;

  always_comb begin
    hulls_o         = '0;
    hulls_o.data[0] = '{valid: 1'b1, lo: with_space(r_q.in_onchip, 34'(r_q.in_addr)),
                        hi: with_space(r_q.in_onchip, in_end_q[33:0])};
    if (r_q.store) begin
      hulls_o.hbm_wr = '{valid: 1'b1, lo: 34'(r_q.wt_addr), hi: wt_end_q[33:0]};
    end else begin
      hulls_o.hbm   = '{valid: 1'b1, lo: 34'(r_q.wt_addr), hi: wt_end_q[33:0]};
      hulls_o.wr[0] = '{valid: 1'b1, lo: with_space(r_q.out_onchip, 34'(r_q.out_addr)),
                        hi: with_space(r_q.out_onchip, out_end_q[33:0])};
    end
  end

  if (MaxToken > MaxLanes || MaxToken < 32 || 2 ** Log2Ports != Ports || Ports < 4 || Ports > 32) begin : gen_check
    $error("sizes beyond what the counters hold");
  end
  if (2 ** Log2Queries != Queries || Queries > 8) begin : gen_queries
    $error("AttQueries must be 1, 2, 4 or 8");
  end
  if (HbmMegabytes > 256 || DdrMegabytes > 4096) begin : gen_memory
    $error("memories beyond what addresses reach");
  end

  logic unused_operands;
  assign unused_operands = ^{operands_i, product};
endmodule
