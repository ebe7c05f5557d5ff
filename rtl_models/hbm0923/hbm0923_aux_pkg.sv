// What starts name: which unit takes a value of a start register, and which opcode it is.
package hbm0923_aux_pkg;
  import hbm0923_pkg::*;
  import hbm0923_fabric_pkg::*;

  localparam int unsigned AuxWords = AuxSlotBeats * 16;  // registers of a task, at most

  // The unit that takes a start: attention shares its registers with the special functions.
  function automatic logic [2:0] taker(input aux_unit_e unit, input logic [31:0] mode);
    case (unit)
      AuxUnitMvm:         return 3'(IxMvm);
      AuxUnitElementwise: return 3'(IxElt);
      AuxUnitAux:         return 3'(IxAux);
      default:         return (mode == StartF2wMvm || mode == StartTrpMvm || mode == StartDat2hbm) ? 3'(IxAtt) : 3'(IxSfu);
    endcase
  endfunction

  // The opcode that a start value names; 0: none.
  function automatic logic [15:0] opcode_of(input logic [2:0] number, input logic [31:0] mode);
    case (number)
      3'(IxMvm): begin
        if ((mode & ~StartMvmOptional) == StartMvm) return OpMvm;
        if ((mode & ~StartMvmBnOptional) == StartMvmBn) return OpMvmBn;
        if ((mode & ~StartMvmBnResOptional) == StartMvmBnRes) return OpMvmBnRes;
        return 16'd0;
      end
      3'(IxElt): return (mode == StartElementwise) ? OpElementwise : 16'd0;
      3'(IxAux): return (mode == StartAuxRun) ? OpAuxRun : (mode == StartWt2hbm) ? OpWt2hbm : 16'd0;
      default: begin
        case (mode)
          StartF2wMvm:  return OpF2wMvm;
          StartTrpMvm:  return OpTrpMvm;
          StartPosEmb:  return OpPosEmb;
          StartSoftmax: return OpSoftmax;
          StartAct:     return OpAct;
          StartNorm:    return OpNorm;
          StartDat2hbm: return OpDat2hbm;
          default:      return 16'd0;
        endcase
      end
    endcase
  endfunction

endpackage
