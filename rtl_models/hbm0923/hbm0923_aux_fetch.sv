// Fetches a binary and hands its tasks over, one after the other.
//
// A block is a beat of cfg_ids (a byte a task, at most 32), the register data of each task in write order, in one or two
// beats, and zeros up to 65 beats. Beats are read ahead into a ring that holds more than a block, so that the next block
// comes while tasks run. What is no task ends the run: nothing of it is handed over.
module hbm0923_aux_fetch
  import hbm0923_pkg::*;
  import hbm0923_unit_pkg::*;
  import hbm0923_fabric_pkg::*;
  import hbm0923_aux_pkg::*;
  import fleet_axi_pkg::*;
#(
  parameter int unsigned DdrMegabytes = 4096,
  parameter int unsigned Depth        = 128   // beats of the ring, a power of two
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  input  logic                 start_i,   // one cycle, with the operands
  input  logic [31:0]          addr_i,
  input  logic [31:0]          beats_i,
  input  logic [31:0]          tasks_i,
  input  logic                 stop_i,    // hand over no more
  input  logic                 end_i,     // the run is over
  output logic                 over_o,    // nothing more will come, nothing is under way
  output logic [15:0]          error_o,   // why not all tasks were handed over

  output start_t               task_o,    // stands until it is taken
  input  logic                 task_ready_i,
  output logic [AuxWords*32-1:0] words_o,   // its registers, the first one lowest

  output ddr_rd_req_t          ddr_req_o,
  input  ddr_rd_rsp_t          ddr_rsp_i      // r_valid: of this unit's ID, while a run is on
);
  localparam int unsigned Aw         = $clog2(Depth);
  localparam int unsigned Burst      = 16;

  typedef enum logic [7:0] {
    StIdle  = 8'b00000001,
    StCheck = 8'b00000010,
    StIds   = 8'b00000100,  // take a block's cfg_ids
    StTask  = 8'b00001000,  // look at the next one
    StData  = 8'b00010000,  // take its data
    StOffer = 8'b00100000,
    StSkip  = 8'b01000000,  // to the next block
    StOver  = 8'b10000000
  } state_e;

  state_e      state_q, state_d;
  logic [15:0] error_q, error_d;
  logic [31:0] addr_q, ask_q, beats_q, left_q;  // next to read, beats to ask for, of the binary, tasks to hand over
  logic [31:0] taken_q;                         // beats that left the ring
  logic [6:0]  block_q;                         // beats of the block that were taken
  logic [5:0]  slot_q;
  logic        second_q;
  logic [511:0] ids_q;
  logic [511:0] data_q [2];
  aux_task_t   task_now;

  // ---- reading ahead
  logic [511:0]  mem [Depth];
  logic [Depth-1:0] bad_q;                      // answered with an error
  logic [Aw-1:0] wr_q, rd_q;
  logic [Aw:0]   used_q, free_q, flying_q;      // held; neither held nor asked for; asked for and not here
  logic [4:0]    burst;
  logic          ask, ask_taken, r_valid, r_error, take, beat_valid_q, beat_bad_q, refill;
  logic [511:0]  r_data, beat_q;

  always_comb begin
    burst = 5'(Burst) - {1'b0, addr_q[9:6]};
    if (ask_q < 32'(burst)) burst = ask_q[4:0];
  end
  assign ask                = ask_q != 32'd0 && free_q >= (Aw + 1)'(burst);
  assign ask_taken          = ask && ddr_rsp_i.ar_ready;
  assign ddr_req_o.ar_valid = ask;
  assign ddr_req_o.ar       = '{id: IdAux, addr: {1'b0, addr_q}, len: 8'(burst) - 8'd1};
  assign ddr_req_o.r_ready  = 1'b1;
  assign r_valid            = ddr_rsp_i.r_valid;
  assign r_error            = ddr_rsp_i.r.resp[1];
  assign r_data             = ddr_rsp_i.r.data;
  assign refill             = used_q != '0 && (!beat_valid_q || take);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      addr_q       <= '0;
      ask_q        <= '0;
      wr_q         <= '0;
      rd_q         <= '0;
      used_q       <= '0;
      free_q       <= (Aw + 1)'(Depth);
      flying_q     <= '0;
      bad_q        <= '0;
      beat_valid_q <= 1'b0;
      beat_bad_q   <= 1'b0;
    end else begin
      if (state_q == StCheck) begin
        addr_q <= addr_i;
        ask_q  <= (error_d == ErrNone) ? beats_i : '0;
      end else if (ask_taken) begin
        addr_q <= addr_q + {21'd0, burst, 6'd0};
        ask_q  <= (state_q == StOver) ? '0 : ask_q - 32'(burst);
      end else if (state_q == StOver && !ask) begin
        ask_q <= '0;
      end
      if (r_valid) begin
        wr_q        <= wr_q + Aw'(1'b1);
        bad_q[wr_q] <= r_error;
      end
      if (refill) rd_q <= rd_q + Aw'(1'b1);
      used_q   <= used_q + (Aw + 1)'(r_valid) - (Aw + 1)'(refill);
      free_q   <= free_q - (ask_taken ? (Aw + 1)'(burst) : '0) + (Aw + 1)'(refill);
      flying_q <= flying_q + (ask_taken ? (Aw + 1)'(burst) : '0) - (Aw + 1)'(r_valid);
      if (refill) begin
        beat_valid_q <= 1'b1;
        beat_bad_q   <= bad_q[rd_q];
      end else if (take) begin
        beat_valid_q <= 1'b0;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (r_valid) mem[wr_q] <= r_data;
    if (refill) beat_q <= mem[rd_q];
  end

  // ---- from beats to tasks
  logic        short, want;
  logic [63:0] end_addr;
  logic        named;      // by its start value too
  assign task_now = aux_decode(ids_q[7:0]);
  assign short    = taken_q == beats_q;    // nothing is left of the binary
  assign want     = state_q == StIds || state_q == StData || state_q == StSkip;
  assign take     = beat_valid_q && ((want && !short) || state_q == StOver);
  assign end_addr = 64'(addr_i) + {26'd0, beats_i, 6'd0};
  assign named    = (task_o.mode & ~task_now.start_optional) == task_now.start;

  always_comb begin
    state_d = state_q;
    error_d = error_q;
    case (state_q)
      StIdle: begin
        error_d = ErrNone;
        if (start_i) state_d = StCheck;
      end
      StCheck: begin
        if (tasks_i == '0) error_d = ErrBadSize;
        else if (addr_i[5:0] != '0) error_d = ErrUnaligned;
        else if (end_addr > 64'(DdrMegabytes) << 20) error_d = ErrOutOfRange;
        state_d = (error_d == ErrNone) ? StIds : StOver;
      end
      StIds, StSkip: begin
        if (short) error_d = ErrBadBinary;
        else if (take && beat_bad_q) error_d = ErrBusError;
        else if (take && state_q == StIds && beat_q[511:8*AuxTasks] != '0) error_d = ErrBadBinary;
        else if (take && state_q == StIds) state_d = StTask;
        else if (take && 32'(block_q) == AuxBlockBeats - 1) state_d = StIds;
      end
      StTask: begin
        if (32'(slot_q) == AuxTasks) state_d = (32'(block_q) == AuxBlockBeats) ? StIds : StSkip;
        else if (!task_now.known || beats_q - taken_q < 32'(task_now.beats)) error_d = ErrBadBinary;
        else state_d = StData;
      end
      StData: begin
        if (take && beat_bad_q) error_d = ErrBusError;
        else if (take && 2'(second_q) + 2'd1 == task_now.beats) state_d = StOffer;
      end
      StOffer: begin
        if (!named) error_d = ErrBadBinary;
        else if (task_ready_i) state_d = (left_q == 32'd1) ? StOver : StTask;
      end
      default: if (end_i) state_d = StIdle;
    endcase
    if (state_q != StIdle && state_q != StOver && (error_d != ErrNone || stop_i)) state_d = StOver;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q  <= StIdle;
      error_q  <= ErrNone;
      beats_q  <= '0;
      left_q   <= '0;
      taken_q  <= '0;
      block_q  <= '0;
      slot_q   <= '0;
      second_q <= 1'b0;
      ids_q    <= '0;
    end else begin
      state_q <= state_d;
      error_q <= error_d;
      if (state_q == StCheck) begin
        beats_q <= beats_i;
        left_q  <= tasks_i;
        taken_q <= '0;
        block_q <= '0;
      end else if (take) begin
        taken_q <= taken_q + 32'd1;
        block_q <= (32'(block_q) == AuxBlockBeats - 1 && state_q == StSkip) ? 7'd0 : block_q + 7'd1;
      end else if (state_q == StTask && state_d == StIds) begin
        block_q <= '0;
      end
      if (take && state_q == StIds) begin
        ids_q  <= beat_q;
        slot_q <= '0;
      end
      if (state_q == StTask) second_q <= 1'b0;
      else if (take) second_q <= 1'b1;
      if (state_q == StOffer && task_ready_i) begin
        left_q <= left_q - 32'd1;
        slot_q <= slot_q + 6'd1;
        ids_q  <= ids_q >> 8;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (take && state_q == StData) data_q[second_q] <= beat_q;
  end

  assign words_o = {data_q[1], data_q[0]};
  always_comb begin
    task_o.mode = data_q[0][31:0];
    for (int unsigned w = 0; w < AuxWords; w++) begin
      if (32'(task_now.words) == w + 1) task_o.mode = data_q[w/16][32*(w%16)+:32];
    end
  end
  assign task_o.valid = state_q == StOffer && error_d == ErrNone && !stop_i;
  assign task_o.unit  = taker(task_now.unit, task_o.mode);
  assign over_o       = state_q == StOver && ask_q == '0 && flying_q == '0 && used_q == '0 && !beat_valid_q;
  assign error_o      = error_q;

  if (2 ** Aw != Depth || Depth < AuxBlockBeats) begin : gen_check
    $error("the ring holds at least a block, and a power of two");
  end

`ifndef SYNTHESIS
  // Assertions hold from the first cycle out of reset; a flop, so that the reset stays purely asynchronous.
  logic out_of_reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_of_reset_q <= 1'b0;
    else out_of_reset_q <= 1'b1;
  end
  always_ff @(posedge clk_i) if (out_of_reset_q) begin
    assert ($onehot(state_q));
    if (start_i) assert (state_q == StIdle);
    if (r_valid) assert (flying_q != '0);
    if (ask_taken) assert (free_q >= (Aw + 1)'(burst));
    assert (used_q + flying_q + free_q == (Aw + 1)'(Depth));
  end
`endif
  // Bit 0 of a response tells exclusive from plain.
  logic unused_fields;
  assign unused_fields = ^{ddr_rsp_i.r.id, ddr_rsp_i.r.resp[0], ddr_rsp_i.r.last};
endmodule
