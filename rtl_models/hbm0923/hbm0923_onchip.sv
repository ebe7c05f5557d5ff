// The on-chip memory: two halves of Depth beats, each with a port to write and one to read, as a block RAM has them.
//
// Nobody reads a beat in the cycle in which it is written. Contents at power-on are undefined, and a reset does not change them.
module hbm0923_onchip #(
  parameter int unsigned Depth = 1024,  // beats of 64 bytes a half
  localparam int unsigned Aw = $clog2(2 * Depth)
) (
  input  logic          clk_i,

  input  logic          write_i,
  input  logic [Aw-1:0] write_beat_i,   // Depth and up: the second half
  input  logic [511:0]  write_data_i,
  input  logic [63:0]   write_strb_i,

  input  logic          read_i,
  input  logic [Aw-1:0] read_beat_i,
  output logic [511:0]  read_data_o     // from the next cycle until the next read
);
  localparam int unsigned Hw = (Depth > 1) ? $clog2(Depth) : 1;

  function automatic logic high(input logic [Aw-1:0] beat);
    return 32'(beat) >= Depth;
  endfunction
  function automatic logic [Hw-1:0] place(input logic [Aw-1:0] beat);
    return high(beat) ? Hw'(32'(beat) - Depth) : Hw'(beat);
  endfunction

  logic         half_q;
  logic [511:0] data [2];

  for (genvar h = 0; h < 2; h++) begin : gen_half
    logic [511:0]  mem [Depth];
    logic [511:0]  data_q;
    logic          write, read;
    logic [Hw-1:0] addr;
    assign write = write_i && high(write_beat_i) == (h == 1);
    assign read  = read_i && high(read_beat_i) == (h == 1);
    assign addr  = place(write_beat_i);
    always_ff @(posedge clk_i) begin
      if (write) for (int unsigned b = 0; b < 64; b++) if (write_strb_i[b]) mem[addr][8*b+:8] <= write_data_i[8*b+:8];
      if (read) data_q <= mem[place(read_beat_i)];
    end
    assign data[h] = data_q;
  end

  always_ff @(posedge clk_i) if (read_i) half_q <= high(read_beat_i);
  assign read_data_o = half_q ? data[1] : data[0];

`ifndef SYNTHESIS
  // What is written here is part of the commit's digest: the bench sees no channel of it.
  import "DPI-C" function void fleet_observe_write(
    input int unsigned space, input longint unsigned offset, input bit [511:0] data, input bit [63:0] strb);
  always_ff @(posedge clk_i) begin
    if (write_i) fleet_observe_write(hbm0923_pkg::SpaceOnchip, 64'(write_beat_i) << 6, write_data_i, write_strb_i);
  end
  always_ff @(posedge clk_i) begin
    if (write_i) assert (32'(write_beat_i) < 2 * Depth);
    if (read_i) assert (32'(read_beat_i) < 2 * Depth && !(write_i && write_beat_i == read_beat_i));
  end
`endif
endmodule
