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
  // The bits are written only from the first error on, which saves the simulation of a run without errors.
  logic             failed_q;
  logic [Depth-1:0] bad_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      failed_q <= 1'b0;
      bad_q    <= '0;
    end else if (write_i && (error_i || failed_q)) begin
      failed_q          <= 1'b1;
      bad_q[write_at_i] <= error_i;
    end
  end
  assign error_o = read_i && failed_q && bad_q[read_at_i];
endmodule
