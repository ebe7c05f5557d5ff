module serv_like (
  // expect: clock
  input  wire        i_clk,
  // expect: reset
  input  wire        i_rst,
  // expect: interrupt
  input  wire        i_timer_irq,
  // expect: wishbone manager
  output wire [31:0] o_ibus_adr,
  output wire        o_ibus_cyc,
  input  wire [31:0] i_ibus_rdt,
  input  wire        i_ibus_ack,
  // expect: wishbone manager
  output wire [31:0] o_dbus_adr, o_dbus_dat,
  output wire [3:0]  o_dbus_sel,
  output wire        o_dbus_we, o_dbus_cyc,
  input  wire [31:0] i_dbus_rdt,
  input  wire        i_dbus_ack,
  // expect: -
  output wire [31:0] o_ext_rs1, o_ext_rs2,
  output wire [2:0]  o_ext_funct3,
  input  wire [31:0] i_ext_rd,
  input  wire        i_ext_ready,
  output wire        o_mdu_valid
);
endmodule
