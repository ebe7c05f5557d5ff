// The units by number, as the dispatcher and the hubs count them. MVM and attention have two slots: while the instruction in one
// of them runs, the one in the other is checked and its weights, keys or values are fetched.
package hbm0923_fabric_pkg;
  import hbm0923_unit_pkg::*;

  localparam int unsigned Units = 5;
  localparam int unsigned IxMvm = 0, IxSfu = 1, IxAtt = 2, IxElt = 3, IxAux = 4;
  localparam int unsigned Slots = 7;      // the units' first ones have the units' numbers
  localparam int unsigned IxMvmNext = 5, IxAttNext = 6;

  // The other slot of a unit, or its only one.
  function automatic logic [2:0] other_slot(input logic [2:0] unit);
    case (unit)
      3'(IxMvm): return 3'(IxMvmNext);
      3'(IxAtt): return 3'(IxAttNext);
      default:   return unit;
    endcase
  endfunction

  // Blocks of registers with a start and a status: two units share the one at 194.
  localparam int unsigned Groups = 4;
  localparam int unsigned GroupMvm = 0, GroupSfu = 1, GroupElt = 2, GroupAux = 3;

  function automatic logic [1:0] group_of(input logic [2:0] slot);
    case (slot)
      3'(IxMvm), 3'(IxMvmNext): return 2'(GroupMvm);
      3'(IxElt): return 2'(GroupElt);
      3'(IxAux): return 2'(GroupAux);
      default:     return 2'(GroupSfu);
    endcase
  endfunction

  // IDs on the DDR port: those of writes name the unit, those of reads are the unit's own.
  function automatic logic [3:0] id_of(input logic [2:0] unit);
    case (unit)
      3'(IxMvm): return IdMvm;
      3'(IxSfu): return IdSfu;
      3'(IxAtt): return IdAtt;
      3'(IxElt): return IdElt;
      default:     return IdAux;
    endcase
  endfunction
  function automatic logic [2:0] unit_of(input logic [3:0] id);
    if (id < IdSfu) return 3'(IxMvm);
    if (id < IdAtt) return 3'(IxSfu);
    if (id < IdElt) return 3'(IxAtt);
    return (id < IdAux) ? 3'(IxElt) : 3'(IxAux);
  endfunction

  // One start: which unit, what value of the start register.
  typedef struct packed {
    logic        valid;
    logic [2:0]  unit;
    logic [31:0] mode;
  } start_t;

  // What a unit says when it commits, beside the error.
  typedef struct packed {
    logic [15:0]      opcode;
    logic             result_valid;
    logic [31:0]      result;
    logic [5:0][31:0] cycles;
  } commit_t;

endpackage
