// A component as Intel's HLS compiler exports it.
module hls_component (
  // expect: clock
  input  logic          clock,
  // expect: reset
  input  logic          resetn,
  // expect: clock
  input  logic          clock2x,
  // expect: done subordinate
  input  logic [0:0]    start,
  output logic [0:0]    busy,
  output logic [0:0]    done,
  // expect: -
  input  logic [0:0]    stall,
  output logic [31:0]   returndata,
  input  logic [63:0]   src,
  input  logic [31:0]   n,
  // expect: avalon_mm manager
  output logic [63:0]   avmm_0_rw_address,
  output logic [31:0]   avmm_0_rw_byteenable,
  input  logic [0:0]    avmm_0_rw_readdatavalid,
  output logic [0:0]    avmm_0_rw_read,
  input  logic [255:0]  avmm_0_rw_readdata,
  output logic [0:0]    avmm_0_rw_write,
  output logic [255:0]  avmm_0_rw_writedata,
  input  logic [0:0]    avmm_0_rw_waitrequest,
  output logic [4:0]    avmm_0_rw_burstcount,
  // expect: avalon_mm subordinate
  input  logic [0:0]    avs_cra_read,
  input  logic [0:0]    avs_cra_write,
  input  logic [2:0]    avs_cra_address,
  input  logic [63:0]   avs_cra_writedata,
  input  logic [7:0]    avs_cra_byteenable,
  output logic [63:0]   avs_cra_readdata,
  // expect: interrupt
  output logic [0:0]    done_irq,
  // expect: avalon_st subordinate
  input  logic [31:0]   in_stream_data,
  input  logic [0:0]    in_stream_valid,
  output logic [0:0]    in_stream_ready,
  input  logic [0:0]    in_stream_startofpacket,
  input  logic [0:0]    in_stream_endofpacket
);
endmodule
