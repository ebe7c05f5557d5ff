// Registers whose data only the time of a read tells, and Avalon without readdatavalid in both roles. A write at 12 of v copies the word
// at 0x100, plus one, to 0x200. fault_i: 1: v answers only before it stops to wait; 2: m takes the data one cycle late.
module by_time (
  input  logic        clk, rst,
  input  logic [1:0]  fault_i,
  input  logic [1:0]  v_address,
  input  logic        v_read, v_write,
  input  logic [31:0] v_writedata,
  output logic [31:0] v_readdata,
  output logic        v_waitrequest,
  output logic [31:0] m_address, m_writedata,
  output logic        m_read, m_write,
  input  logic [31:0] m_readdata,
  input  logic        m_waitrequest,
  output logic        done,
  input  logic        c_cs, c_we,
  input  logic [2:0]  c_addr,
  input  logic [7:0]  c_wdata,
  output logic [7:0]  c_rdata,
  input  logic        q_cs, q_we,
  input  logic [2:0]  q_addr,
  input  logic [7:0]  q_wdata,
  output logic [7:0]  q_rdata
);
  logic [31:0] r [4];
  logic [7:0] c [8], q [8];
  logic ok, late;
  wire asked = v_read || v_write;
  assign v_waitrequest = asked && !ok;
  assign v_readdata = v_read && (fault_i == 1 ? !ok : ok) ? r[v_address] : 32'hdead;
  assign c_rdata = c_cs && !c_we ? c[c_addr] : 8'hee;
  always_ff @(posedge clk) begin
    ok <= asked && !ok && !rst;
    if (v_write && ok) r[v_address] <= v_writedata;
    if (c_cs && c_we) c[c_addr] <= c_wdata;
    if (q_cs && q_we) q[q_addr] <= q_wdata;
    q_rdata <= q_cs && !q_we ? q[q_addr] : 8'hee;
  end
  always_ff @(posedge clk)
    if (rst) begin {m_read, m_write, done, late} <= '0; {m_address, m_writedata} <= '0; end
    else begin
      late <= m_read && !m_waitrequest;
      if (v_write && ok && v_address == 3) begin m_read <= 1; m_address <= 32'h100; done <= 0; end
      if (m_read && !m_waitrequest) begin
        m_read <= 0; m_write <= fault_i != 2; m_address <= 32'h200; m_writedata <= m_readdata + 1;
      end
      if (late && fault_i == 2) begin m_write <= 1; m_writedata <= m_readdata + 1; end
      if (m_write && !m_waitrequest) begin m_write <= 0; done <= 1; end
    end
endmodule
