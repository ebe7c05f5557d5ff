// Decides when the array takes a step in trp_mvm and f2w_mvm: a beat of every port, the half pixels of the inputs that
// belong to it, and room for the pixels that it completes.
//
// Rows of the output are rounded and leave one pair a cycle, so a step that completes those of a group waits until the last
// one's have left.
module hbm0923_att_issue
  import hbm0923_att_pkg::*;
#(
  parameter int unsigned Ports    = 32,
  parameter int unsigned Queries  = 1,   // pairs of query head and token at once
  parameter int unsigned Interval = 1,  // cycles a step
  parameter int unsigned Credits  = 16  // pixels that the writer takes
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,
  input  logic                     enable_i,

  input  logic                     start_i,
  input  att_plan_t                plan_i,

  input  logic [Queries-1:0][15:0] have_i,         // pixels in the ring of each pair
  input  logic                     weights_i,      // every port has a beat
  input  logic                     written_i,      // a pixel has left the writer

  output logic                     step_o,
  output logic [15:0]              index_o,        // the pixel of each pair, counted from the oldest
  output att_beat_t                beat_o,
  output logic                     free_o,         // the rows are not needed any more
  output logic [15:0]              free_count_o,   // pixels of a row

  output logic                     left_o,         // there is more to do
  output logic                     no_pixel_o,     // what is missing
  output logic                     no_weight_o,
  output logic                     no_room_o
);
  localparam int unsigned Sub = PixelLanes / Ports;
  localparam int unsigned Iw = (Interval > 1) ? $clog2(Interval) : 1;
  localparam int unsigned Cw = $clog2(Credits) + 1;

  logic [7:0]    heads_q;    // K/V heads left
  logic [19:0]   groups_q;   // of this head
  logic [8:0]    row_q;      // rows left, this one included
  logic [2:0]    sub_q;      // rows of this pixel so far
  logic [7:0]    beat_q;
  logic [Iw-1:0] wait_q;
  logic [Cw-1:0] credit_q;
  logic [2:0]    leaving_q;  // rows that may still be leaving, but one

  logic       last, row_last, pixel_end, pixel_missing, full, due;
  logic [3:0] pairs;
  assign pairs         = (groups_q == 20'd1) ? plan_i.tail : 4'(Queries);
  assign last          = beat_q + 8'd1 == plan_i.beats;
  assign row_last      = row_q == 9'd1;
  assign pixel_end     = last && (row_last || 32'(sub_q) == Sub - 1);
  assign full          = (last && leaving_q != '0) || (pixel_end && credit_q < Cw'(pairs));
  assign due           = heads_q != 8'd0 && wait_q == '0;
  assign step_o        = due && !pixel_missing && weights_i && !full;
  assign index_o       = 16'(beat_q >> 1);
  assign free_o        = step_o && last && row_last;
  assign free_count_o  = plan_i.inner;

  always_comb begin
    pixel_missing = 1'b0;
    for (int unsigned q = 0; q < Queries; q++) begin
      if (q < 32'(pairs) && have_i[q] <= 16'(beat_q >> 1)) pixel_missing = 1'b1;
    end
  end

  always_comb begin
    beat_o.high     = beat_q[0];
    beat_o.pairs    = pairs;
    beat_o.first    = beat_q == 8'd0;
    beat_o.last     = last;
    beat_o.mask     = last && plan_i.mask != '1;
    beat_o.pair_end = row_last;
    beat_o.keep     = row_last ? plan_i.keep : 6'(Ports);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      heads_q   <= '0;
      groups_q  <= '0;
      row_q     <= '0;
      sub_q     <= '0;
      beat_q    <= '0;
      wait_q    <= '0;
      leaving_q <= '0;
      credit_q  <= Cw'(Credits);
    end else if (enable_i) begin
      if (start_i) begin
        heads_q  <= plan_i.store ? 8'd0 : plan_i.kv_heads;
        groups_q <= plan_i.groups;
        row_q    <= plan_i.rows;
        sub_q    <= '0;
        beat_q   <= '0;
        wait_q   <= '0;
      end else begin
        if (step_o) begin
          wait_q <= Iw'(Interval - 1);
          beat_q <= beat_q + 8'd1;
          if (last) begin
            beat_q <= '0;
            row_q  <= row_q - 9'd1;
            sub_q  <= (32'(sub_q) == Sub - 1) ? '0 : sub_q + 3'd1;
            if (row_last) begin
              row_q    <= plan_i.rows;
              sub_q    <= '0;
              groups_q <= groups_q - 20'd1;
              if (groups_q == 20'd1) begin
                groups_q <= plan_i.groups;
                heads_q  <= heads_q - 8'd1;
              end
            end
          end
        end else if (wait_q != '0) begin
          wait_q <= wait_q - Iw'(1'b1);
        end
      end
      if (step_o && last) leaving_q <= 3'(Queries - 1);
      else if (leaving_q != '0) leaving_q <= leaving_q - 3'd1;
      credit_q <= credit_q - ((step_o && pixel_end) ? Cw'(pairs) : '0) + Cw'(written_i);
    end
  end

  assign left_o      = heads_q != 8'd0;
  assign no_pixel_o  = due && pixel_missing;
  assign no_weight_o = due && !weights_i;
  assign no_room_o   = due && full;

  if (Sub * Ports != PixelLanes || Sub > 8) begin : gen_check
    $error("HbmPorts must be 4, 8, 16 or 32");
  end
  if (Credits < Queries) begin : gen_credits
    $error("the writer must hold a pixel of every pair");
  end
  logic unused_plan;
  assign unused_plan = ^plan_i;
`ifndef SYNTHESIS
  // Assertions hold from the first cycle out of reset; a flop, so that the reset stays purely asynchronous.
  logic out_of_reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_of_reset_q <= 1'b0;
    else out_of_reset_q <= 1'b1;
  end
  always_ff @(posedge clk_i) if (out_of_reset_q) begin
    assert (credit_q <= Cw'(Credits));
    if (step_o && pixel_end) assert (credit_q >= Cw'(pairs));
  end
`endif
endmodule
