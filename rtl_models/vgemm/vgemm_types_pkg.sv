// What the modules of vgemm share: the words as structures, and what goes through the queues.
package vgemm_types_pkg;

  typedef struct packed {
    logic [31:0] w3;
    logic [31:0] w2;
    logic [31:0] w1;
    logic [31:0] w0;
  } word_t;

  // Who executes an instruction.
  typedef enum logic [1:0] {
    ModLoad    = 2'd0,
    ModCompute = 2'd1,
    ModStore   = 2'd2,
    ModNone    = 2'd3
  } module_e;

  // The four dependency queues.
  localparam int unsigned QueueLoadCompute  = 0;
  localparam int unsigned QueueComputeLoad  = 1;
  localparam int unsigned QueueComputeStore = 2;
  localparam int unsigned QueueStoreCompute = 3;
  localparam int unsigned MaxTokens         = 63;

  // Memory types.
  localparam logic [2:0] TypeUop = 3'd0;
  localparam logic [2:0] TypeWgt = 3'd1;
  localparam logic [2:0] TypeInp = 3'd2;
  localparam logic [2:0] TypeAcc = 3'd3;
  localparam logic [2:0] TypeOut = 3'd4;

  typedef struct packed {
    logic [2:0]  memory_type;
    logic [15:0] sram_base;
    logic [31:0] address;
    logic [15:0] y_size;
    logic [15:0] x_size;
    logic [15:0] x_stride;
    logic [3:0]  y_pad_before;
    logic [3:0]  y_pad_after;
    logic [3:0]  x_pad_before;
    logic [3:0]  x_pad_after;
  } transfer_t;

  function automatic transfer_t transfer_of(input word_t w);
    transfer_t t;
    t.memory_type  = w.w0[9:7];
    t.sram_base    = w.w0[31:16];
    t.address      = w.w1;
    t.y_size       = w.w2[15:0];
    t.x_size       = w.w2[31:16];
    t.x_stride     = w.w3[15:0];
    t.y_pad_before = w.w3[19:16];
    t.y_pad_after  = w.w3[23:20];
    t.x_pad_before = w.w3[27:24];
    t.x_pad_after  = w.w3[31:28];
    return t;
  endfunction

  // An instruction on its way to its module: pops and pushes by queue, as they take effect.
  typedef struct packed {
    word_t      word;
    logic [3:0] pop;
    logic [3:0] push;
  } issue_t;

  // What a module says when it is through.
  typedef struct packed {
    logic [15:0]      error;
    logic [31:0]      dependency;
    logic [3:0][31:0] cycles;      // classes 0 to 3
  } done_t;

  // A write of a scratchpad: a beat of 64 bytes, counted from the beginning of the scratchpad.
  typedef struct packed {
    logic         valid;
    logic         second;          // to the second of the two scratchpads that a loader serves
    logic [15:0]  beat;
    logic [511:0] data;
    logic [63:0]  strb;
  } pad_write_t;

endpackage
