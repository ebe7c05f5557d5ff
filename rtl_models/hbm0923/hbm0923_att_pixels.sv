// Reads input pixels from DDR or on chip, in the order of three nested loops, into rings ahead of their use.
//
// A ring holds two rows of MaxToken weights, or many queries: the next row arrives while one is computed. The rows of a
// group lie in rings of their own, one for each of its pairs of query head and token; what dat2hbm stores lies in the
// first. A pixel is read as often as wanted, by its distance from the oldest, until it is freed.
module hbm0923_att_pixels
  import hbm0923_att_pkg::*;
  import hbm0923_unit_pkg::*;
  import fleet_axi_pkg::*;
#(
  parameter int unsigned Depth   = 128,     // pixels of a ring, a power of two, at least 16
  parameter int unsigned Queries = 1,       // rings
  parameter logic [3:0]  Id      = 4'd0
) (
  input  logic                            clk_i,
  input  logic                            rst_ni,
  input  logic                            enable_i,

  input  logic                            start_i,
  input  att_plan_t                       plan_i,
  input  logic                            go_i,
  input  bound_t                          bound_i,       // without go_i: what lies below may be read

  output ddr_rd_req_t                     ddr_req_o,
  input  ddr_rd_rsp_t                     ddr_rsp_i,

  output logic [Queries-1:0][15:0]        have_o,        // pixels in each ring
  input  logic                            read_i,        // the pixels `index_i` after the oldest
  input  logic [15:0]                     index_i,
  output logic [Queries-1:0][DdrBits-1:0] pixel_o,       // one cycle later
  input  logic                            free_i,        // in the first `free_rings_i` rings
  input  logic [3:0]                      free_rings_i,
  input  logic [15:0]                     free_count_i
);
  localparam int unsigned Aw = $clog2(Depth);
  localparam int unsigned Rw = (Queries > 1) ? $clog2(Queries) : 1;

  // The rings take rows in turn, from the first on in every group.
  typedef struct packed {
    logic [2:0]  ring;
    logic [19:0] groups;  // left in the K/V head
    logic        stay;    // all in the first
  } turn_t;

  function automatic turn_t next_turn(input turn_t turn, input logic [19:0] groups, input logic [3:0] tail);
    turn_t next;
    next = turn;
    if (turn.stay) return next;
    next.ring = turn.ring + 3'd1;
    if (32'(turn.ring) == Queries - 1 || (turn.groups == 20'd1 && 4'(turn.ring) + 4'd1 == tail)) begin
      next.ring   = '0;
      next.groups = (turn.groups == 20'd1) ? groups : turn.groups - 20'd1;
    end
    return next;
  endfunction

  turn_t                    asked_q, comes_q;  // whose row is asked for, and whose comes in
  logic [15:0]              row_left_q;        // pixels of the row that comes in
  logic [Queries-1:0][Aw:0] room;              // of each ring: pixels neither held nor asked for
  logic [32:0]        outer_addr_q, middle_addr_q, addr_q;
  logic [15:0]        outer_q, middle_q, left_q;
  logic               arvalid_q;
  logic [32:0]        araddr_q;
  logic [4:0]         arbeats_q;

  logic               ar_ready, r_valid;
  logic [DdrBits-1:0] r_data;
  assign ar_ready = ddr_rsp_i.ar_ready;
  assign r_valid  = ddr_rsp_i.r_valid && ddr_rsp_i.r.id == Id;
  assign r_data   = ddr_rsp_i.r.data;

  // Pixels side by side are read in bursts.
  logic [4:0]         burst;
  logic [7:0]         may;
  logic               launch, middle_end, outer_end;
  assign may = readable(go_i, bound_i, {1'b0, addr_q[32:6]});
  always_comb begin
    burst = 5'd1;
    if (plan_i.inner_stride == 32'd64) begin
      burst = 5'd16 - {1'b0, addr_q[9:6]};
      if (left_q < 16'(burst)) burst = left_q[4:0];
      if (may != '0 && may < 8'(burst)) burst = may[4:0];
    end
  end
  assign launch     = outer_q != 16'd0 && may != '0 && room[Rw'(asked_q.ring)] >= (Aw + 1)'(burst) && (!arvalid_q || ar_ready);
  assign middle_end = left_q == 16'(burst);
  assign outer_end  = middle_end && middle_q == 16'd1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      asked_q       <= '0;
      comes_q       <= '0;
      row_left_q    <= '0;
      outer_addr_q  <= '0;
      middle_addr_q <= '0;
      addr_q        <= '0;
      outer_q       <= '0;
      middle_q      <= '0;
      left_q        <= '0;
      arvalid_q     <= 1'b0;
      araddr_q      <= '0;
      arbeats_q     <= '0;
    end else if (enable_i) begin
      if (start_i) begin
        outer_addr_q  <= plan_i.in_addr;
        middle_addr_q <= plan_i.in_addr;
        addr_q        <= plan_i.in_addr;
        outer_q       <= plan_i.outer;
        middle_q      <= plan_i.middle;
        left_q        <= plan_i.inner;
        asked_q       <= '{ring: '0, groups: plan_i.groups, stay: plan_i.store};
        comes_q       <= '{ring: '0, groups: plan_i.groups, stay: plan_i.store};
        row_left_q    <= plan_i.inner;
      end else if (launch) begin
        addr_q <= addr_q + ((burst == 5'd1) ? 33'(plan_i.inner_stride) : {22'd0, burst, 6'd0});
        left_q <= left_q - 16'(burst);
        if (middle_end) begin
          asked_q       <= next_turn(asked_q, plan_i.groups, plan_i.tail);
          left_q        <= plan_i.inner;
          middle_q      <= middle_q - 16'd1;
          addr_q        <= middle_addr_q + 33'(plan_i.middle_stride);
          middle_addr_q <= middle_addr_q + 33'(plan_i.middle_stride);
        end
        if (outer_end) begin
          middle_q      <= plan_i.middle;
          outer_q       <= outer_q - 16'd1;
          addr_q        <= outer_addr_q + 33'(plan_i.outer_stride);
          middle_addr_q <= outer_addr_q + 33'(plan_i.outer_stride);
          outer_addr_q  <= outer_addr_q + 33'(plan_i.outer_stride);
        end
      end
      if (launch) begin
        arvalid_q <= 1'b1;
        araddr_q  <= addr_q;
        arbeats_q <= burst;
      end else if (ar_ready) begin
        arvalid_q <= 1'b0;
      end
      if (r_valid && !start_i) begin
        row_left_q <= row_left_q - 16'd1;
        if (row_left_q == 16'd1) begin
          row_left_q <= plan_i.inner;
          comes_q    <= next_turn(comes_q, plan_i.groups, plan_i.tail);
        end
      end
    end
  end

`ifndef SYNTHESIS
  // Assertions hold from the first cycle out of reset; a flop, so that the reset stays purely asynchronous.
  logic out_of_reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_of_reset_q <= 1'b0;
    else out_of_reset_q <= 1'b1;
  end
`endif

  for (genvar q = 0; q < Queries; q++) begin : gen_ring
    logic [DdrBits-1:0] mem [Depth];
    logic [Aw-1:0]      wr_q, base_q;
    logic [Aw:0]        have_q, room_q;
    logic               asks, comes, frees;
    assign asks  = launch && 32'(asked_q.ring) == q;
    assign comes = r_valid && 32'(comes_q.ring) == q;
    assign frees = free_i && q < 32'(free_rings_i);

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        wr_q   <= '0;
        base_q <= '0;
        have_q <= '0;
        room_q <= (Aw + 1)'(Depth);
      end else if (enable_i) begin
        room_q <= room_q - (asks ? (Aw + 1)'(burst) : '0) + (frees ? (Aw + 1)'(free_count_i) : '0);
        have_q <= have_q + (Aw + 1)'(comes) - (frees ? (Aw + 1)'(free_count_i) : '0);
        if (comes) wr_q <= wr_q + Aw'(1'b1);
        if (frees) base_q <= base_q + Aw'(free_count_i);
      end
    end

    always_ff @(posedge clk_i) begin
      if (comes) mem[wr_q] <= r_data;
      if (read_i) pixel_o[q] <= mem[base_q + Aw'(index_i)];
    end

    assign room[q]   = room_q;
    assign have_o[q] = 16'(have_q);

`ifndef SYNTHESIS
    always_ff @(posedge clk_i) if (out_of_reset_q && enable_i) begin
      if (comes) assert (have_q != (Aw + 1)'(Depth));
      if (frees) assert (16'(have_q) >= free_count_i);
      if (asks) assert (room_q >= (Aw + 1)'(burst));
      assert (room_q <= (Aw + 1)'(Depth) - have_q);
    end
`endif
  end

  assign ddr_req_o.ar_valid = arvalid_q;
  assign ddr_req_o.ar       = '{id: Id, addr: araddr_q, len: {3'd0, arbeats_q - 5'd1}};
  assign ddr_req_o.r_ready  = 1'b1;

  if (Depth < Burst || 2 ** Aw != Depth) begin : gen_check
    $error("a ring must be a power of two of at least 16 pixels");
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (out_of_reset_q) begin
    if (r_valid) assert (enable_i);
    if (read_i) assert (have_o[0] > index_i);
  end
`endif
  // Fields that the unit looks at.
  logic unused_fields;
  assign unused_fields = ^{plan_i, ddr_rsp_i.r.resp, ddr_rsp_i.r.last};
endmodule
