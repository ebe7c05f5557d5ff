// Memories on six buses: bus_i chooses which one reads four words at 0x100 and writes their sum to 0x200. Registers behind four more.
// fault_i: 1: a master does not look at what keeps it waiting. 2: responses are pulses that nobody need take. 3: an address of AXI4-Lite
// is not kept until the data come. 4: AHB looks at HSEL alone, Wishbone at CYC alone. 5: AHB takes an address while HREADY is low.
// 6: AHB takes the address of the data phase.
module waiting (
  input  logic        clk, rst_n,
  input  logic [2:0]  fault_i, bus_i,
  output logic        done,
  // AXI4
  output logic        x_arvalid, x_rready, x_awvalid, x_wvalid, x_wlast, x_bready,
  output logic [31:0] x_araddr, x_awaddr, x_wdata,
  output logic [7:0]  x_arlen, x_awlen,
  output logic [2:0]  x_arsize, x_awsize,
  output logic [1:0]  x_arburst, x_awburst,
  output logic [3:0]  x_wstrb,
  input  logic        x_arready, x_rvalid, x_rlast, x_awready, x_wready, x_bvalid,
  input  logic [31:0] x_rdata,
  input  logic [1:0]  x_rresp, x_bresp,
  // Avalon
  output logic        v_read, v_write,
  output logic [31:0] v_address, v_writedata,
  input  logic        v_waitrequest, v_readdatavalid,
  input  logic [31:0] v_readdata,
  // Wishbone
  output logic        w_cyc, w_stb, w_we,
  output logic [31:0] w_adr, w_dat_o,
  input  logic        w_ack,
  input  logic [31:0] w_dat_i,
  // AHB-Lite
  output logic [1:0]  h_htrans,
  output logic [2:0]  h_hsize,
  output logic        h_hwrite,
  output logic [31:0] h_haddr, h_hwdata,
  input  logic        h_hready, h_hresp,
  input  logic [31:0] h_hrdata,
  // APB
  output logic        p_psel, p_penable, p_pwrite,
  output logic [31:0] p_paddr, p_pwdata,
  input  logic        p_pready,
  input  logic [31:0] p_prdata,
  // valid and ready
  output logic        n_valid, n_write,
  output logic [31:0] n_addr, n_wdata,
  input  logic        n_ready,
  input  logic [31:0] n_rdata,
  // Registers: AXI4-Lite, AHB-Lite, Wishbone, TileLink
  input  logic        l_awvalid, l_wvalid, l_bready, l_arvalid, l_rready,
  output logic        l_awready, l_wready, l_bvalid, l_arready, l_rvalid,
  input  logic [7:0]  l_awaddr, l_araddr,
  input  logic [31:0] l_wdata,
  output logic [31:0] l_rdata,
  output logic [1:0]  l_bresp, l_rresp,
  input  logic        g_hsel, g_hwrite, g_hready,
  input  logic [7:0]  g_haddr,
  input  logic [1:0]  g_htrans,
  input  logic [31:0] g_hwdata,
  output logic        g_hreadyout, g_hresp,
  output logic [31:0] g_hrdata,
  input  logic        b_cyc, b_stb, b_we,
  input  logic [7:0]  b_adr,
  input  logic [31:0] b_dat_i,
  output logic [31:0] b_dat_o,
  output logic        b_ack,
  input  logic        t_a_valid, t_d_ready,
  input  logic [2:0]  t_a_opcode, t_a_param, t_a_size,
  input  logic        t_a_source,
  input  logic [7:0]  t_a_address,
  input  logic [3:0]  t_a_mask,
  input  logic [31:0] t_a_data,
  output logic        t_a_ready, t_d_valid, t_d_source, t_d_denied,
  output logic [2:0]  t_d_opcode, t_d_size,
  output logic [31:0] t_d_data
);
  // One access after the other: asks until taken, then waits for its answer.
  logic asks, waits, write, taken, answer, hurries;
  logic [2:0] n, bus;
  logic [31:0] sum, data, address;
  assign hurries = fault_i == 1;
  assign write = n == 4;
  assign address = write ? 32'h200 : 32'h100 + 32'(4 * n);
  always_ff @(posedge clk)
    if (!rst_n) begin {asks, waits, n, sum, done, bus} <= '0; end
    else if (bus != bus_i) begin bus <= bus_i; asks <= 1; n <= 0; sum <= 0; done <= 0; end
    else begin
      if (asks && taken) begin asks <= 0; waits <= !answer; end
      if (answer && (waits || (asks && taken))) begin
        waits <= 0; sum <= sum + data; n <= n + 1;
        if (write) done <= 1; else asks <= 1;
      end
    end
  // AXI4: a burst of four beats
  logic ar_done, aw_done, w_done;
  logic [1:0] beat;
  assign {x_arlen, x_awlen, x_arsize, x_awsize, x_arburst, x_awburst, x_wstrb, x_wlast} = {8'd3, 8'd0, 3'd2, 3'd2, 2'd1, 2'd1, 4'hf, 1'b1};
  assign {x_araddr, x_awaddr, x_wdata} = {32'h100, 32'h200, sum};
  assign x_arvalid = bus == 1 && asks && n == 0 && !ar_done;
  assign x_rready = ar_done;
  wire x_beat = ar_done && (x_rvalid || (hurries && beat != 0));
  assign x_awvalid = bus == 1 && asks && write && !aw_done;
  assign x_wvalid = bus == 1 && asks && write && !w_done;
  assign x_bready = aw_done && w_done;
  always_ff @(posedge clk)
    if (!rst_n) begin {ar_done, aw_done, w_done, beat} <= '0; end
    else begin
      if (x_arvalid && x_arready) ar_done <= 1;
      if (x_beat) begin beat <= beat + 1; if (beat == 3) ar_done <= 0; end
      if (x_awvalid && x_awready) aw_done <= 1;
      if (x_wvalid && x_wready) w_done <= 1;
      if (x_bvalid && x_bready) {aw_done, w_done} <= '0;
    end
  // Avalon
  assign {v_read, v_write} = {2{bus == 2 && asks}} & {!write, write};
  assign {v_address, v_writedata} = {address, sum};
  // Wishbone
  assign {w_cyc, w_stb, w_we, w_adr, w_dat_o} = {bus == 3 && asks, bus == 3 && asks, write, address, sum};
  // AHB-Lite
  assign {h_htrans, h_hsize, h_hwrite, h_haddr} = {bus == 4 && asks ? 2'd2 : 2'd0, 3'd2, write, address};
  always_ff @(posedge clk) if (h_hready) h_hwdata <= sum;
  // APB
  always_ff @(posedge clk) p_penable <= bus == 5 && asks && !(p_penable && taken);
  assign {p_psel, p_pwrite, p_paddr, p_pwdata} = {bus == 5 && asks, write, address, sum};
  // valid and ready
  assign {n_valid, n_write, n_addr, n_wdata} = {bus == 6 && asks, write, address, sum};
  logic late;
  always_ff @(posedge clk) late <= asks && !late;  // a cycle later than the request
  always_comb begin
    {taken, answer, data} = '0;
    case (bus)
      1: begin taken = write ? x_bvalid && x_bready : x_beat; answer = taken; data = x_rdata; end
      2: begin taken = !v_waitrequest || hurries; answer = write ? taken : v_readdatavalid; data = v_readdata; end
      3: begin taken = hurries ? late : w_ack; answer = taken; data = w_dat_i; end
      4: begin taken = h_hready || hurries; answer = waits && (h_hready || hurries); data = h_hrdata; end
      5: begin taken = p_penable && (p_pready || hurries); answer = taken; data = p_prdata; end
      6: begin taken = hurries ? late : n_ready; answer = taken; data = n_rdata; end
      default: ;
    endcase
  end
  // Registers
  logic [31:0] l [64], g [64], b [64], t [64];
  logic aw_held;
  logic [7:0] l_at;
  wire pulses = fault_i == 2;
  assign {l_bresp, l_rresp} = '0;
  assign l_awready = !aw_held;
  assign l_wready = (aw_held || fault_i == 3) && !l_bvalid;
  assign l_arready = !l_rvalid;
  always_ff @(posedge clk)
    if (!rst_n) {l_bvalid, l_rvalid, aw_held} <= '0;
    else begin
      if (l_bready || pulses) l_bvalid <= 0;
      if (l_rready || pulses) l_rvalid <= 0;
      if (l_awvalid && l_awready) begin aw_held <= 1; l_at <= l_awaddr; end
      if (l_wvalid && l_wready) begin aw_held <= 0; l_bvalid <= 1; l[fault_i == 3 ? l_awaddr[7:2] : l_at[7:2]] <= l_wdata; end
      if (l_arvalid && l_arready) begin l_rvalid <= 1; l_rdata <= l[l_araddr[7:2]]; end
    end
  logic g_write;
  logic [7:0] g_at;
  logic [31:0] g_count;
  assign {g_hreadyout, g_hresp} = 2'b10;
  assign g_hrdata = g_at[7:2] == 63 ? g_count : g[g_at[7:2]];
  always_ff @(posedge clk) begin
    if (g_hready || fault_i == 5) begin
      g_write <= rst_n && g_hsel && (g_htrans[1] || fault_i == 4) && g_hwrite;
      g_at <= g_haddr;
    end
    if (!rst_n) g_count <= 0;
    else if (g_write && (g_hready || fault_i == 5)) begin g[fault_i == 6 ? g_haddr[7:2] : g_at[7:2]] <= g_hwdata; g_count <= g_count + 1; end
  end
  logic [31:0] b_count;
  wire b_asked = b_cyc && (b_stb || fault_i == 4) && !b_ack;
  always_ff @(posedge clk) begin
    b_ack <= rst_n && b_asked;
    b_dat_o <= b_adr[7:2] == 63 ? b_count : b[b_adr[7:2]];
    if (!rst_n) b_count <= 0;
    else if (b_asked && b_we) begin b[b_adr[7:2]] <= b_dat_i; b_count <= b_count + 1; end
  end
  assign t_a_ready = !t_d_valid;
  assign t_d_denied = 0;
  always_ff @(posedge clk)
    if (!rst_n) t_d_valid <= 0;
    else if (t_d_valid) t_d_valid <= !(t_d_ready || pulses);
    else if (t_a_valid) begin
      t_d_valid <= 1; t_d_opcode <= t_a_opcode == 4 ? 1 : 0; t_d_size <= t_a_size; t_d_source <= t_a_source;
      t_d_data <= t[t_a_address[7:2]];
      if (t_a_opcode != 4) t[t_a_address[7:2]] <= t_a_data;
    end
endmodule
