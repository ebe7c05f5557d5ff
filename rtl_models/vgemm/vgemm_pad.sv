// A scratchpad: elements of ElemBytes, written by beats of 64 bytes with strobes, read as whole elements.
//
// Reads are combinational, as those of distributed memory. Contents at power-on are undefined, and a reset does not change them.
module vgemm_pad #(
  parameter int unsigned ElemBytes = 4,
  parameter int unsigned Depth     = 256,      // elements, a power of two
  parameter int unsigned Reads     = 1,
  localparam int unsigned Aw = $clog2(Depth)
) (
  input  logic                              clk_i,
  input  logic                              write_i,
  input  logic [15:0]                       beat_i,
  input  logic [511:0]                      data_i,
  input  logic [63:0]                       strb_i,
  input  logic [Reads-1:0][Aw-1:0]          read_i,
  output logic [Reads-1:0][ElemBytes*8-1:0] read_o
);
  localparam int unsigned WordBytes = (ElemBytes > 64) ? ElemBytes : 64;
  localparam int unsigned Beats     = WordBytes / 64;      // of a word
  localparam int unsigned PerWord   = WordBytes / ElemBytes;
  localparam int unsigned Words     = Depth / PerWord;
  localparam int unsigned Ww        = $clog2(Words);

  logic [WordBytes*8-1:0] mem [Words];

  always_ff @(posedge clk_i) begin
    if (write_i) begin
      for (int unsigned b = 0; b < 64; b++) begin
        if (strb_i[b]) mem[Ww'(32'(beat_i) / Beats)][512*(32'(beat_i)%Beats)+8*b+:8] <= data_i[8*b+:8];
      end
    end
  end

  for (genvar r = 0; r < Reads; r++) begin : gen_read
    logic [WordBytes*8-1:0] word;
    assign word      = mem[Ww'(32'(read_i[r]) / PerWord)];
    assign read_o[r] = word[ElemBytes*8*(32'(read_i[r])%PerWord)+:ElemBytes*8];
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (write_i) assert (32'(beat_i) < Words * Beats);
`endif
endmodule
