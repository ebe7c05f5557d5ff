// What is common to the check of every instruction that maps a feature to one of the same sizes: the products of sizes and
// strides with one multiplier, then the ranges. Ten cycles. The instruction's own findings, from registers alone, come
// with the start; of several the rank of docs/arithmetic.md decides.
module hbm0923_feature_check
  import hbm0923_pkg::*;
  import hbm0923_unit_pkg::*;
  import hbm0923_feature_pkg::*;
#(
  parameter int unsigned OnchipDepth  = 8192,  // beats of a half
  parameter int unsigned DdrMegabytes = 1024
) (
  input  logic     clk_i,
  input  logic     rst_ni,

  input  logic     start_i,        // one cycle; what follows stands still until done_o
  input  logic [15:0] error_i,     // illegal mode, unsupported, bad size or unaligned; or none
  input  sizes_t   sizes_i,
  input  feature_t in_i,
  input  feature_t out_i,
  input  side_e    side_i,
  input  feature_t side_feature_i,
  input  logic [23:0] side_bytes_i,  // of SideFlat
  input  logic     pixels_valid_i,   // lines * tokens must be
  input  logic [31:0] pixels_i,

  output logic     done_o,         // one cycle: error_o and hulls_o hold
  output logic [15:0] error_o,
  output hulls_t   hulls_o
);
  localparam logic [49:0] DdrBytes  = 50'(DdrMegabytes) << 20;
  localparam logic [49:0] HalfBytes = 50'(OnchipDepth) << 6;

  logic [3:0]  step_q;
  logic [15:0] error_q;
  logic [31:0] a_q;
  logic [15:0] b_q;
  logic [47:0] product, span_q;
  logic [49:0] in_end_q, out_end_q, side_end_q;  // of the offsets in their space
  hulls_t      hulls_q;

  assign product = 48'(a_q) * 48'(b_q);

  logic [15:0] surfaces_m1, lines_m1;
  logic [49:0] row_bytes;
  assign surfaces_m1 = sizes_i.surfaces - 16'd1;
  assign lines_m1    = 16'(sizes_i.lines) - 16'd1;
  assign row_bytes   = {28'd0, sizes_i.tokens, 6'd0};

  // ---- sizes, unless something ranks higher
  function automatic logic short_strides(input logic [31:0] surface, input logic [31:0] line, input logic [1:0] used,
                                         input logic [31:0] row);
    return (used[0] && surface < row) || (used[1] && line < row);
  endfunction
  // Whole structs go in; not every field counts.
  // verilator lint_off UNUSEDSIGNAL
  function automatic logic bad_strides(input feature_t a, input feature_t b, input side_e side, input feature_t c, input sizes_t s);
    logic [1:0]  many;
    logic [31:0] row;
    logic        bad;
    row  = {10'd0, s.tokens, 6'd0};
    many = {s.lines != 8'd1, s.surfaces != 16'd1};
    bad  = short_strides(a.surface, a.line, many, row) || short_strides(b.surface, b.line, many, row);
    // A table that all heads share has no step from one to the next.
    if (side == SideTable) bad = bad || short_strides(c.surface, c.line, many & {c.line != '0, 1'b1}, row);
    return bad;
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  logic ranks_higher;
  assign ranks_higher = error_q == ErrIllegalMode || error_q == ErrUnsupported;

  // ---- ranges
  function automatic logic beyond(input logic onchip, input logic [31:0] addr, input logic [49:0] stop);
    if (!onchip) return stop > DdrBytes;
    return stop > 50'(2 * HalfBytes) || (50'(addr) < HalfBytes && stop > HalfBytes);
  endfunction
  function automatic range_t range(input logic onchip, input logic [31:0] addr, input logic [32:0] stop);
    range_t r;
    r.valid = 1'b1;
    r.lo    = {1'b0, onchip, addr};
    r.hi    = 34'(stop) + {1'b0, onchip, 32'd0};
    return r;
  endfunction
  // Ranges that meet, and are not one.
  function automatic logic clash(input feature_t a, input feature_t b, input logic [49:0] a_end, input logic [49:0] b_end);
    if (a.onchip && b.onchip) return (50'(a.addr) < HalfBytes) == (50'(b.addr) < HalfBytes);  // a half has one port
    if (a == b || a.onchip != b.onchip) return 1'b0;
    return 50'(a.addr) < b_end && 50'(b.addr) < a_end;
  endfunction

  function automatic logic bad_range(input feature_t a, input feature_t b, input side_e side, input feature_t c,
                                     input logic [49:0] a_end, input logic [49:0] b_end, input logic [49:0] c_end);
    logic bad;
    bad = beyond(a.onchip, a.addr, a_end) || beyond(b.onchip, b.addr, b_end) || clash(a, b, a_end, b_end);
    case (side)
      SideNone: ;
      SideData: bad = bad || beyond(c.onchip, c.addr, c_end) || clash(c, b, c_end, b_end);
      default:  bad = bad || c_end > DdrBytes || (!b.onchip && 50'(c.addr) < b_end && 50'(b.addr) < c_end);
    endcase
    return bad;
  endfunction

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      step_q     <= '0;
      error_q    <= '0;
      a_q        <= '0;
      b_q        <= '0;
      in_end_q   <= '0;
      out_end_q  <= '0;
      side_end_q <= '0;
      span_q     <= '0;
      hulls_q    <= '0;
    end else begin
      if (start_i) step_q <= 4'd1;
      else if (step_q != 4'd0) step_q <= (step_q == 4'd10) ? 4'd0 : step_q + 4'd1;

      case (step_q)
        4'd1: begin
          error_q <= error_i;
          a_q     <= 32'(sizes_i.lines);
          b_q     <= sizes_i.tokens;
        end
        4'd2: begin
          if (!ranks_higher && (bad_strides(in_i, out_i, side_i, side_feature_i, sizes_i)
                                || (pixels_valid_i && product != 48'(pixels_i)))) error_q <= ErrBadSize;
          a_q <= in_i.surface;
          b_q <= surfaces_m1;
        end
        4'd3: begin
          in_end_q <= 50'(in_i.addr) + row_bytes + 50'(product);
          a_q      <= in_i.line;
          b_q      <= lines_m1;
        end
        4'd4: begin
          in_end_q <= in_end_q + 50'(product);
          a_q      <= out_i.surface;
          b_q      <= surfaces_m1;
        end
        4'd5: begin
          span_q    <= product;
          out_end_q <= 50'(out_i.addr) + row_bytes + 50'(product);
          a_q       <= out_i.line;
          b_q       <= lines_m1;
        end
        4'd6: begin
          // Rows of the output that overlap would be written twice: one stride steps over all of the other's.
          if (!ranks_higher && sizes_i.lines != 8'd1 && sizes_i.surfaces != 16'd1
              && 50'(out_i.line) < 50'(span_q) + row_bytes && 50'(out_i.surface) < 50'(product) + row_bytes) error_q <= ErrBadSize;
          out_end_q <= out_end_q + 50'(product);
          a_q       <= side_feature_i.surface;
          b_q       <= surfaces_m1;
        end
        4'd7: begin
          side_end_q <= 50'(side_feature_i.addr) + ((side_i == SideFlat) ? 50'(side_bytes_i) : row_bytes + 50'(product));
          a_q        <= side_feature_i.line;
          b_q        <= lines_m1;
        end
        4'd8: if (side_i != SideFlat) side_end_q <= side_end_q + 50'(product);
        4'd9: begin
          if (error_q == ErrNone
              && bad_range(in_i, out_i, side_i, side_feature_i, in_end_q, out_end_q, side_end_q)) error_q <= ErrOutOfRange;
          hulls_q         <= '0;
          hulls_q.data[0] <= range(in_i.onchip, in_i.addr, in_end_q[32:0]);
          hulls_q.wr[0]   <= range(out_i.onchip, out_i.addr, out_end_q[32:0]);
          if (side_i == SideData) hulls_q.data[1] <= range(side_feature_i.onchip, side_feature_i.addr, side_end_q[32:0]);
          else if (side_i != SideNone) hulls_q.coef <= range(1'b0, side_feature_i.addr, side_end_q[32:0]);
        end
        default: ;
      endcase
    end
  end

  assign done_o  = step_q == 4'd10;
  assign error_o = error_q;
  assign hulls_o = hulls_q;
endmodule
