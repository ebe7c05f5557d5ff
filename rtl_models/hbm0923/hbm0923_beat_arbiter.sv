// Shares a unit's read address channel between two streams, in turns; the ID tells whose the response is.
module hbm0923_beat_arbiter
  import hbm0923_feature_pkg::*;
#(
  parameter logic [3:0] Id = 4'd0  // of stream 0; stream 1 has the next
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic  [1:0] valid_i,
  input  read_t       read0_i,
  input  read_t       read1_i,
  output logic  [1:0] ready_o,

  output logic        arvalid_o,
  input  logic        arready_i,
  output logic [3:0]  arid_o,
  output logic [32:0] araddr_o,
  output logic [7:0]  arlen_o
);
  logic  valid_q, which_q, open, chosen;
  read_t read_q;

  assign open    = !valid_q || arready_i;
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

  assign arvalid_o = valid_q;
  assign arid_o    = Id + 4'(which_q);
  assign araddr_o  = read_q.addr;
  assign arlen_o   = read_q.len;

`ifndef SYNTHESIS
  // Assertions hold from the first cycle out of reset; a flop, so that the reset stays purely asynchronous.
  logic out_of_reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_of_reset_q <= 1'b0;
    else out_of_reset_q <= 1'b1;
  end
  // What was offered and not taken must stand; kept only then, so that checking costs nothing while all is quiet.
  logic        ar_waits_q;
  logic [44:0] ar_was_q;
  always_ff @(posedge clk_i) begin
    if (out_of_reset_q) begin
      if (ar_waits_q) assert (arvalid_o && ar_was_q == {araddr_o, arlen_o, arid_o});
      if (arvalid_o) assert (33'(araddr_o[11:6]) + 33'(arlen_o) < 33'd64);
    end
    ar_waits_q <= out_of_reset_q && arvalid_o && !arready_i;
    if (arvalid_o && !arready_i) ar_was_q <= {araddr_o, arlen_o, arid_o};
  end
`endif
endmodule
