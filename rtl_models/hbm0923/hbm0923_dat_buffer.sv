// Activations on chip: loads the tokens of an instruction from DDR and serves beats of 64 channels.
//
// DDR delivers pixels of 32 channels, chunk of tokens by chunk, in a chunk surface by surface (32 channels of every token,
// then the next 32). Word token * data_beats + c / 64 holds 64 channels in two banks. Lanes at or beyond CHin are whatever
// memory holds: masked later.
module hbm0923_dat_buffer
  import hbm0923_mvm_pkg::*;
#(
  parameter int unsigned Depth = 16384,  // words of 64 channels, a power of two
  localparam int unsigned Aw = $clog2(Depth)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  input  logic                 start_i,
  input  mvm_plan_t            plan_i,

  input  logic                 valid_i,     // a pixel, in order
  input  logic [DdrBits-1:0]   data_i,
  input  logic [15:0]          token_i,
  input  logic [15:0]          beat_i,
  output logic                 here_o,      // the channels of this beat of this token have arrived

  input  logic                 read_i,
  input  logic [Aw-1:0]        addr_i,
  output logic [2*DdrBits-1:0] data_o       // one cycle later
);
  logic [DdrBits-1:0] even_mem [Depth];
  logic [DdrBits-1:0] odd_mem  [Depth];

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
  assign next_first_addr = first_addr_q + Aw'(32'(plan_i.data_beats) << chunk);
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
      addr_q       <= '0;
      first_addr_q <= '0;
    end else if (valid_i) begin
      token_q <= token_q + 16'd1;
      addr_q  <= addr_q + Aw'(plan_i.data_beats);
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

  // Of the two pixels of a beat the second one counts; the last beat may have one only.
  logic [15:0] need;
  assign need   = ({beat_i[14:0], 1'b1} < plan_i.surfaces_in) ? {beat_i[14:0], 1'b1} : {beat_i[14:0], 1'b0};
  assign here_o = token_i < first_q || need < surface_q || (need == surface_q && token_i < token_q);

  always_ff @(posedge clk_i) begin
    if (valid_i && !surface_q[0]) even_mem[addr_q] <= data_i;
    if (valid_i && surface_q[0]) odd_mem[addr_q] <= data_i;
    if (read_i) data_o <= {odd_mem[addr_i], even_mem[addr_i]};
  end

  if (2 ** Aw != Depth) begin : gen_check
    $error("DatDepth * Tin / 64 must be a power of two");
  end
  // Fields of the plan that other modules use.
  logic unused_plan;
  assign unused_plan = ^{plan_i, beat_i[15]};
endmodule
