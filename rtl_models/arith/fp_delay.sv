// What comes in leaves `Latency` enabled edges later. A queue, so that simulation copies it twice and not once a cycle.
module fp_delay #(
  parameter type         data_t  = logic,
  parameter int unsigned Latency = 1
) (
  input  logic  clk_i,
  input  logic  rst_ni,
  input  logic  en_i,
  input  logic  valid_i,
  input  data_t d_i,
  output logic  valid_o,
  output data_t q_o,
  output logic  busy_o    // something is on its way, or leaves
);
  if (Latency == 0) begin : gen_none
    logic unused_clock;
    assign unused_clock = ^{clk_i, rst_ni, en_i};
    assign valid_o      = valid_i;
    assign q_o          = d_i;
    assign busy_o       = valid_i;
  end else begin : gen_queue
    // The last edge is that of a register behind the queue, which holds as many as edges lie before it.
    localparam int unsigned Aw = (Latency > 2) ? $clog2(Latency - 1) : 1;
    logic [Latency:1] valid_q;
    logic [Aw-1:0]    wr_q, rd_q;
    logic             leave;
    data_t            mem [2**Aw];
    data_t            data_q;
    assign leave = (Latency == 1) ? valid_i : valid_q[(Latency > 1) ? Latency - 1 : 1];
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        valid_q <= '0;
        wr_q    <= '0;
        rd_q    <= '0;
      end else if (en_i) begin
        valid_q <= Latency'({valid_q, valid_i});
        if (valid_i) wr_q <= wr_q + Aw'(1'b1);
        if (leave) rd_q <= rd_q + Aw'(1'b1);
      end
    end
    always_ff @(posedge clk_i) if (en_i) begin
      if (valid_i) mem[wr_q] <= d_i;
      if (leave) data_q <= (Latency == 1) ? d_i : mem[rd_q];
    end
    assign valid_o = valid_q[Latency];
    assign q_o     = data_q;
    assign busy_o  = valid_q != '0;
  end
endmodule
