// Wishbone B4, pipelined in both roles. A write at 0 adds to a sum, a write at 4 copies the word at 0x100, plus the sum, to 0x200.
// fault_i: 1: adds in stalled cycles, too; 2: counts its own stall as an answer; 3: takes the request back while it is stalled.
module wb_adder (
  input  logic        clk, rst,
  input  logic [1:0]  fault_i,
  input  logic        s_cyc, s_stb, s_we,
  input  logic [3:0]  s_adr, s_sel,
  input  logic [31:0] s_dat_i,
  output logic [31:0] s_dat_o,
  output logic        s_ack, s_stall,
  output logic        m_cyc, m_stb, m_we,
  output logic [31:0] m_adr, m_dat_o,
  output logic [3:0]  m_sel,
  input  logic [31:0] m_dat_i,
  input  logic        m_ack, m_stall,
  output logic        done
);
  typedef enum logic [2:0] {IDLE, READ, READING, WRITE, WRITING} state_t;
  state_t state;
  logic [31:0] sum, data;
  logic was;
  wire asked = s_cyc && s_stb;
  wire take = asked && !s_stall;
  assign s_stall = asked && !was;  // the first cycle of each access
  assign m_cyc = state != IDLE;
  assign m_stb = (state == READ || state == WRITE) && !(fault_i == 3 && was_stalled);
  logic was_stalled;
  assign m_we = state == WRITE;
  assign m_adr = state == READ ? 32'h100 : 32'h200;
  assign m_sel = '1;
  assign m_dat_o = data + sum;
  always_ff @(posedge clk)
    if (rst) begin
      sum <= 0; s_ack <= 0; was <= 0; state <= IDLE; done <= 0; was_stalled <= 0;
    end else begin
      was <= s_stall;
      was_stalled <= m_stb && m_stall;
      s_ack <= take || (fault_i == 2 && s_stall);
      s_dat_o <= sum;
      if ((take || (fault_i == 1 && asked)) && s_we && s_adr == 0) sum <= sum + s_dat_i;
      if (take && s_we && s_adr == 4) begin state <= READ; done <= 0; end
      case (state)
        READ: if (!m_stall && m_stb) state <= READING;
        READING: if (m_ack) begin state <= WRITE; data <= m_dat_i; end
        WRITE: if (!m_stall && m_stb) state <= WRITING;
        WRITING: if (m_ack) begin state <= IDLE; done <= 1; end
        default: ;
      endcase
    end
endmodule
