// Whether an instruction is legal: its module, its queues, and the cause for which it is refused. The first cause that holds counts.
module vgemm_check
  import vgemm_pkg::*;
  import vgemm_types_pkg::*;
#(
  parameter int unsigned Block        = 4,
  parameter int unsigned UopDepth     = 512,
  parameter int unsigned InpDepth     = 1024,
  parameter int unsigned WgtDepth     = 1024,
  parameter int unsigned AccDepth     = 1024,
  parameter int unsigned DdrMegabytes = 16
) (
  input  word_t       word_i,
  input  logic [31:0] mode_i,
  output module_e     module_o,
  output logic [15:0] opcode_o,   // 0 for what is no instruction
  output logic [15:0] error_o,
  output logic [3:0]  pop_o,      // by queue
  output logic [3:0]  push_o
);
  transfer_t t;
  assign t = transfer_of(word_i);

  logic pop_prev, pop_next, push_prev, push_next;
  assign {push_next, push_prev, pop_next, pop_prev} = word_i.w0[6:3];

  logic known, load, store, gemm, alu, finish;
  assign load     = mode_i == StartLoad;
  assign store    = mode_i == StartStore;
  assign gemm     = mode_i == StartGemm;
  assign alu      = mode_i == StartAlu;
  assign finish   = mode_i == StartFinish;
  assign known    = load || store || gemm || alu || finish;
  assign opcode_o = known ? mode_i[15:0] : '0;

  always_comb begin
    module_o = ModNone;
    if (load) module_o = (t.memory_type == TypeWgt || t.memory_type == TypeInp) ? ModLoad : ModCompute;
    if (gemm || alu) module_o = ModCompute;
    if (store) module_o = ModStore;
  end

  always_comb begin
    pop_o  = '0;
    push_o = '0;
    case (module_o)
      ModLoad: begin
        pop_o[QueueComputeLoad]  = pop_next;
        push_o[QueueLoadCompute] = push_next;
      end
      ModCompute: begin
        pop_o[QueueLoadCompute]   = pop_prev;
        pop_o[QueueStoreCompute]  = pop_next;
        push_o[QueueComputeLoad]  = push_prev;
        push_o[QueueComputeStore] = push_next;
      end
      ModStore: begin
        pop_o[QueueComputeStore]  = pop_prev;
        push_o[QueueStoreCompute] = push_prev;
      end
      default: ;
    endcase
  end

  // Of transfers: how large an element is, as a power of two, and how many there are.
  localparam int unsigned Log2Block = $clog2(Block);
  logic [4:0]  shift;
  logic [16:0] depth;
  always_comb begin
    case (t.memory_type)
      TypeUop: begin shift = 5'd2;                depth = 17'(UopDepth); end
      TypeWgt: begin shift = 5'(2 * Log2Block);   depth = 17'(WgtDepth); end
      TypeInp: begin shift = 5'(Log2Block);       depth = 17'(InpDepth); end
      TypeAcc: begin shift = 5'(Log2Block + 2);   depth = 17'(AccDepth); end
      default: begin shift = 5'(Log2Block);       depth = 17'(AccDepth); end
    endcase
  end
  logic [5:0]  low;          // bits of the offset that are 0
  logic [16:0] rows, columns;
  logic [35:0] sram_end;
  logic [47:0] ddr_end;
  assign low      = (shift >= 5'd6) ? 6'h3f : 6'((32'd1 << shift) - 32'd1);
  assign rows     = 17'(t.y_size) + (load ? 17'(t.y_pad_before) + 17'(t.y_pad_after) : 17'd0);
  assign columns  = 17'(t.x_size) + (load ? 17'(t.x_pad_before) + 17'(t.x_pad_after) : 17'd0);
  assign sram_end = 36'(t.sram_base) + 36'(rows) * 36'(columns);
  assign ddr_end  = 48'(t.address)
                    + ((48'(t.y_size - 16'd1) * 48'(t.x_stride) + 48'(t.x_size)) << shift);

  logic reserved, no_type, no_queue, empty, outside;
  always_comb begin
    reserved = 1'b0;
    no_type  = 1'b0;
    no_queue = 1'b0;
    empty    = 1'b0;
    outside  = 1'b0;
    if (load || store) begin
      reserved = word_i.w0[15:10] != '0 || (store && word_i.w3[31:16] != '0);
      no_type  = load ? t.memory_type > TypeAcc : (t.memory_type != TypeAcc && t.memory_type != TypeOut);
      no_queue = (module_o == ModLoad && (pop_prev || push_prev)) || (store && (pop_next || push_next));
      empty    = t.y_size == '0 || t.x_size == '0 || t.x_stride < t.x_size;
      outside  = sram_end > 36'(depth) || ddr_end > (48'(DdrMegabytes) << 20);
    end
    if (gemm || alu) begin
      reserved = gemm ? word_i.w1[31:28] != '0 : (word_i.w0[7] || word_i.w3[15:10] != '0);
      no_type  = alu && word_i.w1[30:28] > 3'd4;
      empty    = word_i.w1[13:0] == '0 || word_i.w1[27:14] == '0 || word_i.w0[19:8] >= word_i.w0[31:20];
      outside  = 32'(word_i.w0[31:20]) > UopDepth;
    end
    if (finish) reserved = word_i.w0[31:3] != '0 || word_i.w1 != '0 || word_i.w2 != '0 || word_i.w3 != '0;
  end

  always_comb begin
    error_o = ErrNone;
    if (outside) error_o = ErrOutOfRange;
    if ((load || store) && (t.address[5:0] & low) != '0) error_o = ErrUnaligned;
    if (empty) error_o = ErrBadSize;
    if (no_queue) error_o = ErrBadDependency;
    if (!known || reserved || no_type || word_i.w0[2:0] != mode_i[2:0]) error_o = ErrIllegalMode;
  end
endmodule
