// Generator : SpinalHDL v1.10.1    git head : 2527c7c6b0fb0f95e5e1a5722a0be732b364ce43
module SpinalTile (
  // expect: apb subordinate
  input  wire [11:0]   io_apb_PADDR,
  input  wire [0:0]    io_apb_PSEL,
  input  wire          io_apb_PENABLE,
  output wire          io_apb_PREADY,
  input  wire          io_apb_PWRITE,
  input  wire [31:0]   io_apb_PWDATA,
  output wire [31:0]   io_apb_PRDATA,
  output wire          io_apb_PSLVERROR,
  // expect: axi4 manager
  output wire          io_axi_ar_valid,
  input  wire          io_axi_ar_ready,
  output wire [31:0]   io_axi_ar_payload_addr,
  output wire [3:0]    io_axi_ar_payload_id,
  output wire [7:0]    io_axi_ar_payload_len,
  output wire [2:0]    io_axi_ar_payload_size,
  output wire [1:0]    io_axi_ar_payload_burst,
  input  wire          io_axi_r_valid,
  output wire          io_axi_r_ready,
  input  wire [127:0]  io_axi_r_payload_data,
  input  wire [3:0]    io_axi_r_payload_id,
  input  wire [1:0]    io_axi_r_payload_resp,
  input  wire          io_axi_r_payload_last,
  // expect: stream subordinate
  input  wire          io_pixels_valid,
  output wire          io_pixels_ready,
  input  wire          io_pixels_payload_last,
  input  wire [7:0]    io_pixels_payload_fragment_r,
  input  wire [7:0]    io_pixels_payload_fragment_g,
  // expect: stream manager
  output wire          io_flow_valid,
  output wire [15:0]   io_flow_payload,
  // expect: interrupt
  output wire          io_interrupt,
  // expect: clock
  input  wire          clk,
  // expect: reset
  input  wire          reset
);
endmodule
