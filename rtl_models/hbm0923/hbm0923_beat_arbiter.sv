// Shares a unit's read address channel between two streams, in turns; the ID tells whose the response is.
module hbm0923_beat_arbiter
  import hbm0923_feature_pkg::*;
  import fleet_axi_pkg::*;
#(
  parameter logic [3:0] Id = 4'd0  // of stream 0; stream 1 has the next
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic  [1:0] valid_i,
  input  read_t       read0_i,
  input  read_t       read1_i,
  output logic  [1:0] ready_o,

  output logic        ar_valid_o,
  input  logic        ar_ready_i,
  output ddr_ax_t     ar_o
);
  logic  valid_q, which_q, open, chosen;
  read_t read_q;

  assign open    = !valid_q || ar_ready_i;
  assign chosen  = (valid_i == 2'b11) ? !which_q : valid_i[1];
  assign ready_o = {open && chosen, open && !chosen};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
      which_q <= 1'b0;
      read_q  <= '0;
    end else if (open) begin
      valid_q <= |valid_i;
      if (|valid_i) begin
        which_q <= chosen;
        read_q  <= chosen ? read1_i : read0_i;
      end
    end
  end

  assign ar_valid_o = valid_q;
  assign ar_o       = '{id: Id + 4'(which_q), addr: read_q.addr, len: read_q.len};

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
      if (ar_valid_o) assert (33'(read_q.addr[11:6]) + 33'(read_q.len) < 33'd64);
    end
    ar_waits_q <= out_of_reset_q && ar_valid_o && !ar_ready_i;
    if (ar_valid_o && !ar_ready_i) ar_was_q <= ar_o;
  end
`endif
endmodule
