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
  localparam int BYTES = W_RDATA / 8, WORDS = (BYTES + 7) / 8;
  localparam int READS = FIXED != 0 ? 64 : 8, WRITES = FIXED != 0 ? 16 : 8, BEATS = 16, ANSWERS = 64, KEPT = 2 * ANSWERS;
  typedef struct packed { bit [8:0] beats; bit [2:0] size; bit [1:0] burst; bit [31:0] id; } form_t;
  // Rings, oldest first: bursts whose data come, bursts that are read, data before their address, responses. No queues and no wide
  // variables of functions: Verilator makes and clears these in every cycle.
  bit [63:0] write_address [0:WRITES-1], read_address [0:READS-1], read_due [0:READS-1], answer_due [0:KEPT-1];
  bit [$bits(form_t)-1:0] write_form [0:WRITES-1], read_form [0:READS-1];
  bit [W_RDATA-1:0] beat_data [0:BEATS-1];
  bit [W_WSTRB-1:0] beat_strobe [0:BEATS-1];
  bit [31:0] answer_id [0:KEPT-1];
  int unsigned answer_burst [0:KEPT-1];
  int unsigned writes, first_write, reads, first_read, beats, first_beat, answers, first_answer;
  form_t form, reading;                        // of the burst that is written, whose beats are sent
  bit [63:0] reading_address;
  bit [BYTES-1:0] carried, written;            // bytes of the port that belong to a beat, that are written
  bit [WORDS*64-1:0] found;
  int unsigned number = 0, responded;          // of the burst that is written, of the response
  int unsigned wbeat = 0, rbeat = 0;           // beats that are written and sent of a burst
  longint unsigned now;
  initial now = 64'(fleet_bench_pkg::seed_of($sformatf("%m")));

  // Address of a beat; a wrapping burst stays in its aligned block.
  function automatic bit [63:0] address_of(bit [63:0] address, bit [8:0] count, bit [2:0] log2, bit [1:0] burst, int unsigned beat);
    bit [63:0] size, block;
    size = 64'd1 << log2;
    block = size * 64'(count);
    if (burst == 0 || beat == 0) return address;
    if (burst == 2) return address / block * block + (address % block + size * 64'(beat)) % block;
    return (address >> log2 << log2) + (64'(beat) << log2);
  endfunction

  // The bytes of the port that belong to a beat into `carried`.
  function automatic void carry(bit [63:0] address, bit [2:0] size);
    int unsigned first, count;
    first = 32'(address % 64'(BYTES));
    count = (32'd1 << size) - (first & ((32'd1 << size) - 1));
    carried = ((BYTES'(1) << count) - 1) << first;
  endfunction

  // Writes fleet_store_pkg::line into memory as a beat of the oldest burst, and `written`, its strobes.
  function automatic void write_beat();
    int unsigned late;
    bit [63:0] address;
    form = write_form[first_write];
    address = address_of(write_address[first_write], form.beats, form.size, form.burst, wbeat);
    carry(address, form.size);
    if (wbeat == 0) begin fleet_bench_pkg::tokens = fleet_bench_pkg::tokens + 1; number = fleet_bench_pkg::tokens; end
    if (W_WSTRB != BYTES) written = written[0] ? carried : '0;
    fleet_bench_pkg::token = number;
    fleet_store_pkg::lanes = 128'(written);
    fleet_bench_pkg::put_line(8'(SPACE), 56'(address / BYTES * BYTES), BYTES);
    fleet_bench_pkg::token = 0;
    if ((written & ~carried) != 0) fleet_bench_pkg::violation(PORT, "wstrb outside of the bytes of the beat", MANAGER);
    wbeat = wbeat + 1;
    if (wbeat == 32'(form.beats)) begin
      late = PAUSE != 0 ? fleet_bench_pkg::any_of(24, now) : 0;
      answer_id[(first_answer + answers) % KEPT] = form.id;
      answer_burst[(first_answer + answers) % KEPT] = number;
      answer_due[(first_answer + answers) % KEPT] = now + 64'(FIXED != 0 ? FIXED - 1 : late);
      answers = answers + 1;
      first_write = (first_write + 1) % WRITES;
      writes = writes - 1;
      wbeat = 0;
    end
  endfunction

  // The next beat of `reading` into `found`; bytes that it does not carry may be anything.
  function automatic void read_beat();
    bit [63:0] address;
    address = address_of(reading_address, reading.beats, reading.size, reading.burst, rbeat);
    carry(address, reading.size);
    fleet_store_pkg::lanes = 128'(carried);
    fleet_bench_pkg::get_line(8'(SPACE), 56'(address / BYTES * BYTES), BYTES);
    for (int n = 0; n < WORDS; n++) found[n*64 +: 64] = fleet_store_pkg::read_word(n);
  endfunction

  // Responses to reads of different IDs may pass each other: which of the bursts, the oldest being 0, is answered next, or -1.
  function automatic int next_read();
    form_t other, one;
    bit late, first;
    if (reads == 0) return -1;
    late = now < read_due[first_read];
    if (PAUSE == 0) return late ? -1 : 0;
    if (!late && !fleet_bench_pkg::drawn(2, now)) return 0;
    for (int k = 1; k < 32'(reads); k++) begin
      other = read_form[(first_read + k) % READS];
      first = now >= read_due[(first_read + k) % READS];
      for (int j = 0; j < k; j++) begin
        one = read_form[(first_read + j) % READS];
        if (one.id == other.id) first = 0;
      end
      if (first) return k;
    end
    return late ? -1 : 0;
  endfunction
  // Takes it out of its ring; those before it stay in their order.
  function automatic void begin_read(int chosen);
    reading = read_form[(first_read + chosen) % READS];
    reading_address = read_address[(first_read + chosen) % READS];
    for (int k = chosen; k > 0; k--) begin
      read_form[(first_read + k) % READS] = read_form[(first_read + k - 1) % READS];
      read_address[(first_read + k) % READS] = read_address[(first_read + k - 1) % READS];
      read_due[(first_read + k) % READS] = read_due[(first_read + k - 1) % READS];
    end
    first_read = (first_read + 1) % READS;
    reads = reads - 1;
  endfunction
  // With refusals one read of three takes longer, so that younger ones are there before it even where nothing else keeps them waiting.
  function automatic bit [63:0] due_of_read();
    if (FIXED != 0) return now + 64'(FIXED) - 1;
    return now + 64'(LATENCY) + (PAUSE != 0 && fleet_bench_pkg::drawn(3, now) ? 8 + 64'(LATENCY) : 0);
  endfunction

  initial begin awready = 0; wready = 0; arready = 0; bvalid = 0; rvalid = 0; end
  assign bresp = 0;
  assign rresp = 0;
  bit busy = 1, pause, offered;
  int chosen;
  // An idle port keeps its outputs and its time.
  always @(posedge clk)
    if (PAUSE != 0 || rst || awvalid || wvalid || arvalid || bvalid || rvalid || !awready || !arready || busy) begin
      pause = fleet_bench_pkg::refuses(PAUSE, now);
      if (rst) begin
        writes = 0; reads = 0; beats = 0; answers = 0;
        bvalid <= 0; rvalid <= 0; wbeat = 0; rbeat = 0; number = 0;
      end else begin
        if (awvalid && awready) begin
          write_address[(first_write + writes) % WRITES] = 64'(awaddr);
          write_form[(first_write + writes) % WRITES] = {9'(awlen) + 9'd1, awsize, awburst, 32'(awid)};
          writes = writes + 1;
        end
        if (arvalid && arready) begin
          read_address[(first_read + reads) % READS] = 64'(araddr);
          read_form[(first_read + reads) % READS] = {9'(arlen) + 9'd1, arsize, arburst, 32'(arid)};
          read_due[(first_read + reads) % READS] = due_of_read();
          reads = reads + 1;
        end
        offered = wvalid && wready;
        while (writes != 0 && (beats != 0 || offered)) begin
          if (beats != 0) begin
            fleet_store_pkg::line = 1024'(beat_data[first_beat]);
            written = BYTES'(beat_strobe[first_beat]);
            first_beat = (first_beat + 1) % BEATS;
            beats = beats - 1;
          end else begin
            fleet_store_pkg::line = 1024'(wdata);
            written = BYTES'(wstrb);
            offered = 0;
          end
          write_beat();
        end
        if (offered) begin
          beat_data[(first_beat + beats) % BEATS] = wdata;
          beat_strobe[(first_beat + beats) % BEATS] = wstrb;
          beats = beats + 1;
        end
        if (bvalid && bready) fleet_bench_pkg::answered(responded);
        if (!bvalid || bready) begin
          bvalid <= 0;
          if (answers != 0 && now >= answer_due[first_answer]) begin
            bvalid <= 1;
            bid <= W_AWID'(answer_id[first_answer]);
            responded = answer_burst[first_answer];
            first_answer = (first_answer + 1) % KEPT;
            answers = answers - 1;
          end
        end
        if (!rvalid || rready) begin
          rvalid <= 0;
          chosen = fleet_bench_pkg::refuses(PAUSE, now + 7919) ? -1 : rbeat != 0 ? 0 : next_read();
          if (rbeat == 0 && chosen >= 0) begin_read(chosen);
          if (chosen >= 0) begin
            read_beat();
            rvalid <= 1;
            rdata <= W_RDATA'(found);
            rid <= W_ARID'(reading.id);
            rbeat = rbeat + 1;
            rlast <= rbeat == 32'(reading.beats);
            if (rbeat == 32'(reading.beats)) rbeat = 0;
          end
        end
      end
      awready <= !rst && !pause && writes < WRITES && answers < ANSWERS;
      wready <= !rst && !pause && (FIXED != 0 ? writes != 0 : beats < BEATS);
      arready <= !rst && !pause && reads + (rbeat != 0 ? 1 : 0) < READS;
      busy = writes != 0 || reads != 0 || beats != 0 || answers != 0 || rbeat != 0;
      now = now + 1;
    end
endmodule

// op: {size, write, address, data}; result: {error, data}. An access of fewer bytes than the port has takes the lanes of its address.
module fleet_axi4_manager #(parameter int W_AWADDR = 32, parameter int W_ARADDR = 32, parameter int W_WDATA = 32,
                            parameter int W_WSTRB = 4, parameter int PAUSE = 0, parameter int OPW = 1280) (
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
  localparam int BYTES = W_WDATA / 8;
  logic busy = 0;
  int unsigned log2, lane;
  assign wlast = 1;
  assign awburst = 1;
  assign arburst = 1;
  assign arsize = awsize;
  // With PAUSE the address and the data of a write come in different cycles, in either order, and responses are refused. The second
  // of two does not wait for the first one.
  bit aw_comes = 0, w_comes = 0, ar_comes = 0;
  int unsigned aw_in, w_in;  // cycles
  longint unsigned now;
  initial now = 64'(fleet_bench_pkg::seed_of($sformatf("%m")));
  initial begin bready = 1; rready = 1; awvalid = 0; wvalid = 0; arvalid = 0; done = 0; taken = 0; end
  always @(posedge clk) begin
    done <= 0;
    now = now + 1;
    bready <= !fleet_bench_pkg::refuses(PAUSE, now);
    rready <= !fleet_bench_pkg::refuses(PAUSE, now + 7919);
    taken <= !(aw_comes || w_comes || ar_comes) && (awvalid || wvalid || arvalid) && !(awvalid && !awready) && !(wvalid && !wready) && !(arvalid && !arready);
    if (awvalid && awready) awvalid <= 0;
    if (wvalid && wready) wvalid <= 0;
    if (arvalid && arready) arvalid <= 0;
    if (go && !busy && !done && !rst) begin
      busy <= 1;
      log2 = fleet_bench_pkg::log2_of(op[1092:1089], op[1087:1024], BYTES);
      lane = 32'(op[1087:1024] % 64'(BYTES));
      awsize <= 3'(log2);
      wstrb <= W_WSTRB == BYTES ? W_WSTRB'(((129'd1 << (1 << log2)) - 1) << lane) : '1;
      awaddr <= W_AWADDR'(op[1087:1024]); araddr <= W_ARADDR'(op[1087:1024]); wdata <= W_WDATA'(op[1023:0]) << 8 * lane;
      aw_comes = op[1088]; w_comes = op[1088]; ar_comes = !op[1088];
      aw_in = 0;
      w_in = 0;
      if (PAUSE != 0)
        case (fleet_bench_pkg::any_of(3, now))
          0: aw_in = 1 + fleet_bench_pkg::any_of(8, now >> 1);
          1: w_in = 1 + fleet_bench_pkg::any_of(8, now >> 1);
          default: ;
        endcase
    end
    if (aw_comes && aw_in == 0) begin awvalid <= 1; aw_comes = 0; end else aw_in = aw_in - 1;
    if (w_comes && w_in == 0) begin wvalid <= 1; w_comes = 0; end else w_in = w_in - 1;
    if (ar_comes) begin arvalid <= 1; ar_comes = 0; end
    if (busy && ((bvalid && bready) || (rvalid && rready))) begin
      busy <= 0; done <= 1;
      result <= '0;
      result[1024] <= bvalid && bready ? bresp[1] : rresp[1];
      if (rvalid && rready) result[1023:0] <= (1024'(rdata) >> 8 * lane) & ((1024'd1 << (8 << log2)) - 1);
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
  fleet_handshake_monitor #(.W(W_AWADDR + W_AWLEN + W_AWID + 5), .PORT(PORT), .CHANNEL("aw"), .SENDER(MANAGER), .STABLE(STABLE), .IN_RESET(1)) aw (
    .clk, .rst, .valid(awvalid), .ready(awready), .payload({awaddr, awlen, awid, awsize, awburst}));
  fleet_handshake_monitor #(.W(W_WDATA + W_WSTRB + 1), .PORT(PORT), .CHANNEL("w"), .SENDER(MANAGER), .STABLE(STABLE), .IN_RESET(1)) w (
    .clk, .rst, .valid(wvalid), .ready(wready), .payload({wdata, wstrb, wlast}));
  fleet_handshake_monitor #(.W(W_AWID + 2), .PORT(PORT), .CHANNEL("b"), .SENDER(SUBORDINATE), .STABLE(STABLE), .IN_RESET(1)) b (
    .clk, .rst, .valid(bvalid), .ready(bready), .payload({bid, bresp}));
  fleet_handshake_monitor #(.W(W_ARADDR + W_ARLEN + W_ARID + 5), .PORT(PORT), .CHANNEL("ar"), .SENDER(MANAGER), .STABLE(STABLE), .IN_RESET(1)) ar (
    .clk, .rst, .valid(arvalid), .ready(arready), .payload({araddr, arlen, arid, arsize, arburst}));
  fleet_handshake_monitor #(.W(W_RDATA + W_ARID + 3), .PORT(PORT), .CHANNEL("r"), .SENDER(SUBORDINATE), .STABLE(STABLE), .IN_RESET(1)) r (
    .clk, .rst, .valid(rvalid), .ready(rready), .payload({rdata, rid, rresp, rlast}));

  localparam bit NORMAL = IS_LITE || MANAGER == "bench";           // no access is exclusive
  // Rings, oldest first: lengths of bursts of writes whose data come, IDs of addresses in the order of their data, IDs of responses
  // that may come, reads by ID and beats that have not come.
  localparam int MOST = 256;
  bit [8:0] length [0:MOST-1];
  bit [31:0] order [0:MOST-1], wanted [0:MOST-1], due [0:MOST-1];
  bit [8:0] left [0:MOST-1];
  int unsigned lengths, first_length, orders, first_order, wants, first_wanted, dues, first_due;
  int unsigned beats = 0;                   // of the burst of writes whose data come
  int unsigned ended = 0;                   // bursts of data that are whole
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
  // The oldest read with an ID, the oldest response to a write with it, counted from the first of their ring; -1 if there is none.
  function automatic int due_at(bit [31:0] id);
    for (int k = 0; k < 32'(dues); k++) if (due[(first_due + k) % MOST] == id) return k;
    return -1;
  endfunction
  function automatic int wanted_at(bit [31:0] id);
    for (int k = 0; k < 32'(wants); k++) if (wanted[(first_wanted + k) % MOST] == id) return k;
    return -1;
  endfunction
  int at;
  always @(posedge clk)
    if (rst) begin
      lengths = 0; orders = 0; wants = 0; dues = 0; ended = 0; beats = 0;
    end else begin
      if (awvalid && awready) begin
        length[(first_length + lengths) % MOST] = 9'(awlen) + 9'd1;
        lengths = lengths + 1;
        order[(first_order + orders) % MOST] = 32'(awid);
        orders = orders + 1;
        if (orders == MOST) $fatal(1, "%s: more than %0d bursts of writes wait", PORT, MOST - 1);
        if (!IS_LITE) asked("aw", 64'(awaddr), 32'(awlen) + 1, awsize, awburst, W_WDATA);
      end
      if (wvalid && wready) begin
        beats = beats + 1;
        if (lengths != 0 && !IS_LITE) begin
          if (wlast != (beats == 32'(length[first_length])))
            fleet_bench_pkg::violation(PORT, "wlast is not at the end of the burst", MANAGER);
        end
        // A burst ends where its address said so: a wlast that lacks is one fault, not a response too early as well.
        if (lengths != 0 ? beats >= 32'(length[first_length]) : wlast) begin
          beats = 0;
          ended = ended + 1;
          if (lengths != 0) begin lengths = lengths - 1; first_length = (first_length + 1) % MOST; end
        end
      end
      if (orders != 0 && ended != 0) begin
        wanted[(first_wanted + wants) % MOST] = order[first_order];
        wants = wants + 1;
        if (wants == MOST) $fatal(1, "%s: more than %0d responses to writes are due", PORT, MOST - 1);
        first_order = (first_order + 1) % MOST;
        orders = orders - 1;
        ended = ended - 1;
      end
      if (bvalid && bready) begin
        at = wanted_at(32'(bid));
        if (bresp == 1 && NORMAL) fleet_bench_pkg::violation(PORT, "b: exclusive okay for a normal access", SUBORDINATE);
        if (at < 0) fleet_bench_pkg::violation(PORT, "b: response without a request, or before its data", SUBORDINATE);
        else begin
          for (int k = at; k > 0; k--) wanted[(first_wanted + k) % MOST] = wanted[(first_wanted + k - 1) % MOST];
          first_wanted = (first_wanted + 1) % MOST;
          wants = wants - 1;
        end
      end
      if (rvalid && rready) begin
        at = due_at(32'(rid));
        if (rresp == 1 && NORMAL) fleet_bench_pkg::violation(PORT, "r: exclusive okay for a normal access", SUBORDINATE);
        if (at < 0) fleet_bench_pkg::violation(PORT, "r: response without a request", SUBORDINATE);
        else begin
          left[(first_due + at) % MOST] = left[(first_due + at) % MOST] - 1;
          if (rlast != (left[(first_due + at) % MOST] == 0) && !IS_LITE)
            fleet_bench_pkg::violation(PORT, "rlast is not at the end of the burst", SUBORDINATE);
          if (left[(first_due + at) % MOST] == 0) begin
            for (int k = at; k > 0; k--) begin
              due[(first_due + k) % MOST] = due[(first_due + k - 1) % MOST];
              left[(first_due + k) % MOST] = left[(first_due + k - 1) % MOST];
            end
            first_due = (first_due + 1) % MOST;
            dues = dues - 1;
          end
        end
      end
      if (arvalid && arready) begin
        due[(first_due + dues) % MOST] = 32'(arid);
        left[(first_due + dues) % MOST] = 9'(arlen) + 9'd1;
        dues = dues + 1;
        if (dues == MOST) $fatal(1, "%s: more than %0d bursts of reads wait", PORT, MOST - 1);
        if (!IS_LITE) asked("ar", 64'(araddr), 32'(arlen) + 1, arsize, arburst, W_RDATA);
      end
    end
endmodule
