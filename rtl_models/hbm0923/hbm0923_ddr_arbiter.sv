// Shares the DDR read address channel: an urgent requester first, else the lowest. The ID tells whose the response is.
module hbm0923_ddr_arbiter
  import hbm0923_mvm_pkg::*;
  import fleet_axi_pkg::*;
#(
  parameter int unsigned Requesters = 3
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,

  input  logic    [Requesters-1:0] valid_i,
  input  logic    [Requesters-1:0] urgent_i,
  input  ddr_ar_t [Requesters-1:0] ar_i,
  output logic    [Requesters-1:0] ready_o,

  output logic                     ar_valid_o,
  input  logic                     ar_ready_i,
  output ddr_ax_t                  ar_o
);
  logic       valid_q;
  ddr_ar_t    ar_q;
  logic [3:0] id_q;
  logic       open;

  assign open = !valid_q || ar_ready_i;

  ddr_ar_t    chosen;
  logic [3:0] chosen_id;
  logic [Requesters-1:0] asking;
  always_comb begin
    asking    = ((valid_i & urgent_i) != '0) ? valid_i & urgent_i : valid_i;
    ready_o   = '0;
    chosen    = ar_i[0];
    chosen_id = 4'd0;
    for (int unsigned i = Requesters; i > 0; i--) begin
      if (asking[i-1]) begin
        chosen       = ar_i[i-1];
        chosen_id    = 4'(i - 1);
        ready_o      = '0;
        ready_o[i-1] = open;
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
      ar_q    <= '0;
      id_q    <= '0;
    end else if (open) begin
      valid_q <= |valid_i;
      if (|valid_i) begin
        ar_q <= chosen;
        id_q <= chosen_id;
      end
    end
  end

  assign ar_valid_o = valid_q;
  assign ar_o       = '{id: id_q, addr: {1'b0, ar_q.addr}, len: ar_q.len};

`ifndef SYNTHESIS
  // Assertions hold from the first cycle out of reset; a flop, so that the reset stays purely asynchronous.
  logic out_of_reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_of_reset_q <= 1'b0;
    else out_of_reset_q <= 1'b1;
  end
  // What was offered and not taken must stand; kept only then, so that checking costs nothing while all is quiet.
  logic    ar_waits_q;
  ddr_ax_t ar_was_q;
  always_ff @(posedge clk_i) begin
    if (out_of_reset_q) begin
      if (ar_waits_q) assert (ar_valid_o && ar_was_q == ar_o);
      if (ar_valid_o) assert (33'(ar_q.addr[11:6]) + 33'(ar_q.len) < 33'd64);
    end
    ar_waits_q <= out_of_reset_q && ar_valid_o && !ar_ready_i;
    if (ar_valid_o && !ar_ready_i) ar_was_q <= ar_o;
  end
`endif
endmodule
