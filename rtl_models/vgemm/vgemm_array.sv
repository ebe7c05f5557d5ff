// The compute loops: for every iteration of two loops and every micro-operation one product of a block, or one operation on
// accumulators. A micro-operation is read and its indices are made in one cycle, it is carried out in the next.
module vgemm_array
  import vgemm_types_pkg::*;
#(
  parameter int unsigned Block = 4,
  parameter int unsigned UopAw = 9,
  parameter int unsigned InpAw = 10,
  parameter int unsigned WgtAw = 10,
  parameter int unsigned AccAw = 10
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  logic                        start_i,   // one cycle, with the word
  input  word_t                       word_i,
  input  logic                        alu_i,
  output logic                        done_o,    // in the cycle of the last write

  output logic [UopAw-1:0]            uop_o,
  input  logic [31:0]                 uop_i,
  output logic [InpAw-1:0]            inp_o,
  input  logic [Block*8-1:0]          inp_i,
  output logic [WgtAw-1:0]            wgt_o,
  input  logic [Block*Block*8-1:0]    wgt_i,     // row o, column i at o * Block + i
  output logic [AccAw-1:0]            acc_o,
  input  logic [Block*32-1:0]         acc_i,
  output logic [AccAw-1:0]            src_o,
  input  logic [Block*32-1:0]         src_i,
  output logic                        write_o,   // to acc_o
  output logic [Block*32-1:0]         write_data_o
);
  word_t       word_q;
  logic        alu_q, run_q;
  logic [11:0] pc_q;
  logic [13:0] out_q, in_q;
  // Offsets of the loops: of the outer one, and with the inner one.
  logic [10:0] acc_out_q, acc_q, inp_out_q, inp_q;
  logic [9:0]  wgt_out_q, wgt_q;

  logic [11:0] uop_begin, uop_end;
  logic [13:0] iter_out, iter_in;
  logic [10:0] acc_step_out, acc_step_in, inp_step_out, inp_step_in;
  logic [9:0]  wgt_step_out, wgt_step_in;
  assign uop_begin    = word_q.w0[19:8];
  assign uop_end      = word_q.w0[31:20];
  assign iter_out     = word_q.w1[13:0];
  assign iter_in      = word_q.w1[27:14];
  assign acc_step_out = word_q.w2[10:0];
  assign acc_step_in  = word_q.w2[21:11];
  assign wgt_step_out = word_q.w2[31:22];
  assign wgt_step_in  = word_q.w3[31:22];
  assign inp_step_out = alu_q ? {1'b0, word_q.w2[31:22]} : word_q.w3[10:0];
  assign inp_step_in  = alu_q ? {1'b0, word_q.w3[9:0]} : word_q.w3[21:11];

  logic last_uop, last_in, last_out;
  assign last_uop = pc_q == uop_end - 12'd1;
  assign last_in  = in_q == iter_in - 14'd1;
  assign last_out = out_q == iter_out - 14'd1;
  assign uop_o    = UopAw'(pc_q);

  // ---- the second cycle
  logic             exec_q, exec_last_q;
  logic [10:0]      exec_acc_q, exec_inp_q;
  logic [9:0]       exec_wgt_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      word_q      <= '0;
      alu_q       <= 1'b0;
      run_q       <= 1'b0;
      pc_q        <= '0;
      out_q       <= '0;
      in_q        <= '0;
      acc_out_q   <= '0;
      acc_q       <= '0;
      inp_out_q   <= '0;
      inp_q       <= '0;
      wgt_out_q   <= '0;
      wgt_q       <= '0;
      exec_q      <= 1'b0;
      exec_last_q <= 1'b0;
      exec_acc_q  <= '0;
      exec_inp_q  <= '0;
      exec_wgt_q  <= '0;
    end else begin
      exec_q      <= run_q;
      exec_last_q <= run_q && last_uop && last_in && last_out;
      exec_acc_q  <= uop_i[10:0] + acc_q;
      exec_inp_q  <= uop_i[21:11] + inp_q;
      exec_wgt_q  <= uop_i[31:22] + wgt_q;
      if (start_i) begin
        word_q    <= word_i;
        alu_q     <= alu_i;
        run_q     <= 1'b1;
        pc_q      <= word_i.w0[19:8];
        out_q     <= '0;
        in_q      <= '0;
        acc_out_q <= '0;
        acc_q     <= '0;
        inp_out_q <= '0;
        inp_q     <= '0;
        wgt_out_q <= '0;
        wgt_q     <= '0;
      end else if (run_q) begin
        if (!last_uop) begin
          pc_q <= pc_q + 12'd1;
        end else begin
          pc_q <= uop_begin;
          if (!last_in) begin
            in_q  <= in_q + 14'd1;
            acc_q <= acc_q + acc_step_in;
            inp_q <= inp_q + inp_step_in;
            wgt_q <= wgt_q + wgt_step_in;
          end else begin
            in_q      <= '0;
            out_q     <= out_q + 14'd1;
            acc_out_q <= acc_out_q + acc_step_out;
            acc_q     <= acc_out_q + acc_step_out;
            inp_out_q <= inp_out_q + inp_step_out;
            inp_q     <= inp_out_q + inp_step_out;
            wgt_out_q <= wgt_out_q + wgt_step_out;
            wgt_q     <= wgt_out_q + wgt_step_out;
            if (last_out) run_q <= 1'b0;
          end
        end
      end
    end
  end

  // An index is taken modulo the depth.
  assign acc_o  = AccAw'(exec_acc_q);
  assign src_o  = AccAw'(exec_inp_q);
  assign inp_o  = InpAw'(exec_inp_q);
  assign wgt_o  = WgtAw'(exec_wgt_q);
  assign done_o = exec_last_q;

  function automatic logic [31:0] alu(input logic [2:0] op, input logic [31:0] a, input logic [31:0] b);
    logic        less;
    logic [31:0] left;
    less = $signed(a) < $signed(b);
    left = -b;
    case (op)
      3'd0:    return less ? a : b;
      3'd1:    return less ? b : a;
      3'd2:    return a + b;
      3'd3: begin
        if (b[31]) return (left > 32'd31) ? '0 : a << left[4:0];
        return $unsigned($signed(a) >>> ((b > 32'd31) ? 5'd31 : b[4:0]));
      end
      default: return a * b;
    endcase
  endfunction

  logic [31:0] immediate;
  assign immediate = {{16{word_q.w3[31]}}, word_q.w3[31:16]};

  for (genvar o = 0; o < Block; o++) begin : gen_lane
    logic [31:0] sum, product;
    always_comb begin
      sum = '0;
      for (int unsigned i = 0; i < Block; i++) begin
        sum = sum + $unsigned(32'($signed(inp_i[8*i+:8])) * 32'($signed(wgt_i[8*(o*Block+i)+:8])));
      end
    end
    assign product = word_q.w0[7] ? '0 : acc_i[32*o+:32] + sum;
    assign write_data_o[32*o+:32] =
        alu_q ? alu(word_q.w1[30:28], acc_i[32*o+:32], word_q.w1[31] ? immediate : src_i[32*o+:32]) : product;
  end
  assign write_o = exec_q;

  logic unused;
  assign unused = ^{word_q.w0[6:0], word_q.w3, exec_acc_q, exec_inp_q, exec_wgt_q, pc_q};
endmodule
