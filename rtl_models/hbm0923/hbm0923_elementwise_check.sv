// Reads the operands of elementwise and has them checked.
module hbm0923_elementwise_check
  import hbm0923_pkg::*;
  import hbm0923_unit_pkg::*;
  import hbm0923_feature_pkg::*;
#(
  parameter int unsigned MaxToken     = 2048,
  parameter int unsigned OnchipDepth  = 8192,
  parameter int unsigned DdrMegabytes = 1024
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  input  logic                  start_i,     // one cycle; what follows stands still until the commit
  input  logic [31:0]           mode_i,
  input  elementwise_operands_t operands_i,

  output logic                  done_o,      // one cycle: error_o holds; the others hold until the next start
  output logic [15:0]           error_o,
  output hulls_t                hulls_o,
  output logic [15:0]           opcode_o,
  output sizes_t                sizes_o,
  output logic [4:0]            lanes_o,     // of the last group; 0: all
  output feature_t              a_o,
  output feature_t              b_o,
  output feature_t              out_o
);
  assign opcode_o = (mode_i == StartElementwise) ? OpElementwise : 16'd0;
  assign sizes_o  = '{surfaces: operands_i.surfaces[15:0], lines: operands_i.hin[7:0], tokens: operands_i.win[15:0]};
  assign lanes_o  = operands_i.surfaces[20:16];
  assign a_o      = '{onchip: operands_i.onchip[0], addr: operands_i.a_addr, surface: operands_i.a_surface, line: operands_i.a_line};
  assign b_o      = '{onchip: operands_i.onchip[2], addr: operands_i.b_addr, surface: operands_i.a_surface, line: operands_i.a_line};
  assign out_o    = '{onchip: operands_i.onchip[1], addr: operands_i.out_addr, surface: operands_i.out_surface,
                      line: operands_i.out_line};

  logic [15:0] error;
  always_comb begin
    error = ErrNone;
    // Later lines win.
    if ({operands_i.a_addr[5:0], operands_i.a_surface[5:0], operands_i.a_line[5:0], operands_i.out_addr[5:0],
         operands_i.out_surface[5:0], operands_i.out_line[5:0], operands_i.b_addr[5:0]} != '0) error = ErrUnaligned;
    if (operands_i.surfaces[15:0] == '0 || operands_i.surfaces[31:21] != '0 || operands_i.hin == '0 || operands_i.hin > 32'd255
        || operands_i.win == '0 || operands_i.win > MaxToken) error = ErrBadSize;
    if (operands_i.mode > 32'd2 || operands_i.onchip[31:3] != '0) error = ErrUnsupported;
    if (mode_i != StartElementwise) error = ErrIllegalMode;
  end

  hbm0923_feature_check #(
    .OnchipDepth  (OnchipDepth),
    .DdrMegabytes (DdrMegabytes)
  ) u_check (
    .clk_i, .rst_ni, .start_i,
    .error_i        (error),
    .sizes_i        (sizes_o),
    .in_i           (a_o),
    .out_i          (out_o),
    .side_i         (SideData),
    .side_feature_i (b_o),
    .side_bytes_i   (24'd0),
    .pixels_valid_i (1'b0),
    .pixels_i       (32'd0),
    .done_o, .error_o, .hulls_o
  );
endmodule
