// The weight stream of an instruction: separates scales, INT4 weights and their places, and keeps them on chip.
//
// All ports deliver the same kinds of beats in the same order, so one sequencer serves them: a beat moves when every
// port has one and its ring has room. Rings, not banks: while the array reads a block of Tout channels (as often as there
// are tokens), whatever room is left fills with the next blocks; with one token the rings are the prefetch buffer.
// A weight group's scales come before its weights, and places before the weights that they belong to, so weights in the ring
// imply both. Places have a ring of their own, because a step of a sparse product reads both in a cycle.
module hbm0923_wt_buffer
  import hbm0923_mvm_pkg::*;
#(
  parameter int unsigned Ports      = 32,
  parameter int unsigned DataDepth  = 2048,  // beats a port, a power of two
  parameter int unsigned ScaleDepth = 256,   // beats a port, a power of two
  parameter bit          Sparse     = 1'b0,
  parameter int unsigned PlaceDepth = 512,   // beats a port, a power of two; only if Sparse
  localparam int unsigned Dw = $clog2(DataDepth),
  localparam int unsigned Sw = $clog2(ScaleDepth),
  localparam int unsigned Pw = $clog2(PlaceDepth)
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,

  input  logic                     start_i,      // one cycle, with the plan, only while ready_o
  input  mvm_plan_t                plan_i,
  output logic                     ready_o,      // no beat of an instruction is still to come: the next one's may
  output logic                     busy_o,       // beats are still to come, or on their way into the rings

  // from the ports
  input  logic [Ports-1:0]         valid_i,
  output logic                     pop_o,
  input  logic [Ports*HbmBits-1:0] data_i,    // one cycle after pop_o

  // reader: positions run on over the rings, with a bit more than a lap, so that full is not empty.
  output logic [Dw:0]              data_end_o,   // first position not yet written
  input  logic [Dw:0]              data_free_i,  // first position still needed
  input  logic [Sw:0]              scale_free_i,
  input  logic                     data_read_i,
  input  logic [Dw-1:0]            data_addr_i,
  output logic [Ports*HbmBits-1:0] data_o,       // one cycle later
  input  logic                     scale_read_i,
  input  logic [Sw-1:0]            scale_addr_i,
  output logic [Ports*HbmBits-1:0] scale_o,
  input  logic [Pw:0]              place_free_i,
  input  logic                     place_read_i,
  input  logic [Pw-1:0]            place_addr_i,
  output logic [Ports*HbmBits-1:0] place_o
);
  logic [Ports*HbmBits-1:0] data_mem  [DataDepth];
  logic [Ports*HbmBits-1:0] scale_mem [ScaleDepth];

  // Where the stream stands: beat of the current kind, weight group, block. The plan is kept: the instruction that is checked
  // next has another one.
  mvm_plan_t   plan_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) plan_q <= '0;
    else if (start_i) plan_q <= plan_i;
  end
  logic        active_q, data_phase_q;
  logic [7:0]  beat_q;
  logic [15:0] tgroup_q;
  logic [19:0] block_q;
  logic        last_tgroup, last_beat;
  logic [7:0]  kind_beats;
  logic        is_place, place_room;   // the next beat of the data phase is one of places

  // Positions asked for (at the pop) and written (a cycle later).
  logic [Dw:0] data_pop_q, data_wr_q;
  logic [Sw:0] scale_pop_q, scale_wr_q;
  logic        data_room, scale_room;
  logic        data_we_q, scale_we_q;

  assign data_room  = (data_pop_q - data_free_i) != (Dw + 1)'(DataDepth);
  assign scale_room = (scale_pop_q - scale_free_i) != (Sw + 1)'(ScaleDepth);
  assign pop_o      = active_q && (&valid_i) && (data_phase_q ? (is_place ? place_room : data_room) : scale_room);

  assign last_tgroup = tgroup_q == plan_q.tgroups - 16'd1;
  always_comb begin
    if (data_phase_q) kind_beats = last_tgroup ? plan_q.data_last : plan_q.data_full;
    else              kind_beats = last_tgroup ? plan_q.scale_last : plan_q.scale_full;
  end
  assign last_beat = beat_q == kind_beats - 8'd1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      active_q     <= 1'b0;
      data_phase_q <= 1'b0;
      beat_q       <= '0;
      tgroup_q     <= '0;
      block_q      <= '0;
      data_pop_q   <= '0;
      data_wr_q    <= '0;
      scale_pop_q  <= '0;
      scale_wr_q   <= '0;
      data_we_q    <= 1'b0;
      scale_we_q   <= 1'b0;
    end else begin
      if (start_i) begin
        active_q     <= 1'b1;
        data_phase_q <= 1'b0;
        beat_q       <= '0;
        tgroup_q     <= '0;
        block_q      <= '0;
      end else if (pop_o) begin
        beat_q <= last_beat ? 8'd0 : beat_q + 8'd1;
        if (last_beat) begin
          data_phase_q <= !data_phase_q;
          if (data_phase_q) begin
            tgroup_q <= last_tgroup ? 16'd0 : tgroup_q + 16'd1;
            if (last_tgroup) begin
              block_q <= block_q + 20'd1;
              if (block_q == plan_q.blocks - 20'd1) active_q <= 1'b0;
            end
          end
        end
      end
      if (pop_o && data_phase_q && !is_place) data_pop_q <= data_pop_q + (Dw + 1)'(1'b1);
      if (pop_o && !data_phase_q) scale_pop_q <= scale_pop_q + (Sw + 1)'(1'b1);
      data_we_q  <= pop_o && data_phase_q && !is_place;
      scale_we_q <= pop_o && !data_phase_q;
      if (data_we_q) data_wr_q <= data_wr_q + (Dw + 1)'(1'b1);
      if (scale_we_q) scale_wr_q <= scale_wr_q + (Sw + 1)'(1'b1);
    end
  end

  always_ff @(posedge clk_i) begin
    if (data_we_q) data_mem[data_wr_q[Dw-1:0]] <= data_i;
    if (scale_we_q) scale_mem[scale_wr_q[Sw-1:0]] <= data_i;
    if (data_read_i) data_o <= data_mem[data_addr_i];
    if (scale_read_i) scale_o <= scale_mem[scale_addr_i];
  end

  // ---- places
  logic place_we_q;
  if (Sparse) begin : gen_places
    logic [Ports*HbmBits-1:0] place_mem [PlaceDepth];
    logic [Pw:0] place_pop_q, place_wr_q;
    logic [2:0]  turn_q, last_turn;   // beat of the pattern: P C C for half of the weights, P C P C P C C for fewer

    assign last_turn  = plan_q.kept == KeptHalf ? 3'd2 : 3'd6;
    assign is_place   = plan_q.kept != Dense && (plan_q.kept == KeptHalf ? turn_q == 3'd0 : !turn_q[0] && turn_q != 3'd6);
    assign place_room = (place_pop_q - place_free_i) != (Pw + 1)'(PlaceDepth);
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        turn_q      <= '0;
        place_pop_q <= '0;
        place_wr_q  <= '0;
        place_we_q  <= 1'b0;
      end else begin
        if (start_i) turn_q <= '0;
        else if (pop_o && data_phase_q) turn_q <= (last_beat || turn_q == last_turn) ? 3'd0 : turn_q + 3'd1;
        place_we_q <= pop_o && data_phase_q && is_place;
        if (pop_o && data_phase_q && is_place) place_pop_q <= place_pop_q + (Pw + 1)'(1'b1);
        if (place_we_q) place_wr_q <= place_wr_q + (Pw + 1)'(1'b1);
      end
    end
    always_ff @(posedge clk_i) begin
      if (place_we_q) place_mem[place_wr_q[Pw-1:0]] <= data_i;
      if (place_read_i) place_o <= place_mem[place_addr_i];
    end
    if (2 ** Pw != PlaceDepth) begin : gen_check
      $error("a quarter of WtDepth * Tin / 64 must be a power of two");
    end
`ifndef SYNTHESIS
    logic checks_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) checks_q <= 1'b0;
      else checks_q <= 1'b1;
    end
    always_ff @(posedge clk_i) if (checks_q) assert ((place_wr_q - place_free_i) <= (Pw + 1)'(PlaceDepth));
`endif
  end else begin : gen_dense
    assign is_place   = 1'b0;
    assign place_room = 1'b0;
    assign place_we_q = 1'b0;
    assign place_o    = '0;
    logic unused_places;
    assign unused_places = ^{place_free_i, place_read_i, place_addr_i};
  end

  assign data_end_o = data_wr_q;
  assign ready_o    = !active_q;
  assign busy_o     = active_q || data_we_q || scale_we_q || place_we_q;

  if (2 ** Dw != DataDepth || 2 ** Sw != ScaleDepth) begin : gen_check
    $error("WtDepth * Tin / 64 must be a power of two");
  end

`ifndef SYNTHESIS
  // Assertions hold from the first cycle out of reset; a flop, so that the reset stays purely asynchronous.
  logic out_of_reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_of_reset_q <= 1'b0;
    else out_of_reset_q <= 1'b1;
  end
  always_ff @(posedge clk_i) if (out_of_reset_q) begin
    if (start_i) assert (!active_q);
    assert ((data_wr_q - data_free_i) <= (Dw + 1)'(DataDepth));
    assert ((scale_wr_q - scale_free_i) <= (Sw + 1)'(ScaleDepth));
  end
`endif
  // Fields of the plan that other modules use.
  logic unused_plan;
  assign unused_plan = ^plan_q;
endmodule
