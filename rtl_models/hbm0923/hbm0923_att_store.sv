// dat2hbm: takes pixels from the ring in the order head, group of 32 channels, token, and hands them to the HBM ports.
//
// A pixel waits while a port that it needs still writes. After a bus error pixels are taken and forgotten.
module hbm0923_att_store
  import hbm0923_att_pkg::*;
#(
  parameter int unsigned Ports = 32
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             enable_i,

  input  logic             start_i,
  input  att_plan_t        plan_i,
  input  logic             oldest_i,
  input  logic             suppress_i,

  input  logic [15:0]      have_i,
  output logic             take_o,     // read and free the oldest pixel; it is there with valid_o
  input  logic [Ports-1:0] busy_i,

  output logic             valid_o,
  output att_store_t       store_o,

  output logic             left_o,
  output logic             no_pixel_o,
  output logic             no_room_o
);
  localparam int unsigned Log2Ports = $clog2(Ports);

  logic [15:0] head_q, group_q, token_q;   // left, this one included
  logic [27:0] head_addr_q, group_addr_q;  // first token's
  logic [15:0] position_q;
  logic [27:0] offset_q;                   // this token's row (K) or beat (V) from the first one's
  logic        valid_q;
  att_store_t  store_q;

  logic        group_end, head_end, row_end, room;
  logic [4:0]  port;
  assign port      = 5'(32'(position_q) & (Ports - 1));
  assign group_end = token_q == 16'd1;
  assign head_end  = group_end && group_q == 16'd1;
  assign row_end   = plan_i.keys ? 32'(port) == Ports - 1 : position_q[3:0] == 4'd15;

  // The pixel taken in the last cycle is just going to its ports.
  always_comb begin
    room = 1'b0;
    if (left_o) begin
      if (plan_i.keys) room = !busy_i[port[Log2Ports-1:0]] && !(valid_q && store_q.port == port);
      else             room = busy_i == '0 && !(valid_q && store_q.flush);
    end
  end
  assign take_o = left_o && oldest_i && have_i != '0 && room;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      head_q       <= '0;
      group_q      <= '0;
      token_q      <= '0;
      head_addr_q  <= '0;
      group_addr_q <= '0;
      position_q   <= '0;
      offset_q     <= '0;
      valid_q      <= 1'b0;
      store_q      <= '0;
    end else if (enable_i) begin
      valid_q <= take_o && !suppress_i;
      if (start_i) begin
        head_q       <= plan_i.store ? plan_i.outer : '0;
        group_q      <= plan_i.middle;
        token_q      <= plan_i.inner;
        head_addr_q  <= plan_i.wt_addr + plan_i.first;
        group_addr_q <= plan_i.wt_addr + plan_i.first;
        position_q   <= plan_i.last;
        offset_q     <= '0;
      end else if (take_o) begin
        store_q <= '{keys: plan_i.keys, flush: row_end || group_end, port: port, slot: position_q[3:0],
                     addr: group_addr_q + offset_q};
        token_q    <= token_q - 16'd1;
        position_q <= position_q + 16'd1;
        if (row_end) offset_q <= offset_q + (plan_i.keys ? plan_i.wt_line : 28'd32);
        if (group_end) begin
          token_q      <= plan_i.inner;
          position_q   <= plan_i.last;
          offset_q     <= '0;
          group_q      <= group_q - 16'd1;
          group_addr_q <= group_addr_q + (plan_i.keys ? 28'd64 : plan_i.wt_line << (5 - Log2Ports));
        end
        if (head_end) begin
          group_q      <= plan_i.middle;
          head_q       <= head_q - 16'd1;
          head_addr_q  <= head_addr_q + plan_i.wt_head;
          group_addr_q <= head_addr_q + plan_i.wt_head;
        end
      end
    end
  end

  assign left_o     = head_q != '0;
  assign valid_o    = valid_q;
  assign store_o    = store_q;
  assign no_pixel_o = left_o && have_i == '0;
  assign no_room_o  = left_o && !room;

`ifndef SYNTHESIS
  // Assertions hold from the first cycle out of reset; a flop, so that the reset stays purely asynchronous.
  logic out_of_reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_of_reset_q <= 1'b0;
    else out_of_reset_q <= 1'b1;
  end
  always_ff @(posedge clk_i) if (out_of_reset_q) begin
    if (valid_q) assert (store_q.keys ? !busy_i[store_q.port[Log2Ports-1:0]] : busy_i == '0);
  end
`endif
  logic unused_plan;
  assign unused_plan = ^plan_i;
endmodule
