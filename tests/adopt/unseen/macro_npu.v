// Memory macros outside, in the foundries' spelling; a microcontroller's bus; thermal and power signals.
module macro_npu (
  // expect: clock
  input  wire        CLK,
  // expect: reset
  input  wire        RSTB,
  // expect: sram manager
  output wire        W0_CEB, W0_WEB,
  output wire [9:0]  W0_A,
  output wire [63:0] W0_D, W0_BWEB,
  input  wire [63:0] W0_Q,
  // expect: sram manager
  output wire        act_csn, act_wen,
  output wire [11:0] act_addr,
  output wire [31:0] act_din,
  input  wire [31:0] act_dout,
  // expect: sram manager
  output wire [11:0] rom_addr,
  output wire        rom_rd_en,
  input  wire [31:0] rom_rd_data,
  // expect: sram subordinate
  input  wire        reg_cs, reg_wr,
  input  wire [7:0]  reg_addr,
  input  wire [31:0] reg_wdata,
  output wire [31:0] reg_rdata,
  // expect: native_memory manager
  output wire        ext_req, ext_wr,
  output wire [31:0] ext_addr, ext_wdata,
  input  wire        ext_ack,
  input  wire [31:0] ext_rdata,
  // expect: done
  input  wire        start_pulse,
  output wire        done_pulse, busy,
  // expect: interrupt
  output wire        IRQ_N,
  // expect: clock_enable
  input  wire        clk_gate_en
);
endmodule
