// How far a younger instruction may read of what an older one still writes.
//
// A writer says up to which beat its output is settled (written, answered, and never written again). Of two that meet, the
// younger may read what lies below it; of several writers the least counts. Bounds are judged where hulls are: once
// an instruction and all older ones were found legal.
module hbm0923_follow
  import hbm0923_unit_pkg::*;
  import hbm0923_fabric_pkg::*;
#(
  parameter int unsigned InFlight = 4
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,

  input  logic [InFlight-1:0][2:0]    order_i,    // slots, the oldest first
  input  logic [InFlight-1:0]         waits_i,    // this one may not read all it wants
  input  hulls_t [Slots-1:0]          hulls_i,
  input  bound_t [Slots-1:0]          settled_i,  // of the first output; 0: nothing
  output bound_t [Slots-1:0][1:0]     bounds_o    // of each slot's activations; all ones: no older one writes any
);
  bound_t [Slots-1:0][1:0]           bounds_q, bounds_d;
  bound_t [InFlight-1:0]             settled;  // by age
  logic [InFlight-1:0][InFlight-1:0] at_most;  // of the one what is settled, of the other
  logic [InFlight-1:0]               counts;
  hulls_t                            older, younger;
  logic                              least, blocked;
  bound_t                            bound;

  // Any two are compared beside the hulls, and the least is picked: one comparison behind the other would be the slowest stage.
  always_comb begin
    bounds_d = '0;
    settled  = '0;
    at_most  = '0;
    counts   = '0;
    older    = '0;
    younger  = '0;
    least    = 1'b0;
    blocked  = 1'b0;
    bound    = '0;
    // Evaluated only while something waits for it.
    if (waits_i != '0) begin
      for (int unsigned j = 0; j < InFlight; j++) settled[j] = settled_i[order_i[j]];
      for (int unsigned j = 0; j < InFlight; j++) begin
        for (int unsigned k = 0; k < j; k++) begin
          at_most[k][j] = settled[k] <= settled[j];
          at_most[j][k] = !at_most[k][j];
        end
      end
    end
    for (int unsigned i = 1; i < InFlight; i++) begin
      if (waits_i[i]) begin
        younger = hulls_i[order_i[i]];
        for (int unsigned r = 0; r < 2; r++) begin
          counts  = '0;
          blocked = 1'b0;
          for (int unsigned j = 0; j < i; j++) begin
            older     = hulls_i[order_i[j]];
            counts[j] = meets(younger.data[r], older.wr[0]);
            blocked   = blocked || meets(younger.data[r], older.wr[1]);
          end
          bound = (counts == '0) ? '1 : '0;
          for (int unsigned j = 0; j < i; j++) begin
            least = counts[j];
            for (int unsigned k = 0; k < i; k++) if (k != j && counts[k] && !at_most[j][k]) least = 1'b0;
            if (least) bound |= settled[j];
          end
          bounds_d[order_i[i]][r] = blocked ? '0 : bound;
        end
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) bounds_q <= '0;
    else bounds_q <= bounds_d;
  end
  assign bounds_o = bounds_q;

  // What the one reads and the other writes is all that counts.
  logic unused_hulls;
  assign unused_hulls = ^{older, younger};
endmodule
