// Norm in fixed point (docs/arithmetic.md, Norm): its values, and its functions in stages. X: an FP16 in units of 2^-24.
//
// What comes with every beat is in words of 64 bits, which cost a simulation least; what comes once a row is as wide as it is.
package hbm0923_sfu_norm_pkg;
  import fp_pkg::*;
  import hbm0923_tables_pkg::*;
  import hbm0923_sfu_softmax_pkg::*;

  localparam int unsigned CountBits  = 17;   // C, at most 2^16
  localparam int unsigned RowSumBits = 57;   // sum of X, with its sign
  localparam int unsigned WordBits   = 56;   // sums of the lower and of the upper 40 bits of X^2
  localparam int unsigned SquareBits = 96;   // sum of X^2
  localparam int unsigned ScaledBits = 113;  // C times that
  localparam int unsigned WeightBits = 125;  // W
  localparam int unsigned EpsBits    = 109;  // E
  localparam int unsigned DifferenceSteps = 4;                    // C times a lane less the row's sum
  localparam int unsigned DeviationSteps  = DifferenceSteps + 5;  // and its rounding

  typedef logic signed [RowSumBits-1:0] row_sum_t;
  typedef struct packed {
    logic [WordBits-1:0] low;
    logic [WordBits-1:0] high;  // in units of 2^40
  } squares_t;

  // ---- a lane's square
  typedef struct {
    logic [63:0] square;  // of the mantissa
    logic [31:0] places;  // by which it is to be shifted
  } lane_square_t;

  function automatic lane_square_t lane_square(input logic [15:0] x);
    logic        normal, unused_sign;
    logic [63:0] mantissa;
    unused_sign = x[15];
    normal      = x[14:10] != 5'd0;
    mantissa    = 64'({normal, x[9:0]});
    return '{square: mantissa * mantissa, places: 32'({x[14:10] - 5'(normal), 1'b0})};
  endfunction

  // The lower 40 bits of the shifted square, and those above.
  function automatic logic [63:0] square_low(input lane_square_t p);
    return (p.square << p.places[5:0]) & 64'h0000_00FF_FFFF_FFFF;
  endfunction

  function automatic logic [63:0] square_high(input lane_square_t p);
    return (p.square << 18) >> (6'd58 - p.places[5:0]);
  endfunction

  // ---- once an instruction: C with its leading one at bit 16, and E
  typedef struct packed {
    logic [CountBits-1:0] digits;
    logic [4:0]           places;  // C = digits * 2^(places - 16)
  } count_t;

  function automatic count_t count_of(input logic [CountBits-1:0] c);
    logic [4:0] places;
    places = 5'd0;
    for (int unsigned i = 1; i < CountBits; i++) if (c[i]) places = 5'(i);
    return '{digits: c << (5'd16 - places), places: places};
  endfunction

  typedef struct packed {
    logic [40:0] low, high;
  } eps_parts_t;

  function automatic eps_parts_t eps_parts(input logic [32:0] count_square, input logic [22:0] mantissa);
    return '{low: 41'(count_square[16:0]) * 41'({1'b1, mantissa}), high: 41'(count_square[32:17]) * 41'({1'b1, mantissa})};
  endfunction

  // Of a product in units of 2^-52, shifted to the right by `places`: multiples of 16, then the others.
  function automatic logic [EpsBits-1:0] eps_coarse(input logic [56:0] product, input logic [3:0] sixteens);
    return {product, 52'd0} >> {sixteens, 4'd0};
  endfunction

  // ---- the sum of squares, and C times that
  function automatic logic [SquareBits-1:0] square_sum(input squares_t s);
    return SquareBits'(s.low) + {s.high, 40'd0};
  endfunction

  typedef logic [3:0][40:0] scaled_parts_t;  // 24 bits of the sum each

  function automatic scaled_parts_t scaled_parts(input logic [SquareBits-1:0] square, input logic [CountBits-1:0] count);
    scaled_parts_t p;
    for (int unsigned i = 0; i < 4; i++) p[i] = 41'(square[24*i+:24]) * 41'(count);
    return p;
  endfunction

  function automatic logic [ScaledBits-1:0] scaled_sum(input scaled_parts_t p);
    return ScaledBits'({p[2], 7'd0, p[0]}) + {p[3], 7'd0, p[1], 24'd0};
  endfunction

  // ---- the square of a row's sum: parts of 24 by parts of 17 bits, which a DSP takes
  typedef logic [3:0][2:0][40:0] sum_parts_t;
  typedef logic [3:0][72:0]      sum_rows_t;
  typedef struct packed {
    logic [89:0] low, high;  // high: in units of 2^34
  } sum_halves_t;

  function automatic logic [WordBits-1:0] sum_magnitude(input row_sum_t sum);
    logic [RowSumBits-1:0] negate;
    negate = RowSumBits'(0) - RowSumBits'(sum[RowSumBits-1]);
    return WordBits'(($unsigned(sum) ^ negate) - negate);
  endfunction

  function automatic sum_parts_t sum_parts(input logic [WordBits-1:0] sum);
    logic [71:0] a;
    logic [67:0] b;
    sum_parts_t  p;
    a = 72'(sum);
    b = 68'(sum);
    for (int unsigned j = 0; j < 4; j++) for (int unsigned i = 0; i < 3; i++) p[j][i] = 41'(a[24*i+:24]) * 41'(b[17*j+:17]);
    return p;
  endfunction

  function automatic sum_rows_t sum_rows(input sum_parts_t p);
    sum_rows_t r;
    for (int unsigned j = 0; j < 4; j++) r[j] = 73'({p[j][2], 7'd0, p[j][0]}) + 73'({p[j][1], 24'd0});
    return r;
  endfunction

  function automatic sum_halves_t sum_halves(input sum_rows_t r);
    return '{low: 90'(r[0]) + 90'({r[1], 17'd0}), high: 90'(r[2]) + 90'({r[3], 17'd0})};
  endfunction

  function automatic logic [ScaledBits-1:0] sum_square(input sum_halves_t p);
    return ScaledBits'(p.low) + ScaledBits'({p.high, 34'd0});
  endfunction

  // ---- the root of W
  typedef struct packed {
    logic [63:0] upper, lower;
    logic        below;        // the 64 upper bits of W are 0
  } weight_top_t;
  typedef struct packed {
    logic [63:0] upper, lower;
    logic [7:0]  zeros;        // leading ones of W in 128 bits; 128 for 0
  } weight_count_t;

  function automatic weight_top_t weight_top(input logic [WeightBits-1:0] w);
    logic [127:0] wide;
    wide = 128'(w);
    if (wide[127:64] == '0) return '{upper: wide[63:0], lower: '0, below: 1'b1};
    return '{upper: wide[127:64], lower: wide[63:0], below: 1'b0};
  endfunction

  function automatic weight_count_t weight_count(input weight_top_t p);
    return '{upper: p.upper, lower: p.lower, zeros: 8'(clz64(p.upper)) + {1'b0, p.below, 6'd0}};
  endfunction

  // W as a number in [1, 4) times a power of 4: 26 digits behind the point.
  function automatic logic [27:0] weight_digits(input weight_count_t p);
    logic [5:0] shift;
    shift = {p.zeros[5:1], 1'b0};
    return 28'(((p.upper << shift) | ((p.lower >> 1) >> (6'd63 - shift))) >> 36);
  endfunction

  function automatic parabola_t rsqrt_parabola(input logic [27:0] w);
    logic [25:0] v;
    v = w[27] ? w[26:1] : w[25:0];
    return parabola(RsqrtA[{w[27], v[25:18]}], RsqrtB[{w[27], v[25:18]}], RsqrtC[{w[27], v[25:18]}], v[17:0]);
  endfunction

  // ---- what a row's deviations are multiplied by
  typedef struct packed {
    logic [33:0] low;
    logic [28:0] high;  // in units of 2^17
  } factor_parts_t;

  function automatic factor_parts_t factor_parts(input logic [28:0] root, input logic [CountBits-1:0] digits);
    return '{low: 34'(root[16:0]) * 34'(digits), high: 29'(root[28:17]) * 29'(digits)};
  endfunction

  function automatic logic [45:0] factor_sum(input factor_parts_t p);
    return 46'(p.low) + {p.high, 17'd0};
  endfunction

  // In [2^44, 2^46): rounded to binary32. exp: the exponent of what is below 2^45. none: NaN instead.
  function automatic fp32_round_t factor_rounding(input logic [45:0] product, input logic [7:0] exp, input logic none);
    return fp32_rounding('{
      sign: 32'd0, special: none ? Fp32Nan : 32'd0, exp: 32'(exp) + 32'(product[45]),
      mag: product[45] ? {8'd0, product, 10'd0} : {7'd0, product, 11'd0}
    });
  endfunction

  // ---- C times a lane less the row's sum, in steps
  typedef struct packed {
    logic signed [28:0] product;  // C times the mantissa with its sign
    logic        [4:0]  places;
  } lane_product_t;

  function automatic lane_product_t lane_product(input fp16_unpacked_t x, input logic [CountBits-1:0] count);
    logic unused_bits;
    unused_bits = ^{x.sign, x.special, x.exp[13:5]};
    return '{product: 29'(x.mantissa) * 29'($signed({1'b0, count})), places: x.exp[4:0] - 5'd1};
  endfunction

  function automatic logic signed [63:0] lane_place(input lane_product_t p);
    return 64'(p.product) <<< p.places;
  endfunction

  function automatic logic signed [63:0] deviation(input logic [15:0] x, input logic [CountBits-1:0] count, input row_sum_t sum);
    return lane_place(lane_product(fp16_unpack(x), count)) - 64'(sum);
  endfunction

endpackage
