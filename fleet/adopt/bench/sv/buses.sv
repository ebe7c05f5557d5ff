// Managers that a script drives (op: {size, write, address, data}; result: {error, data}), memories and monitors of buses.
// Where a port has strobes of bytes, an access of fewer bytes than its data takes the lanes of its address.
module fleet_apb_manager #(parameter int W_PADDR = 32, parameter int W_PSEL = 1, parameter int W_PWDATA = 32, parameter int W_PSTRB = 4,
                           parameter bit HAS_PSTRB = 0, parameter int OPW = 1280) (
  input logic clk, rst, go, input logic [OPW-1:0] op, output logic done, output logic [OPW-1:0] result,
  output logic [W_PSEL-1:0] psel,
  output logic penable,
  output logic pwrite,
  output logic [W_PADDR-1:0] paddr,
  output logic [W_PWDATA-1:0] pwdata,
  output logic [W_PSTRB-1:0] pstrb,
  input  logic [W_PWDATA-1:0] prdata,
  input  logic pready,
  input  logic pslverr
);
  initial begin psel = 0; penable = 0; done = 0; end
  localparam int BYTES = W_PWDATA / 8;
  logic [W_PSTRB-1:0] strobe;
  int unsigned log2, lane;
  assign pstrb = pwrite ? strobe : '0;
  always @(posedge clk) begin
    done <= 0;
    if (rst) begin psel <= 0; penable <= 0; end
    else if (psel == 0) begin
      if (go && !done) begin
        log2 = HAS_PSTRB ? fleet_bench_pkg::log2_of(op[1092:1089], op[1087:1024], BYTES) : $clog2(BYTES);
        lane = HAS_PSTRB ? 32'(op[1087:1024] % 64'(BYTES)) : 0;
        strobe <= W_PSTRB == BYTES ? W_PSTRB'(((129'd1 << (1 << log2)) - 1) << lane) : '1;
        psel <= W_PSEL'(1); pwrite <= op[1088]; paddr <= W_PADDR'(op[1087:1024]); pwdata <= W_PWDATA'(op[1023:0]) << 8 * lane;
      end
    end else if (!penable) penable <= 1;
    else if (pready) begin
      psel <= 0; penable <= 0; done <= 1;
      result <= '0; result[1024] <= pslverr; result[1023:0] <= (1024'(prdata) >> 8 * lane) & ((1024'd1 << (8 << log2)) - 1);
    end
  end
endmodule

module fleet_apb_subordinate #(parameter int W_PADDR = 32, parameter int W_PSEL = 1, parameter int W_PRDATA = 32, parameter int W_PSTRB = 4,
                               parameter int SPACE = 0, parameter int PAUSE = 0) (
  input logic clk, rst,
  input  logic [W_PSEL-1:0] psel,
  input  logic penable,
  input  logic pwrite,
  input  logic [W_PADDR-1:0] paddr,
  input  logic [W_PRDATA-1:0] pwdata,
  input  logic [W_PSTRB-1:0] pstrb,
  output logic [W_PRDATA-1:0] prdata,
  output logic pready,
  output logic pslverr
);
  localparam int BYTES = W_PRDATA / 8;
  assign pslverr = 0;
  initial pready = 0;
  logic waits;
  fleet_pause #(.PAUSE(PAUSE)) pause (.clk, .now(waits));
  always @(posedge clk) begin : step
    pready <= !rst && psel != 0 && !pready && !waits;
    if (!rst && psel != 0 && !pready && !waits)
      for (int i = 0; i < BYTES; i++) begin
        if (!pwrite) prdata[i*8 +: 8] <= fleet_bench_pkg::get(8'(SPACE), 56'(paddr) / BYTES * BYTES + 56'(i));
        else if (penable && pstrb[W_PSTRB == BYTES ? i : 0])
          fleet_bench_pkg::put(8'(SPACE), 56'(paddr) / BYTES * BYTES + 56'(i), pwdata[i*8 +: 8]);
      end
    if (!rst && psel != 0 && !penable && pwrite) pready <= 0;
  end
endmodule

module fleet_apb_monitor #(parameter int W_PADDR = 32, parameter int W_PSEL = 1, parameter int W_PWDATA = 32, parameter string PORT = "",
                           parameter string MANAGER = "design") (
  input logic clk, rst,
  input logic [W_PSEL-1:0] psel,
  input logic penable,
  input logic pwrite,
  input logic [W_PADDR-1:0] paddr,
  input logic [W_PWDATA-1:0] pwdata,
  input logic pready
);
  logic setup = 0, access = 0;
  logic [W_PADDR+W_PWDATA+W_PSEL:0] held;
  wire [W_PADDR+W_PWDATA+W_PSEL:0] now = {psel, pwrite, paddr, pwrite ? pwdata : '0};
  always @(posedge clk) begin
    held <= now;
    setup <= !rst && psel != 0 && !penable;
    access <= !rst && psel != 0 && penable && !pready;
    if (!rst) begin
      if (penable && psel != 0 && !setup && !access) fleet_bench_pkg::violation(PORT, "penable without a setup cycle", MANAGER);
      if (setup && !(psel != 0 && penable)) fleet_bench_pkg::violation(PORT, "no access cycle after setup", MANAGER);
      if (access && !(psel != 0 && penable)) fleet_bench_pkg::violation(PORT, "access ended before pready", MANAGER);
      if ((setup || access) && psel != 0 && now !== held)
        fleet_bench_pkg::violation(PORT, "address, direction or data changed during an access", MANAGER);
    end
  end
endmodule

// Wishbone B4. With `stall` cycles are pipelined: STB is high until one cycle without STALL, which is one access, and ACK comes in that
// cycle or later. Without, they are classic: STB is high until ACK. SHIFT: 2 where an address counts words of 32 bits.
module fleet_wishbone_manager #(parameter int W_ADR = 32, parameter int W_DAT_R = 32, parameter int W_SEL = 4, parameter int SHIFT = 0,
                                parameter bit HAS_STALL = 0, parameter bit HAS_SEL = 0, parameter bit HAS_STB = 0,
                                parameter int PAUSE = 0, parameter int OPW = 1280) (
  input logic clk, rst, go, input logic [OPW-1:0] op, output logic done, output logic [OPW-1:0] result,
  output logic cyc,
  output logic stb,
  output logic we,
  output logic [W_ADR-1:0] adr,
  output logic [W_DAT_R-1:0] dat_w,
  output logic [W_SEL-1:0] sel,
  input  logic [W_DAT_R-1:0] dat_r,
  input  logic ack,
  input  logic err,
  input  logic stall
);
  initial begin cyc = 0; stb = 0; done = 0; end
  localparam int BYTES = W_DAT_R / 8;
  int unsigned log2, lane;
  bit asks = 0;  // CYC is high, and STB will be
  logic waits;
  fleet_pause #(.PAUSE(HAS_STB ? PAUSE : 0)) pause (.clk, .now(waits));
  bit narrow;
  always @(posedge clk) begin
    done <= 0;
    if (rst) begin cyc <= 0; stb <= 0; asks = 0; end
    else if (!cyc) begin
      if (go && !done) begin
        narrow = HAS_SEL && W_SEL == BYTES && (SHIFT != 0 || op[1092:1089] != 0);  // else the address may count words
        log2 = narrow ? fleet_bench_pkg::log2_of(op[1092:1089], op[1087:1024], BYTES) : $clog2(BYTES);
        lane = narrow ? 32'(op[1087:1024] % 64'(BYTES)) : 0;
        sel <= narrow ? W_SEL'(((129'd1 << (1 << log2)) - 1) << lane) : '1;
        asks = HAS_STB && PAUSE != 0 && (waits || fleet_bench_pkg::drawn(2, fleet_bench_pkg::cycle));
        cyc <= 1; stb <= !asks; we <= op[1088]; adr <= W_ADR'(op[1087:1024] >> SHIFT); dat_w <= W_DAT_R'(op[1023:0]) << 8 * lane;
      end
    end else if (asks) begin stb <= !waits; asks = waits; end
    else begin
      if (HAS_STALL && !stall) stb <= 0;
      if ((ack || err) && !(HAS_STALL && stb && stall)) begin
        cyc <= 0; stb <= 0; done <= 1;
        result <= '0; result[1024] <= err; result[1023:0] <= (1024'(dat_r) >> 8 * lane) & (narrow ? (1024'd1 << (8 << log2)) - 1 : '1);
      end
    end
  end
endmodule

module fleet_wishbone_subordinate #(parameter int W_ADR = 32, parameter int W_DAT_R = 32, parameter int W_SEL = 4, parameter int SHIFT = 0,
                                    parameter bit HAS_STALL = 0, parameter int SPACE = 0, parameter int LATENCY = 1,
                                    parameter int PAUSE = 0) (
  input logic clk, rst,
  input  logic cyc,
  input  logic stb,
  input  logic we,
  input  logic [W_ADR-1:0] adr,
  input  logic [W_DAT_R-1:0] dat_w,
  input  logic [W_SEL-1:0] sel,
  output logic [W_DAT_R-1:0] dat_r,
  output logic ack,
  output logic err,
  output logic stall
);
  assign err = 0;
  if (HAS_STALL) begin : pipelined
    localparam int BYTES = (W_DAT_R + 7) / 8;
    logic [W_DAT_R-1:0] mask;
    logic waits;
    fleet_pause #(.PAUSE(PAUSE)) pause (.clk, .now(waits));
    assign stall = rst || waits;
    fleet_spread #(.W(W_DAT_R), .WM(W_SEL)) spread (.mask(sel), .bits(mask));
    // A cycle that ends takes its accesses along.
    fleet_memory_pipe #(.W(W_DAT_R), .SPACE(SPACE), .LATENCY(LATENCY)) pipe (
      .clk, .rst(rst || !cyc), .take(cyc && stb && !stall), .write(we), .address((64'(adr) << SHIFT) / BYTES * BYTES), .wdata(dat_w),
      .wmask(mask), .valid(ack), .rdata(dat_r));
  end else begin : classic
    assign stall = 0;
    fleet_native_memory_subordinate #(.W_ADDR(64), .W_RDATA(W_DAT_R), .W_WSTRB(W_SEL), .SPACE(SPACE), .LATENCY(LATENCY), .PAUSE(PAUSE),
                                      .HAS_WRITE(1)) memory (.clk, .rst, .valid(cyc && stb), .ready(ack), .write(we), .addr(64'(adr) << SHIFT), .wdata(dat_w), .wstrb(sel),
              .rdata(dat_r));
  end
endmodule

module fleet_wishbone_monitor #(parameter int W_ADR = 32, parameter int W_DAT_R = 32, parameter int W_SEL = 4, parameter string PORT = "",
                                parameter string MANAGER = "design", parameter string SUBORDINATE = "bench", parameter bit STABLE = 1,
                                parameter bit HAS_STALL = 0) (
  input logic clk, rst,
  input logic cyc,
  input logic stb,
  input logic we,
  input logic [W_ADR-1:0] adr,
  input logic [W_DAT_R-1:0] dat_w,
  input logic [W_SEL-1:0] sel,
  input logic ack,
  input logic err,
  input logic rty,
  input logic stall
);
  wire answer = ack || err || rty;
  fleet_handshake_monitor #(.W(W_ADR + W_DAT_R + W_SEL + 1), .PORT(PORT), .SENDER(MANAGER), .STABLE(STABLE), .IN_RESET(1)) monitor (
    .clk, .rst, .valid(cyc && stb), .ready(HAS_STALL ? !stall : answer), .payload({we, sel, adr, we ? dat_w : '0}));
  always @(posedge clk) if (!rst && answer && !cyc) fleet_bench_pkg::violation(PORT, "response without a cycle", SUBORDINATE);
  if (HAS_STALL) begin : pipelined
    fleet_answer_monitor #(.PORT(PORT), .SENDER(SUBORDINATE), .SAME_CYCLE(1)) answers (
      .clk, .rst(rst || !cyc), .ask(cyc && stb && !stall), .answer(answer && cyc));
  end
endmodule

module fleet_ahb_lite_manager #(parameter int W_HADDR = 32, parameter int W_HWDATA = 32, parameter bit HAS_HSIZE = 0,
                                parameter bit HAS_HREADY = 0, parameter int PAUSE = 0, parameter int OPW = 1280) (
  input logic clk, rst, go, input logic [OPW-1:0] op, output logic done, output logic [OPW-1:0] result,
  output logic hsel,
  output logic [W_HADDR-1:0] haddr,
  output logic [1:0] htrans,
  output logic hwrite,
  output logic [2:0] hsize,
  output logic [W_HWDATA-1:0] hwdata,
  output logic hready,
  input  logic hreadyout,
  input  logic [W_HWDATA-1:0] hrdata,
  input  logic [1:0] hresp
);
  localparam int BYTES = W_HWDATA / 8;
  int unsigned log2, lane;
  logic data = 0, other = 0, waits;  // other: another subordinate's data phase
  bit asks = 0;                      // it is selected, and a transfer will come
  fleet_pause #(.PAUSE(PAUSE)) pause (.clk, .now(waits));
  initial begin htrans = 0; hsel = 0; done = 0; end
  assign hready = hreadyout && !other;
  always @(posedge clk) begin
    done <= 0;
    if (rst) begin htrans <= 0; hsel <= 0; data <= 0; other <= 0; asks = 0; end
    else if (asks) begin
      if (!waits) begin htrans <= 2; asks = 0; end
      other <= !waits && PAUSE != 0 && HAS_HREADY;
    end else if (htrans != 0) begin
      other <= other && waits;
      // The address bus is another subordinate's in the data phase.
      if (hready) begin htrans <= 0; hsel <= 0; haddr <= ~haddr; hwrite <= !hwrite; data <= 1; hwdata <= W_HWDATA'(op[1023:0]) << 8 * lane; end
    end else if (data) begin
      if (hready) begin
        data <= 0; done <= 1;
        result <= '0; result[1024] <= hresp[0]; result[1023:0] <= (1024'(hrdata) >> 8 * lane) & ((1024'd1 << (8 << log2)) - 1);
      end
    end else if (go && !done) begin
      log2 = HAS_HSIZE ? fleet_bench_pkg::log2_of(op[1092:1089], op[1087:1024], BYTES) : $clog2(BYTES);
      lane = HAS_HSIZE ? 32'(op[1087:1024] % 64'(BYTES)) : 0;
      hsize <= 3'(log2);
      asks = PAUSE != 0 && (waits || fleet_bench_pkg::drawn(2, fleet_bench_pkg::cycle));
      htrans <= asks ? 0 : 2; hsel <= 1; hwrite <= op[1088]; haddr <= W_HADDR'(op[1087:1024]);
    end
  end
endmodule

module fleet_ahb_lite_subordinate #(parameter int W_HADDR = 32, parameter int W_HRDATA = 32, parameter int SPACE = 0,
                                    parameter int LATENCY = 1, parameter int PAUSE = 0) (
  input logic clk, rst,
  input  logic [W_HADDR-1:0] haddr,
  input  logic [1:0] htrans,
  input  logic hwrite,
  input  logic [2:0] hsize,
  input  logic [W_HRDATA-1:0] hwdata,
  output logic hready,
  output logic [W_HRDATA-1:0] hrdata,
  output logic [1:0] hresp
);
  localparam int BYTES = W_HRDATA / 8;
  logic [55:0] address;
  logic [2:0] size;
  logic write = 0;
  int wait_ = 0;
  logic [W_HRDATA-1:0] found;
  longint unsigned now;
  initial now = 64'(fleet_bench_pkg::seed_of($sformatf("%m")));
  assign hrdata = hready ? found : W_HRDATA'({BYTES{8'hda}});  // rubbish before
  assign hresp = 0;
  assign hready = wait_ == 0;
  always @(posedge clk) begin
    now <= now + 1;
    if (rst) begin write <= 0; wait_ <= 0; end
    else begin
      if (wait_ > 0) wait_ <= wait_ - 1;
      if (hready) begin
        if (write)
          for (int i = 0; i < BYTES; i++)
            if (address % BYTES <= 56'(i) && 56'(i) < address % BYTES + (56'd1 << size))
              fleet_bench_pkg::put(8'(SPACE), address / BYTES * BYTES + 56'(i), hwdata[i*8 +: 8]);
        write <= htrans[1] && hwrite;
        address <= 56'(haddr); size <= hsize;
        if (htrans[1]) begin
          wait_ <= LATENCY - 1 + (fleet_bench_pkg::refuses(PAUSE, now) ? 32'(1 + fleet_bench_pkg::any_of(6, now)) : 0);
          if (!hwrite) for (int i = 0; i < BYTES; i++)
            found[i*8 +: 8] <= fleet_bench_pkg::get(8'(SPACE), 56'(haddr) / BYTES * BYTES + 56'(i));
        end
      end
    end
  end
endmodule

module fleet_ahb_lite_monitor #(parameter int W_HADDR = 32, parameter string PORT = "", parameter string MANAGER = "design",
                                parameter bit STABLE = 1) (
  input logic clk, rst,
  input logic [W_HADDR-1:0] haddr,
  input logic [1:0] htrans,
  input logic hwrite,
  input logic [2:0] hsize,
  input logic hready
);
  fleet_handshake_monitor #(.W(W_HADDR + 4), .PORT(PORT), .CHANNEL("address phase: "), .SENDER(MANAGER), .STABLE(STABLE),
                            .IN_RESET(1)) monitor (
    .clk, .rst, .valid(htrans[1]), .ready(hready), .payload({haddr, hwrite, hsize}));
  always @(posedge clk) if (!rst && htrans[1] && 64'(haddr) % (64'd1 << hsize) != 0)
    fleet_bench_pkg::violation(PORT, "address is not aligned to its size", MANAGER);
endmodule

// LATENCY: where no readdatavalid tells it, so many cycles after the one that takes a read its data are there.
module fleet_avalon_mm_manager #(parameter int W_ADDRESS = 32, parameter int W_READDATA = 32, parameter int W_BYTEENABLE = 4,
                                 parameter int SHIFT = 2, parameter bit HAS_READDATAVALID = 0, parameter bit HAS_BYTEENABLE = 0,
                                 parameter int LATENCY = 1, parameter int OPW = 1280) (
  input logic clk, rst, go, input logic [OPW-1:0] op, output logic done, output logic [OPW-1:0] result,
  output logic [W_ADDRESS-1:0] address,
  output logic read,
  output logic write,
  output logic chipselect,
  output logic [W_READDATA-1:0] writedata,
  output logic [W_BYTEENABLE-1:0] byteenable,
  input  logic [W_READDATA-1:0] readdata,
  input  logic readdatavalid,
  input  logic waitrequest
);
  localparam int BYTES = W_READDATA / 8;
  int unsigned log2, lane;
  bit narrow;
  wire [1023:0] found = (1024'(readdata) >> 8 * lane) & (narrow ? (1024'd1 << (8 << log2)) - 1 : '1);
  int left = 0;
  logic waits = 0;
  assign chipselect = read || write;
  initial begin read = 0; write = 0; done = 0; end
  always @(posedge clk) begin
    done <= 0;
    if (rst) begin read <= 0; write <= 0; waits <= 0; end
    else if (read || write) begin
      if (!waitrequest) begin
        read <= 0; write <= 0;
        result <= '0;
        if (write) done <= 1;
        else if (HAS_READDATAVALID ? readdatavalid : LATENCY == 0) begin done <= 1; result[1023:0] <= found; end
        else begin waits <= 1; left <= LATENCY - 1; end
      end
    end else if (waits) begin
      left <= left - 1;
      if (HAS_READDATAVALID ? readdatavalid : left <= 0) begin
        waits <= 0; done <= 1; result[1023:0] <= found;
      end
    end else if (go && !done) begin
      narrow = HAS_BYTEENABLE && W_BYTEENABLE == BYTES && (SHIFT != 0 || op[1092:1089] != 0);  // else the address may count words
      log2 = narrow ? fleet_bench_pkg::log2_of(op[1092:1089], op[1087:1024], BYTES) : $clog2(BYTES);
      lane = narrow ? 32'(op[1087:1024] % 64'(BYTES)) : 0;
      byteenable <= narrow ? W_BYTEENABLE'(((129'd1 << (1 << log2)) - 1) << lane) : '1;
      write <= op[1088]; read <= !op[1088]; address <= W_ADDRESS'(op[1087:1024] >> SHIFT); writedata <= W_READDATA'(op[1023:0]) << 8 * lane;
    end
  end
endmodule

// Without readdatavalid the data lie beside the cycle without waitrequest; without both they come LATENCY cycles behind the read.
module fleet_avalon_mm_subordinate #(parameter int W_ADDRESS = 32, parameter int W_READDATA = 32, parameter int W_BYTEENABLE = 4,
                                     parameter int W_BURSTCOUNT = 1, parameter bit HAS_BURSTCOUNT = 0, parameter bit HAS_READDATAVALID = 0,
                                     parameter bit HAS_WAITREQUEST = 0, parameter int SHIFT = 0, parameter int SPACE = 0,
                                     parameter int LATENCY = 1, parameter int PAUSE = 0) (
  input logic clk, rst,
  input  logic [W_ADDRESS-1:0] address,
  input  logic read,
  input  logic write,
  input  logic [W_READDATA-1:0] writedata,
  input  logic [W_BYTEENABLE-1:0] byteenable,
  input  logic [W_BURSTCOUNT-1:0] burstcount,
  output logic [W_READDATA-1:0] readdata,
  output logic readdatavalid,
  output logic waitrequest
);
  localparam int BYTES = W_READDATA / 8;
  wire [55:0] place = (56'(address) << SHIFT) / 56'(BYTES) * 56'(BYTES);
  if (HAS_READDATAVALID) begin : pipelined
    bit [55:0] reads [$], next;
    longint unsigned due [$], now = 0;
    int unsigned left = 0;
    logic full = 0;
    initial readdatavalid = 0;
    logic waits, late;
    fleet_pause #(.PAUSE(PAUSE)) pause (.clk, .now(waits));
    fleet_pause #(.PAUSE(PAUSE)) gap (.clk, .now(late));
    assign waitrequest = rst || full || waits;
    always @(posedge clk) begin : step
      bit [55:0] line;
      now = now + 1;
      readdatavalid <= 0;
      if (rst) begin reads.delete(); due.delete(); left = 0; end
      else begin
        if (reads.size() > 0 && now >= due[0] && !late) begin
          readdatavalid <= 1;
          for (int i = 0; i < BYTES; i++) readdata[i*8 +: 8] <= fleet_bench_pkg::get(8'(SPACE), reads[0] + 56'(i));
          reads.delete(0);
          due.delete(0);
        end
        if (read && !waitrequest)
          for (int n = 0; n < (HAS_BURSTCOUNT ? 32'(burstcount) : 1); n++) begin
            reads.push_back(place + 56'(n * BYTES));
            due.push_back(now + 64'(LATENCY));
          end
        if (write && !waitrequest) begin
          line = left > 0 ? next : place;
          left = left > 0 ? left - 1 : HAS_BURSTCOUNT ? 32'(burstcount) - 1 : 0;
          next = line + 56'(BYTES);
          for (int i = 0; i < BYTES; i++)
            if (byteenable[W_BYTEENABLE == BYTES ? i : 0]) fleet_bench_pkg::put(8'(SPACE), line + 56'(i), writedata[i*8 +: 8]);
        end
      end
      full <= reads.size() > 64;
    end
  end else if (HAS_WAITREQUEST) begin : held
    logic ready;
    logic [W_READDATA-1:0] found;
    assign readdatavalid = 0;
    assign readdata = ready ? found : W_READDATA'({BYTES{8'hda}});  // rubbish but in that cycle
    assign waitrequest = !ready;
    fleet_native_memory_subordinate #(.W_ADDR(64), .W_RDATA(W_READDATA), .W_WSTRB(W_BYTEENABLE), .SPACE(SPACE), .LATENCY(LATENCY),
                                      .PAUSE(PAUSE), .HAS_WRITE(1)) memory (
      .clk, .rst, .valid(read || write), .ready, .write, .addr(64'(place)), .wdata(writedata), .wstrb(byteenable), .rdata(found));
  end else begin : timed
    logic [W_READDATA-1:0] mask, found, kept;
    logic valid;
    assign readdatavalid = 0;
    assign waitrequest = 0;
    assign readdata = valid ? found : kept;
    always @(posedge clk) if (valid) kept <= found;
    fleet_spread #(.W(W_READDATA), .WM(W_BYTEENABLE)) spread (.mask(byteenable), .bits(mask));
    fleet_memory_pipe #(.W(W_READDATA), .SPACE(SPACE), .LATENCY(LATENCY)) pipe (
      .clk, .rst, .take(read || write), .write, .address(64'(place)), .wdata(writedata), .wmask(mask), .valid, .rdata(found));
  end
endmodule

module fleet_avalon_mm_monitor #(parameter int W_ADDRESS = 32, parameter int W_READDATA = 32, parameter string PORT = "",
                                 parameter string MANAGER = "design", parameter bit STABLE = 1) (
  input logic clk, rst,
  input logic [W_ADDRESS-1:0] address,
  input logic read,
  input logic write,
  input logic [W_READDATA-1:0] writedata,
  input logic waitrequest
);
  fleet_handshake_monitor #(.W(W_ADDRESS + W_READDATA + 2), .PORT(PORT), .SENDER(MANAGER), .STABLE(STABLE)) monitor (
    .clk, .rst, .valid(read || write), .ready(!waitrequest), .payload({read, write, address, write ? writedata : '0}));
  always @(posedge clk) if (!rst && read && write) fleet_bench_pkg::violation(PORT, "read and write at once", MANAGER);
endmodule

module fleet_csr_bus_manager #(parameter int W_ADDR = 10, parameter int W_R_DATA = 32, parameter int SHIFT = 2, parameter int LATENCY = 1,
                               parameter int OPW = 1280) (
  input logic clk, rst, go, input logic [OPW-1:0] op, output logic done, output logic [OPW-1:0] result,
  output logic [W_ADDR-1:0] addr,
  output logic r_stb,
  output logic w_stb,
  output logic [W_R_DATA-1:0] w_data,
  input  logic [W_R_DATA-1:0] r_data
);
  int left = 0;
  initial begin r_stb = 0; w_stb = 0; done = 0; end
  always @(posedge clk) begin
    done <= 0; r_stb <= 0; w_stb <= 0;
    if (rst) left <= 0;
    else if (left > 1) left <= left - 1;
    else if (left == 1) begin left <= 0; done <= 1; result <= '0; result[1023:0] <= 1024'(r_data); end
    else if (go && !done) begin
      left <= LATENCY + 1;
      addr <= W_ADDR'(op[1087:1024] >> SHIFT); w_data <= W_R_DATA'(op[1023:0]); w_stb <= op[1088]; r_stb <= !op[1088];
    end
  end
endmodule

// Writes ask for their completion where the design can tell it.
module fleet_csb_manager #(parameter int W_ADDR = 16, parameter int W_WDAT = 32, parameter int SHIFT = 2, parameter bit HAS_RSP_WR_COMPLETE = 1,
                           parameter int OPW = 1280) (
  input logic clk, rst, go, input logic [OPW-1:0] op, output logic done, output logic [OPW-1:0] result,
  output logic valid,
  input  logic ready,
  output logic [W_ADDR-1:0] addr,
  output logic [W_WDAT-1:0] wdat,
  output logic write,
  output logic nposted,
  input  logic rsp_valid,
  input  logic [W_WDAT-1:0] rsp_data,
  input  logic rsp_error,
  input  logic rsp_wr_complete
);
  logic waits = 0;
  wire asked = valid && ready;
  wire silent = asked && write && !nposted;
  initial begin valid = 0; done = 0; end
  assign nposted = write && HAS_RSP_WR_COMPLETE;
  always @(posedge clk) begin
    done <= 0;
    if (rst) begin valid <= 0; waits <= 0; end
    else begin
      if (!valid && !waits && go && !done) begin
        valid <= 1; write <= op[1088]; addr <= W_ADDR'(op[1087:1024] >> SHIFT); wdat <= W_WDAT'(op[1023:0]);
      end
      if (asked) begin valid <= 0; waits <= !silent; end
      if (silent) begin done <= 1; result <= '0; end
      if (waits && (write ? rsp_wr_complete : rsp_valid)) begin
        waits <= 0; done <= 1;
        result <= '0; result[1024] <= rsp_error; result[1023:0] <= 1024'(rsp_data);
      end
    end
  end
endmodule

module fleet_csb_monitor #(parameter int W_ADDR = 16, parameter int W_WDAT = 32, parameter string PORT = "",
                           parameter string MANAGER = "design", parameter string SUBORDINATE = "bench", parameter bit STABLE = 1) (
  input logic clk, rst,
  input logic valid,
  input logic ready,
  input logic [W_ADDR-1:0] addr,
  input logic [W_WDAT-1:0] wdat,
  input logic write,
  input logic nposted,
  input logic rsp_valid,
  input logic rsp_wr_complete
);
  int unsigned reads = 0, writes = 0;  // that wait for an answer
  wire asked = valid && ready;
  fleet_handshake_monitor #(.W(W_ADDR + W_WDAT + 2), .PORT(PORT), .SENDER(MANAGER), .STABLE(STABLE)) monitor (
    .clk, .rst, .valid, .ready, .payload({write, nposted, addr, write ? wdat : '0}));
  always @(posedge clk)
    if (rst) begin reads <= 0; writes <= 0; end
    else begin
      reads <= reads + 32'(asked && !write) - 32'(rsp_valid && reads != 0);
      writes <= writes + 32'(asked && write && nposted) - 32'(rsp_wr_complete && writes != 0);
      if (rsp_valid && reads == 0) fleet_bench_pkg::violation(PORT, "data that no read asked for", SUBORDINATE);
      if (rsp_wr_complete && writes == 0) fleet_bench_pkg::violation(PORT, "completion that no write asked for", SUBORDINATE);
    end
endmodule

module fleet_sram_manager #(parameter int W_ADDR = 10, parameter int W_RDATA = 32, parameter int W_WDATA = 32, parameter int W_BE = 4,
                            parameter int SHIFT = 2, parameter int LATENCY = 1, parameter int OPW = 1280) (
  input logic clk, rst, go, input logic [OPW-1:0] op, output logic done, output logic [OPW-1:0] result,
  output logic en,
  output logic we,
  output logic [W_ADDR-1:0] addr,
  output logic [W_BE-1:0] be,
  output logic [W_WDATA-1:0] wdata,
  input  logic [W_RDATA-1:0] rdata
);
  int left = 0;
  assign be = '1;
  initial begin en = 0; we = 0; done = 0; end
  always @(posedge clk) begin
    done <= 0; en <= 0; we <= 0;
    if (rst) left <= 0;
    else if (left > 1) left <= left - 1;
    else if (left == 1) begin left <= 0; done <= 1; result <= '0; result[1023:0] <= 1024'(rdata); end
    else if (go && !done) begin
      left <= LATENCY + 1;
      en <= 1; we <= op[1088]; addr <= W_ADDR'(op[1087:1024] >> SHIFT); wdata <= W_WDATA'(op[1023:0]);
    end
  end
endmodule

module fleet_native_memory_manager #(parameter int W_ADDR = 32, parameter int W_RDATA = 32, parameter int W_WSTRB = 4,
                                     parameter bit HAS_WSTRB = 0, parameter int OPW = 1280) (
  input logic clk, rst, go, input logic [OPW-1:0] op, output logic done, output logic [OPW-1:0] result,
  output logic valid,
  input  logic ready,
  output logic write,
  output logic [W_ADDR-1:0] addr,
  output logic [W_RDATA-1:0] wdata,
  output logic [W_WSTRB-1:0] wstrb,
  input  logic [W_RDATA-1:0] rdata,
  input  logic error
);
  initial begin valid = 0; done = 0; end
  localparam int BYTES = W_RDATA / 8;
  localparam bit LANES = HAS_WSTRB && W_WSTRB == BYTES;
  logic [W_WSTRB-1:0] strobe;
  int unsigned log2, lane;
  assign wstrb = write ? strobe : '0;
  always @(posedge clk) begin
    done <= 0;
    if (rst) valid <= 0;
    else if (valid) begin
      if (ready) begin valid <= 0; done <= 1; result <= '0; result[1024] <= error; result[1023:0] <= (1024'(rdata) >> 8 * lane) & (LANES ? (1024'd1 << (8 << log2)) - 1 : '1); end
    end else if (go && !done) begin
      log2 = fleet_bench_pkg::log2_of(op[1092:1089], op[1087:1024], BYTES);
      lane = LANES ? 32'(op[1087:1024] % 64'(BYTES)) : 0;
      strobe <= LANES ? W_WSTRB'(((129'd1 << (1 << log2)) - 1) << lane) : '1;
      valid <= 1; write <= op[1088]; addr <= W_ADDR'(op[1087:1024]); wdata <= W_RDATA'(op[1023:0]) << 8 * lane;
    end
  end
endmodule

module fleet_obi_manager #(parameter int W_ADDR = 32, parameter int W_RDATA = 32, parameter int W_BE = 4, parameter bit HAS_BE = 0,
                           parameter int OPW = 1280) (
  input logic clk, rst, go, input logic [OPW-1:0] op, output logic done, output logic [OPW-1:0] result,
  output logic req,
  input  logic gnt,
  output logic we,
  output logic [W_ADDR-1:0] addr,
  output logic [W_RDATA-1:0] wdata,
  output logic [W_BE-1:0] be,
  input  logic rvalid,
  input  logic [W_RDATA-1:0] rdata,
  input  logic err
);
  logic waits = 0;
  localparam int BYTES = W_RDATA / 8;
  localparam bit LANES = HAS_BE && W_BE == BYTES;
  int unsigned log2, lane;
  initial begin req = 0; done = 0; end
  always @(posedge clk) begin
    done <= 0;
    if (rst) begin req <= 0; waits <= 0; end
    else if (req) begin
      if (gnt) begin req <= 0; waits <= 1; end
    end else if (waits) begin
      if (rvalid) begin waits <= 0; done <= 1; result <= '0; result[1024] <= err; result[1023:0] <= (1024'(rdata) >> 8 * lane) & (LANES ? (1024'd1 << (8 << log2)) - 1 : '1); end
    end else if (go && !done) begin
      log2 = fleet_bench_pkg::log2_of(op[1092:1089], op[1087:1024], BYTES);
      lane = LANES ? 32'(op[1087:1024] % 64'(BYTES)) : 0;
      be <= LANES ? W_BE'(((129'd1 << (1 << log2)) - 1) << lane) : '1;
      req <= 1; we <= op[1088]; addr <= W_ADDR'(op[1087:1024]); wdata <= W_RDATA'(op[1023:0]) << 8 * lane;
    end
  end
endmodule

module fleet_hci_manager #(parameter int W_ADD = 32, parameter int W_DATA = 32, parameter int W_BE = 4, parameter bit HAS_BE = 0,
                           parameter int OPW = 1280) (
  input logic clk, rst, go, input logic [OPW-1:0] op, output logic done, output logic [OPW-1:0] result,
  output logic req,
  input  logic gnt,
  output logic wen,
  output logic [W_ADD-1:0] add,
  output logic [W_DATA-1:0] data,
  output logic [W_BE-1:0] be,
  input  logic r_valid,
  input  logic [W_DATA-1:0] r_data
);
  fleet_obi_manager #(.W_ADDR(W_ADD), .W_RDATA(W_DATA), .W_BE(W_BE), .HAS_BE(HAS_BE), .OPW(OPW)) obi (
    .clk, .rst, .go, .op, .done, .result, .req, .gnt, .we(wen), .addr(add), .wdata(data), .be, .rvalid(r_valid), .rdata(r_data), .err(1'b0));
endmodule
