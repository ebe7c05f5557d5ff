// Operands, opcodes and start values of the SFU's instructions and of elementwise, first register most significant.
package hbm0923_sfu_pkg;

  localparam logic [15:0] OpElementwise = 16'h0001, OpPosEmb = 16'h0004, OpSoftmax = 16'h0005, OpAct = 16'h0006, OpNorm = 16'h0007;
  localparam logic [31:0] StartElementwise = 32'h01, StartPosEmb = 32'h04, StartSoftmax = 32'h08, StartAct = 32'h10,
                          StartNorm = 32'h20;

  // Registers 194 to 208, whatever the instruction.
  typedef struct packed {
    logic [14:0][31:0] words;
  } sfu_operands_t;

  typedef struct packed {
    logic [31:0] wt_addr;
    logic [31:0] in_addr;
    logic [31:0] in_surface;
    logic [31:0] in_line;
    logic [31:0] out_addr;
    logic [31:0] out_surface;
    logic [31:0] out_line;
    logic [31:0] surfaces;
    logic [31:0] hin;
    logic [31:0] win;
    logic [31:0] pixels;
    logic [31:0] recip_channels;
    logic [31:0] burst_m1;
    logic [31:0] layer;
    logic [31:0] onchip;
  } norm_operands_t;

  typedef struct packed {
    logic [31:0] table_addr;
    logic [31:0] in_addr;
    logic [31:0] in_head;
    logic [31:0] in_surface;
    logic [31:0] out_addr;
    logic [31:0] out_surface;
    logic [31:0] out_head;
    logic [31:0] surfaces;
    logic [31:0] tokens;
    logic [31:0] last;
    logic [31:0] heads;
    logic [31:0] table_head;
    logic [31:0] table_surface;
    logic [31:0] zero207;
    logic [31:0] onchip;
  } pos_emb_operands_t;

  typedef struct packed {
    logic [31:0] mask;
    logic [31:0] in_addr;
    logic [31:0] in_surface;
    logic [31:0] in_line;
    logic [31:0] out_addr;
    logic [31:0] out_surface;
    logic [31:0] out_line;
    logic [31:0] surfaces;
    logic [31:0] heads;
    logic [31:0] chin;
    logic [31:0] tokens;
    logic [31:0] win;
    logic [31:0] last;
    logic [31:0] zero207;
    logic [31:0] onchip;
  } softmax_operands_t;

  typedef struct packed {
    logic [31:0] table_addr;
    logic [31:0] in_addr;
    logic [31:0] in_surface;
    logic [31:0] in_line;
    logic [31:0] out_addr;
    logic [31:0] out_surface;
    logic [31:0] out_line;
    logic [31:0] surfaces;
    logic [31:0] hin;
    logic [31:0] win;
    logic [31:0] pixels;
    logic [31:0] surfaces_dup;
    logic [31:0] chout;
    logic [31:0] zero207;
    logic [31:0] onchip;
  } act_operands_t;

  // Registers 130 to 141.
  typedef struct packed {
    logic [31:0] mode;
    logic [31:0] a_addr;
    logic [31:0] a_surface;
    logic [31:0] a_line;
    logic [31:0] out_addr;
    logic [31:0] out_surface;
    logic [31:0] out_line;
    logic [31:0] surfaces;
    logic [31:0] hin;
    logic [31:0] win;
    logic [31:0] b_addr;
    logic [31:0] onchip;
  } elementwise_operands_t;

endpackage
