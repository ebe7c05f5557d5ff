// Which beats of a FIFO were answered with an error: beats of two instructions may stand in it at once.
module hbm0923_beat_errors #(
  parameter int unsigned Depth = 128,  // of the FIFO, a power of two
  localparam int unsigned Aw = $clog2(Depth)
) (
  input  logic          clk_i,
  input  logic          rst_ni,

  input  logic          write_i,
  input  logic [Aw-1:0] write_at_i,
  input  logic          error_i,    // of the beat that is written
  input  logic          read_i,
  input  logic [Aw-1:0] read_at_i,
  output logic          error_o     // the beat that is read has one
);
  // Beats are read in the order in which they were written. Bits are written from the first error on, which saves the simulation of a
  // run without errors; what stands before that beat has none, so that no bit needs a reset and they are a memory.
  logic          failed_q, reached_q;  // an error has come; its beat has been read
  logic [Aw-1:0] first_q;              // where that beat stands
  logic          bad [Depth];
  logic          first;
  assign first = failed_q && !reached_q && read_at_i == first_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      failed_q  <= 1'b0;
      reached_q <= 1'b0;
    end else begin
      if (write_i && error_i) failed_q <= 1'b1;
      if (read_i && first) reached_q <= 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (write_i && error_i && !failed_q) first_q <= write_at_i;
    if (write_i && (error_i || failed_q)) bad[write_at_i] <= error_i;
  end
  assign error_o = read_i && (first || (reached_q && bad[read_at_i]));
endmodule
