// Sizes, types and arithmetic shared by the modules of the attention unit.
//
// The unit takes a 256-bit beat (16 FP16 values) of every HBM port a cycle; two beats make the 32 lanes of a tree. A beat
// of K or V meets the inputs of up to AttQueries pairs of query head and token, which together are a group.
package hbm0923_att_pkg;
  import fp_pkg::*;

  localparam int unsigned BeatLanes  = 16;
  localparam int unsigned PixelLanes = 32;
  localparam int unsigned HbmBits    = 256;
  localparam int unsigned DdrBits    = 512;
  localparam int unsigned Burst      = 16;  // beats, HBM and DDR: 512 and 1,024 bytes, aligned, so that no page is left

  // What an instruction asks for, derived from its operands and found legal.
  typedef struct packed {
    logic        store;         // dat2hbm
    logic        keys;          // trp_mvm, or dat2hbm of K
    logic [31:0] scale;         // binary32
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
    logic       first;     // in the first 32 lanes of a row
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

  function automatic att_lanes_t unpack_lanes(input logic [HbmBits-1:0] x, input logic [BeatLanes-1:0] keep);
    /*verilator no_inline_task*/
    att_lanes_t lanes;
    for (int unsigned l = 0; l < BeatLanes; l++) lanes[l] = fp16_unpack(keep[l] ? x[16*l+:16] : 16'd0);
    return lanes;
  endfunction

  function automatic logic [HbmBits-1:0] mask_lanes(input logic [HbmBits-1:0] w, input logic [BeatLanes-1:0] keep);
    /*verilator no_inline_task*/
    logic [HbmBits-1:0] kept;
    for (int unsigned l = 0; l < BeatLanes; l++) kept[16*l+:16] = keep[l] ? w[16*l+:16] : 16'd0;
    return kept;
  endfunction

  // Half of tree32 over the products of a beat: pairs (2i, 2i + 1), four rounds.
  function automatic logic [31:0] dot16(input att_lanes_t x, input logic [HbmBits-1:0] w);
    /*verilator no_inline_task*/
    logic [15:0][31:0] p;
    logic [7:0][31:0]  a;
    logic [3:0][31:0]  b;
    for (int unsigned l = 0; l < BeatLanes; l++) p[l] = fp16_product(x[l], w[16*l+:16]);
    for (int unsigned i = 0; i < 8; i++) a[i] = fp32_add_inline(p[2*i], p[2*i+1]);
    for (int unsigned i = 0; i < 4; i++) b[i] = fp32_add_inline(a[2*i], a[2*i+1]);
    return fp32_add_inline(fp32_add_inline(b[0], b[1]), fp32_add_inline(b[2], b[3]));
  endfunction

  // FP20 (1, 6, 13 bits) to binary32, exact.
  function automatic logic [31:0] fp20_to_fp32(input logic [19:0] x);
    /*verilator no_inline_task*/
    if (x[18:13] == 6'd0) return {x[19], 31'd0};
    return {x[19], 8'(x[18:13]) + 8'd96, x[12:0], 10'd0};
  endfunction

endpackage
