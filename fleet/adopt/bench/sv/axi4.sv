// AXI4 and AXI4-Lite: a memory, a manager of single beats, a monitor.

// FIXED: as the memories of fleet's own bench (rtl_models/memory): so many cycles from a request to its first beat, and from the last
// beat of a write to its response; data of a write behind its address. 0: LATENCY and PAUSE say when, data may come before.
module fleet_axi4_subordinate #(parameter int W_AWADDR = 32, parameter int W_ARADDR = 32, parameter int W_RDATA = 32,
                                parameter int W_WSTRB = 4, parameter int W_AWLEN = 8, parameter int W_ARLEN = 8,
                                parameter int W_AWID = 1, parameter int W_ARID = 1, parameter int SPACE = 0,
                                parameter int LATENCY = 1, parameter int PAUSE = 0, parameter int FIXED = 0, parameter string PORT = "",
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
  localparam int READS = FIXED != 0 ? 64 : 8, WRITES = FIXED != 0 ? 16 : 8, BEATS = 16, ANSWERS = 64;
  typedef struct packed { bit [63:0] address; bit [8:0] beats; bit [2:0] size; bit [1:0] burst; bit [31:0] id; bit [63:0] due; } burst_t;
  typedef struct packed { bit [W_RDATA-1:0] data; bit [W_WSTRB-1:0] strobe; } beat_t;
  typedef struct packed { bit [31:0] id; bit [31:0] number; bit [63:0] due; } answer_t;
  bit [$bits(burst_t)-1:0] writes [$], reads [$];
  bit [$bits(beat_t)-1:0] beats [$];
  bit [$bits(answer_t)-1:0] done [$];
  beat_t beat;                                 // of the data that are written
  burst_t reading;                             // whose beats are sent
  int unsigned number = 0, answers;            // of the burst that is written, of the response
  int unsigned wbeat = 0, rbeat = 0;           // beats that are written and sent of a burst
  longint unsigned now;
  initial now = 64'(fleet_bench_pkg::seed_of($sformatf("%m")));

  // Address of a beat; a wrapping burst stays in its aligned block.
  function automatic bit [63:0] address_of(burst_t b, int unsigned beat);
    bit [63:0] size, block;
    size = 64'd1 << b.size;
    block = size * 64'(b.beats);
    if (b.burst == 0 || beat == 0) return b.address;
    if (b.burst == 2) return b.address / block * block + (b.address % block + size * 64'(beat)) % block;
    return (b.address >> b.size << b.size) + (64'(beat) << b.size);
  endfunction

  // The bytes of the port that belong to a beat.
  function automatic bit [BYTES-1:0] lanes_of(bit [63:0] address, bit [2:0] size);
    bit [63:0] first, end_;
    bit [BYTES:0] below_end, below_first;
    first = address % 64'(BYTES);
    end_ = (address >> size << size) % 64'(BYTES) + (64'd1 << size);
    below_end = ((BYTES+1)'(1) << end_) - 1;
    below_first = ((BYTES+1)'(1) << first) - 1;
    return BYTES'(below_end & ~below_first);
  endfunction

  // Writes `line` into memory as a beat of the oldest burst.
  function automatic void write_beat(bit [W_WSTRB-1:0] strobe);
    burst_t burst;
    bit [63:0] address;
    bit [BYTES-1:0] carried, lanes;
    burst = writes[0];
    address = address_of(burst, wbeat);
    carried = lanes_of(address, burst.size);
    lanes = W_WSTRB == BYTES ? BYTES'(strobe) : strobe[0] ? carried : '0;
    if (wbeat == 0) begin fleet_bench_pkg::tokens = fleet_bench_pkg::tokens + 1; number = fleet_bench_pkg::tokens; end
    fleet_bench_pkg::token = number;
    fleet_bench_pkg::put_line(8'(SPACE), 56'(address / BYTES * BYTES), BYTES, 128'(lanes));
    fleet_bench_pkg::token = 0;
    if ((lanes & ~carried) != 0) fleet_bench_pkg::violation(PORT, "wstrb outside of the bytes of the beat", MANAGER);
    wbeat = wbeat + 1;
    if (wbeat == 32'(burst.beats)) begin
      done.push_back({burst.id, number, now + 64'(FIXED != 0 ? FIXED - 1 : 0)});
      writes.delete(0);
      wbeat = 0;
    end
  endfunction

  // The next beat of `reading` into `line`; bytes that it does not carry may be anything.
  function automatic void read_beat();
    bit [63:0] address;
    address = address_of(reading, rbeat);
    fleet_bench_pkg::get_line(8'(SPACE), 56'(address / BYTES * BYTES), BYTES, 128'(lanes_of(address, reading.size)));
  endfunction

  // Responses to reads of different IDs may pass each other: the place of the burst that is answered next, or -1.
  function automatic int next_read();
    burst_t oldest, other, one;
    bit late, first;
    if (reads.size() == 0) return -1;
    oldest = reads[0];
    late = now < oldest.due;
    if (PAUSE == 0) return late ? -1 : 0;
    if (!late && !fleet_bench_pkg::drawn(2, now)) return 0;
    for (int k = 1; k < reads.size(); k++) begin
      other = reads[k];
      first = now >= other.due;
      for (int j = 0; j < k; j++) begin
        one = reads[j];
        if (one.id == other.id) first = 0;
      end
      if (first) return k;
    end
    return late ? -1 : 0;
  endfunction
  // With refusals one read of three takes longer, so that younger ones are there before it even where nothing else keeps them waiting.
  function automatic bit [63:0] read_due();
    if (FIXED != 0) return now + 64'(FIXED) - 1;
    return now + 64'(LATENCY) + (PAUSE != 0 && fleet_bench_pkg::drawn(3, now) ? 8 + 64'(LATENCY) : 0);
  endfunction

  initial begin awready = 0; wready = 0; arready = 0; bvalid = 0; rvalid = 0; end
  assign bresp = 0;
  assign rresp = 0;
  wire pause = fleet_bench_pkg::refuses(PAUSE, now);
  // An idle port has no edges: its outputs stay.
  bit busy = 1, open = 1;
  always_latch
    if (!clk) open = PAUSE != 0 || rst || awvalid || wvalid || arvalid || bvalid || rvalid || !awready || !arready || busy;
  wire step_clk = clk && open;
  always @(posedge step_clk) begin : step
    answer_t answer;
    int chosen;
    bit offered;
    now <= now + 1;
    if (rst) begin
      writes.delete(); reads.delete(); beats.delete(); done.delete();
      bvalid <= 0; rvalid <= 0; wbeat = 0; rbeat = 0; number = 0;
    end else begin
      if (awvalid && awready) writes.push_back({64'(awaddr), 9'(awlen) + 9'd1, awsize, awburst, 32'(awid), now});
      if (arvalid && arready) reads.push_back({64'(araddr), 9'(arlen) + 9'd1, arsize, arburst, 32'(arid), read_due()});
      offered = wvalid && wready;
      while (writes.size() > 0 && (beats.size() > 0 || offered)) begin
        if (beats.size() > 0) begin beat = beats[0]; beats.delete(0); end
        else begin beat = {wdata, wstrb}; offered = 0; end
        fleet_store_pkg::line = 1024'(beat.data);
        write_beat(beat.strobe);
      end
      if (offered) beats.push_back({wdata, wstrb});
      if (bvalid && bready) fleet_bench_pkg::answered(answers);
      if (!bvalid || bready) begin
        bvalid <= 0;
        if (done.size() > 0) begin
          answer = done[0];
          if (now >= answer.due) begin
            bvalid <= 1;
            bid <= W_AWID'(answer.id);
            answers = answer.number;
            done.delete(0);
          end
        end
      end
      if (!rvalid || rready) begin
        rvalid <= 0;
        if (rbeat == 0 && reads.size() > 0) begin
          chosen = next_read();
          if (chosen >= 0) begin reading = reads[chosen]; reads.delete(chosen); end
        end else chosen = rbeat == 0 ? -1 : 0;
        if (chosen >= 0) begin
          read_beat();
          rvalid <= 1;
          rdata <= W_RDATA'(fleet_store_pkg::line);
          rid <= W_ARID'(reading.id);
          rbeat = rbeat + 1;
          rlast <= rbeat == 32'(reading.beats);
          if (rbeat == 32'(reading.beats)) rbeat = 0;
        end
      end
    end
    awready <= !rst && !pause && writes.size() < WRITES && done.size() < ANSWERS;
    wready <= !rst && !pause && (FIXED != 0 ? writes.size() > 0 : beats.size() < BEATS);
    arready <= !rst && !pause && reads.size() + (rbeat != 0 ? 1 : 0) < READS;
    busy = writes.size() > 0 || reads.size() > 0 || beats.size() > 0 || done.size() > 0 || rbeat != 0;
  end
endmodule

// op: {write, address, data}; result: {error, data}.
module fleet_axi4_manager #(parameter int W_AWADDR = 32, parameter int W_ARADDR = 32, parameter int W_WDATA = 32,
                            parameter int W_WSTRB = 4, parameter int OPW = 1280) (
  input logic clk, rst, go, input logic [OPW-1:0] op, output logic done, taken, output logic [OPW-1:0] result,
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
  initial begin awvalid = 0; wvalid = 0; arvalid = 0; done = 0; taken = 0; end
  always @(posedge clk) begin
    done <= 0;
    taken <= (awvalid || wvalid || arvalid) && !(awvalid && !awready) && !(wvalid && !wready) && !(arvalid && !arready);
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
  int unsigned lengths [$], beats = 0;      // of bursts of writes; beats of the one whose data come
  int unsigned ended = 0;                   // bursts of data that are whole
  bit [31:0] order [$], wanted [$];         // IDs of addresses, whose data come in that order; of responses that may come
  typedef struct packed { bit [31:0] id; bit [31:0] left; } due_t;
  bit [$bits(due_t)-1:0] due [$];           // beats of reads that have not come
  // AXI4, A3.4.1: what an address may ask for. beats: of the burst; size: log2 of the bytes of a beat; width: of the data in bits.
  function automatic void asked(string channel, bit [63:0] address, int unsigned beats, bit [2:0] size, bit [1:0] burst, int width);
    if ((32'd8 << size) > width) fleet_bench_pkg::violation(PORT, {channel, "size is wider than the port"}, MANAGER);
    case (burst)
      0: if (beats > 16) fleet_bench_pkg::violation(PORT, {channel, "burst of one address is longer than 16 beats"}, MANAGER);
      1: if (address % 4096 + (64'(beats) << size) > 4096)
           fleet_bench_pkg::violation(PORT, {channel, "burst crosses 4096 bytes"}, MANAGER);
      2: begin
        if (beats != 2 && beats != 4 && beats != 8 && beats != 16)
          fleet_bench_pkg::violation(PORT, {channel, "burst wraps after other than 2, 4, 8 or 16 beats"}, MANAGER);
        if (address % (64'd1 << size) != 0) fleet_bench_pkg::violation(PORT, {channel, "burst that wraps begins within a beat"}, MANAGER);
      end
      default: fleet_bench_pkg::violation(PORT, {channel, "burst is reserved"}, MANAGER);
    endcase
  endfunction
  // Index of the oldest read with an ID, or of the oldest response to a write with it; -1 if the ID has neither.
  function automatic int due_at(bit [31:0] id);
    due_t one;
    for (int k = 0; k < due.size(); k++) begin
      one = due[k];
      if (one.id == id) return k;
    end
    return -1;
  endfunction
  function automatic int wanted_at(bit [31:0] id);
    for (int k = 0; k < wanted.size(); k++) if (wanted[k] == id) return k;
    return -1;
  endfunction
  always @(posedge clk) begin : check
    due_t one;
    int at;
    if (rst) begin
      lengths.delete(); wanted.delete(); due.delete(); order.delete(); ended = 0; beats = 0;
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
          if (lengths.size() > 0) lengths.delete(0);
        end
      end
      if (order.size() > 0 && ended > 0) begin
        wanted.push_back(order[0]);
        order.delete(0);
        ended--;
      end
      if (bvalid && bready) begin
        at = wanted_at(32'(bid));
        if (bresp == 1 && NORMAL) fleet_bench_pkg::violation(PORT, "b: exclusive okay for a normal access", SUBORDINATE);
        if (at < 0) fleet_bench_pkg::violation(PORT, "b: response without a request, or before its data", SUBORDINATE);
        else wanted.delete(at);
      end
      if (rvalid && rready) begin
        at = due_at(32'(rid));
        if (rresp == 1 && NORMAL) fleet_bench_pkg::violation(PORT, "r: exclusive okay for a normal access", SUBORDINATE);
        if (at < 0) fleet_bench_pkg::violation(PORT, "r: response without a request", SUBORDINATE);
        else begin
          one = due[at];
          one.left = one.left - 1;
          due[at] = one;
          if (rlast != (one.left == 0) && !IS_LITE) fleet_bench_pkg::violation(PORT, "rlast is not at the end of the burst", SUBORDINATE);
          if (one.left == 0) due.delete(at);
        end
      end
      if (arvalid && arready) begin
        due.push_back({32'(arid), 32'(arlen) + 32'd1});
        if (!IS_LITE) asked("ar", 64'(araddr), 32'(arlen) + 1, arsize, arburst, W_RDATA);
      end
    end
  end
endmodule
