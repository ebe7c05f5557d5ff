// A hard macro: test access port, scan chains, memory test, power pins, clock gates.
module jtag_chip (
  // expect: clock
  input  wire       clk_core, REFCLK,
  // expect: reset
  input  wire       por_n,
  // expect: jtag subordinate
  input  wire       tck, tms, tdi, trst_n,
  output wire       tdo, tdo_oe,
  // expect: test
  input  wire       scan_enable, scan_mode,
  input  wire [3:0] scan_in,
  output wire [3:0] scan_out,
  input  wire       dft_ram_hold, mbist_en,
  output wire       mbist_done, mbist_fail,
  // expect: clock_enable
  input  wire       core_clk_en, mac_cg_en,
  // expect: ahb_lite subordinate
  input  wire        s_hsel, s_hready, s_hwrite, s_hmastlock,
  input  wire [15:0] s_haddr,
  input  wire [1:0]  s_htrans,
  input  wire [2:0]  s_hsize, s_hburst,
  input  wire [3:0]  s_hprot,
  input  wire [31:0] s_hwdata,
  output wire [31:0] s_hrdata,
  output wire        s_hreadyout, s_hresp,
  // expect: sram manager
  output wire        ram0_cs, ram0_we,
  output wire [11:0] ram0_addr,
  output wire [3:0]  ram0_bwe,
  output wire [31:0] ram0_wdata,
  input  wire [31:0] ram0_rdata,
  // expect: interrupt
  output wire        int_done, int_err
);
endmodule
