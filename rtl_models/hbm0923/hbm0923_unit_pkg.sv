// What every unit and the dispatcher share: the ranges that an instruction reads and writes, and the IDs of the DDR port.
package hbm0923_unit_pkg;

  // Names for all units; a bench of one unit does not use those of the others.
  /* verilator lint_off UNUSEDPARAM */

  // Bit 32 of a unit's DDR address: the on-chip memory instead of DDR. It never leaves the design.
  localparam int unsigned OnchipBit = 32;

  // DDR read IDs of each unit, unique in the design: a unit knows its responses by them. Write IDs name the unit.
  localparam logic [3:0] IdMvm = 4'd0, IdSfu = 4'd4, IdAtt = 4'd8, IdElt = 4'd12, IdAux = 4'd15;

  /* verilator lint_on UNUSEDPARAM */

  // Bytes [lo, hi); bit 32 and up of a DDR address as above. HBM: offsets in a bank, the same range in every port.
  typedef struct packed {
    logic        valid;
    logic [33:0] lo;
    logic [33:0] hi;
  } range_t;

  // Hulls, not exact sets: two instructions whose hulls do not meet are independent.
  typedef struct packed {
    range_t [1:0] data;    // DDR or on chip: activations and what else an earlier instruction may have made
    range_t       coef;    // DDR: batch norm words, gamma and beta, tables
    range_t       hbm;     // HBM: weights, KV cache
    range_t [1:0] wr;      // DDR or on chip, written
    range_t       hbm_wr;  // HBM, written
  } hulls_t;

  // A beat of 64 bytes as ranges count addresses (bits 33 to 6): what lies below it.
  typedef logic [27:0] bound_t;

  // How many beats may be read from `beat` on: all that are asked for (255), or those below a bound.
  function automatic logic [7:0] readable(input logic go, input bound_t bound, input bound_t beat);
    if (go) return '1;
    if (bound <= beat) return '0;
    return (bound - beat > 28'd255) ? '1 : 8'(bound - beat);
  endfunction

  function automatic logic meets(input range_t a, input range_t b);
    return a.valid && b.valid && a.lo < b.hi && b.lo < a.hi;
  endfunction

endpackage
