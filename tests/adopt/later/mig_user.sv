// A block behind a memory controller's native user port, with frames of video.
module mig_user (
  // expect: clock
  input  logic ui_clk,
  // expect: reset
  input  logic ui_clk_sync_rst,
  // expect: done
  input  logic init_calib_complete,
  // expect: mig manager
  output logic [28:0]  app_addr,
  output logic [2:0]   app_cmd,
  output logic         app_en,
  input  logic         app_rdy,
  output logic [127:0] app_wdf_data,
  output logic         app_wdf_end, app_wdf_wren,
  output logic [15:0]  app_wdf_mask,
  input  logic         app_wdf_rdy,
  input  logic [127:0] app_rd_data,
  input  logic         app_rd_data_valid, app_rd_data_end,
  // expect: stream subordinate
  input  logic [23:0]  vid_data,
  input  logic         vid_valid,
  output logic         vid_ready,
  // expect: -
  input  logic [1:0]   vid_format,
  // expect: interrupt
  output logic frame_irq
);
endmodule
