// The lanes of elementwise: sums, differences or products of FP16 in binary32, rounded to FP16, a beat a cycle. A result leaves
// AddLatency + NarrowLatency cycles after its operands.
module hbm0923_elementwise_lanes
  import fp_pkg::*;
  import fp_fn_pkg::*;
#(
  parameter int unsigned AddLatency    = 9,  // of a conversion and a sum, or a product
  parameter int unsigned NarrowLatency = 2,  // of the rounding
  parameter bit          Stages        = fp_view_pkg::Stages
) (
  input  logic         clk_i,
  input  logic         rst_ni,

  // The modes stand still while busy.
  input  logic         multiply_i,
  input  logic         subtract_i,
  input  logic         valid_i,
  input  logic [511:0] a_i,
  input  logic [511:0] b_i,
  input  logic [31:0]  mask_i,   // lanes that count, the others are +0

  output logic         busy_o,
  output logic         valid_o,
  output logic [511:0] y_o
);
  localparam int unsigned Latency = AddLatency + NarrowLatency;
  logic [511:0] y;
  logic         waiting, computing;

  if (Stages) begin : gen_stages
    logic [Latency:1] valid_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) valid_q <= '0;
      else valid_q <= {valid_q[Latency-1:1], valid_i};
    end
    assign computing = valid_q != '0;
    assign valid_o   = valid_q[Latency];
    assign y_o       = y;
    assign waiting   = 1'b0;

    // A product has fewer stages than a sum: its operands wait.
    localparam int unsigned MulLatency = (AddLatency < 3) ? AddLatency : 3;
    logic [511:0] mul_a, mul_b;
    logic [31:0]  mask;
    fp_cut #(.data_t(logic [511:0]), .Latency(AddLatency - MulLatency)) u_mul_a (.clk_i, .en_i(1'b1), .d_i(a_i), .q_o(mul_a));
    fp_cut #(.data_t(logic [511:0]), .Latency(AddLatency - MulLatency)) u_mul_b (.clk_i, .en_i(1'b1), .d_i(b_i), .q_o(mul_b));
    fp_cut #(.data_t(logic [31:0]), .Latency(AddLatency)) u_mask (.clk_i, .en_i(1'b1), .d_i(mask_i), .q_o(mask));
    for (genvar i = 0; i < 32; i++) begin : gen_lane
      logic [31:0] wide_a_q, wide_b_q, sum, product, wide;
      always_ff @(posedge clk_i) begin
        wide_a_q <= fp16_to_fp32(a_i[16*i+:16]);
        wide_b_q <= fp16_to_fp32({b_i[16*i+15] ^ subtract_i, b_i[16*i+:15]});
      end
      fp32_add_pipe #(.Latency(AddLatency - 1)) u_add (.clk_i, .en_i(1'b1), .a_i(wide_a_q), .b_i(wide_b_q), .y_o(sum));
      fp16_mul_pipe #(.Latency(MulLatency)) u_mul (
        .clk_i, .en_i(1'b1), .a_i(mul_a[16*i+:16]), .b_i(mul_b[16*i+:16]), .y_o(product)
      );
      assign wide = !mask[i] ? 32'd0 : multiply_i ? product : sum;
      fp32_to_fp16_pipe #(.Latency(NarrowLatency)) u_narrow (.clk_i, .en_i(1'b1), .x_i(wide), .y_o(y[16*i+:16]));
    end
  end else begin : gen_functions
    // All in one cycle; results wait for the rest of the latencies.
    logic valid_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) valid_q <= 1'b0;
      else valid_q <= valid_i;
    end
    always_ff @(posedge clk_i) if (valid_i) begin
      for (int unsigned i = 0; i < 32; i++) begin
        automatic logic [15:0] a = a_i[16*i+:16], b = b_i[16*i+:16];
        if (!mask_i[i]) y[16*i+:16] <= 16'd0;
        else if (multiply_i) y[16*i+:16] <= fp32_to_fp16(fp16_mul(a, b));
        else y[16*i+:16] <= fp32_to_fp16(fp32_add(fp16_to_fp32(a), fp16_to_fp32({b[15] ^ subtract_i, b[14:0]})));
      end
    end
    assign computing = valid_q;
    fp_delay #(.data_t(logic [511:0]), .Latency(Latency - 1)) u_wait (
      .clk_i, .rst_ni, .en_i(1'b1), .valid_i(valid_q), .d_i(y), .valid_o, .q_o(y_o), .busy_o(waiting)
    );
  end
  assign busy_o = computing || waiting;

  if (AddLatency == 0 || NarrowLatency == 0) begin : gen_check
    $error("latencies are at least 1");
  end
endmodule
