// What the MVM unit reads from DDR and on chip: activations into their buffer, batch norm and residual to the epilogue.
//
// One token's activations take no more than half of the buffer. So while the array works on them, those of the waiting
// instruction come into the other half, unless one of the two has more tokens.
module hbm0923_mvm_inputs
  import hbm0923_mvm_pkg::*;
  import hbm0923_unit_pkg::*;
  import fleet_axi_pkg::*;
#(
  parameter int unsigned Tout     = 32,
  parameter int unsigned Depth    = 16384,  // words of 64 inputs that the buffer holds, a power of two
  parameter int unsigned BnDepth  = 32,
  parameter int unsigned ResDepth = 64,
  parameter bit          Sparse   = 1'b0,
  localparam int unsigned Aw    = $clog2(Depth),
  localparam int unsigned Lanes = Sparse ? SparseLanes : BeatLanes
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  input  logic                launch_i,     // the waiting instruction runs from the next cycle on
  input  logic                run_i,        // that cycle
  input  logic                running_i,    // until its last response
  input  mvm_plan_t           plan_i,       // of the instruction that runs
  input  logic                waits_i,      // another one is found legal and waits
  input  mvm_plan_t           next_plan_i,
  input  logic [1:0]          data_go_i,    // of the one that runs, of the one that waits
  input  bound_t [1:0][1:0]   bounds_i,
  input  logic                coef_go_i,
  output logic [1:0]          error_o,      // a read was answered with an error

  input  logic [15:0]         token_i,      // activations: see the buffer
  input  logic [15:0]         beat_i,
  output logic                here_o,
  input  logic                read_i,
  input  logic [Aw-1:0]       addr_i,
  output logic [Lanes*16-1:0] data_o,

  output logic                bn_valid_o,   // whose beat stands on the read data channel
  output logic                res_valid_o,
  input  logic [1:0]          bn_pop_i,     // beats that left the epilogue's rings
  input  logic [1:0]          res_pop_i,

  output ddr_rd_req_t         ddr_req_o,
  input  ddr_rd_rsp_t         ddr_rsp_i
);
  localparam int unsigned Half = Depth / 2;

  // ---- whose activations come in
  logic      ahead_q, begin_ahead, ahead, start, here, upper_q, dat_valid, error;
  logic [15:0] come;     // tokens whose activations are here
  mvm_plan_t plan;
  function automatic logic one_half(input logic [15:0] tokens, input logic [15:0] row);
    return tokens == 16'd1 && 32'(row) <= Half;
  endfunction
  assign begin_ahead = !ahead_q && running_i && !run_i && !launch_i && waits_i && come == plan_i.tokens
                       && one_half(plan_i.tokens, plan_i.row) && one_half(next_plan_i.tokens, next_plan_i.row);
  assign ahead       = ahead_q || begin_ahead;
  assign plan        = ahead ? next_plan_i : plan_i;

  // `upper_q`: the instruction that runs has its activations in the upper half.
  logic came_q;   // they came ahead, at least in part
  assign start = begin_ahead || (run_i && !came_q);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ahead_q <= 1'b0;
      came_q  <= 1'b0;
      upper_q <= 1'b0;
    end else if (launch_i) begin
      ahead_q <= 1'b0;
      came_q  <= ahead_q;
      upper_q <= ahead_q && !upper_q;
    end else if (begin_ahead) begin
      ahead_q <= 1'b1;
    end
  end

  hbm0923_mvm_reads #(
    .Tout(Tout),
    .BnDepth(BnDepth),
    .ResDepth(ResDepth)
  ) u_reads (
    .clk_i,
    .rst_ni,
    .load_i     (start),
    // When it begins, nothing is left to be asked for of what came before: from the next cycle on is early enough.
    .ahead_i    (ahead_q),
    .load_plan_i(plan),
    .load_go_i  (data_go_i[ahead_q]),
    .load_bound_i(bounds_i[ahead_q][0]),
    .load_chip_i(ahead_q ? next_plan_i.in_chip : plan_i.in_chip),
    .start_i    (run_i),
    .plan_i,
    .data_go_i  (data_go_i[0]),
    .bound_i    (bounds_i[0][1]),
    .coef_go_i,
    .bn_pop_i,
    .res_pop_i,
    .dat_valid_o(dat_valid),
    .bn_valid_o,
    .res_valid_o,
    .ddr_req_o,
    .ddr_rsp_i
  );

  hbm0923_dat_buffer #(.Depth(Depth), .Sparse(Sparse)) u_dat_buffer (
    .clk_i,
    .rst_ni,
    .start_i (start),
    .upper_i (begin_ahead && !upper_q),
    .plan_i  (plan),
    .served_i(plan_i),
    .valid_i (dat_valid),
    .data_i  (ddr_rsp_i.r.data),
    .tokens_o(come),
    .token_i,
    .beat_i,
    .here_o  (here),
    .read_i,
    .addr_i  (addr_i | {upper_q, {(Aw - 1) {1'b0}}}),
    .data_o
  );
  // What comes ahead begins behind the last activation of the one that runs.
  assign here_o = ahead_q || here;

  assign error   = ddr_rsp_i.r.resp[1];
  assign error_o = {error && dat_valid && ahead_q, error && ((dat_valid && !ahead_q) || bn_valid_o || res_valid_o)};

`ifndef SYNTHESIS
  // Assertions hold from the first cycle out of reset; a flop, so that the reset stays purely asynchronous.
  logic      out_of_reset_q, ahead_was_q;
  mvm_plan_t plan_was_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_of_reset_q <= 1'b0;
    else out_of_reset_q <= 1'b1;
  end
  always_ff @(posedge clk_i) begin
    if (out_of_reset_q) begin
      // The plan of what comes ahead stands still until it runs.
      if (ahead_was_q && ahead_q) assert (plan_was_q == next_plan_i);
      if (read_i && upper_q) assert (32'(addr_i) < Half);
    end
    ahead_was_q <= out_of_reset_q && ahead_q;
    if (ahead_q) plan_was_q <= next_plan_i;
  end
`endif
endmodule
