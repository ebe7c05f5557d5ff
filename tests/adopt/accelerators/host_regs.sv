// A bus of request and grant whose data come with "valid", registers with a read valid, a clock of the outside.
module host_regs (
  // expect: clock subordinate
  input  logic CLKEXT,
  // expect: reset subordinate
  input  logic RST_N,
  // expect: obi manager
  output logic        dram_req,
  input  logic        dram_grant,
  output logic        dram_rw,
  output logic [15:0] dram_addr,
  output logic [31:0] dram_wdata,
  input  logic [31:0] dram_rdata,
  input  logic        dram_valid,
  // expect: strobe_memory subordinate
  input  logic        csr_wr, csr_rd,
  input  logic [7:0]  csr_addr,
  input  logic [31:0] csr_wdata,
  output logic [31:0] csr_rdata,
  output logic        csr_rvalid,
  // expect: strobe_memory subordinate
  input  logic        port_read_req, port_write_req,
  input  logic [15:0] port_addr,
  input  logic [31:0] port_wdata,
  output logic        port_read_done, port_write_done,
  output logic [31:0] port_rdata,
  // expect: sram manager
  output logic [31:0] bank_addr_3, bank_idat_3,
  input  logic [31:0] bank_odat_3,
  output logic [3:0]  bank_wren_3,
  output logic        bank_enb_3,
  // expect: -
  input  logic [31:0] program_words [0:15],
  // expect: sram subordinate
  input  logic        sel, we,
  input  logic [12:0] addr,
  input  logic [31:0] wdata,
  output logic [31:0] rdata
);
endmodule
