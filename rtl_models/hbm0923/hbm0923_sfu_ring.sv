// Beats as they come from memory, read by three passes one after the other; what the last of them leaves is free.
module hbm0923_sfu_ring #(
  parameter int unsigned Depth = 1024  // a power of two
) (
  input  logic         clk_i,
  input  logic         rst_ni,

  input  logic         start_i,   // empty, all passes at the same beat
  input  logic         valid_i,
  input  logic [511:0] data_i,

  output logic [2:0]   ready_o,   // of each pass: a beat is there
  input  logic [2:0]   take_i,
  output logic [511:0] data_a_o,  // the cycle after
  output logic [511:0] data_b_o,
  output logic [511:0] data_c_o
);
  localparam int unsigned Aw = $clog2(Depth);

  logic [511:0]     mem [Depth];
  logic [Aw:0]      wr_q;
  logic [2:0][Aw:0] rd_q;
  logic [511:0]     a_q, b_q, c_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wr_q <= '0;
      rd_q <= '0;
    end else if (start_i) begin
      wr_q <= '0;
      rd_q <= '0;
    end else begin
      if (valid_i) wr_q <= wr_q + (Aw + 1)'(1'b1);
      for (int unsigned i = 0; i < 3; i++) if (take_i[i]) rd_q[i] <= rd_q[i] + (Aw + 1)'(1'b1);
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_i) mem[wr_q[Aw-1:0]] <= data_i;
    if (take_i[0]) a_q <= mem[rd_q[0][Aw-1:0]];
    if (take_i[1]) b_q <= mem[rd_q[1][Aw-1:0]];
    if (take_i[2]) c_q <= mem[rd_q[2][Aw-1:0]];
  end

  for (genvar i = 0; i < 3; i++) begin : gen_ready
    assign ready_o[i] = rd_q[i] != wr_q;
  end
  assign data_a_o = a_q;
  assign data_b_o = b_q;
  assign data_c_o = c_q;

  if (2 ** Aw != Depth) begin : gen_check
    $error("Depth must be a power of two");
  end
`ifndef SYNTHESIS
  // Assertions hold from the first cycle out of reset; a flop, so that the reset stays purely asynchronous.
  logic out_of_reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_of_reset_q <= 1'b0;
    else out_of_reset_q <= 1'b1;
  end
  always_ff @(posedge clk_i) if (out_of_reset_q) assert ((take_i & ~ready_o) == '0);
`endif
endmodule
