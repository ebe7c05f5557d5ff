// A device of a tiled many-core: three networks, a word each cycle.
module noc_dev (
  // expect: clock
  input  wire        clk,
  // expect: reset
  input  wire        rst_n,
  // expect: stream subordinate
  input  wire        noc1_in_val,
  input  wire [63:0] noc1_in_data,
  output wire        noc1_in_rdy,
  // expect: stream manager
  output wire        noc2_out_val,
  output wire [63:0] noc2_out_data,
  input  wire        noc2_out_rdy,
  // expect: stream subordinate
  input  wire        src_ifc_noc3_val,
  input  wire [63:0] src_ifc_noc3_data,
  output wire        src_ifc_noc3_rdy,
  // expect: static
  input  wire [13:0] chipid,
  input  wire [7:0]  coreid_x,
  input  wire [7:0]  coreid_y,
  // expect: interrupt
  output wire        dev_interrupt
);
endmodule
