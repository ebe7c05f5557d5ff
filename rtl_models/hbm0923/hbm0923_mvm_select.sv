// What the columns of a sparse product multiply: of the 128 or 256 inputs of a step each column takes those whose codes it has.
//
// A step is one cycle longer under way than a beat of dense weights: lanes are decoded in stage 1 for all columns, as the array
// does it for the first 64; in stage 2 each column chooses 64 of them, in stage 3 the array multiplies. Slots 0 to 31 are the
// array's lower lanes, 32 to 63 the upper ones; with two groups in a step the lower ones are the first group's.
//
//   kept of 8   inputs   slot s holds code        of block
//   4           128      s                        s / 4
//   2           256      s                        s / 2
//   1           256      32 * half + s            s         s < 16; the others of each half are empty
module hbm0923_mvm_select
  import hbm0923_mvm_pkg::*;
  import fp_pkg::*;
#(
  parameter int unsigned Tout = 32,
  localparam int unsigned Half  = BeatLanes / 2,
  localparam int unsigned Upper = SparseLanes - BeatLanes
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,

  // stage 1: activations read
  input  logic                    valid_i,      // of a sparse step
  input  beat_ctrl_t              ctrl_i,
  input  logic [8:0]              last_lanes_i,
  input  logic [Upper*16-1:0]     dat_i,        // the lanes behind the array's
  output logic [BeatLanes-1:0]    mask_o,       // of the array's lanes those below CHin
  // stage 2: the array's lanes; codes and places read
  input  logic signed [63:0]      low_i  [Half],
  input  logic signed [63:0]      high_i [Half],
  input  logic                    special_i,
  input  logic [BeatLanes-1:0]    nan_i,
  input  logic [BeatLanes-1:0]    inf_i,
  input  logic [BeatLanes-1:0]    neg_i,
  input  logic [Tout*HbmBits-1:0] wt_i,
  input  logic [Tout*HbmBits-1:0] place_i,

  // stage 3: slots, their codes, and {NaN, +infinity, -infinity} among their products
  output logic                    valid_o,
  output beat_ctrl_t              ctrl_o,
  output logic [Half*64-1:0]      low_o  [Tout],
  output logic [Half*64-1:0]      high_o [Tout],
  output logic [Tout*HbmBits-1:0] wt_o,
  output logic                    special_o,
  output logic [2:0]              low_found_o  [Tout],
  output logic [2:0]              high_found_o [Tout]
);
  // ---- stage 1: decode
  logic [SparseLanes-1:0] below;
  logic signed [63:0]     upper_q [Upper];
  logic [Upper-1:0]       nan_q, inf_q, neg_q;
  logic                   special_q, valid_q;
  beat_ctrl_t             ctrl_q;

  assign below  = ctrl_i.mask ? ~'0 >> (9'(SparseLanes) - last_lanes_i) : '1;
  assign mask_o = below[BeatLanes-1:0];

  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      special_q <= 1'b0;
      for (int unsigned l = 0; l < Upper; l++) begin
        upper_q[l] <= below[BeatLanes+l] ? fp16_to_fixed(dat_i[16*l+:16]) : 64'sd0;
        nan_q[l]   <= below[BeatLanes+l] && dat_i[16*l+10+:5] == 5'd31 && dat_i[16*l+:10] != 10'd0;
        inf_q[l]   <= below[BeatLanes+l] && dat_i[16*l+10+:5] == 5'd31 && dat_i[16*l+:10] == 10'd0;
        neg_q[l]   <= dat_i[16*l+15];
        if (below[BeatLanes+l] && dat_i[16*l+10+:5] == 5'd31) special_q <= 1'b1;
      end
      ctrl_q <= ctrl_i;
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= 1'b0;
    else valid_q <= valid_i;
  end

  // ---- stage 2: places of the codes
  // Of three beats of places the upper quarters are the places of the fourth beat of codes: the first two are kept.
  logic [BeatLanes-1:0] held_q [2][Tout];
  logic [1:0]           of_four;   // the beat of codes in its four
  logic                 second;    // half of it
  assign of_four = ctrl_q.kept == KeptEighth ? ctrl_q.turn[2:1] : ctrl_q.turn[1:0];
  assign second  = ctrl_q.kept == KeptEighth && ctrl_q.turn[0];

  always_ff @(posedge clk_i) begin
    if (valid_q && !of_four[1]) begin
      for (int unsigned c = 0; c < Tout; c++) held_q[of_four[0]][c] <= place_i[HbmBits*c+192+:BeatLanes];
    end
  end

  // The first four bits that are set.
  function automatic logic [15:0] set_bits(input logic [7:0] mask);
    /*verilator no_inline_task*/
    logic [15:0] found;
    logic [2:0]  number;
    found  = '0;
    number = '0;
    for (int unsigned i = 0; i < SparseBlock; i++) begin
      if (mask[i] && !number[2]) begin
        found[4*number[1:0]+:4] = {1'b1, 3'(i)};
        number                  = number + 3'd1;
      end
    end
    return found;
  endfunction

  function automatic logic [BeatLanes*4-1:0] places_of(input kept_e kept, input logic [1:0] number, input logic half,
                                                       input logic [HbmBits-1:0] beat, input logic [BeatLanes-1:0] held0,
                                                       input logic [BeatLanes-1:0] held1);
    /*verilator no_inline_task*/
    logic [BeatLanes*4-1:0] places;
    logic [BeatLanes*3-1:0] triples;
    places = '0;
    if (kept == KeptHalf) begin
      for (int unsigned b = 0; b < BeatLanes / 4; b++) places[16*b+:16] = set_bits(beat[128*32'(number[0])+8*b+:8]);
      return places;
    end
    triples = beat[BeatLanes*3-1:0];
    if (number == 2'd3) begin
      for (int unsigned l = 0; l < BeatLanes; l++) triples[3*l+:3] = {beat[192+l], held1[l], held0[l]};
    end
    if (kept == KeptQuarter) begin
      // Of two codes in one place the second one counts.
      for (int unsigned l = 0; l < BeatLanes; l++) begin
        places[4*l+:4] = {l[0] || triples[3*l+:3] != triples[3*(l|1)+:3], triples[3*l+:3]};
      end
    end else begin
      for (int unsigned s = 0; s < 16; s++) begin
        places[4*s+:4]        = {1'b1, triples[96*32'(half)+3*s+:3]};
        places[4*(Half+s)+:4] = {1'b1, triples[96*32'(half)+3*(16+s)+:3]};
      end
    end
    return places;
  endfunction

  // The codes of the slots; 0 where there is none.
  function automatic logic [HbmBits-1:0] codes_of(input kept_e kept, input logic half, input logic [HbmBits-1:0] beat,
                                                  input logic [BeatLanes*4-1:0] places);
    /*verilator no_inline_task*/
    logic [HbmBits-1:0] codes;
    codes = beat;
    if (kept == KeptEighth) begin
      codes = '0;
      codes[63:0]           = beat[128*32'(half)+:64];
      codes[HbmBits/2+:64]  = beat[128*32'(half)+64+:64];
    end
    for (int unsigned s = 0; s < BeatLanes; s++) if (!places[4*s+3]) codes[4*s+:4] = 4'd0;
    return codes;
  endfunction

  function automatic logic [7:0] input_of(input kept_e kept, input logic [5:0] slot, input logic [2:0] place);
    case (kept)
      KeptHalf:    return {1'b0, slot[5:2], place};
      KeptQuarter: return {slot[5:1], place};
      default:     return {slot[5], slot[3:0], place};
    endcase
  endfunction

  // ---- stage 2: the slots' lanes
  typedef logic signed [63:0] inputs_t [SparseLanes];
  inputs_t inputs;
  always_comb begin
    for (int unsigned l = 0; l < Half; l++) inputs[l] = low_i[l];
    for (int unsigned l = 0; l < Half; l++) inputs[Half+l] = high_i[l];
    for (int unsigned l = 0; l < Upper; l++) inputs[BeatLanes+l] = upper_q[l];
  end

  function automatic logic [Half*64-1:0] chosen(input kept_e kept, input logic upper, input inputs_t from,
                                                input logic [BeatLanes*4-1:0] at);
    /*verilator no_inline_task*/
    logic [Half*64-1:0] lanes;
    for (int unsigned s = 0; s < Half; s++) begin
      lanes[64*s+:64] = from[input_of(kept, {upper, 5'(s)}, at[4*(Half*32'(upper)+s)+:3])];
    end
    return lanes;
  endfunction

  logic [BeatLanes*4-1:0] places [Tout];
  logic [HbmBits-1:0]     codes  [Tout];
  always_comb begin
    for (int unsigned c = 0; c < Tout; c++) begin
      places[c] = '0;
      codes[c]  = '0;
      if (valid_q) begin
        places[c] = places_of(ctrl_q.kept, of_four, second, place_i[HbmBits*c+:HbmBits], held_q[0][c], held_q[1][c]);
        codes[c]  = codes_of(ctrl_q.kept, second, wt_i[HbmBits*c+:HbmBits], places[c]);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_q) begin
      for (int unsigned c = 0; c < Tout; c++) begin
        wt_o[HbmBits*c+:HbmBits] <= codes[c];
        low_o[c]                 <= chosen(ctrl_q.kept, 1'b0, inputs, places[c]);
        high_o[c]                <= chosen(ctrl_q.kept, 1'b1, inputs, places[c]);
      end
      ctrl_o <= ctrl_q;
    end
  end

  // ---- stage 2: what is not finite. An infinity that no code other than 0 meets makes NaN.
  logic [SparseLanes-1:0] nan, inf, neg;
  logic [8:0]             reach;   // inputs of the lower slots
  assign nan   = {nan_q, nan_i};
  assign inf   = {inf_q, inf_i};
  assign neg   = {neg_q, neg_i};
  assign reach = ctrl_q.kept == KeptHalf ? 9'd64 : 9'd128;

  function automatic logic [2:0] found_of(input kept_e kept, input logic upper, input logic [8:0] count,
                                          input logic [HbmBits-1:0] w, input logic [BeatLanes*4-1:0] at,
                                          input logic [SparseLanes-1:0] infinite, input logic [SparseLanes-1:0] minus);
    /*verilator no_inline_task*/
    logic [2:0] found;
    logic [8:0] hits;
    logic [5:0] slot;
    logic [7:0] from;
    found = '0;
    hits  = '0;
    for (int unsigned s = 0; s < Half; s++) begin
      slot = {upper, 5'(s)};
      from = input_of(kept, slot, at[4*32'(slot)+:3]);
      if (infinite[from] && w[4*32'(slot)+:3] != 3'd0) begin
        hits = hits + 9'd1;
        if (minus[from] ^ w[4*32'(slot)+3]) found[0] = 1'b1;
        else found[1] = 1'b1;
      end
    end
    found[2] = hits != count;
    return found;
  endfunction

  logic [8:0]             low_count, high_count;
  logic                   low_nan, high_nan, special;
  logic [SparseLanes-1:0] used, lower;
  assign special = special_i || special_q;
  always_comb begin
    used       = '0;
    lower      = '0;
    low_count  = '0;
    high_count = '0;
    low_nan    = 1'b0;
    high_nan   = 1'b0;
    if (valid_q && special) begin
      lower   = ~'0 >> (9'(SparseLanes) - reach);
      used    = ctrl_q.kept == KeptHalf ? ~'0 >> 128 : '1;
      low_nan  = |(nan & lower);
      high_nan = |(nan & used & ~lower);
      for (int unsigned l = 0; l < SparseLanes; l++) begin
        low_count  = low_count + 9'(inf[l] && lower[l]);
        high_count = high_count + 9'(inf[l] && used[l] && !lower[l]);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_q) begin
      special_o <= special;
      for (int unsigned c = 0; c < Tout; c++) begin
        low_found_o[c]  <= '0;
        high_found_o[c] <= '0;
      end
      if (special) begin
        for (int unsigned c = 0; c < Tout; c++) begin
          low_found_o[c]  <= {low_nan, 2'b00} | found_of(ctrl_q.kept, 1'b0, low_count, codes[c], places[c], inf, neg);
          high_found_o[c] <= {high_nan, 2'b00} | found_of(ctrl_q.kept, 1'b1, high_count, codes[c], places[c], inf, neg);
        end
      end
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_o <= 1'b0;
    else valid_o <= valid_q;
  end

  logic unused_ctrl;
  assign unused_ctrl = ^ctrl_i;
endmodule
