// Fetches a binary and hands its instructions over, one after the other; each beat is read when it is needed.
//
// A block is a beat of opcodes (a byte each, at most 32), a beat an instruction, and zeros up to 65 beats. What is no instruction
// ends the run: nothing of it is handed over.
module vgemm_fetch
  import vgemm_pkg::*;
  import vgemm_types_pkg::*;
  import fleet_axi_pkg::*;
#(
  parameter int unsigned DdrMegabytes = 16
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         start_i,    // one cycle, with the operands
  input  logic [31:0]  mode_i,
  input  logic [31:0]  address_i,
  input  logic [31:0]  beats_i,
  input  logic [31:0]  tasks_i,
  input  logic         stop_i,     // hand over no more
  input  logic         end_i,      // the run is over
  output logic         busy_o,
  output logic         over_o,     // nothing more will come, nothing is under way
  output logic [15:0]  error_o,    // why not all instructions were handed over

  output logic         valid_o,    // stands until it is taken
  input  logic         ready_i,
  output logic [31:0]  mode_o,
  output word_t        word_o,

  output ddr_rd_req_t  ddr_req_o,
  input  ddr_rd_rsp_t  ddr_rsp_i
);
  localparam int unsigned Tasks      = 32;
  localparam int unsigned BlockBeats = 65;

  typedef enum logic [2:0] {StIdle, StCheck, StAsk, StWait, StTask, StOffer, StOver} state_e;

  state_e       state_q, state_d;
  logic [15:0]  error_q, error_d;
  logic [31:0]  mode_q, beats_q, left_q, block_q;   // block_q: beats before the block
  logic [25:0]  base_q;                             // beat address of the binary
  logic [5:0]   slot_q;                             // instruction of the block
  logic         ids_q;                              // the beat that is read holds opcodes
  logic [255:0] opcodes_q;
  word_t        word_q;
  logic [31:0]  start_q;

  logic [31:0] beat;                                // of the binary, to be read
  logic [7:0]  opcode;
  logic        known;
  logic [63:0] end_address;
  assign beat        = block_q + (ids_q ? 32'd0 : 32'(slot_q) + 32'd1);
  assign opcode      = opcodes_q[7:0];
  assign known       = opcode != '0 && opcode <= 8'(OpFinish);
  assign end_address = {32'd0, base_q, 6'd0} + {26'd0, beats_q, 6'd0};

  always_comb begin
    state_d = state_q;
    error_d = error_q;
    case (state_q)
      StIdle: begin
        error_d = ErrNone;
        if (start_i) begin
          state_d = StCheck;
          if (address_i[5:0] != '0) error_d = ErrUnaligned;
          if (tasks_i == '0) error_d = ErrBadSize;
          if (mode_i != StartBinaryRun) error_d = ErrIllegalMode;
        end
      end
      StCheck: begin
        if (error_q == ErrNone && end_address > 64'(DdrMegabytes) << 20) error_d = ErrOutOfRange;
        state_d = StAsk;
      end
      StAsk: begin
        if (beat >= beats_q) error_d = ErrBadBinary;
        else if (ddr_rsp_i.ar_ready) state_d = StWait;
      end
      StWait: if (ddr_rsp_i.r_valid) begin
        if (ddr_rsp_i.r.resp[1]) error_d = ErrBusError;
        else if (ids_q && ddr_rsp_i.r.data[511:8*Tasks] != '0) error_d = ErrBadBinary;
        state_d = ids_q ? StTask : StOffer;
      end
      StTask: begin
        if (32'(slot_q) == Tasks) state_d = StAsk;
        else if (!known) error_d = ErrBadBinary;
        else state_d = StAsk;
      end
      StOffer: begin
        if (start_q != 32'(opcode)) error_d = ErrBadBinary;
        else if (ready_i) state_d = (left_q == 32'd1) ? StOver : StTask;
      end
      default: if (end_i) state_d = StIdle;
    endcase
    // A request that stands is not taken back, and one that was taken is waited for.
    if (state_q != StIdle && state_q != StOver && (error_d != ErrNone || stop_i)
        && !(state_q == StAsk && beat < beats_q) && !(state_q == StWait && !ddr_rsp_i.r_valid)) begin
      state_d = StOver;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q   <= StIdle;
      error_q   <= ErrNone;
      mode_q    <= '0;
      beats_q   <= '0;
      left_q    <= '0;
      block_q   <= '0;
      base_q    <= '0;
      slot_q    <= '0;
      ids_q     <= 1'b0;
      opcodes_q <= '0;
      word_q    <= '0;
      start_q   <= '0;
    end else begin
      state_q <= state_d;
      error_q <= error_d;
      if (state_q == StIdle && start_i) begin
        mode_q  <= mode_i;
        beats_q <= beats_i;
        left_q  <= tasks_i;
        base_q  <= address_i[31:6];
        block_q <= '0;
        ids_q   <= 1'b1;
      end
      if (state_q == StWait && ddr_rsp_i.r_valid) begin
        ids_q <= 1'b0;
        if (ids_q) begin
          opcodes_q <= ddr_rsp_i.r.data[8*Tasks-1:0];
          slot_q    <= '0;
        end else begin
          word_q  <= ddr_rsp_i.r.data[127:0];
          start_q <= ddr_rsp_i.r.data[159:128];
        end
      end
      if (state_q == StTask && 32'(slot_q) == Tasks) begin
        ids_q   <= 1'b1;
        block_q <= block_q + BlockBeats;
      end
      if (state_q == StOffer && state_d != StOffer) begin
        left_q    <= left_q - 32'd1;
        slot_q    <= slot_q + 6'd1;
        opcodes_q <= opcodes_q >> 8;
      end
    end
  end

  assign busy_o    = state_q != StIdle;
  assign over_o    = state_q == StOver;
  assign error_o   = error_q;
  assign valid_o   = state_q == StOffer && error_d == ErrNone && !stop_i;
  assign mode_o    = start_q;
  assign word_o    = word_q;
  assign ddr_req_o.ar_valid = state_q == StAsk && beat < beats_q;
  assign ddr_req_o.ar.addr  = {1'b0, base_q + beat[25:0], 6'd0};
  assign ddr_req_o.ar.id    = '0;  // the top knows whose it is
  assign ddr_req_o.ar.len   = '0;
  assign ddr_req_o.r_ready  = state_q == StWait;

  logic unused;
  assign unused = ^{mode_q, ddr_rsp_i.r.id, ddr_rsp_i.r.resp[0], ddr_rsp_i.r.last};
endmodule
