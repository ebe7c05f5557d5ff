// An accelerator of a tiled platform as high-level synthesis leaves it: DMA by control and channel, configuration by wires.
module esp_acc (
  // expect: clock
  clk,
  // expect: reset
  rst,
  // expect: stream manager
  dma_read_ctrl_valid, dma_read_ctrl_data_index, dma_read_ctrl_data_length, dma_read_ctrl_data_size, dma_read_ctrl_ready,
  // expect: stream subordinate
  dma_read_chnl_valid, dma_read_chnl_data, dma_read_chnl_ready,
  // expect: stream manager
  dma_write_ctrl_valid, dma_write_ctrl_data_index, dma_write_ctrl_data_length, dma_write_ctrl_data_size, dma_write_ctrl_ready,
  // expect: stream manager
  dma_write_chnl_valid, dma_write_chnl_data, dma_write_chnl_ready,
  // expect: -
  conf_info_rows, conf_info_cols, conf_done,
  // expect: done subordinate
  acc_done,
  // expect: -
  debug
);
  input clk, rst;
  output dma_read_ctrl_valid; output [31:0] dma_read_ctrl_data_index, dma_read_ctrl_data_length; output [2:0] dma_read_ctrl_data_size;
  input dma_read_ctrl_ready;
  input dma_read_chnl_valid; input [63:0] dma_read_chnl_data; output dma_read_chnl_ready;
  output dma_write_ctrl_valid; output [31:0] dma_write_ctrl_data_index, dma_write_ctrl_data_length; output [2:0] dma_write_ctrl_data_size;
  input dma_write_ctrl_ready;
  output dma_write_chnl_valid; output [63:0] dma_write_chnl_data; input dma_write_chnl_ready;
  input [31:0] conf_info_rows, conf_info_cols; input conf_done; output acc_done; output [31:0] debug;
endmodule
