// Gathers the outputs of rows into pixels, clears what is beyond T, and gives pixels their addresses.
module hbm0923_att_collect
  import hbm0923_att_pkg::*;
#(
  parameter int unsigned Ports = 32
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  input  logic                start_i,
  input  att_plan_t           plan_i,

  input  logic                valid_i,   // a row's outputs
  input  att_beat_t           beat_i,
  input  logic [Ports*16-1:0] y_i,

  output logic                valid_o,   // a pixel, for this cycle
  output logic [32:0]         addr_o,
  output logic [DdrBits-1:0]  data_o
);
  localparam int unsigned Sub = PixelLanes / Ports;

  logic [2:0]         sub_q;
  logic [15:0]        token_q;
  logic [32:0]        head_addr_q, token_addr_q, addr_q, next_addr_q;
  logic [DdrBits-1:0] data_q;
  logic               valid_q;

  function automatic logic [DdrBits-1:0] place(input logic [DdrBits-1:0] held, input logic [Ports*16-1:0] y,
                                               input logic [5:0] keep, input logic [2:0] sub);
    /*verilator no_inline_task*/
    logic [Ports*16-1:0] kept;
    for (int unsigned p = 0; p < Ports; p++) kept[16*p+:16] = (p < 32'(keep)) ? y[16*p+:16] : 16'd0;
    return ((sub == 3'd0) ? '0 : held) | (DdrBits'(kept) << (32'(sub) * Ports * 16));
  endfunction

  logic done;
  assign done = beat_i.pair_end || 32'(sub_q) == Sub - 1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      sub_q        <= '0;
      token_q      <= '0;
      head_addr_q  <= '0;
      token_addr_q <= '0;
      next_addr_q  <= '0;
      valid_q      <= 1'b0;
    end else if (start_i) begin
      sub_q        <= '0;
      token_q      <= plan_i.tokens;
      head_addr_q  <= plan_i.out_addr;
      token_addr_q <= plan_i.out_addr;
      next_addr_q  <= plan_i.out_addr;
      valid_q      <= 1'b0;
    end else begin
      valid_q <= valid_i && done;
      if (valid_i) begin
        sub_q <= done ? '0 : sub_q + 3'd1;
        if (done) next_addr_q <= next_addr_q + 33'(plan_i.out_surface);
        if (beat_i.pair_end) begin
          token_q      <= token_q - 16'd1;
          token_addr_q <= token_addr_q + 33'd64;
          next_addr_q  <= token_addr_q + 33'd64;
          if (token_q == 16'd1) begin
            token_q      <= plan_i.tokens;
            head_addr_q  <= head_addr_q + 33'(plan_i.out_line);
            token_addr_q <= head_addr_q + 33'(plan_i.out_line);
            next_addr_q  <= head_addr_q + 33'(plan_i.out_line);
          end
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      data_q <= place(data_q, y_i, beat_i.keep, sub_q);
      addr_q <= next_addr_q;
    end
  end

  assign valid_o = valid_q;
  assign addr_o  = addr_q;
  assign data_o  = data_q;

  logic unused_fields;
  assign unused_fields = ^{plan_i, beat_i};
endmodule
