// AXI4 and AXI4-Lite: a memory, a manager of single beats, a monitor.
module fleet_axi4_subordinate #(parameter int W_AWADDR = 32, parameter int W_ARADDR = 32, parameter int W_RDATA = 32,
                                parameter int W_WSTRB = 4, parameter int W_AWLEN = 8, parameter int W_ARLEN = 8,
                                parameter int W_AWID = 1, parameter int W_ARID = 1, parameter int SPACE = 0,
                                parameter int LATENCY = 1, parameter int PAUSE = 0, parameter string PORT = "",
                                parameter string MANAGER = "design") (
  input logic clk, rst,
  input  logic awvalid,
  output logic awready,
  input  logic [W_AWADDR-1:0] awaddr,
  input  logic [W_AWLEN-1:0] awlen,
  input  logic [2:0] awsize,
  input  logic [1:0] awburst,
  input  logic [W_AWID-1:0] awid,
  input  logic wvalid,
  output logic wready,
  input  logic [W_RDATA-1:0] wdata,
  input  logic [W_WSTRB-1:0] wstrb,
  input  logic wlast,
  output logic bvalid,
  input  logic bready,
  output logic [1:0] bresp,
  output logic [W_AWID-1:0] bid,
  input  logic arvalid,
  output logic arready,
  input  logic [W_ARADDR-1:0] araddr,
  input  logic [W_ARLEN-1:0] arlen,
  input  logic [2:0] arsize,
  input  logic [1:0] arburst,
  input  logic [W_ARID-1:0] arid,
  output logic rvalid,
  input  logic rready,
  output logic [W_RDATA-1:0] rdata,
  output logic [1:0] rresp,
  output logic rlast,
  output logic [W_ARID-1:0] rid
);
  localparam int BYTES = W_RDATA / 8;
  typedef struct packed { bit [63:0] address; bit [8:0] beats; bit [2:0] size; bit [1:0] burst; bit [31:0] id; bit [63:0] due; } burst_t;
  typedef struct packed { bit [W_RDATA-1:0] data; bit [W_WSTRB-1:0] strobe; bit last; } beat_t;
  burst_t writes [$], reads [$];
  beat_t beats [$];
  bit [31:0] done [$];
  int unsigned tokens [$], token = 0, answered;  // of bursts whose data are there, of this burst, of the response
  longint unsigned now;
  initial now = 64'(fleet_bench_pkg::seed_of($sformatf("%m")));
  int unsigned wbeat = 0, rbeat = 0;

  // Address of a beat; a wrapping burst stays in its aligned block.
  function automatic bit [63:0] address_of(burst_t b, int unsigned beat);
    bit [63:0] size, block;
    size = 64'd1 << b.size;
    block = size * 64'(b.beats);
    if (b.burst == 0) return b.address;
    if (b.burst == 2) return b.address / block * block + (b.address % block + size * 64'(beat)) % block;
    return beat == 0 ? b.address : b.address / size * size + size * 64'(beat);
  endfunction

  // Whether a byte of the port belongs to a beat.
  function automatic bit carries(bit [63:0] address, bit [2:0] size, int i);
    bit [63:0] first = address % 64'(BYTES), end_ = (address >> size << size) % 64'(BYTES) + (64'd1 << size);
    return 64'(i) >= first && 64'(i) < end_;
  endfunction

  // Responses to reads of different IDs may pass each other: the place of the burst that is answered next, or -1.
  function automatic int next_read;
    bit late = reads.size() == 0 || now < reads[0].due;
    if (!late && (PAUSE == 0 || !fleet_bench_pkg::drawn(2, now))) return 0;
    for (int k = 1; k < reads.size(); k++) begin
      bit first = PAUSE != 0 && now >= reads[k].due;
      for (int j = 0; j < k; j++) if (reads[j].id == reads[k].id) first = 0;
      if (first) return k;
    end
    return late ? -1 : 0;
  endfunction
  // With refusals one read of three takes longer, so that younger ones are there before it even where nothing else keeps them waiting.
  function automatic bit [63:0] read_due;
    return now + 64'(LATENCY) + (PAUSE != 0 && fleet_bench_pkg::drawn(3, now) ? 8 + 64'(LATENCY) : 0);
  endfunction

  initial begin awready = 0; wready = 0; arready = 0; bvalid = 0; rvalid = 0; end
  assign bresp = 0;
  assign rresp = 0;
  wire pause = fleet_bench_pkg::refuses(PAUSE, now);
  always @(posedge clk) begin : step
    bit [63:0] line, address;
    bit stray;
    int chosen_at;
    now <= now + 1;
    awready <= !rst && !pause && writes.size() < 8;
    wready <= !rst && !pause && beats.size() < 16;
    arready <= !rst && !pause && reads.size() < 8;
    if (rst) begin
      writes.delete(); reads.delete(); beats.delete(); done.delete(); tokens.delete(); token = 0;
      bvalid <= 0; rvalid <= 0; wbeat = 0; rbeat = 0;
    end else begin
      if (awvalid && awready) writes.push_back('{64'(awaddr), 9'(awlen) + 1, awsize, awburst, 32'(awid), now});
      if (arvalid && arready) reads.push_back('{64'(araddr), 9'(arlen) + 1, arsize, arburst, 32'(arid), read_due()});
      if (wvalid && wready) beats.push_back('{wdata, wstrb, wlast});
      while (writes.size() > 0 && beats.size() > 0) begin
        address = address_of(writes[0], wbeat);
        line = address / BYTES * BYTES;
        if (wbeat == 0) begin fleet_bench_pkg::tokens++; token = fleet_bench_pkg::tokens; end
        fleet_bench_pkg::token = token;
        stray = 0;
        for (int i = 0; i < BYTES; i++)
          if (carries(address, writes[0].size, i) ? beats[0].strobe[W_WSTRB == BYTES ? i : 0] : W_WSTRB == BYTES && beats[0].strobe[i]) begin
            stray |= !carries(address, writes[0].size, i);
            fleet_bench_pkg::put(8'(SPACE), line[55:0] + 56'(i), beats[0].data[i*8 +: 8]);
          end
        if (stray) fleet_bench_pkg::violation(PORT, "wstrb outside of the bytes of the beat", MANAGER);
        fleet_bench_pkg::token = 0;
        wbeat = wbeat + 1;
        void'(beats.pop_front());
        if (wbeat == 32'(writes[0].beats)) begin
          done.push_back(writes[0].id);
          tokens.push_back(token);
          void'(writes.pop_front());
          wbeat = 0;
        end
      end
      if (bvalid && bready) fleet_bench_pkg::answered(answered);
      if (!bvalid || bready) begin
        bvalid <= done.size() > 0;
        if (done.size() > 0) begin
          bid <= W_AWID'(done[0]);
          void'(done.pop_front());
          answered = tokens[0];
          void'(tokens.pop_front());
        end
      end
      if (!rvalid || rready) begin
        rvalid <= 0;
        chosen_at = rbeat == 0 ? next_read() : 0;
        if (chosen_at >= 0) begin
          rvalid <= 1;
          if (rbeat == 0) begin
            burst_t chosen;
            int k;
            k = chosen_at;
            chosen = reads[k];
            for (int j = k; j > 0; j--) reads[j] = reads[j-1];
            reads[0] = chosen;
          end
          address = address_of(reads[0], rbeat);
          line = address / BYTES * BYTES;
          // Bytes that a beat does not carry may be anything.
          for (int i = 0; i < BYTES; i++)
            rdata[i*8 +: 8] <= carries(address, reads[0].size, i) ? fleet_bench_pkg::get(8'(SPACE), line[55:0] + 56'(i)) : 8'hda;
          rid <= W_ARID'(reads[0].id);
          rbeat = rbeat + 1;
          rlast <= rbeat == 32'(reads[0].beats);
          if (rbeat == 32'(reads[0].beats)) begin void'(reads.pop_front()); rbeat = 0; end
        end
      end
    end
  end
endmodule

// op: {write, address, data}; result: {error, data}.
module fleet_axi4_manager #(parameter int W_AWADDR = 32, parameter int W_ARADDR = 32, parameter int W_WDATA = 32,
                            parameter int W_WSTRB = 4, parameter int OPW = 1280) (
  input logic clk, rst, go, input logic [OPW-1:0] op, output logic done, output logic [OPW-1:0] result,
  output logic awvalid,
  input  logic awready,
  output logic [W_AWADDR-1:0] awaddr,
  output logic [2:0] awsize,
  output logic [1:0] awburst,
  output logic wvalid,
  input  logic wready,
  output logic [W_WDATA-1:0] wdata,
  output logic [W_WSTRB-1:0] wstrb,
  output logic wlast,
  input  logic bvalid,
  output logic bready,
  input  logic [1:0] bresp,
  output logic arvalid,
  input  logic arready,
  output logic [W_ARADDR-1:0] araddr,
  output logic [2:0] arsize,
  output logic [1:0] arburst,
  input  logic rvalid,
  output logic rready,
  input  logic [W_WDATA-1:0] rdata,
  input  logic [1:0] rresp
);
  logic busy = 0;
  assign wlast = 1;
  assign wstrb = '1;
  assign awburst = 1;
  assign arburst = 1;
  assign awsize = 3'($clog2(W_WDATA / 8));
  assign arsize = awsize;
  assign bready = 1;
  assign rready = 1;
  initial begin awvalid = 0; wvalid = 0; arvalid = 0; done = 0; end
  always @(posedge clk) begin
    done <= 0;
    if (awvalid && awready) awvalid <= 0;
    if (wvalid && wready) wvalid <= 0;
    if (arvalid && arready) arvalid <= 0;
    if (go && !busy && !done && !rst) begin
      busy <= 1;
      awaddr <= W_AWADDR'(op[1087:1024]); araddr <= W_ARADDR'(op[1087:1024]); wdata <= W_WDATA'(op[1023:0]);
      awvalid <= op[1088]; wvalid <= op[1088]; arvalid <= !op[1088];
    end
    if (busy && (bvalid || rvalid)) begin
      busy <= 0; done <= 1;
      result <= '0;
      result[1024] <= bvalid ? bresp[1] : rresp[1];
      if (rvalid) result[1023:0] <= 1024'(rdata);
    end
  end
endmodule

module fleet_axi4_monitor #(parameter int W_AWADDR = 32, parameter int W_ARADDR = 32, parameter int W_RDATA = 32, parameter int W_WDATA = 32,
                            parameter int W_WSTRB = 4, parameter int W_AWLEN = 8, parameter int W_ARLEN = 8,
                            parameter int W_AWID = 1, parameter int W_ARID = 1, parameter string PORT = "",
                            parameter string MANAGER = "design", parameter string SUBORDINATE = "bench", parameter bit STABLE = 1,
                            parameter bit IS_LITE = 0) (
  input logic clk, rst,
  input logic awvalid,
  input logic awready,
  input logic [W_AWADDR-1:0] awaddr,
  input logic [W_AWLEN-1:0] awlen,
  input logic [2:0] awsize,
  input logic [1:0] awburst,
  input logic [W_AWID-1:0] awid,
  input logic wvalid,
  input logic wready,
  input logic [W_WDATA-1:0] wdata,
  input logic [W_WSTRB-1:0] wstrb,
  input logic wlast,
  input logic bvalid,
  input logic bready,
  input logic [W_AWID-1:0] bid,
  input logic [1:0] bresp,
  input logic arvalid,
  input logic arready,
  input logic [W_ARADDR-1:0] araddr,
  input logic [W_ARLEN-1:0] arlen,
  input logic [2:0] arsize,
  input logic [1:0] arburst,
  input logic [W_ARID-1:0] arid,
  input logic rvalid,
  input logic rready,
  input logic [W_RDATA-1:0] rdata,
  input logic [W_ARID-1:0] rid,
  input logic [1:0] rresp,
  input logic rlast
);
  fleet_handshake_monitor #(.W(W_AWADDR + W_AWLEN + W_AWID + 5), .PORT(PORT), .CHANNEL("aw"), .SENDER(MANAGER), .STABLE(STABLE)) aw (
    .clk, .rst, .valid(awvalid), .ready(awready), .payload({awaddr, awlen, awid, awsize, awburst}));
  fleet_handshake_monitor #(.W(W_WDATA + W_WSTRB + 1), .PORT(PORT), .CHANNEL("w"), .SENDER(MANAGER), .STABLE(STABLE)) w (
    .clk, .rst, .valid(wvalid), .ready(wready), .payload({wdata, wstrb, wlast}));
  fleet_handshake_monitor #(.W(W_AWID + 2), .PORT(PORT), .CHANNEL("b"), .SENDER(SUBORDINATE), .STABLE(STABLE)) b (
    .clk, .rst, .valid(bvalid), .ready(bready), .payload({bid, bresp}));
  fleet_handshake_monitor #(.W(W_ARADDR + W_ARLEN + W_ARID + 5), .PORT(PORT), .CHANNEL("ar"), .SENDER(MANAGER), .STABLE(STABLE)) ar (
    .clk, .rst, .valid(arvalid), .ready(arready), .payload({araddr, arlen, arid, arsize, arburst}));
  fleet_handshake_monitor #(.W(W_RDATA + W_ARID + 3), .PORT(PORT), .CHANNEL("r"), .SENDER(SUBORDINATE), .STABLE(STABLE)) r (
    .clk, .rst, .valid(rvalid), .ready(rready), .payload({rdata, rid, rresp, rlast}));

  localparam bit NORMAL = IS_LITE || MANAGER == "bench";           // no access is exclusive
  int unsigned lengths [$], wanted [bit [31:0]], beats = 0;       // of bursts of writes; responses that each ID may have
  int unsigned due [bit [31:0]][$], got [bit [31:0]];              // beats of each read of an ID
  int unsigned ended = 0;                                          // bursts of data that are whole
  bit [31:0] order [$];                                            // IDs of addresses, whose data come in that order
  // AXI4, A3.4.1: what an address may ask for. beats: of the burst; size: log2 of the bytes of a beat; width: of the data in bits.
  function automatic void asked(string channel, bit [63:0] address, int unsigned beats, bit [2:0] size, bit [1:0] burst, int width);
    if ((32'd8 << size) > width) fleet_bench_pkg::violation(PORT, {channel, "size is wider than the port"}, MANAGER);
    case (burst)
      0: if (beats > 16) fleet_bench_pkg::violation(PORT, {channel, "burst of one address is longer than 16 beats"}, MANAGER);
      1: if (address % 4096 + (64'(beats) << size) > 4096)
           fleet_bench_pkg::violation(PORT, {channel, "burst crosses 4096 bytes"}, MANAGER);
      2: begin
        if (!(beats inside {2, 4, 8, 16}))
          fleet_bench_pkg::violation(PORT, {channel, "burst wraps after other than 2, 4, 8 or 16 beats"}, MANAGER);
        if (address % (64'd1 << size) != 0) fleet_bench_pkg::violation(PORT, {channel, "burst that wraps begins within a beat"}, MANAGER);
      end
      default: fleet_bench_pkg::violation(PORT, {channel, "burst is reserved"}, MANAGER);
    endcase
  endfunction
  function automatic void check_data;
    if (order.size() > 0 && ended > 0) begin
      wanted[order[0]] = (wanted.exists(order[0]) != 0 ? wanted[order[0]] : 0) + 1;
      void'(order.pop_front());
      ended--;
    end
  endfunction
  always @(posedge clk) begin : check
    bit [31:0] id;
    if (rst) begin
      lengths.delete(); wanted.delete(); due.delete(); got.delete(); order.delete(); ended = 0; beats = 0;
    end else begin
      if (awvalid && awready) begin
        lengths.push_back(32'(awlen) + 1);
        order.push_back(32'(awid));
        if (!IS_LITE) asked("aw", 64'(awaddr), 32'(awlen) + 1, awsize, awburst, W_WDATA);
      end
      if (wvalid && wready) begin
        beats++;
        if (lengths.size() > 0 && !IS_LITE) begin
          if (wlast != (beats == lengths[0])) fleet_bench_pkg::violation(PORT, "wlast is not at the end of the burst", MANAGER);
        end
        // A burst ends where its address said so: a wlast that lacks is one fault, not a response too early as well.
        if (lengths.size() > 0 ? beats >= lengths[0] : wlast) begin
          beats = 0;
          ended++;
          if (lengths.size() > 0) void'(lengths.pop_front());
        end
      end
      check_data();
      if (bvalid && bready) begin
        id = 32'(bid);
        if (bresp == 1 && NORMAL) fleet_bench_pkg::violation(PORT, "b: exclusive okay for a normal access", SUBORDINATE);
        if (wanted.exists(id) == 0 || wanted[id] == 0)
          fleet_bench_pkg::violation(PORT, "b: response without a request, or before its data", SUBORDINATE);
        else wanted[id]--;
      end
      if (rvalid && rready) begin
        id = 32'(rid);
        if (rresp == 1 && NORMAL) fleet_bench_pkg::violation(PORT, "r: exclusive okay for a normal access", SUBORDINATE);
        if (due.exists(id) == 0 || due[id].size() == 0) fleet_bench_pkg::violation(PORT, "r: response without a request", SUBORDINATE);
        else begin
          got[id] = (got.exists(id) != 0 ? got[id] : 0) + 1;
          if (rlast != (got[id] == due[id][0]) && !IS_LITE) fleet_bench_pkg::violation(PORT, "rlast is not at the end of the burst", SUBORDINATE);
          if (got[id] >= due[id][0]) begin void'(due[id].pop_front()); got[id] = 0; end
        end
      end
      if (arvalid && arready) begin
        due[32'(arid)].push_back(32'(arlen) + 1);
        if (!IS_LITE) asked("ar", 64'(araddr), 32'(arlen) + 1, arsize, arburst, W_RDATA);
      end
    end
  end
endmodule
