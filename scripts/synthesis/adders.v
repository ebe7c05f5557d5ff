// One carry chain an addition, as a vendor's synthesis builds it: Yosys would merge sums of several operands into full adders of two
// LUT a bit. `synth_xilinx` maps what stands here as it maps every $alu.
(* techmap_celltype = "$add $sub" *)
module _adder (A, B, Y);
  parameter A_SIGNED = 0;
  parameter B_SIGNED = 0;
  parameter A_WIDTH = 1;
  parameter B_WIDTH = 1;
  parameter Y_WIDTH = 1;
  parameter _TECHMAP_CELLTYPE_ = "";
  input [A_WIDTH-1:0] A;
  input [B_WIDTH-1:0] B;
  output [Y_WIDTH-1:0] Y;
  wire [Y_WIDTH-1:0] x, carry;
  wire sub = _TECHMAP_CELLTYPE_ == "$sub";
  \$alu #(
    .A_SIGNED(A_SIGNED), .B_SIGNED(B_SIGNED), .A_WIDTH(A_WIDTH), .B_WIDTH(B_WIDTH), .Y_WIDTH(Y_WIDTH)
  ) _TECHMAP_REPLACE_ (.A(A), .B(B), .BI(sub), .CI(sub), .X(x), .CO(carry), .Y(Y));
endmodule
