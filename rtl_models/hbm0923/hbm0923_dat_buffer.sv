// Activations on chip: loads the tokens of an instruction from DDR and serves beats of 64 channels.
//
// DDR delivers pixels of 32 channels, surface by surface (32 channels of every token, then the next 32). Word
// token * data_beats + c / 64 holds 64 channels in two banks. Lanes at or beyond CHin are whatever memory holds: masked later.
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
  output logic [15:0]          surfaces_o,  // surfaces that have arrived for all tokens

  input  logic                 read_i,
  input  logic [Aw-1:0]        addr_i,
  output logic [2*DdrBits-1:0] data_o       // one cycle later
);
  logic [DdrBits-1:0] even_mem [Depth];
  logic [DdrBits-1:0] odd_mem  [Depth];

  logic [15:0]   surface_q, token_q;
  logic [Aw-1:0] addr_q;
  logic [15:0]   next_surface;
  logic          last_token;

  assign next_surface = surface_q + 16'd1;
  assign last_token   = token_q == plan_i.tokens - 16'd1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      surface_q <= '0;
      token_q   <= '0;
      addr_q    <= '0;
    end else if (start_i) begin
      surface_q <= '0;
      token_q   <= '0;
      addr_q    <= '0;
    end else if (valid_i) begin
      token_q <= last_token ? 16'd0 : token_q + 16'd1;
      addr_q  <= last_token ? Aw'(next_surface[15:1]) : addr_q + Aw'(plan_i.data_beats);
      if (last_token) surface_q <= next_surface;
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_i && !surface_q[0]) even_mem[addr_q] <= data_i;
    if (valid_i && surface_q[0]) odd_mem[addr_q] <= data_i;
    if (read_i) data_o <= {odd_mem[addr_i], even_mem[addr_i]};
  end

  assign surfaces_o = surface_q;

  if (2 ** Aw != Depth) begin : gen_check
    $error("DatDepth * Tin / 64 must be a power of two");
  end
  // Fields of the plan that other modules use.
  logic unused_plan;
  assign unused_plan = ^plan_i;
endmodule
