// Floating-point and fixed-point functions shared by instruction sets.
//
// binary32: IEEE 754 with subnormals, round to nearest even, every NaN is the canonical 0x7FC00000.
// FP16: binary16 with subnormals, every NaN is 0x7E00; conversion overflows to infinity.
// Fixed point: units of 2^-24, the weight of FP16's smallest subnormal, so that every finite FP16 is an integer.
//
// Functions, not modules: called inside clock-enabled always_ff stages, an idle unit evaluates nothing, and each is
// compiled once (no_inline_task) instead of once a lane. 64-bit operands keep simulated arithmetic free of masking.
package fp_pkg;

  localparam logic [31:0] Fp32Nan = 32'h7FC0_0000;
  localparam logic [15:0] Fp16Nan = 16'h7E00;

  // Number of leading zeros of a 64-bit word; 64 for zero.
  function automatic logic [6:0] clz64(input logic [63:0] x);
    /*verilator no_inline_task*/
    // Steps without a choice: what a processor cannot predict costs it more than all of them.
    logic [63:0] v;
    logic [6:0]  n, step;
    v = x;
    step = 7'(v[63:32] == 32'd0) << 5;  n = step;      v = v << step[5:0];
    step = 7'(v[63:48] == 16'd0) << 4;  n = n + step;  v = v << step[5:0];
    step = 7'(v[63:56] == 8'd0) << 3;   n = n + step;  v = v << step[5:0];
    step = 7'(v[63:60] == 4'd0) << 2;   n = n + step;  v = v << step[5:0];
    step = 7'(v[63:62] == 2'd0) << 1;   n = n + step;  v = v << step[5:0];
    n = n + 7'(v[63] == 1'b0);
    return (x == 64'd0) ? 7'd64 : n;
  endfunction

  // Right shift that keeps what falls off as a sticky lowest bit.
  function automatic logic [63:0] shr_sticky(input logic [63:0] x, input logic [31:0] n);
    logic [63:0] shifted, lost;
    if (n >= 32'd64) begin
      shifted = 64'd0;
      lost    = x;
    end else begin
      shifted = x >> n[5:0];
      lost    = x & ((64'd1 << n[5:0]) - 64'd1);
    end
    return shifted | 64'(lost != 64'd0);
  endfunction

  // Rounds and packs |value| = mag * 2^(exp - 127 - 55) where bit 55 of mag has the weight of a normal's hidden bit.
  // Bits below 32 are rounded away. mag below 2^56; exp as IEEE stores it, 1 or more; bit 55 clear only when exp is 1.
  function automatic logic [31:0] pack32(input logic sign, input logic [31:0] exp, input logic [63:0] mag);
    logic [63:0] kept, low, packed_value;
    kept = mag >> 32;
    low  = mag & 64'h0000_0000_FFFF_FFFF;
    // A carry out of the mantissa runs into the exponent, which is what rounding up to the next binade means.
    packed_value = (64'(exp - 32'd1) << 23) + kept;
    if (low > 64'h8000_0000 || (low == 64'h8000_0000 && kept[0])) packed_value = packed_value + 64'd1;
    if (packed_value >= 64'h7F80_0000) packed_value = 64'h7F80_0000;
    return {sign, packed_value[30:0]};
  endfunction

  // binary32 sum. Units with trees spend most of their simulated time here: no choice that random operands make
  // unpredictable, but for that of a deep cancellation. This one is compiled into its caller: for loops over lanes.
  function automatic logic [31:0] fp32_add_inline(input logic [31:0] a, input logic [31:0] b);
    logic [31:0] swap, x, y, ex, ey, shift, magnitude, one;
    logic [63:0] mx, my, negate, sum;
    // The larger magnitude first, without a branch.
    swap = (32'd0 - 32'(b[30:0] > a[30:0])) & (a ^ b);
    x    = a ^ swap;
    y    = b ^ swap;
    ex   = 32'(x[30:23]);
    ey   = 32'(y[30:23]);
    if (ex - 32'd1 >= 32'd254) begin
      if (ex == 32'd0) begin
        // Two subnormals or zeros: integers. A carry makes a normal.
        magnitude = (x[31] == y[31]) ? 32'(x[30:0]) + 32'(y[30:0]) : 32'(x[30:0]) - 32'(y[30:0]);
        return magnitude | ((magnitude != 32'd0 || y[31]) ? x & 32'h8000_0000 : 32'd0);
      end
      if (x[22:0] != 23'd0) return Fp32Nan;
      return (y[30:0] == 31'h7F80_0000 && x[31] != y[31]) ? Fp32Nan : x;
    end
    // Hidden bits at 55. A subnormal has the exponent of the smallest normal.
    one = 32'(ey != 32'd0);
    mx  = (64'(x[22:0]) << 32) | 64'h0080_0000_0000_0000;
    my  = (64'(y[22:0]) << 32) | (64'(one) << 55);
    // 32 places lose nothing, and leave y so small that a larger distance rounds alike.
    shift  = ex - ey - 32'd1 + one;
    shift  = (shift > 32'd32) ? 32'd32 : shift;
    my     = my >> shift[5:0];
    negate = 64'd0 - 64'(x[31] ^ y[31]);
    sum    = mx + ((my ^ negate) - negate);
    // Leading one to bit 56, or as far as the exponent goes.
    if ((sum >> 55) == 64'd0) begin
      if (sum == 64'd0) return 32'd0;
      shift = 32'(clz64(sum)) - 32'd8;
      shift = (shift >= ex) ? ex - 32'd1 : shift;
      ex    = ex - shift;
      sum   = sum << shift[5:0];
    end
    one = 32'd1 - 32'(sum >> 56);
    sum = sum << one[5:0];
    // To nearest even; a carry out of the mantissa runs into the exponent.
    sum       = (64'(ex - one) << 23) + ((sum + 64'h0000_0000_FFFF_FFFF + ((sum >> 33) & 64'd1)) >> 33);
    magnitude = (sum > 64'h7F80_0000) ? 32'h7F80_0000 : sum[31:0];
    return magnitude | (x & 32'h8000_0000);
  endfunction

  function automatic logic [31:0] fp32_add(input logic [31:0] a, input logic [31:0] b);
    /*verilator no_inline_task*/
    return fp32_add_inline(a, b);
  endfunction

  // binary32 product.
  function automatic logic [31:0] fp32_mul(input logic [31:0] a, input logic [31:0] b);
    /*verilator no_inline_task*/
    logic [31:0] ea, eb, shift;
    logic [63:0] ma, mb, product;
    logic signed [31:0] exp;
    logic        sign;
    sign = a[31] ^ b[31];
    if (a[30:0] > 31'h7F80_0000 || b[30:0] > 31'h7F80_0000) return Fp32Nan;
    if (a[30:0] == 31'h7F80_0000) return (b[30:0] == 31'd0) ? Fp32Nan : {sign, 31'h7F80_0000};
    if (b[30:0] == 31'h7F80_0000) return (a[30:0] == 31'd0) ? Fp32Nan : {sign, 31'h7F80_0000};
    if (a[30:0] == 31'd0 || b[30:0] == 31'd0) return {sign, 31'd0};
    ea = 32'(a[30:23]);
    eb = 32'(b[30:23]);
    ma = {40'd0, ea != 32'd0, a[22:0]};
    mb = {40'd0, eb != 32'd0, b[22:0]};
    if (ea == 32'd0) ea = 32'd1;
    if (eb == 32'd0) eb = 32'd1;
    // Exact product, its leading one moved to bit 55.
    product = ma * mb;
    shift   = 32'(clz64(product)) - 32'd8;
    product = product << shift[5:0];
    exp     = $signed(ea) + $signed(eb) - 32'sd118 - $signed(shift);
    if (exp < 32'sd1) begin
      product = shr_sticky(product, $unsigned(32'sd1 - exp));
      exp     = 32'sd1;
    end
    if (exp > 32'sd254) return {sign, 31'h7F80_0000};
    return pack32(sign, $unsigned(exp), product);
  endfunction

  // binary32 product by a factor of at most 14 significant bits, for operands and products that are no subnormals (which
  // count as zeros) and products that do not overflow: one narrow multiplier and no search for the leading one.
  function automatic logic [31:0] fp32_mul_short(input logic [31:0] a, input logic [31:0] b);
    /*verilator no_inline_task*/
    logic [31:0] carry;
    logic [63:0] product;
    logic        sign, unused_bits;
    unused_bits = ^b[9:0];
    sign        = a[31] ^ b[31];
    if (a[30:23] == 8'hFF || b[30:23] == 8'hFF) begin
      // NaN, infinity times zero, infinity.
      if ((a[30:23] == 8'hFF && a[22:0] != 23'd0) || (b[30:23] == 8'hFF && b[22:10] != 13'd0)) return Fp32Nan;
      return (a[30:23] == 8'd0 || b[30:23] == 8'd0) ? Fp32Nan : {sign, 31'h7F80_0000};
    end
    if (a[30:23] == 8'd0 || b[30:23] == 8'd0) return {sign, 31'd0};
    product = 64'({1'b1, a[22:0]}) * 64'({1'b1, b[22:10]});
    carry   = 32'(product[37]);
    return pack32(sign, 32'(a[30:23]) + 32'(b[30:23]) + carry - 32'd127, product << (6'd19 - carry[5:0]));
  endfunction

  // FP16 to binary32, exact.
  function automatic logic [31:0] fp16_to_fp32(input logic [15:0] x);
    /*verilator no_inline_task*/
    logic [63:0] mag;
    logic [31:0] shift;
    if (x[14:0] > 15'h7C00) return Fp32Nan;
    if (x[14:0] == 15'h7C00) return {x[15], 31'h7F80_0000};
    if (x[14:0] == 15'd0) return {x[15], 31'd0};
    if (x[14:10] != 5'd0) return {x[15], 8'(x[14:10]) + 8'd112, x[9:0], 13'd0};
    // A subnormal: x * 2^-24, normal in binary32.
    mag   = 64'(x[9:0]);
    shift = 32'(clz64(mag)) - 32'd8;
    return pack32(x[15], 32'd158 - shift, mag << shift[5:0]);
  endfunction

  // An operand of exact products of FP16. Its value is mantissa * 2^(exp - 25); of infinities and NaNs, which are marked,
  // the mantissa tells which it is: 0 for infinity.
  typedef struct packed {
    logic               sign;
    logic               special;
    logic        [13:0] exp;       // FP16's, and 1 for subnormals; at most 31
    logic signed [15:0] mantissa;  // with the sign, below 2^11
  } fp16_unpacked_t;

  function automatic fp16_unpacked_t fp16_unpack(input logic [15:0] x);
    logic        special, normal;
    logic [15:0] magnitude, negate;
    special   = x[14:10] == 5'd31;
    normal    = x[14:10] != 5'd0;
    magnitude = {5'd0, normal && !special, x[9:0]};
    negate    = 16'd0 - 16'(x[15]);
    return '{
      sign: x[15], special: special, exp: normal ? 14'(x[14:10]) : 14'd1,
      mantissa: $signed((magnitude ^ negate) - negate)
    };
  endfunction

  // What a sum of products of FP16 is when a lane is not finite.
  typedef struct packed {
    logic nan;
    logic pos;  // an infinite product
    logic neg;
  } fp_odd_t;

  function automatic fp_odd_t fp16_odd_product(input fp16_unpacked_t x, input fp16_unpacked_t w);
    logic special, nan, unused_exp;
    unused_exp = ^{x.exp, w.exp};
    special    = x.special || w.special;
    // A NaN, or a zero beside what is not finite.
    nan = (x.special == (x.mantissa != 16'sd0)) || (w.special == (w.mantissa != 16'sd0));
    return '{
      nan: special && nan, pos: special && !nan && x.sign == w.sign, neg: special && !nan && x.sign != w.sign
    };
  endfunction

  // low * 2^-48 + high * 2^-18 to binary32, one rounding; a zero is +0. |low| below 2^63, |high| below 2^62.
  function automatic logic [31:0] fixed_pair_to_fp32(input logic signed [63:0] low, input logic signed [63:0] high);
    /*verilator no_inline_task*/
    logic [63:0] upper, lower, top, negate, lost;
    logic [31:0] exp, shift;
    logic        sign;
    // As one number: the lower 30 bits, unsigned, at the top of their word.
    upper = $unsigned(high + (low >>> 30));
    lower = $unsigned(low) << 34;
    sign  = upper[63];
    if (sign) begin
      negate = 64'(lower != 64'd0);
      upper  = 64'd0 - upper - negate;
      lower  = 64'd0 - lower;
    end
    exp = 32'd172;  // of bit 63 of upper
    if (upper == 64'd0) begin
      upper = lower;
      lower = 64'd0;
      exp   = 32'd108;
      if (upper == 64'd0) return 32'd0;
    end
    // Leading one to bit 63, what is lost as a sticky lowest bit.
    shift = 32'(clz64(upper));
    top   = (upper << shift[5:0]) | ((lower >> 1) >> (6'd63 - shift[5:0]));
    lost  = lower << shift[5:0];
    top   = (top >> 8) | 64'(top[7:0] != 8'd0 || lost != 64'd0);
    return pack32(sign, exp - shift, top);
  endfunction

  // binary32 to FP16, one rounding to nearest even.
  function automatic logic [15:0] fp32_to_fp16(input logic [31:0] x);
    /*verilator no_inline_task*/
    logic [31:0] exp;
    logic [63:0] mag, kept, low, packed_value;
    if (x[30:0] > 31'h7F80_0000) return Fp16Nan;
    if (x[30:0] >= 31'h4780_0000) return {x[31], 15'h7C00};
    exp = 32'(x[30:23]);
    if (exp < 32'd90) return {x[31], 15'd0};
    // Hidden bit at 55; below FP16's smallest normal the mantissa moves down instead of the exponent.
    mag = {8'd0, 1'b1, x[22:0], 32'd0};
    if (exp < 32'd113) begin
      mag = shr_sticky(mag, 32'd113 - exp);
      exp = 32'd113;
    end
    kept         = mag >> 45;
    low          = mag & 64'h0000_1FFF_FFFF_FFFF;
    packed_value = (64'(exp - 32'd113) << 10) + kept;
    if (low > 64'h0000_1000_0000_0000 || (low == 64'h0000_1000_0000_0000 && kept[0])) packed_value = packed_value + 64'd1;
    return {x[31], packed_value[14:0]};
  endfunction

  // FP16 to signed fixed point in units of 2^-24, exact, magnitude below 2^40; infinity and NaN give 0.
  function automatic logic signed [63:0] fp16_to_fixed(input logic [15:0] x);
    /*verilator no_inline_task*/
    logic [63:0] mag, sign;
    logic [31:0] shift;
    if (x[14:10] == 5'd31) return 64'sd0;
    shift = 32'(x[14:10]);
    mag   = 64'(x[9:0]);
    if (shift != 32'd0) begin
      mag   = mag | 64'h400;
      shift = shift - 32'd1;
    end
    mag  = mag << shift[5:0];
    sign = 64'd0 - 64'(x[15]);
    return $signed((mag ^ sign) - sign);
  endfunction

  // Integer in units of 2^-24 to binary32, one rounding; magnitude below 2^55; zero is +0.
  function automatic logic [31:0] fixed_to_fp32(input logic signed [63:0] x);
    /*verilator no_inline_task*/
    logic [63:0] mag;
    logic [31:0] shift;
    if (x == 64'sd0) return 32'd0;
    mag   = x[63] ? 64'd0 - $unsigned(x) : $unsigned(x);
    shift = 32'(clz64(mag)) - 32'd8;
    return pack32(x[63], 32'd158 - shift, mag << shift[5:0]);
  endfunction

  // A key that orders FP16 values as a search for the maximum sees them: NaN above infinity, both zeros alike.
  // The first strictly greater key wins, hence the first NaN. -32768 is below every key.
  function automatic logic signed [16:0] fp16_order(input logic [15:0] x);
    logic signed [16:0] mag;
    mag = $signed({2'b00, x[14:0]});
    if (x[14:0] > 15'h7C00) return 17'sd32767;
    return x[15] ? -mag : mag;
  endfunction

endpackage
