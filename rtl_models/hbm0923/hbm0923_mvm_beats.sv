// Beats between their issue and the array: registers of their control and of the addresses at which their weights, places and scales
// are read.
module hbm0923_mvm_beats
  import hbm0923_mvm_pkg::*;
#(
  parameter int unsigned Dw           = 11,  // data ring address
  parameter int unsigned Sw           = 8,   // scale ring address
  parameter int unsigned Pw           = 9,   // place ring address
  parameter bit          Sparse       = 1'b0,
  parameter int unsigned ArrayLatency = 4
) (
  input  logic          clk_i,
  input  logic          rst_ni,

  input  logic          valid_i,
  input  beat_ctrl_t    ctrl_i,
  input  logic [Dw-1:0] data_addr_i,
  input  logic [Sw-1:0] scale_addr_i,
  input  logic [Pw-1:0] place_addr_i,

  // stage 1
  output logic          valid_o,
  output beat_ctrl_t    ctrl_o,
  output logic [Dw-1:0] data_addr_o,
  output logic          place_read_o,
  output logic [Pw-1:0] place_addr_o,
  // as the sums of its group leave the array
  input  logic          dense_i,
  output logic [Sw-1:0] scale_addr_o
);
  logic [Sw-1:0] scale_addr1_q, scale_addr2_q, scale_addr3_q, scale_addr4;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_o <= 1'b0;
    else valid_o <= valid_i;
  end
  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      ctrl_o        <= ctrl_i;
      data_addr_o   <= data_addr_i;
      scale_addr1_q <= scale_addr_i;
      place_addr_o  <= place_addr_i;
    end
    scale_addr2_q <= scale_addr1_q;
    scale_addr3_q <= scale_addr2_q;
  end

  // Later in stages than in functions.
  fp_cut #(.data_t(logic [Sw-1:0]), .Latency(fp_view_pkg::Stages ? ArrayLatency - 1 : 0)) u_scale_addr (
    .clk_i, .en_i(1'b1), .d_i(scale_addr3_q), .q_o(scale_addr4)
  );
  if (Sparse) begin : gen_sparse
    // Sparse weights are a cycle longer under way.
    logic [Sw-1:0] scale_addr5_q;
    always_ff @(posedge clk_i) scale_addr5_q <= scale_addr4;
    assign scale_addr_o = dense_i ? scale_addr4 : scale_addr5_q;
    assign place_read_o = valid_o && reads_places(ctrl_o.kept, ctrl_o.turn);
  end else begin : gen_dense
    logic unused_dense;
    assign unused_dense = dense_i;
    assign scale_addr_o = scale_addr4;
    assign place_read_o = 1'b0;
  end
endmodule
