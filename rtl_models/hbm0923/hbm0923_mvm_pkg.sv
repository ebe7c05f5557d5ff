// Sizes and types shared by the modules of the MVM unit.
//
// The unit works in beats of 64 inputs, the INT4 weights that one HBM port delivers in a cycle: the array multiplies 64
// inputs by Tout columns a cycle, so that a word of Tin inputs takes Tin * 4 / 256 cycles, as fast as memory feeds it.
package hbm0923_mvm_pkg;

  localparam int unsigned BeatLanes   = 64;   // inputs a beat; codes a beat
  localparam int unsigned PixelLanes  = 32;   // channels of a pixel, the 64-byte unit of features
  localparam int unsigned HbmBits     = 256;
  localparam int unsigned DdrBits     = 512;
  localparam int unsigned ScalesABeat = HbmBits / 16;
  localparam int unsigned HbmBurst    = 16;   // beats
  localparam int unsigned DdrBurst    = 64;   // beats, 4 KiB

  // Sparse weights, of a unit with parameter Sparse: of each block of 8 inputs 4, 2 or 1 are stored. The array then steps over
  // 128 (4 stored) or 256 inputs a cycle.
  localparam int unsigned SparseBlock = 8;
  localparam int unsigned SparseLanes = 256;  // inputs a step, at most
  typedef enum logic [1:0] {Dense = 2'd0, KeptHalf = 2'd1, KeptQuarter = 2'd2, KeptEighth = 2'd3} kept_e;

  // What an instruction asks for, derived from its operands and found legal.
  typedef struct packed {
    logic        bn;              // batch norm in the epilogue
    logic        res;             // residual
    logic        res_mul;         // multiply by it
    logic        relu;
    logic        argmax;
    logic [1:0]  group;           // quantisation group of 32 << group inputs
    logic [15:0] tokens;
    kept_e       kept;
    logic [15:0] beats;           // beats of 64 inputs that hold channels below CHin; steps of a sparse product
    logic [15:0] row;             // words of 64 inputs a token on chip: the same, or whole steps of a sparse product
    logic [15:0] data_beats;      // beats of weights a channel in HBM
    logic [15:0] place_beats;     // beats of places a channel
    logic [8:0]  last_lanes;      // lanes of the last step that are below CHin; of a sparse product
    logic [15:0] scale_beats;     // beats of scales a channel
    logic [63:0] last_mask;       // lanes of the last beat that are below CHin
    logic [15:0] surfaces_in;     // pixels a token
    logic [2:0]  chunk;           // log2 of the tokens that are loaded together, at most
    logic [15:0] tgroups;         // weight groups of TgroupCh inputs
    logic [7:0]  scale_full;      // beats of scales in a whole weight group
    logic [7:0]  scale_last;      // and in the last one
    logic [7:0]  data_full;       // beats of weights and places in a whole weight group
    logic [7:0]  data_last;       // and in the last one
    logic [19:0] ch_out;
    logic [19:0] blocks;          // blocks of Tout output channels
    logic [19:0] surfaces_out;
    logic [31:0] port_beats;      // beats that every HBM port delivers
    logic [31:0] in_addr;
    logic [31:0] in_surface;
    logic [31:0] wt_addr;
    logic [31:0] out_addr;
    logic [31:0] out_surface;
    logic [31:0] bn_addr;
    logic [31:0] res_addr;
    logic [31:0] argmax_addr;
    logic        in_chip;         // these are in the on-chip memory
    logic        out_chip;
    logic        res_chip;
  } mvm_plan_t;

  // What travels down the pipeline with a beat.
  typedef struct packed {
    logic        group_first; // first beat of a group
    logic        group_end;   // a group is complete: convert, scale, accumulate
    logic        pair;        // the beat holds two groups, of 32 inputs each
    logic        acc_first;   // the group is the first of its output
    logic        acc_last;    // and the last
    logic        scale_load;  // first group of a beat of scales
    logic [3:0]  scale_lane;  // of a pair the first one's, even
    logic        mask;        // last beat: lanes beyond CHin
    kept_e       kept;
    logic [2:0]  turn;        // of a sparse product: number of the step
  } beat_ctrl_t;

  // Which output a finished sum belongs to.
  typedef struct packed {
    logic [15:0] token;
    logic [19:0] block;
    logic        last_token;
    logic        last_block;
  } out_ctrl_t;

  // A DDR read burst that an engine asks for.
  typedef struct packed {
    logic [31:0] addr;
    logic [7:0]  len;  // beats - 1
  } ddr_ar_t;

  // A beat to write; bit 32 of the address: to the on-chip memory.
  typedef struct packed {
    logic [32:0]  addr;
    logic [511:0] data;
    logic [63:0]  strb;
  } ddr_write_t;

  // log2 of the tokens that are loaded together next, with `left` of them to come. At the end chunks shrink to single
  // tokens: the array still has to do all but the first token of a chunk when the last beat of it has arrived.
  function automatic logic [2:0] chunk_of(input logic [15:0] left, input logic [2:0] most);
    logic [2:0] chunk;
    chunk = 3'd0;
    for (int unsigned i = 1; i <= 5; i++) if (i <= 32'(most) && 32'(left) + 32'd1 >= (32'd2 << i)) chunk = 3'(i);
    return chunk;
  endfunction

  // Whether places are read for a step: those of the fourth beat of codes of four, and of the second half of a beat, are there.
  function automatic logic reads_places(input kept_e kept, input logic [2:0] turn);
    case (kept)
      KeptHalf:    return !turn[0];
      KeptQuarter: return turn[1:0] != 2'd3;
      KeptEighth:  return !turn[0] && turn[2:1] != 2'd3;
      default:     return 1'b0;
    endcase
  endfunction

endpackage
