// Softmax in fixed point (docs/arithmetic.md, Softmax): its values, and its functions in stages.
//
// As in fp_pkg, structures are unpacked and of whole words, so that they cost a simulation nothing; what no stage reads takes no
// register.
package hbm0923_sfu_softmax_pkg;
  import hbm0923_tables_pkg::*;

  localparam int unsigned SumBits = 52;  // of at most 2^15 terms, in units of 2^-36

  // M without its leading one, and N, at most 31: from 27 on the result is +0.
  typedef struct packed {
    logic [24:0] mantissa;
    logic [4:0]  places;
  } exp_t;
  typedef exp_t [31:0] exps_t;

  // R without its leading one, and k.
  typedef struct packed {
    logic [27:0] factor;
    logic [3:0]  places;
  } recip_t;

  // ---- a parabola: its coefficients and argument, its terms, its value
  typedef struct {
    logic [31:0] a, b, c, h, square;
  } parabola_t;
  typedef struct {
    logic [31:0] a, linear, quadratic;
  } parabola_terms_t;

  // v: the places of the argument inside its interval.
  function automatic parabola_t parabola(input logic [31:0] a, input logic [31:0] b, input logic [31:0] c, input logic [17:0] v);
    logic signed [17:0] h;
    h = $signed({!v[17], v[16:0]});
    return '{a: a, b: b, c: c, h: $unsigned(32'(h)), square: $unsigned(32'((36'(h) * 36'(h)) >>> 17))};
  endfunction

  function automatic parabola_t exp_parabola(input logic [24:0] v);
    return parabola(ExpA[v[24:18]], ExpB[v[24:18]], ExpC[v[24:18]], v[17:0]);
  endfunction

  function automatic parabola_t recip_parabola(input logic [25:0] v);
    return parabola(RecipA[v[25:18]], RecipB[v[25:18]], RecipC[v[25:18]], v[17:0]);
  endfunction

  // Of coefficients and arguments the places that a DSP takes; no more are used.
  function automatic parabola_terms_t parabola_terms(input parabola_t p);
    logic unused_bits;
    unused_bits = ^{p.b[31:25], p.c[31:14], p.h[31:18], p.square[31:18]};
    return '{
      a: p.a, linear: $unsigned(32'((64'($signed(p.b[24:0])) * 64'($signed(p.h[17:0]))) >>> 17)),
      quadratic: 32'((64'(p.c[13:0]) * 64'(p.square[17:0])) >> 16)
    };
  endfunction

  function automatic logic [31:0] parabola_sum(input parabola_terms_t p);
    return p.a + p.linear + p.quadratic;
  endfunction

  // ---- exponential of x - max
  // FP16 in units of 2^-24; infinity counts as 65536, which is 32 from every number.
  function automatic logic signed [63:0] fixed(input logic [15:0] x);
    logic [63:0] magnitude, negate;
    logic        normal;
    normal    = x[14:10] != 5'd0;
    magnitude = 64'({normal, x[9:0]}) << (x[14:10] - 5'(normal));
    negate    = 64'd0 - 64'(x[15]);
    return $signed((magnitude ^ negate) - negate);
  endfunction

  // x - max, at least -2^29.
  function automatic logic signed [29:0] difference(input logic signed [63:0] x, input logic signed [63:0] max);
    logic [41:0] z;
    logic        unused_bits;
    unused_bits = ^{x[63:42], max[63:42]};
    z = $unsigned(x[41:0] - max[41:0]);
    return $signed((z[41] && z[40:29] != '1) ? {1'b1, 29'd0} : z[29:0]);
  endfunction

  // log2(e) in units of 2^-28 is 8 * Log2e - 3, and Log2e as wide as a DSP takes.
  localparam logic signed [63:0] Log2e = 64'sh2E2A8ED;
  typedef struct {
    logic signed [63:0] low, high, rest;
  } logarithm_terms_t;

  function automatic logarithm_terms_t logarithm_terms(input logic signed [29:0] z);
    return '{
      low: 64'($signed({1'b0, z[16:0]})) * Log2e, high: 64'($signed(z[29:17])) * Log2e,
      rest: (64'sd1 <<< 26) - 64'(z) - (64'(z) <<< 1)
    };
  endfunction

  // log2(e) * (x - max) in units of 2^-25, at least -47 * 2^25: without its sign.
  function automatic logic [30:0] logarithm(input logarithm_terms_t p);
    return 31'($unsigned(((p.low <<< 3) + (p.high <<< 20) + p.rest) >>> 27));
  endfunction

  // ---- reciprocal of a sum
  function automatic logic [3:0] sum_places(input logic [SumBits-1:0] sum);
    logic [3:0] places;
    logic       unused_bits;
    unused_bits = ^sum[36:0];
    places = 4'd0;
    for (int unsigned i = 1; i < 16; i++) if (sum[36+i]) places = 4'(i);
    return places;
  endfunction

  // What follows the leading one.
  function automatic logic [25:0] sum_fraction(input logic [SumBits-1:0] sum, input logic [3:0] places);
    return 26'((sum << (4'd15 - places)) >> 25);
  endfunction

endpackage
