// Activations on chip: loads the tokens of an instruction from DDR and serves beats of 64 channels.
//
// DDR delivers pixels of 32 channels, chunk of tokens by chunk, in a chunk surface by surface (32 channels of every token,
// then the next 32). Word token * row + c / 64 holds 64 channels in two banks. Lanes at or beyond CHin are whatever
// memory holds: masked later. For sparse weights each bank is four, so that a step reads two or four words, aligned to as many.
module hbm0923_dat_buffer
  import hbm0923_mvm_pkg::*;
#(
  parameter int unsigned Depth  = 16384,  // words of 64 channels, a power of two
  parameter bit          Sparse = 1'b0,
  localparam int unsigned Aw    = $clog2(Depth),
  localparam int unsigned Words = Sparse ? 4 : 1
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  input  logic                 start_i,
  input  logic                 upper_i,     // with start_i: into the upper half
  input  mvm_plan_t            plan_i,      // of the instruction whose activations come in
  input  mvm_plan_t            served_i,    // of the one whose beats are read

  input  logic                 valid_i,     // a pixel, in order
  input  logic [DdrBits-1:0]   data_i,
  output logic [15:0]          tokens_o,    // of which all chunks have come
  input  logic [15:0]          token_i,
  input  logic [15:0]          beat_i,
  output logic                 here_o,      // the channels of this beat of this token have arrived

  input  logic                 read_i,
  input  logic [Aw-1:0]        addr_i,
  output logic [Words*2*DdrBits-1:0] data_o       // one cycle later
);
  // The pixel that comes next, and the chunk that it belongs to.
  logic [15:0]   surface_q, token_q, first_q;   // first token of the chunk
  logic [Aw-1:0] addr_q, first_addr_q;          // words of `token_q` at `surface_q`, of the chunk's first token
  logic [2:0]    chunk;
  logic [15:0]   next_surface, next_first;
  logic [Aw-1:0] next_first_addr;
  logic          last_token, last_surface;

  assign chunk           = chunk_of(plan_i.tokens - first_q, plan_i.chunk);
  assign next_surface    = surface_q + 16'd1;
  assign next_first      = first_q + (16'd1 << chunk);
  assign next_first_addr = first_addr_q + Aw'(32'(plan_i.row) << chunk);
  assign last_token      = token_q == next_first - 16'd1;
  assign last_surface    = next_surface == plan_i.surfaces_in;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      surface_q    <= '0;
      token_q      <= '0;
      first_q      <= '0;
      addr_q       <= '0;
      first_addr_q <= '0;
    end else if (start_i) begin
      surface_q    <= '0;
      token_q      <= '0;
      first_q      <= '0;
      addr_q       <= {upper_i, {(Aw - 1) {1'b0}}};
      first_addr_q <= {upper_i, {(Aw - 1) {1'b0}}};
    end else if (valid_i) begin
      token_q <= token_q + 16'd1;
      addr_q  <= addr_q + Aw'(plan_i.row);
      if (last_token && !last_surface) begin
        token_q   <= first_q;
        addr_q    <= first_addr_q + Aw'(next_surface[15:1]);
        surface_q <= next_surface;
      end else if (last_token) begin
        first_q      <= next_first;
        first_addr_q <= next_first_addr;
        addr_q       <= next_first_addr;
        surface_q    <= '0;
      end
    end
  end

  assign tokens_o = first_q;

  // Of the pixels of a beat the last one counts; the last beat may have fewer.
  logic [15:0] need;
  if (Sparse) begin : gen_need
    logic [15:0] last;
    always_comb begin
      last = {beat_i[14:0], 1'b1};
      if (served_i.kept == KeptHalf) last = {beat_i[13:0], 2'b11};
      else if (served_i.kept != Dense) last = {beat_i[12:0], 3'b111};
      need = last < served_i.surfaces_in ? last : served_i.surfaces_in - 16'd1;
    end
  end else begin : gen_need
    assign need = ({beat_i[14:0], 1'b1} < served_i.surfaces_in) ? {beat_i[14:0], 1'b1} : {beat_i[14:0], 1'b0};
  end
  assign here_o = token_i < first_q || need < surface_q || (need == surface_q && token_i < token_q);

  if (Sparse) begin : gen_banks
    logic [1:0]           at_q;
    logic [2*DdrBits-1:0] word [4];
    for (genvar b = 0; b < 4; b++) begin : gen_bank
      logic [DdrBits-1:0] even_mem [Depth/4];
      logic [DdrBits-1:0] odd_mem  [Depth/4];
      logic               reads, writes;
      // Dense one word, half two, else four.
      assign reads  = read_i && (served_i.kept inside {KeptQuarter, KeptEighth} || (addr_i[1] == b[1] && (served_i.kept == KeptHalf || addr_i[0] == b[0])));
      assign writes = valid_i && addr_q[1:0] == 2'(b);
      always_ff @(posedge clk_i) begin
        if (writes && !surface_q[0]) even_mem[addr_q[Aw-1:2]] <= data_i;
        if (writes && surface_q[0]) odd_mem[addr_q[Aw-1:2]] <= data_i;
        if (reads) word[b] <= {odd_mem[addr_i[Aw-1:2]], even_mem[addr_i[Aw-1:2]]};
      end
    end
    always_ff @(posedge clk_i) if (read_i) at_q <= addr_i[1:0];
    // The lower words are those from the address on.
    assign data_o = {word[3], word[2], at_q[1] ? word[3] : word[1], word[at_q]};
`ifndef SYNTHESIS
    always_ff @(posedge clk_i) if (read_i && served_i.kept != Dense) assert (!addr_i[0] && (served_i.kept == KeptHalf || !addr_i[1]));
`endif
  end else begin : gen_banks
    logic [DdrBits-1:0] even_mem [Depth];
    logic [DdrBits-1:0] odd_mem  [Depth];
    always_ff @(posedge clk_i) begin
      if (valid_i && !surface_q[0]) even_mem[addr_q] <= data_i;
      if (valid_i && surface_q[0]) odd_mem[addr_q] <= data_i;
      if (read_i) data_o <= {odd_mem[addr_i], even_mem[addr_i]};
    end
  end

  if (2 ** Aw != Depth) begin : gen_check
    $error("DatDepth * Tin / 64 must be a power of two");
  end
  // Fields of the plan that other modules use.
  logic unused_plan;
  assign unused_plan = ^{plan_i, served_i, beat_i[15]};
endmodule
