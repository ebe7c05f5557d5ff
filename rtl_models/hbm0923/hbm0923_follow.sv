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
  bound_t [Slots-1:0][1:0] bounds_q, bounds_d;
  hulls_t                  older, younger;
  bound_t                  settled;

  always_comb begin
    bounds_d = '0;
    older    = '0;
    younger  = '0;
    settled  = '0;
    // Evaluated only while something waits for it.
    for (int unsigned i = 1; i < InFlight; i++) begin
      if (waits_i[i]) begin
        younger              = hulls_i[order_i[i]];
        bounds_d[order_i[i]] = '1;
        for (int unsigned j = 0; j < i; j++) begin
          older   = hulls_i[order_i[j]];
          settled = settled_i[order_i[j]];
          for (int unsigned r = 0; r < 2; r++) begin
            if (meets(younger.data[r], older.wr[0]) && settled < bounds_d[order_i[i]][r]) bounds_d[order_i[i]][r] = settled;
            if (meets(younger.data[r], older.wr[1])) bounds_d[order_i[i]][r] = '0;
          end
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
