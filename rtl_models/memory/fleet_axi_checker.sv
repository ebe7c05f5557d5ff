// Holds one AXI4 or AXI4-Lite port to the rules of rtl_models/README.md: both sides, on the wires, whatever master and slave are there.
//
// What a channel offers is kept when it begins to wait for ready, and compared as long as it waits: a channel that does not wait
// costs nothing. The rules of writes have a clock of their own, which may stand still while no channel of them is valid and none was
// at the last edge. A violation ends the job with an error that names the port, the cycle and the signal; without a job ($error) it
// ends the simulation.
//
// Not synthesisable: test bench.

module fleet_axi_checker #(
  parameter type         req_t     = fleet_axi_pkg::ddr_req_t,
  parameter type         rsp_t     = fleet_axi_pkg::ddr_rsp_t,
  parameter int unsigned AddrWidth = 33,
  parameter int unsigned DataWidth = 512,
  parameter int unsigned IdWidth   = 0,     // 0: the port has no IDs
  parameter bit          Lite      = 1'b0   // AXI4-Lite: every burst is one beat
) (
  input logic        clk_i,
  input logic        write_clk_i,  // clk_i, or without edges at which nothing is written and nothing reset
  input logic        rst_ni,
  input logic [63:0] cycle_i,
  input logic [31:0] port_i,  // 0 to 62: HBM port; PortDdr, PortRegisters. No parameter: all ports share one module
  input req_t        req_i,
  input rsp_t        rsp_i
);
  import "DPI-C" function void fleet_axi_violation(input string text);
  // A transfer begins to wait for ready; channel: 0 AR, 1 R, 2 AW, 3 W, 4 B.
  import "DPI-C" function void fleet_axi_wait(input int unsigned port, input int unsigned channel);

  // The signals of the five channels; what the port does not have is constant.
  localparam int unsigned Iw = IdWidth == 0 ? 1 : IdWidth;
  logic                   arvalid, arready, rvalid, rready, rlast, awvalid, awready, wvalid, wready, wlast, bvalid, bready;
  logic [AddrWidth-1:0]   araddr, awaddr;
  logic [7:0]             arlen, awlen;
  logic [Iw-1:0]          arid, rid, awid, bid;
  logic [DataWidth-1:0]   rdata, wdata;
  logic [DataWidth/8-1:0] wstrb;
  logic [1:0]             rresp, bresp;
  assign arvalid = req_i.ar_valid;
  assign arready = rsp_i.ar_ready;
  assign rvalid  = rsp_i.r_valid;
  assign rready  = req_i.r_ready;
  assign awvalid = req_i.aw_valid;
  assign awready = rsp_i.aw_ready;
  assign wvalid  = req_i.w_valid;
  assign wready  = rsp_i.w_ready;
  assign bvalid  = rsp_i.b_valid;
  assign bready  = req_i.b_ready;
  assign araddr  = req_i.ar.addr;
  assign awaddr  = req_i.aw.addr;
  assign rdata   = rsp_i.r.data;
  assign rresp   = rsp_i.r.resp;
  assign wdata   = req_i.w.data;
  assign wstrb   = req_i.w.strb;
  assign bresp   = rsp_i.b.resp;
  if (Lite) begin : gen_beat
    assign arlen = '0;
    assign awlen = '0;
    assign rlast = 1'b1;
    assign wlast = 1'b1;
  end else begin : gen_burst
    assign arlen = req_i.ar.len;
    assign awlen = req_i.aw.len;
    assign rlast = rsp_i.r.last;
    assign wlast = req_i.w.last;
  end
  if (IdWidth == 0) begin : gen_no_id
    assign arid = '0;
    assign rid  = '0;
    assign awid = '0;
    assign bid  = '0;
  end else begin : gen_id
    assign arid = req_i.ar.id;
    assign rid  = rsp_i.r.id;
    assign awid = req_i.aw.id;
    assign bid  = rsp_i.b.id;
  end

  localparam logic [31:0] PortDdr = 32'd64;
  localparam logic [31:0] PortRegisters = 32'd65;
  localparam int unsigned Bytes = DataWidth / 8;
  localparam int unsigned Ids   = 1 << Iw;
  localparam int unsigned Log2Depth = 7;
  localparam int unsigned Depth = 1 << Log2Depth;  // bursts that may be outstanding with one ID, and writes in all
  localparam logic [1:0]  RespExOkay = 2'b01;

  task automatic violated(input string what);
    automatic string port, text;
    if (port_i == PortDdr) port = "ddr";
    else if (port_i == PortRegisters) port = "the register port";
    else port = $sformatf("hbm port %0d", port_i);
    text = $sformatf("AXI violation on %s in cycle %0d: %s", port, cycle_i, what);
    fleet_axi_violation(text);
    $error("%s", text);
  endtask

  task automatic withdrawn(input string channel);
    violated($sformatf("%svalid was withdrawn before %sready", channel, channel));
  endtask

  task automatic changed(input string channel, input string signal, input logic [63:0] was, input logic [63:0] now);
    violated($sformatf("%s%s changed from 0x%0h to 0x%0h before %sready", channel, signal, was, now, channel));
  endtask

  task automatic changed_data(input string channel, input logic [DataWidth-1:0] was, input logic [DataWidth-1:0] now,
                              input logic [Bytes-1:0] lanes);
    for (int unsigned i = 0; i < Bytes; i++) begin
      if (lanes[i] && was[8*i+:8] != now[8*i+:8]) begin
        changed(channel, $sformatf("data (byte lane %0d)", i), 64'(was[8*i+:8]), 64'(now[8*i+:8]));
        break;
      end
    end
  endtask

  // A string: operands of ?: would be padded to the same width.
  function automatic string set_or_not(input logic last);
    if (last) return "set";
    return "not set";
  endfunction

  // Requests: AR and AW obey the same rules.
  typedef struct packed {
    logic [AddrWidth-1:0] addr;
    logic [7:0]           len;
    logic [Iw-1:0]        id;
  } request_t;

  for (genvar i = 0; i < 2; i++) begin : gen_request
    localparam string       Channel = i == 0 ? "ar" : "aw";
    localparam string       Access  = i == 0 ? "read" : "write";
    localparam int unsigned Number  = i == 0 ? 32'd0 : 32'd2;  // for fleet_axi_wait

    request_t    now, was_q;
    logic        clk, valid, ready, waits_q;
    logic [31:0] bytes;
    assign clk   = i == 0 ? clk_i : write_clk_i;
    assign now   = i == 0 ? {araddr, arlen, arid} : {awaddr, awlen, awid};
    assign valid = i == 0 ? arvalid : awvalid;
    assign ready = i == 0 ? arready : awready;
    assign bytes = (32'(now.len) + 32'd1) * Bytes;

    always_ff @(posedge clk) begin
      if (!rst_ni) begin
        waits_q <= 1'b0;
      end else if (valid || waits_q) begin
        if (waits_q) begin
          if (!valid) withdrawn(Channel);
          else if (now.addr != was_q.addr) changed(Channel, "addr", 64'(was_q.addr), 64'(now.addr));
          else if (now.len != was_q.len) changed(Channel, "len", 64'(was_q.len), 64'(now.len));
          else if (now.id != was_q.id) changed(Channel, "id", 64'(was_q.id), 64'(now.id));
        end else begin
          if (!Lite && 32'(now.addr[11:0]) % Bytes != 32'd0) begin
            violated($sformatf("%s address 0x%0h is not a multiple of the beat's %0d bytes", Access, now.addr, Bytes));
          end else if (!Lite && 32'(now.addr[11:0]) + bytes > 32'd4096) begin
            violated($sformatf("%s burst of %0d beats at 0x%0h crosses a 4 KiB boundary", Access, 32'(now.len) + 32'd1, now.addr));
          end
          if (!ready) begin
            was_q <= now;
            fleet_axi_wait(port_i, Number);
          end
        end
        waits_q <= valid & ~ready;
      end
    end
  end

  // What waits on the other channels, as it was first offered.
  logic                 r_waits_q, w_waits_q, b_waits_q;
  logic [Iw-1:0]   rid_q, bid_q;
  logic [DataWidth-1:0] rdata_q, wdata_q;
  logic [Bytes-1:0]     wstrb_q;
  logic [1:0]           rresp_q, bresp_q;
  logic                 rlast_q, wlast_q;

  // Reads of an ID: lengths in a ring. Writes: lengths and IDs in the order of the addresses; data may come first.
  // What an ID counts is packed: a simulator asks of every unpacked array, at every edge, whether it was assigned.
  logic [Ids-1:0][Log2Depth-1:0] read_first_q;
  logic [Ids-1:0][Log2Depth:0]   read_count_q;
  logic [Ids-1:0][7:0]           read_beat_q;
  logic [Ids-1:0][15:0]          due_q;        // writes that may be answered
  logic [7:0]           read_len_q[Ids*Depth];
  logic [AddrWidth-1:0] write_addr_q[Depth];
  logic [7:0]           write_len_q[Depth], data_len_q[Depth];
  logic [Iw-1:0]   write_id_q[Depth];
  logic [31:0]          addresses_q, datas_q;  // bursts whose address, whose last beat was taken
  logic [8:0]           write_beat_q;
  // Edges in reset so far, up to 2. Known from the start, unlike the design's own power-on state.
  /* verilator lint_off PROCASSINIT */
  logic [1:0]           reset_q = '0;
  /* verilator lint_on PROCASSINIT */

  logic ar_taken, r_taken, aw_taken, w_taken, b_taken, reads, writes;
  assign ar_taken = arvalid & arready;
  assign r_taken  = rvalid & rready;
  assign aw_taken = awvalid & awready;
  assign w_taken  = wvalid & wready;
  assign b_taken  = bvalid & bready;
  assign reads    = arvalid | rvalid | r_waits_q;
  assign writes   = awvalid | wvalid | bvalid | w_waits_q | b_waits_q;

  // The burst that a write beat belongs to, and what is known of it.
  logic [Log2Depth-1:0] data_at, address_at;
  logic                 known;
  logic [7:0]           known_len;
  logic [AddrWidth-1:0] known_addr;
  assign data_at    = datas_q[Log2Depth-1:0];
  assign address_at = addresses_q[Log2Depth-1:0];
  assign known      = addresses_q > datas_q || (addresses_q == datas_q && aw_taken);
  assign known_len  = addresses_q > datas_q ? write_len_q[data_at] : awlen;
  assign known_addr = addresses_q > datas_q ? write_addr_q[data_at] : awaddr;

  // A write that both channels have completed at this edge, and its ID.
  logic                 data_done, write_done;
  logic [Iw-1:0]   done_id;
  assign data_done  = w_taken & wlast;
  assign write_done = addresses_q == datas_q ? aw_taken & data_done : addresses_q > datas_q ? data_done : aw_taken;
  assign done_id    = addresses_q > datas_q ? write_id_q[data_at] : awid;

  always_ff @(posedge clk_i) begin
    // A design with a synchronous reset has had an edge for it.
    if (reset_q == 2'd2) begin
      if (arvalid | rvalid | awvalid | wvalid | bvalid) begin
        violated($sformatf("valid is high in reset (ar %b, r %b, aw %b, w %b, b %b)", arvalid, rvalid, awvalid, wvalid,
                           bvalid));
      end
    end
    if (!rst_ni) begin
      if (reset_q != 2'd2) reset_q <= reset_q + 2'd1;
      r_waits_q    <= 1'b0;
      read_first_q <= '0;
      read_count_q <= '0;
      read_beat_q  <= '0;
    end else begin
      reset_q <= '0;
      if (reads) begin
        // Read data.
        if (r_waits_q) begin
          if (!rvalid) withdrawn("r");
          else if (rdata != rdata_q) changed_data("r", rdata_q, rdata, '1);
          else if (rresp != rresp_q) changed("r", "resp", 64'(rresp_q), 64'(rresp));
          else if (rlast != rlast_q) changed("r", "last", 64'(rlast_q), 64'(rlast));
          else if (rid != rid_q) changed("r", "id", 64'(rid_q), 64'(rid));
        end else if (rvalid) begin
          if (read_count_q[rid] == '0) begin
            violated($sformatf("rvalid with rid %0d, and no read of that ID is outstanding", rid));
          end else if (rlast != (read_beat_q[rid] == read_len_q[{rid, read_first_q[rid]}])) begin
            violated($sformatf("rlast is %s on read beat %0d of %0d (rid %0d)", set_or_not(rlast),
                               32'(read_beat_q[rid]) + 32'd1, 32'(read_len_q[{rid, read_first_q[rid]}]) + 32'd1, rid));
          end
          if (rresp == RespExOkay) violated("rresp is EXOKAY, and no access was exclusive");
          if (!rready) begin
            rdata_q <= rdata;
            rresp_q <= rresp;
            rlast_q <= rlast;
            rid_q   <= rid;
            fleet_axi_wait(port_i, 32'd1);
          end
        end
        r_waits_q <= rvalid & ~rready;

        // What is outstanding.
        if (ar_taken) begin
          if (read_count_q[arid] == (Log2Depth + 1)'(Depth)) violated($sformatf("more than %0d reads of one ID are outstanding", Depth));
          read_len_q[{arid, read_first_q[arid] + read_count_q[arid][Log2Depth-1:0]}] <= arlen;
          if (!(r_taken && rlast && rid == arid)) read_count_q[arid] <= read_count_q[arid] + 1'b1;
        end
        if (r_taken) begin
          read_beat_q[rid] <= rlast ? '0 : read_beat_q[rid] + 8'd1;
          if (rlast) begin
            read_first_q[rid] <= read_first_q[rid] + 1'b1;
            if (!(ar_taken && rid == arid)) read_count_q[rid] <= read_count_q[rid] - 1'b1;
          end
        end
      end
    end
  end

  always_ff @(posedge write_clk_i) begin
    if (!rst_ni) begin
      w_waits_q    <= 1'b0;
      b_waits_q    <= 1'b0;
      addresses_q  <= '0;
      datas_q      <= '0;
      write_beat_q <= '0;
      due_q        <= '0;
    end else if (writes) begin
      // Write data.
      if (w_waits_q) begin
        if (!wvalid) withdrawn("w");
        else if (wstrb != wstrb_q) begin
          violated($sformatf("wstrb changed from 0x%0h to 0x%0h before wready", wstrb_q, wstrb));
        end
        else if (wdata != wdata_q) changed_data("w", wdata_q, wdata, wstrb);
        else if (wlast != wlast_q) changed("w", "last", 64'(wlast_q), 64'(wlast));
      end else if (wvalid && !wready) begin
        wdata_q <= wdata;
        wstrb_q <= wstrb;
        wlast_q <= wlast;
        fleet_axi_wait(port_i, 32'd3);
      end
      w_waits_q <= wvalid & ~wready;

      // Write response.
      if (b_waits_q) begin
        if (!bvalid) withdrawn("b");
        else if (bresp != bresp_q) changed("b", "resp", 64'(bresp_q), 64'(bresp));
        else if (bid != bid_q) changed("b", "id", 64'(bid_q), 64'(bid));
      end else if (bvalid) begin
        if (due_q[bid] == '0) begin
          violated($sformatf("bvalid with bid %0d, and no write of that ID has had its address and its last beat taken", bid));
        end
        if (bresp == RespExOkay) violated("bresp is EXOKAY, and no access was exclusive");
        if (!bready) begin
          bresp_q <= bresp;
          bid_q   <= bid;
          fleet_axi_wait(port_i, 32'd4);
        end
      end
      b_waits_q <= bvalid & ~bready;

      // What is outstanding.
      if (aw_taken) begin
        if (addresses_q - datas_q == Depth) violated($sformatf("more than %0d writes wait for their data", Depth));
        if (addresses_q < datas_q && data_len_q[address_at] != awlen) begin
          violated($sformatf("the write of %0d beats at 0x%0h had %0d beats of data", 32'(awlen) + 32'd1, awaddr,
                             32'(data_len_q[address_at]) + 32'd1));
        end
        write_addr_q[address_at] <= awaddr;
        write_len_q[address_at]  <= awlen;
        write_id_q[address_at]   <= awid;
        addresses_q              <= addresses_q + 32'd1;
      end
      if (w_taken) begin
        if (known && wlast != (write_beat_q >= 9'(known_len))) begin
          violated($sformatf("wlast is %s on write beat %0d of %0d at 0x%0h", set_or_not(wlast),
                             32'(write_beat_q) + 32'd1, 32'(known_len) + 32'd1, known_addr));
        end
        if (datas_q - addresses_q == Depth) violated($sformatf("the data of more than %0d writes come first", Depth));
        write_beat_q <= wlast ? '0 : write_beat_q + 9'd1;
        if (wlast) begin
          data_len_q[data_at] <= write_beat_q[7:0];
          datas_q             <= datas_q + 32'd1;
        end
      end
      if (write_done && !(b_taken && bid == done_id)) due_q[done_id] <= due_q[done_id] + 16'd1;
      if (b_taken && !(write_done && bid == done_id)) due_q[bid] <= due_q[bid] - 16'd1;
    end
  end
endmodule
