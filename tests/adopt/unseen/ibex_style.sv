// A core with two request/grant memories, debug, sleep and fast interrupts.
module ibex_style (
  // expect: clock
  input  logic        clk_i,
  // expect: reset
  input  logic        rst_ni, scan_rst_ni,
  // expect: test
  input  logic        test_en_i,
  // expect: static
  input  logic [31:0] hart_id_i, boot_addr_i,
  // expect: obi manager
  output logic        instr_req_o,
  input  logic        instr_gnt_i, instr_rvalid_i,
  output logic [31:0] instr_addr_o,
  input  logic [31:0] instr_rdata_i,
  input  logic [6:0]  instr_rdata_intg_i,
  input  logic        instr_err_i,
  // expect: obi manager
  output logic        data_req_o,
  input  logic        data_gnt_i, data_rvalid_i,
  output logic        data_we_o,
  output logic [3:0]  data_be_o,
  output logic [31:0] data_addr_o, data_wdata_o,
  output logic [6:0]  data_wdata_intg_o,
  input  logic [31:0] data_rdata_i,
  input  logic [6:0]  data_rdata_intg_i,
  input  logic        data_err_i,
  // expect: interrupt
  input  logic        irq_software_i, irq_timer_i, irq_external_i,
  input  logic [14:0] irq_fast_i,
  input  logic        irq_nm_i,
  // expect: debug
  input  logic        debug_req_i,
  // expect: -
  input  logic [3:0]  fetch_enable_i,
  // expect: done
  output logic        core_sleep_o
);
endmodule
