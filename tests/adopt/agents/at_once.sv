// Answers in the cycle of their request: RoCC and TileLink; a source of numbers that is always valid, in reset, too.
// fault_i: 1: RoCC answers twice; 2: TileLink answers another source; 3: AXI4-Stream is valid in reset, too.
module at_once (
  input  logic        clk, reset,
  input  logic [1:0]  fault_i,
  output logic        io_cmd_ready,
  input  logic        io_cmd_valid,
  input  logic [6:0]  io_cmd_bits_inst_funct,
  input  logic [4:0]  io_cmd_bits_inst_rd,
  input  logic        io_cmd_bits_inst_xd,
  input  logic [63:0] io_cmd_bits_rs1, io_cmd_bits_rs2,
  input  logic        io_resp_ready,
  output logic        io_resp_valid,
  output logic [4:0]  io_resp_bits_rd,
  output logic [63:0] io_resp_bits_data,
  input  logic        t_a_valid, t_d_ready,
  input  logic [2:0]  t_a_opcode, t_a_param, t_a_size,
  input  logic [1:0]  t_a_source,
  input  logic [7:0]  t_a_address,
  input  logic [3:0]  t_a_mask,
  input  logic [31:0] t_a_data,
  output logic        t_a_ready, t_d_valid, t_d_denied,
  output logic [1:0]  t_d_source,
  output logic [2:0]  t_d_opcode, t_d_size,
  output logic [31:0] t_d_data,
  output logic        out_valid,
  input  logic        out_ready,
  output logic [15:0] out_data,
  output logic        m_tvalid,
  input  logic        m_tready,
  output logic [15:0] m_tdata
);
  logic again;
  assign io_resp_valid = (io_cmd_valid && io_cmd_bits_inst_xd) || again;
  assign io_cmd_ready = !io_cmd_bits_inst_xd || io_resp_ready;
  assign io_resp_bits_rd = io_cmd_bits_inst_rd;
  assign io_resp_bits_data = io_cmd_bits_rs1 ^ io_cmd_bits_rs2;
  always_ff @(posedge clk) again <= !reset && fault_i == 1 && io_cmd_valid && io_cmd_ready;
  logic [31:0] r [64];
  assign {t_d_valid, t_a_ready, t_d_size, t_d_denied} = {t_a_valid, t_d_ready, t_a_size, 1'b0};
  assign t_d_source = fault_i == 2 ? t_a_source ^ 2'd1 : t_a_source;
  assign t_d_opcode = t_a_opcode == 4 ? 3'd1 : 3'd0;
  assign t_d_data = r[t_a_address[7:2]];
  always_ff @(posedge clk) if (t_a_valid && t_a_ready && t_a_opcode != 4) r[t_a_address[7:2]] <= t_a_data;
  assign out_valid = 1;
  assign m_tvalid = !reset || fault_i == 3;
  always_ff @(posedge clk)
    if (reset) {out_data, m_tdata} <= '0;
    else begin
      if (out_ready) out_data <= out_data + 3;
      if (m_tready) m_tdata <= m_tdata + 5;
    end
endmodule
