// Custom instructions. op: what is sent, first field in the highest bits; responses are recorded.
module fleet_rocc_manager #(parameter int W_CMD_FUNCT = 7, parameter int W_CMD_RS1 = 64, parameter int W_CMD_RD = 5, parameter int W_RESP_DATA = 64,
                            parameter int W_CMD_INST_OPCODE = 7, parameter int HAS_CMD_INST_XD = 0, parameter int HAS_CMD_INST_XS1 = 0,
                            parameter int HAS_CMD_INST_XS2 = 0,
                            parameter int W_RESP_RD = 5, parameter string PORT = "", parameter int PAUSE = 0,
                           parameter bit HAS_RESP_READY = 1, parameter int OPW = 1280) (
  input logic clk, rst, go, input logic [OPW-1:0] op, output logic done, output logic [OPW-1:0] result,
  output logic cmd_valid,
  input  logic cmd_ready,
  output logic [W_CMD_FUNCT-1:0] cmd_funct,
  output logic [W_CMD_RD-1:0] cmd_rd,
  output logic [W_CMD_RD-1:0] cmd_inst_rd,
  output logic cmd_inst_xd,
  output logic cmd_inst_xs1,
  output logic cmd_inst_xs2,
  output logic [W_CMD_INST_OPCODE-1:0] cmd_inst_opcode,
  output logic [W_CMD_RS1-1:0] cmd_rs1,
  output logic [W_CMD_RS1-1:0] cmd_rs2,
  input  logic resp_valid,
  output logic resp_ready,
  input  logic [W_RESP_RD-1:0] resp_rd,
  input  logic [W_RESP_DATA-1:0] resp_data
);
  // {opcode, xd, xs1, xs2: those that the port has; funct, rd, rs1, rs2}
  localparam int XS2 = W_CMD_FUNCT + W_CMD_RD + 2 * W_CMD_RS1;
  localparam int XS1 = XS2 + HAS_CMD_INST_XS2;
  localparam int XD = XS1 + HAS_CMD_INST_XS1;
  localparam int OPCODE = XD + HAS_CMD_INST_XD;
  logic [OPCODE+W_CMD_INST_OPCODE-1:0] word;
  assign {cmd_funct, cmd_rd, cmd_rs1, cmd_rs2} = word[XS2-1:0];
  assign cmd_inst_rd = cmd_rd;
  assign cmd_inst_xs2 = word[XS2];
  assign cmd_inst_xs1 = word[XS1];
  assign cmd_inst_xd = word[XD];
  assign cmd_inst_opcode = word[OPCODE +: W_CMD_INST_OPCODE];
  fleet_source #(.W(OPCODE + W_CMD_INST_OPCODE), .PAUSE(PAUSE), .OPW(OPW)) source (
    .clk, .rst, .go, .op, .done, .valid(cmd_valid), .ready(cmd_ready), .payload(word));
  fleet_sink #(.W(W_RESP_RD + W_RESP_DATA), .PORT(PORT), .PAUSE(PAUSE), .REFUSES(HAS_RESP_READY), .OPW(OPW)) sink (
    .clk, .rst, .valid(resp_valid), .ready(resp_ready), .payload({resp_rd, resp_data}), .result);
endmodule

module fleet_rocc_monitor #(parameter int W_CMD_FUNCT = 7, parameter int W_CMD_RS1 = 64, parameter int W_RESP_DATA = 64, parameter int W_RESP_RD = 5,
                            parameter string PORT = "", parameter string MANAGER = "bench", parameter string SUBORDINATE = "design",
                            parameter bit STABLE = 1) (
  input logic clk, rst,
  input logic cmd_valid,
  input logic cmd_ready,
  input logic [W_CMD_FUNCT-1:0] cmd_funct,
  input logic [W_CMD_RS1-1:0] cmd_rs1,
  input logic [W_CMD_RS1-1:0] cmd_rs2,
  input logic resp_valid,
  input logic resp_ready,
  input logic [W_RESP_RD-1:0] resp_rd,
  input logic [W_RESP_DATA-1:0] resp_data
);
  fleet_handshake_monitor #(.W(W_CMD_FUNCT + 2 * W_CMD_RS1), .PORT(PORT), .CHANNEL("cmd: "), .SENDER(MANAGER), .STABLE(STABLE)) cmd (
    .clk, .rst, .valid(cmd_valid), .ready(cmd_ready), .payload({cmd_funct, cmd_rs1, cmd_rs2}));
  fleet_handshake_monitor #(.W(W_RESP_RD + W_RESP_DATA), .PORT(PORT), .CHANNEL("resp: "), .SENDER(SUBORDINATE), .STABLE(STABLE)) resp (
    .clk, .rst, .valid(resp_valid), .ready(resp_ready), .payload({resp_rd, resp_data}));
  fleet_answer_monitor #(.PORT(PORT), .SENDER(SUBORDINATE), .SAME_CYCLE(1)) answers (
    .clk, .rst, .ask(cmd_valid && cmd_ready), .answer(resp_valid && resp_ready));
endmodule

module fleet_cfu_manager #(parameter int W_CMD_FUNCTION = 10, parameter int W_CMD_INPUT0 = 32, parameter int W_RSP_OUTPUT = 32,
                           parameter string PORT = "", parameter int PAUSE = 0,
                           parameter bit HAS_RSP_READY = 1, parameter int OPW = 1280) (
  input logic clk, rst, go, input logic [OPW-1:0] op, output logic done, output logic [OPW-1:0] result,
  output logic cmd_valid,
  input  logic cmd_ready,
  output logic [W_CMD_FUNCTION-1:0] cmd_function,
  output logic [W_CMD_INPUT0-1:0] cmd_input0,
  output logic [W_CMD_INPUT0-1:0] cmd_input1,
  input  logic rsp_valid,
  output logic rsp_ready,
  input  logic [W_RSP_OUTPUT-1:0] rsp_output
);
  // {function, input0, input1}
  fleet_source #(.W(W_CMD_FUNCTION + 2 * W_CMD_INPUT0), .PAUSE(PAUSE), .OPW(OPW)) source (
    .clk, .rst, .go, .op, .done, .valid(cmd_valid), .ready(cmd_ready), .payload({cmd_function, cmd_input0, cmd_input1}));
  fleet_sink #(.W(W_RSP_OUTPUT), .PORT(PORT), .PAUSE(PAUSE), .REFUSES(HAS_RSP_READY), .OPW(OPW)) sink (
    .clk, .rst, .valid(rsp_valid), .ready(rsp_ready), .payload(rsp_output), .result);
endmodule

module fleet_cfu_monitor #(parameter int W_RSP_OUTPUT = 32, parameter string PORT = "", parameter string SUBORDINATE = "design",
                           parameter bit STABLE = 1) (
  input logic clk, rst,
  input logic cmd_valid,
  input logic cmd_ready,
  input logic rsp_valid,
  input logic rsp_ready,
  input logic [W_RSP_OUTPUT-1:0] rsp_output
);
  fleet_handshake_monitor #(.W(W_RSP_OUTPUT), .PORT(PORT), .CHANNEL("rsp: "), .SENDER(SUBORDINATE), .STABLE(STABLE)) rsp (
    .clk, .rst, .valid(rsp_valid), .ready(rsp_ready), .payload(rsp_output));
  fleet_answer_monitor #(.PORT(PORT), .SENDER(SUBORDINATE), .SAME_CYCLE(1)) answers (
    .clk, .rst, .ask(cmd_valid && cmd_ready), .answer(rsp_valid && rsp_ready));
endmodule
