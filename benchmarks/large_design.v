// The ends of a large design, beside which benchmarks/large_design.py generates its clusters.
module LargeTop(
  input         clock,
  input         reset,
  input         psel,
  input         penable,
  input         pwrite,
  input  [11:0] paddr,
  input  [31:0] pwdata,
  output [31:0] prdata,
  output        pready,
  output        pslverr,
  output        m_axi_awvalid,
  input         m_axi_awready,
  output [3:0]  m_axi_awid,
  output [31:0] m_axi_awaddr,
  output [7:0]  m_axi_awlen,
  output [2:0]  m_axi_awsize,
  output [1:0]  m_axi_awburst,
  output        m_axi_wvalid,
  input         m_axi_wready,
  output [63:0] m_axi_wdata,
  output [7:0]  m_axi_wstrb,
  output        m_axi_wlast,
  input         m_axi_bvalid,
  output        m_axi_bready,
  input  [3:0]  m_axi_bid,
  input  [1:0]  m_axi_bresp,
  output        m_axi_arvalid,
  input         m_axi_arready,
  output [3:0]  m_axi_arid,
  output [31:0] m_axi_araddr,
  output [7:0]  m_axi_arlen,
  output [2:0]  m_axi_arsize,
  output [1:0]  m_axi_arburst,
  input         m_axi_rvalid,
  output        m_axi_rready,
  input  [3:0]  m_axi_rid,
  input  [63:0] m_axi_rdata,
  input  [1:0]  m_axi_rresp,
  input         m_axi_rlast,
  output        irq
);
  wire        start;
  wire [31:0] source, target;
  wire [15:0] words;
  wire        config_valid;
  wire [31:0] config_bits;
  wire        done;
  wire        valid_0, ready_0;
  wire [63:0] bits_0;
  ApbRegisters registers (
    .clock(clock), .reset(reset), .psel(psel), .penable(penable), .pwrite(pwrite), .paddr(paddr), .pwdata(pwdata),
    .prdata(prdata), .pready(pready), .pslverr(pslverr), .io_start(start), .io_source(source), .io_target(target),
    .io_words(words), .io_config_valid(config_valid), .io_config_bits(config_bits), .io_done(done), .io_irq(irq)
  );
  AxiReader reader (
    .clock(clock), .reset(reset), .io_start(start), .io_address(source), .io_words(words),
    .arvalid(m_axi_arvalid), .arready(m_axi_arready), .arid(m_axi_arid), .araddr(m_axi_araddr), .arlen(m_axi_arlen),
    .rvalid(m_axi_rvalid), .rready(m_axi_rready), .rdata(m_axi_rdata),
    .io_out_valid(valid_0), .io_out_ready(ready_0), .io_out_bits(bits_0)
  );
  assign m_axi_arsize = 3'd3;
  assign m_axi_arburst = 2'd1;
  assign m_axi_awsize = 3'd3;
  assign m_axi_awburst = 2'd1;
// clusters
  AxiWriter writer (
    .clock(clock), .reset(reset), .io_start(start), .io_address(target), .io_words(words),
    .awvalid(m_axi_awvalid), .awready(m_axi_awready), .awid(m_axi_awid), .awaddr(m_axi_awaddr), .awlen(m_axi_awlen),
    .wvalid(m_axi_wvalid), .wready(m_axi_wready), .wdata(m_axi_wdata), .wstrb(m_axi_wstrb), .wlast(m_axi_wlast),
    .bvalid(m_axi_bvalid), .bready(m_axi_bready),
    .io_in_valid(valid_LAST), .io_in_ready(ready_LAST), .io_in_bits(bits_LAST), .io_done(done)
  );
endmodule

module ApbRegisters(
  input         clock,
  input         reset,
  input         psel,
  input         penable,
  input         pwrite,
  input  [11:0] paddr,
  input  [31:0] pwdata,
  output [31:0] prdata,
  output        pready,
  output        pslverr,
  output        io_start,
  output [31:0] io_source,
  output [31:0] io_target,
  output [15:0] io_words,
  output        io_config_valid,
  output [31:0] io_config_bits,
  input         io_done,
  output        io_irq
);
  reg  [31:0] source;
  reg  [31:0] target;
  reg  [15:0] words;
  reg         start;
  reg         busy;
  reg         irq;
  wire        write = psel & penable & pwrite;
  assign pready = 1'h1;
  assign pslverr = psel & penable & paddr > 12'h14;
  assign prdata = paddr == 12'h0 ? 32'h1a26e001
    : paddr == 12'h4 ? source
    : paddr == 12'h8 ? target
    : paddr == 12'hc ? {16'h0, words}
    : {30'h0, irq, busy};
  assign io_start = start;
  assign io_source = source;
  assign io_target = target;
  assign io_words = words;
  assign io_config_valid = write & paddr == 12'h14;
  assign io_config_bits = pwdata;
  assign io_irq = irq;
  always @(posedge clock) begin
    if (reset) begin
      source <= 32'h0;
      target <= 32'h0;
      words <= 16'h0;
      start <= 1'h0;
      busy <= 1'h0;
      irq <= 1'h0;
    end else begin
      start <= write & paddr == 12'h10;
      if (write & paddr == 12'h4) source <= pwdata;
      if (write & paddr == 12'h8) target <= pwdata;
      if (write & paddr == 12'hc) words <= pwdata[15:0];
      if (write & paddr == 12'h10) begin
        busy <= 1'h1;
        irq <= 1'h0;
      end else if (io_done) begin
        busy <= 1'h0;
        irq <= 1'h1;
      end
    end
  end
endmodule

module AxiReader(
  input         clock,
  input         reset,
  input         io_start,
  input  [31:0] io_address,
  input  [15:0] io_words,
  output        arvalid,
  input         arready,
  output [3:0]  arid,
  output [31:0] araddr,
  output [7:0]  arlen,
  input         rvalid,
  output        rready,
  input  [63:0] rdata,
  output        io_out_valid,
  input         io_out_ready,
  output [63:0] io_out_bits
);
  reg         asking;
  reg  [31:0] address;
  reg  [15:0] left;
  assign arvalid = asking;
  assign arid = 4'h1;
  assign araddr = address;
  assign arlen = 8'h0;
  assign rready = io_out_ready;
  assign io_out_valid = rvalid;
  assign io_out_bits = rdata;
  always @(posedge clock) begin
    if (reset) begin
      asking <= 1'h0;
      address <= 32'h0;
      left <= 16'h0;
    end else if (io_start) begin
      asking <= |io_words;
      address <= io_address;
      left <= io_words;
    end else if (asking & arready) begin
      asking <= left != 16'h1;
      address <= address + 32'h8;
      left <= left - 16'h1;
    end
  end
endmodule

module AxiWriter(
  input         clock,
  input         reset,
  input         io_start,
  input  [31:0] io_address,
  input  [15:0] io_words,
  output        awvalid,
  input         awready,
  output [3:0]  awid,
  output [31:0] awaddr,
  output [7:0]  awlen,
  output        wvalid,
  input         wready,
  output [63:0] wdata,
  output [7:0]  wstrb,
  output        wlast,
  input         bvalid,
  output        bready,
  input         io_in_valid,
  output        io_in_ready,
  input  [63:0] io_in_bits,
  output        io_done
);
  reg         addressing;
  reg         sending;
  reg         done;
  reg  [63:0] word;
  reg  [31:0] address;
  reg  [15:0] answers;
  wire        free = ~addressing & ~sending;
  assign awvalid = addressing;
  assign awid = 4'h2;
  assign awaddr = address;
  assign awlen = 8'h0;
  assign wvalid = sending;
  assign wdata = word;
  assign wstrb = 8'hff;
  assign wlast = 1'h1;
  assign bready = 1'h1;
  assign io_in_ready = free;
  assign io_done = done;
  always @(posedge clock) begin
    if (reset) begin
      addressing <= 1'h0;
      sending <= 1'h0;
      done <= 1'h0;
      word <= 64'h0;
      address <= 32'h0;
      answers <= 16'h0;
    end else begin
      done <= bvalid & answers == 16'h1;
      if (io_start) begin
        address <= io_address;
        answers <= io_words;
      end else begin
        if (io_in_valid & free) begin
          addressing <= 1'h1;
          sending <= 1'h1;
          word <= io_in_bits;
        end
        if (addressing & awready) begin
          addressing <= 1'h0;
          address <= address + 32'h8;
        end
        if (sending & wready) sending <= 1'h0;
        if (bvalid) answers <= answers - 16'h1;
      end
    end
  end
endmodule
