// What an instruction of the SFU asks for, derived from its operands and found legal.
package hbm0923_sfu_plan_pkg;
  import hbm0923_feature_pkg::*;

  typedef enum logic [1:0] {KindPosEmb, KindSoftmax, KindAct, KindNorm} kind_e;

  localparam int unsigned LaneBits = 22;  // counts channels of a row

  typedef struct packed {
    kind_e               kind;
    logic                layer;      // norm: subtract the mean
    logic                causal;     // softmax: a row counts one position more than the one before
    logic                resident;   // pos_emb: all heads share a table that fits the coefficient buffer
    logic [LaneBits-1:0] lanes;      // channels that count, of the first row
    sizes_t              sizes;
    feature_t            src;
    feature_t            dst;
    feature_t            side;       // coefficients
    logic [15:0]         side_beats; // of contiguous ones
    logic [31:0]         eps;        // norm: binary32
    logic [31:0]         pixels;     // lines * tokens, as the operands say it
  } sfu_plan_t;

endpackage
