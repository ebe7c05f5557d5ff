// A teaching GPU: channels of valid and ready for reads and writes, several side by side, and structures beside their handshake.
package acc_pkg;
  typedef struct packed {
    logic [31:0] insn;
    logic [63:0] rs1;
    logic [63:0] rs2;
    logic [2:0]  trans_id;
  } acc_req_t;
  typedef struct packed {
    logic [2:0]  trans_id;
    logic [63:0] result;
    logic        load_complete;
    logic        error;
  } acc_resp_t;
endpackage

module tiny_gpu
  import acc_pkg::*;
#(
  parameter int DATA_CHANNELS = 4, parameter int PROGRAM_CHANNELS = 1
) (
  // expect: clock
  input  wire clk,
  // expect: reset
  input  wire reset,
  // expect: done subordinate
  input  wire start,
  output wire done,
  // expect: channel_memory manager
  output wire [PROGRAM_CHANNELS-1:0] program_mem_read_valid,
  output wire [7:0]                  program_mem_read_address [PROGRAM_CHANNELS],
  input  wire [PROGRAM_CHANNELS-1:0] program_mem_read_ready,
  input  wire [15:0]                 program_mem_read_data [PROGRAM_CHANNELS],
  // expect: channel_memory manager
  output wire [DATA_CHANNELS-1:0] data_mem_read_valid,
  output wire [7:0]               data_mem_read_address [DATA_CHANNELS],
  input  wire [DATA_CHANNELS-1:0] data_mem_read_ready,
  input  wire [7:0]               data_mem_read_data [DATA_CHANNELS],
  output wire [DATA_CHANNELS-1:0] data_mem_write_valid,
  output wire [7:0]               data_mem_write_address [DATA_CHANNELS],
  output wire [7:0]               data_mem_write_data [DATA_CHANNELS],
  input  wire [DATA_CHANNELS-1:0] data_mem_write_ready,
  // expect: stream subordinate
  input  acc_req_t acc_req_i,
  input  logic     acc_req_valid_i,
  output logic     acc_req_ready_o,
  // expect: stream manager
  output acc_resp_t acc_resp_o,
  output logic      acc_resp_valid_o,
  input  logic      acc_resp_ready_i
);
endmodule
