// A first-in first-out queue whose oldest entry is seen without asking for it.
module vgemm_fifo #(
  parameter int unsigned Width = 8,
  parameter int unsigned Depth = 8,            // a power of two
  localparam int unsigned Aw = $clog2(Depth)
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             push_i,
  input  logic [Width-1:0] data_i,
  output logic             full_o,
  output logic             valid_o,
  output logic [Width-1:0] data_o,
  input  logic             pop_i
);
  logic [Width-1:0] mem [Depth];
  logic [Aw-1:0]    wr_q, rd_q;
  logic [Aw:0]      used_q;

  assign full_o  = used_q == (Aw + 1)'(Depth);
  assign valid_o = used_q != '0;
  assign data_o  = mem[rd_q];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wr_q   <= '0;
      rd_q   <= '0;
      used_q <= '0;
    end else begin
      if (push_i) wr_q <= wr_q + Aw'(1);
      if (pop_i) rd_q <= rd_q + Aw'(1);
      used_q <= used_q + (Aw + 1)'(push_i) - (Aw + 1)'(pop_i);
    end
  end
  always_ff @(posedge clk_i) if (push_i) mem[wr_q] <= data_i;

  if (2 ** Aw != Depth) begin : gen_check
    $error("the depth is a power of two");
  end

`ifndef SYNTHESIS
  logic out_of_reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_of_reset_q <= 1'b0;
    else out_of_reset_q <= 1'b1;
  end
  always_ff @(posedge clk_i) if (out_of_reset_q) begin
    if (push_i) assert (!full_o || pop_i);
    if (pop_i) assert (valid_o);
  end
`endif
endmodule
