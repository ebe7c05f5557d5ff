// Activation by straight lines (docs/arithmetic.md, Activation): a lane's segment, in three stages.
package hbm0923_sfu_act_pkg;
  import fp_pkg::*;

  localparam int unsigned PieceSteps = 3;

  // Keys that order numbers; a NaN of the table is above all, one of a lane below.
  typedef logic signed [16:0] key_t;
  typedef key_t [15:0] keys_t;

  // A segment's line: x times its slope, plus its offset.
  typedef struct packed {
    logic [15:0] x, slope, offset;
  } piece_t;

  function automatic keys_t table_keys(input logic [255:0] begins);
    keys_t keys;
    for (int unsigned i = 0; i < 16; i++) keys[i] = fp16_order(begins[16*i+:16]);
    return keys;
  endfunction

  function automatic key_t lane_key(input logic [15:0] x);
    return (x[14:0] > 15'h7C00) ? -17'sd32768 : fp16_order(x);
  endfunction

  // Segments that begin at or below a lane's number; the first counts as if it did.
  function automatic logic [15:0] begun(input keys_t keys, input key_t x);
    logic [15:0] found;
    found = 16'd1;
    for (int unsigned i = 1; i < 16; i++) found[i] = keys[i] <= x;
    return found;
  endfunction

  // Segments with slope 0, whose results are their offsets whatever number x is.
  function automatic logic [15:0] flat(input logic [255:0] slopes);
    logic [15:0] found;
    for (int unsigned i = 0; i < 16; i++) found[i] = slopes[16*i+:15] == 15'd0;
    return found;
  endfunction

  function automatic logic [15:0] at16(input logic [255:0] x, input logic [3:0] i);
    return x[{i, 4'd0}+:16];
  endfunction

  // The line of the last segment that has begun. A flat one's product is -0, to which its offset is added unchanged.
  function automatic piece_t piece(input logic [15:0] found, input logic [15:0] flats, input logic [255:0] slopes,
                                   input logic [255:0] offsets, input logic [15:0] x);
    logic [3:0] j;
    j = 4'd0;
    for (int unsigned i = 1; i < 16; i++) if (found[i]) j = 4'(i);
    if (flats[j] && x[14:0] <= 15'h7C00) return '{x: 16'd0, slope: 16'h8000, offset: at16(offsets, j)};
    return '{x: x, slope: at16(slopes, j), offset: at16(offsets, j)};
  endfunction

endpackage
