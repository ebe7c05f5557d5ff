// A small core: native memory with one handshake, its look-ahead copy, co-processor port, interrupts, trace.
module picorv_style (
  // expect: clock
  input  logic        clk,
  // expect: reset
  input  logic        resetn,
  // expect: done
  output logic        trap,
  // expect: native_memory manager
  output logic        mem_valid, mem_instr,
  input  logic        mem_ready,
  output logic [31:0] mem_addr, mem_wdata,
  output logic [3:0]  mem_wstrb,
  input  logic [31:0] mem_rdata,
  // expect: -
  output logic        mem_la_read, mem_la_write,
  output logic [31:0] mem_la_addr, mem_la_wdata,
  output logic [3:0]  mem_la_wstrb,
  // expect: pcpi manager
  output logic        pcpi_valid,
  output logic [31:0] pcpi_insn, pcpi_rs1, pcpi_rs2,
  input  logic        pcpi_wr,
  input  logic [31:0] pcpi_rd,
  input  logic        pcpi_wait, pcpi_ready,
  // expect: interrupt
  input  logic [31:0] irq,
  // expect: interrupt_ack
  output logic [31:0] eoi,
  // expect: stream manager
  output logic        trace_valid,
  output logic [35:0] trace_data
);
endmodule
