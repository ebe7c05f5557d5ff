// Registers of 32 bits on buses of 64: two share a beat, and strobes choose.
// fault_i: 1: a write ignores its strobes.
module lanes64 (
  input  logic        clk, rst,
  input  logic        fault_i,
  input  logic        l_awvalid, l_wvalid, l_bready, l_arvalid, l_rready,
  output logic        l_awready, l_wready, l_bvalid, l_arready, l_rvalid,
  input  logic [7:0]  l_awaddr, l_araddr,
  input  logic [63:0] l_wdata,
  input  logic [7:0]  l_wstrb,
  output logic [63:0] l_rdata,
  output logic [1:0]  l_bresp, l_rresp,
  input  logic        h_hsel, h_hwrite, h_hready,
  input  logic [7:0]  h_haddr,
  input  logic [1:0]  h_htrans,
  input  logic [2:0]  h_hsize,
  input  logic [63:0] h_hwdata,
  output logic        h_hreadyout, h_hresp,
  output logic [63:0] h_hrdata,
  input  logic        w_cyc, w_stb, w_we,
  input  logic [4:0]  w_adr,
  input  logic [7:0]  w_sel,
  input  logic [63:0] w_dat_i,
  output logic [63:0] w_dat_o,
  output logic        w_ack,
  input  logic [4:0]  v_address,
  input  logic        v_read, v_write,
  input  logic [63:0] v_writedata,
  input  logic [7:0]  v_byteenable,
  output logic [63:0] v_readdata,
  output logic        v_readdatavalid, v_waitrequest,
  input  logic        o_req, o_we,
  input  logic [7:0]  o_addr, o_be,
  input  logic [63:0] o_wdata,
  output logic        o_gnt, o_rvalid,
  output logic [63:0] o_rdata,
  input  logic        t_a_valid, t_d_ready,
  input  logic [2:0]  t_a_opcode, t_a_param, t_a_size,
  input  logic        t_a_source,
  input  logic [7:0]  t_a_address, t_a_mask,
  input  logic [63:0] t_a_data,
  output logic        t_a_ready, t_d_valid, t_d_source, t_d_denied,
  output logic [2:0]  t_d_opcode, t_d_size,
  output logic [63:0] t_d_data
);
  logic [63:0] r [6][4];
  function automatic logic [63:0] merged(logic [63:0] old, logic [63:0] data, logic [7:0] strobes);
    for (int i = 0; i < 8; i++) merged[i*8 +: 8] = strobes[i] || fault_i ? data[i*8 +: 8] : old[i*8 +: 8];
  endfunction
  // AXI4-Lite
  wire l_take = l_awvalid && l_wvalid && !l_bvalid;
  assign {l_awready, l_wready, l_arready} = {l_take, l_take, !l_rvalid};
  assign {l_bresp, l_rresp} = '0;
  always_ff @(posedge clk)
    if (rst) {l_bvalid, l_rvalid} <= '0;
    else begin
      if (l_bready) l_bvalid <= 0;
      if (l_take) begin l_bvalid <= 1; r[0][l_awaddr[4:3]] <= merged(r[0][l_awaddr[4:3]], l_wdata, l_wstrb); end
      if (l_rready) l_rvalid <= 0;
      if (l_arvalid && l_arready) begin l_rvalid <= 1; l_rdata <= r[0][l_araddr[4:3]]; end
    end
  // AHB-Lite
  logic h_write;
  logic [7:0] h_at, h_mask;
  assign {h_hreadyout, h_hresp} = 2'b10;
  assign h_hrdata = r[1][h_at[4:3]];
  always_ff @(posedge clk) begin
    if (h_hready) begin
      h_write <= !rst && h_hsel && h_htrans[1] && h_hwrite; h_at <= h_haddr;
      h_mask <= 8'((9'd1 << (1 << h_hsize)) - 1) << h_haddr[2:0];
    end
    if (h_write) r[1][h_at[4:3]] <= merged(r[1][h_at[4:3]], h_hwdata, h_mask);
  end
  // Wishbone; an address counts 8 bytes
  always_ff @(posedge clk) begin
    w_ack <= w_cyc && w_stb && !w_ack && !rst;
    w_dat_o <= r[2][w_adr[1:0]];
    if (w_cyc && w_stb && w_we && !w_ack) r[2][w_adr[1:0]] <= merged(r[2][w_adr[1:0]], w_dat_i, w_sel);
  end
  // Avalon
  assign v_waitrequest = 0;
  always_ff @(posedge clk) begin
    v_readdatavalid <= v_read && !rst;
    v_readdata <= r[3][v_address[1:0]];
    if (v_write) r[3][v_address[1:0]] <= merged(r[3][v_address[1:0]], v_writedata, v_byteenable);
  end
  // OBI
  assign o_gnt = o_req;
  always_ff @(posedge clk) begin
    o_rvalid <= o_req && !rst;
    o_rdata <= r[4][o_addr[4:3]];
    if (o_req && o_we) r[4][o_addr[4:3]] <= merged(r[4][o_addr[4:3]], o_wdata, o_be);
  end
  // TileLink
  assign t_a_ready = !t_d_valid;
  assign t_d_denied = 0;
  always_ff @(posedge clk)
    if (rst) t_d_valid <= 0;
    else if (t_d_valid) t_d_valid <= !t_d_ready;
    else if (t_a_valid) begin
      t_d_valid <= 1; t_d_opcode <= t_a_opcode == 4 ? 1 : 0; t_d_size <= t_a_size; t_d_source <= t_a_source;
      t_d_data <= r[5][t_a_address[4:3]];
      if (t_a_opcode != 4) r[5][t_a_address[4:3]] <= merged(r[5][t_a_address[4:3]], t_a_data, t_a_mask);
    end
endmodule
