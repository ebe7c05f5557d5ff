// An AXI4 interface with its modport; one without a modport, whose directions nothing tells.
interface AXI_BUS #(parameter int AW = 64, DW = 128, IW = 5, UW = 1);
  logic [IW-1:0] aw_id, b_id, ar_id, r_id; logic [AW-1:0] aw_addr, ar_addr; logic [7:0] aw_len, ar_len; logic [2:0] aw_size, ar_size, aw_prot, ar_prot;
  logic [1:0] aw_burst, ar_burst, b_resp, r_resp; logic aw_lock, ar_lock, aw_valid, aw_ready, w_last, w_valid, w_ready, b_valid, b_ready, ar_valid, ar_ready, r_last, r_valid, r_ready;
  logic [3:0] aw_cache, ar_cache, aw_qos, ar_qos, aw_region, ar_region; logic [5:0] aw_atop; logic [UW-1:0] aw_user, w_user, b_user, ar_user, r_user;
  logic [DW-1:0] w_data, r_data; logic [DW/8-1:0] w_strb;
  modport Master(output aw_id, aw_addr, aw_len, aw_size, aw_burst, aw_lock, aw_cache, aw_prot, aw_qos, aw_region, aw_atop, aw_user, aw_valid, input aw_ready,
    output w_data, w_strb, w_last, w_user, w_valid, input w_ready, input b_id, b_resp, b_user, b_valid, output b_ready,
    output ar_id, ar_addr, ar_len, ar_size, ar_burst, ar_lock, ar_cache, ar_prot, ar_qos, ar_region, ar_user, ar_valid, input ar_ready,
    input r_id, r_data, r_resp, r_last, r_user, r_valid, output r_ready);
endinterface
interface REG_BUS; logic [31:0] addr, wdata, rdata; logic write, valid, ready, error; logic [3:0] wstrb;
endinterface
module axi_if_top (
  input logic clk_i,
  input logic rst_ni,
  AXI_BUS.Master mst [2],
  REG_BUS regs
);
endmodule
