// What starts name: which unit takes a value of a start register, and which opcode it is.
package hbm0923_aux_pkg;
  import hbm0923_pkg::*;
  import hbm0923_fabric_pkg::*;

  // STAND-IN until the description has these instructions, under the names that it will give them.
  localparam logic [15:0] OpElementwise = 16'h01, OpF2wMvm = 16'h02, OpTrpMvm = 16'h03, OpPosEmb = 16'h04, OpSoftmax = 16'h05,
                          OpAct = 16'h06, OpNorm = 16'h07, OpWt2hbm = 16'h20, OpAuxRun = 16'h21, OpDat2hbm = 16'h30;
  localparam logic [31:0] StartElementwise = 32'h01, StartF2wMvm = 32'h01, StartTrpMvm = 32'h02, StartPosEmb = 32'h04,
                          StartSoftmax = 32'h08, StartAct = 32'h10, StartNorm = 32'h20, StartDat2hbm = 32'h40,
                          StartAuxRun = 32'd1, StartWt2hbm = 32'd2;
  localparam int unsigned AuxTasks = 32, AuxSlotBeats = 2, AuxBlockBeats = 65;
  typedef enum logic [1:0] {UnitMvm, UnitAux, UnitElementwise, UnitSfu} unit_e;
  typedef struct packed {
    logic        known;
    unit_e       unit;
    logic [1:0]  beats;
    logic [5:0]  words;
    logic [31:0] start;
    logic [31:0] start_optional;
  } aux_task_t;
  function automatic aux_task_t aux_decode(input logic [7:0] cfg_id);
    aux_task_t found;
    found = '{unit: unit_e'(0), default: '0};
    case (cfg_id)
      8'h08:   found = '{1'b1, UnitMvm, 2'd2, 6'd32, StartMvm, StartMvmOptional};
      8'h48:   found = '{1'b1, UnitMvm, 2'd2, 6'd32, StartMvmBn, StartMvmBnOptional};
      8'hC8:   found = '{1'b1, UnitMvm, 2'd2, 6'd32, StartMvmBnRes, StartMvmBnResOptional};
      8'h01:   found = '{1'b1, UnitElementwise, 2'd1, 6'd13, StartElementwise, 32'd0};
      8'h02:   found = '{1'b1, UnitSfu, 2'd1, 6'd16, StartF2wMvm, 32'd0};
      8'h03:   found = '{1'b1, UnitSfu, 2'd1, 6'd16, StartTrpMvm, 32'd0};
      8'h04:   found = '{1'b1, UnitSfu, 2'd1, 6'd16, StartPosEmb, 32'd0};
      8'h05:   found = '{1'b1, UnitSfu, 2'd1, 6'd16, StartSoftmax, 32'd0};
      8'h06:   found = '{1'b1, UnitSfu, 2'd1, 6'd16, StartAct, 32'd0};
      8'h07:   found = '{1'b1, UnitSfu, 2'd1, 6'd16, StartNorm, 32'd0};
      8'h30:   found = '{1'b1, UnitSfu, 2'd1, 6'd16, StartDat2hbm, 32'd0};
      default: ;
    endcase
    return found;
  endfunction
  // End of the stand-in.

  localparam int unsigned AuxWords = AuxSlotBeats * 16;  // registers of a task, at most

  // The unit that takes a start: attention shares its registers with the special functions.
  function automatic logic [2:0] taker(input unit_e unit, input logic [31:0] mode);
    case (unit)
      UnitMvm:         return 3'(IxMvm);
      UnitElementwise: return 3'(IxElt);
      UnitAux:         return 3'(IxAux);
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
