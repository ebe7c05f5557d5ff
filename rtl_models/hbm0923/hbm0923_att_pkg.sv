// Sizes, types and arithmetic shared by the modules of the attention unit.
//
// The unit takes a 256-bit beat (16 FP16 values) of every HBM port a cycle; two beats make the 32 lanes of a pixel. A beat
// of K or V meets the inputs of up to AttQueries pairs of query head and token, which together are a group.
package hbm0923_att_pkg;
  import fp_pkg::*;
  import fp_fn_pkg::*;

  localparam int unsigned BeatLanes  = 16;
  localparam int unsigned PixelLanes = 32;
  localparam int unsigned HbmBits    = 256;
  localparam int unsigned DdrBits    = 512;
  localparam int unsigned Burst      = 16;  // beats, HBM and DDR: 512 and 1,024 bytes, aligned, so that no page is left

  // What an instruction asks for, derived from its operands and found legal.
  typedef struct packed {
    logic        store;         // dat2hbm
    logic        keys;          // trp_mvm, or dat2hbm of K
    logic [31:0] scale;         // binary32, of an FP16 or FP20
    logic [15:0] tokens;
    // Pixels come by three nested loops; addresses with the on-chip bit.
    logic [32:0] in_addr;
    logic [15:0] outer;         // heads
    logic [31:0] outer_stride;
    logic [15:0] middle;        // tokens; dat2hbm: groups of 32 channels
    logic [31:0] middle_stride;
    logic [15:0] inner;         // groups; dat2hbm: tokens
    logic [31:0] inner_stride;
    logic [32:0] out_addr;
    logic [31:0] out_surface;
    logic [31:0] out_line;
    // K or V of one head: `rows` rows of `beats` beats in every port, read once for each of its `groups` groups of pairs,
    // of which the last has `tail` pairs.
    logic [27:0] wt_addr;
    logic [27:0] wt_head;
    logic [27:0] wt_line;
    logic [7:0]  kv_heads;
    logic [19:0] groups;
    logic [3:0]  tail;
    logic [8:0]  rows;
    logic [7:0]  beats;
    logic        joined;        // the rows of a head stand side by side
    logic [15:0] head_beats;    // then: beats of a head
    logic [15:0] mask;          // lanes of the last beat of a row that are below T
    logic [5:0]  keep;          // outputs of the last row that are below T
    // dat2hbm: the first position, and its distance from the start of a head
    logic [15:0] last;
    logic [27:0] first;
  } att_plan_t;

  // A burst for every HBM port.
  typedef struct packed {
    logic [27:0] addr;
    logic [4:0]  beats;
  } att_burst_t;

  // What travels down the array with a beat.
  typedef struct packed {
    logic       high;      // the upper 16 of 32 lanes
    logic       first;     // the row's first beat
    logic       last;      // the row's last beat
    logic       mask;      // lanes beyond T
    logic       pair_end;  // the row is the last for these heads and tokens
    logic [3:0] pairs;     // that the beat is for
    logic [5:0] keep;      // outputs that count, the others are +0
  } att_beat_t;

  // What travels to the HBM ports with a pixel that is stored.
  typedef struct packed {
    logic        keys;
    logic        flush;    // V: no more tokens in this beat
    logic [4:0]  port;     // K: the only one
    logic [3:0]  slot;     // V: which of the 16 tokens of a beat
    logic [27:0] addr;     // K: of 64 bytes. V: of the first channel's beat
  } att_store_t;

  typedef fp16_unpacked_t [BeatLanes-1:0] att_lanes_t;

  // Lanes of an exact sum, low * 2^-48 + high * 2^-18 in two words: low grows by less than 2^51 a lane, high by 2^50.
  localparam int unsigned MaxLanes = 4096;

  function automatic att_lanes_t unpack_lanes(input logic [HbmBits-1:0] x, input logic [BeatLanes-1:0] keep);
    /*verilator no_inline_task*/
    att_lanes_t lanes;
    for (int unsigned l = 0; l < BeatLanes; l++) lanes[l] = fp16_unpack(keep[l] ? x[16*l+:16] : 16'd0);
    return lanes;
  endfunction

  // ---- exact sum of the products of a beat: unpacked, multiplied, placed, twice added up four by four where it has stages
  localparam int unsigned DotStages = 5;
  typedef struct {
    logic [31:0] exp, product;  // of 23 bits; exponents added up
  } dot_product_t;
  typedef struct {
    logic signed [63:0] low, high;
  } dot_place_t;

  function automatic dot_product_t dot_product(input fp16_unpacked_t x, input fp16_unpacked_t w);
    logic unused_flags;
    unused_flags = ^{x.sign, x.special, w.sign, w.special};
    return '{exp: 32'(x.exp) + 32'(w.exp), product: $unsigned(32'(x.mantissa) * 32'(w.mantissa))};
  endfunction

  // Shifted by 0 to 31, in the lower word where the exponents add up to less than 32, else in the upper one: no word ever takes a
  // carry of the other.
  function automatic dot_place_t dot_place(input dot_product_t p);
    logic [63:0] product, upper;
    product = $unsigned(64'($signed(p.product))) << p.exp[4:0];
    upper   = 64'd0 - 64'(p.exp > 32'd31);
    return '{low: $signed(product & ~upper), high: $signed(product & upper)};
  endfunction

  // The bits that a sum of 16 lanes needs. Exponents add up to 2 or more, so the two lowest bits of the lower word are always 0.
  function automatic dot_place_t dot_fit(input dot_place_t p);
    logic unused_bits;
    unused_bits = ^{p.low[63:58], p.low[1:0], p.high[63:55]};
    return '{low: 64'($signed(p.low[57:2])), high: 64'($signed(p.high[54:0]))};
  endfunction

  function automatic void dot16(input att_lanes_t x, input att_lanes_t w, output logic signed [63:0] low,
                                output logic signed [63:0] high, output fp_odd_t odd);
    /*verilator no_inline_task*/
    logic       special;
    dot_place_t place, sum;
    sum     = '{low: 64'sd0, high: 64'sd0};
    odd     = '0;
    special = 1'b0;
    for (int unsigned l = 0; l < BeatLanes; l++) begin
      place    = dot_place(dot_product(x[l], w[l]));
      sum.low  = sum.low + place.low;
      sum.high = sum.high + place.high;
      special  = special | x[l].special | w[l].special;
    end
    sum  = dot_fit(sum);
    low  = sum.low;
    high = sum.high;
    if (special) for (int unsigned l = 0; l < BeatLanes; l++) odd = odd | fp16_odd_product(x[l], w[l]);
  endfunction

  // The sum in binary32, one rounding.
  function automatic logic [31:0] sum_to_fp32(input logic signed [63:0] low, input logic signed [63:0] high, input fp_odd_t odd);
    logic [31:0] special;
    special = fp_odd_to_fp32(odd);
    return (special != 32'd0) ? special : fixed_pair_to_fp32(low, high);
  endfunction

endpackage
