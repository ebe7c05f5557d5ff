// Platform Designer, upper case, active-low, wait states; an Avalon FIFO; a custom instruction.
module intel_copro (
  // expect: clock
  input  logic        CLK_100,
  // expect: reset
  input  logic        RESET_N,
  // expect: avalon_mm subordinate
  input  logic [9:0]  AVS_S0_ADDRESS,
  input  logic        AVS_S0_READ, AVS_S0_WRITE,
  input  logic [31:0] AVS_S0_WRITEDATA,
  input  logic [3:0]  AVS_S0_BYTEENABLE,
  output logic [31:0] AVS_S0_READDATA,
  output logic        AVS_S0_WAITREQUEST,
  // expect: fifo_read manager
  output logic        in_rdreq,
  input  logic [31:0] in_q,
  input  logic        in_rdempty,
  input  logic [8:0]  in_rdusedw,
  // expect: fifo_write manager
  output logic        out_wrreq,
  output logic [31:0] out_data,
  input  logic        out_wrfull,
  // expect: nios_custom subordinate
  input  logic        ncs_start, ncs_clk_en,
  input  logic [31:0] ncs_dataa, ncs_datab,
  input  logic [7:0]  ncs_n,
  output logic [31:0] ncs_result,
  output logic        ncs_done,
  // expect: interrupt
  output logic        INR_IRQ
);
endmodule
