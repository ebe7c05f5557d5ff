// Chisel: decoupled and valid bundles, vectors of them, a memory port, TileLink of a diplomatic node.
module ChiselGemv (
  // expect: clock
  input         clock,
  // expect: reset
  input         reset,
  // expect: stream subordinate
  output        io_in_ready,
  input         io_in_valid,
  input  [7:0]  io_in_bits_0, io_in_bits_1, io_in_bits_2,
  // expect: stream manager
  output        io_out_valid,
  output [31:0] io_out_bits_sum,
  output        io_out_bits_last,
  // expect: sram manager
  output [9:0]  io_mem_0_addr,
  output        io_mem_0_en, io_mem_0_write,
  output [63:0] io_mem_0_wdata,
  input  [63:0] io_mem_0_rdata,
  // expect: split_memory manager
  input         io_host_req_ready,
  output        io_host_req_valid,
  output [39:0] io_host_req_bits_addr,
  output        io_host_req_bits_write,
  output [63:0] io_host_req_bits_data,
  input         io_host_resp_valid,
  input  [63:0] io_host_resp_bits_data,
  // expect: tilelink manager
  input         auto_dma_out_a_ready,
  output        auto_dma_out_a_valid,
  output [2:0]  auto_dma_out_a_bits_opcode, auto_dma_out_a_bits_param,
  output [3:0]  auto_dma_out_a_bits_size,
  output [1:0]  auto_dma_out_a_bits_source,
  output [31:0] auto_dma_out_a_bits_address,
  output [7:0]  auto_dma_out_a_bits_mask,
  output [63:0] auto_dma_out_a_bits_data,
  output        auto_dma_out_a_bits_corrupt,
  output        auto_dma_out_d_ready,
  input         auto_dma_out_d_valid,
  input  [2:0]  auto_dma_out_d_bits_opcode,
  input  [1:0]  auto_dma_out_d_bits_param,
  input  [3:0]  auto_dma_out_d_bits_size,
  input  [1:0]  auto_dma_out_d_bits_source,
  input  [2:0]  auto_dma_out_d_bits_sink,
  input         auto_dma_out_d_bits_denied,
  input  [63:0] auto_dma_out_d_bits_data,
  input         auto_dma_out_d_bits_corrupt,
  // expect: done
  input         io_start,
  output        io_busy, io_done
);
endmodule
