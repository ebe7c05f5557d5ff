// One DDR port and the on-chip memory for all units.
//
// Bit 32 of an address says which of the two. Requests are served in turn, with a register before DDR; the responses of
// both memories share the units' read channel, beat by beat in turn. One ID has requests under way in one of the two
// memories only, so that its responses stay in order. Writes are single beats; a unit takes its answers at once.
module hbm0923_ddr_hub
  import hbm0923_unit_pkg::*;
  import hbm0923_fabric_pkg::*;
#(
  parameter int unsigned OnchipDepth = 1024,
  parameter int unsigned MaxWrites   = 32     // whose data is still to come, a power of two
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,

  // ---- units
  input  logic [Units-1:0]        arvalid_i,
  output logic [Units-1:0]        arready_o,
  input  logic [Units-1:0][3:0]   arid_i,
  input  logic [Units-1:0][32:0]  araddr_i,
  input  logic [Units-1:0][7:0]   arlen_i,
  output logic                    rvalid_o,
  output logic [3:0]              rid_o,
  output logic [511:0]            rdata_o,
  output logic [1:0]              rresp_o,
  output logic                    rlast_o,
  input  logic [Units-1:0]        awvalid_i,
  output logic [Units-1:0]        awready_o,
  input  logic [Units-1:0][32:0]  awaddr_i,
  input  logic [Units-1:0]        wvalid_i,
  output logic [Units-1:0]        wready_o,
  input  logic [Units-1:0][511:0] wdata_i,
  input  logic [Units-1:0][63:0]  wstrb_i,
  output logic [Units-1:0]        bvalid_o,
  output logic [1:0]              bresp_o,

  // ---- DDR
  output logic                    ddr_arvalid_o,
  input  logic                    ddr_arready_i,
  output logic [3:0]              ddr_arid_o,
  output logic [32:0]             ddr_araddr_o,
  output logic [7:0]              ddr_arlen_o,
  input  logic                    ddr_rvalid_i,
  output logic                    ddr_rready_o,
  input  logic [3:0]              ddr_rid_i,
  input  logic [511:0]            ddr_rdata_i,
  input  logic [1:0]              ddr_rresp_i,
  input  logic                    ddr_rlast_i,
  output logic                    ddr_awvalid_o,
  input  logic                    ddr_awready_i,
  output logic [3:0]              ddr_awid_o,
  output logic [32:0]             ddr_awaddr_o,
  output logic [7:0]              ddr_awlen_o,
  output logic                    ddr_wvalid_o,
  input  logic                    ddr_wready_i,
  output logic [511:0]            ddr_wdata_o,
  output logic [63:0]             ddr_wstrb_o,
  output logic                    ddr_wlast_o,
  input  logic                    ddr_bvalid_i,
  output logic                    ddr_bready_o,
  input  logic [3:0]              ddr_bid_i,
  input  logic [1:0]              ddr_bresp_i
);
  localparam int unsigned Aw = $clog2(2 * OnchipDepth);

  // ---- reads: each memory has its own queue of one
  typedef struct packed {
    logic [3:0]  id;
    logic [31:0] addr;
    logic [7:0]  len;
  } request_t;

  logic [15:0]      in_flight;          // of an ID: requests under way (only while one asks)
  logic [15:0]      chip_q;             // and where
  logic [15:0][7:0] count_q;
  logic [Units-1:0] may, ask_ddr, ask_chip, grant_ddr, grant_chip;
  logic             take_ddr, take_chip, ddr_open, chip_open, any_take;
  request_t         ddr_next, chip_next, ddr_q;
  logic             ddr_valid_q;

  always_comb begin
    in_flight = '0;
    may       = '0;
    ask_ddr   = '0;
    ask_chip  = '0;
    if (arvalid_i != '0) begin
      for (int unsigned i = 0; i < 16; i++) in_flight[i] = count_q[i] != 8'd0;
      for (int unsigned u = 0; u < Units; u++) begin
        may[u] = arvalid_i[u] && count_q[arid_i[u]] != 8'hFF
                 && (!in_flight[arid_i[u]] || chip_q[arid_i[u]] == araddr_i[u][OnchipBit]);
        ask_ddr[u]  = may[u] && !araddr_i[u][OnchipBit];
        ask_chip[u] = may[u] && araddr_i[u][OnchipBit];
      end
    end
  end
  always_comb begin
    ddr_next  = '0;
    chip_next = '0;
    for (int unsigned u = 0; u < Units; u++) begin
      if (grant_ddr[u]) ddr_next = '{id: arid_i[u], addr: araddr_i[u][31:0], len: arlen_i[u]};
      if (grant_chip[u]) chip_next = '{id: arid_i[u], addr: araddr_i[u][31:0], len: arlen_i[u]};
    end
  end
  assign take_ddr  = ddr_open && grant_ddr != '0;
  assign take_chip = chip_open && grant_chip != '0;
  assign any_take  = take_ddr || take_chip;
  assign arready_o = (grant_ddr & {Units{ddr_open}}) | (grant_chip & {Units{chip_open}});

  hbm0923_round_robin #(.Requesters(Units)) u_ddr_turn (
    .clk_i,
    .rst_ni,
    .valid_i(ask_ddr),
    .take_i (take_ddr),
    .grant_o(grant_ddr)
  );
  hbm0923_round_robin #(.Requesters(Units)) u_chip_turn (
    .clk_i,
    .rst_ni,
    .valid_i(ask_chip),
    .take_i (take_chip),
    .grant_o(grant_chip)
  );

  assign ddr_open = !ddr_valid_q || ddr_arready_i;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ddr_valid_q <= 1'b0;
      ddr_q       <= '0;
    end else if (ddr_open) begin
      ddr_valid_q <= take_ddr;
      if (take_ddr) ddr_q <= ddr_next;
    end
  end
  assign ddr_arvalid_o = ddr_valid_q;
  assign ddr_arid_o    = ddr_q.id;
  assign ddr_araddr_o  = {1'b0, ddr_q.addr};
  assign ddr_arlen_o   = ddr_q.len;

  logic last;
  assign last = rvalid_o && rlast_o;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
      chip_q  <= '0;
    end else if (any_take || last) begin
      for (int unsigned i = 0; i < 16; i++) begin
        count_q[i] <= count_q[i] + 8'(take_ddr && 32'(ddr_next.id) == i) + 8'(take_chip && 32'(chip_next.id) == i)
                      - 8'(last && 32'(rid_o) == i);
        if (take_ddr && 32'(ddr_next.id) == i) chip_q[i] <= 1'b0;
        if (take_chip && 32'(chip_next.id) == i) chip_q[i] <= 1'b1;
      end
    end
  end

  // ---- reads of the on-chip memory: a beat a cycle, the response held until its turn on the channel
  logic          walk_q, chip_valid_q, chip_last_q, chip_read, chip_ready, chip_taken, ddr_was_q;
  logic [3:0]    walk_id_q, chip_id_q;
  logic [Aw-1:0] walk_beat_q;
  logic [7:0]    walk_left_q;
  logic [511:0]  chip_data;

  assign chip_read  = walk_q && (!chip_valid_q || chip_taken);
  assign chip_open  = !walk_q || (chip_read && chip_ready && walk_left_q == 8'd0);
  assign chip_taken = chip_valid_q && (!ddr_rvalid_i || ddr_was_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      walk_q       <= 1'b0;
      walk_id_q    <= '0;
      walk_beat_q  <= '0;
      walk_left_q  <= '0;
      chip_valid_q <= 1'b0;
      chip_last_q  <= 1'b0;
      chip_id_q    <= '0;
      ddr_was_q    <= 1'b0;
    end else begin
      if (chip_read && chip_ready) begin
        chip_valid_q <= 1'b1;
        chip_last_q  <= walk_left_q == 8'd0;
        chip_id_q    <= walk_id_q;
        walk_beat_q  <= walk_beat_q + Aw'(1'b1);
        walk_left_q  <= walk_left_q - 8'd1;
      end else if (chip_taken) begin
        chip_valid_q <= 1'b0;
      end
      if (chip_open) begin
        walk_q <= take_chip;
        if (take_chip) begin
          walk_id_q   <= chip_next.id;
          walk_beat_q <= Aw'(chip_next.addr[31:6]);
          walk_left_q <= chip_next.len;
        end
      end
      if (chip_taken) ddr_was_q <= 1'b0;
      else if (ddr_rvalid_i) ddr_was_q <= 1'b1;
    end
  end

  assign ddr_rready_o = !chip_taken;
  assign rvalid_o     = chip_taken || ddr_rvalid_i;
  assign rid_o        = chip_taken ? chip_id_q : ddr_rid_i;
  assign rdata_o      = chip_taken ? chip_data : ddr_rdata_i;
  assign rresp_o      = chip_taken ? 2'b00 : ddr_rresp_i;
  assign rlast_o      = chip_taken ? chip_last_q : ddr_rlast_i;

  // ---- writes: addresses in turn; data follows in their order
  localparam int unsigned Ww = $clog2(MaxWrites);
  typedef struct packed {
    logic [2:0]    unit;
    logic          chip;
    logic [Aw-1:0] beat;
  } order_t;

  order_t           order_mem [MaxWrites];
  order_t           head, tail;
  logic [Ww-1:0]    order_wr_q, order_rd_q;
  logic [Ww:0]      order_used_q;
  logic             aw_room, aw_take, w_valid, w_take, chip_write, chip_b_q;
  logic [2:0]       chip_b_unit_q;
  logic [Units-1:0] aw_grant;
  logic [32:0]      awaddr;

  hbm0923_round_robin #(.Requesters(Units)) u_write_turn (
    .clk_i,
    .rst_ni,
    .valid_i(awvalid_i),
    .take_i (aw_take),
    .grant_o(aw_grant)
  );

  always_comb begin
    tail   = '0;
    awaddr = '0;
    for (int unsigned u = 0; u < Units; u++) begin
      if (aw_grant[u]) begin
        tail.unit = 3'(u);
        awaddr    = awaddr_i[u];
      end
    end
    tail.chip = awaddr[OnchipBit];
    tail.beat = Aw'(awaddr[31:6]);
  end
  assign aw_room       = !order_used_q[Ww];
  assign aw_take       = aw_grant != '0 && aw_room && (tail.chip || ddr_awready_i);
  assign awready_o     = aw_grant & {Units{aw_take}};
  assign ddr_awvalid_o = aw_grant != '0 && aw_room && !tail.chip;
  assign ddr_awid_o    = id_of(tail.unit);
  assign ddr_awaddr_o  = {1'b0, awaddr[31:0]};
  assign ddr_awlen_o   = 8'd0;

  assign head         = order_mem[order_rd_q];
  assign w_valid      = order_used_q != '0 && wvalid_i[head.unit];
  assign ddr_wvalid_o = w_valid && !head.chip;
  assign chip_write   = w_valid && head.chip;
  assign w_take       = chip_write || (ddr_wvalid_o && ddr_wready_i);
  assign ddr_wlast_o  = 1'b1;

  always_comb begin
    ddr_wdata_o = '0;
    ddr_wstrb_o = '0;
    wready_o    = '0;
    for (int unsigned u = 0; u < Units; u++) begin
      if (w_valid && head.unit == 3'(u)) begin
        ddr_wdata_o = wdata_i[u];
        ddr_wstrb_o = wstrb_i[u];
        wready_o[u] = w_take;
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      order_wr_q    <= '0;
      order_rd_q    <= '0;
      order_used_q  <= '0;
      chip_b_q      <= 1'b0;
      chip_b_unit_q <= '0;
    end else begin
      if (aw_take) order_wr_q <= order_wr_q + Ww'(1'b1);
      if (w_take) order_rd_q <= order_rd_q + Ww'(1'b1);
      order_used_q <= order_used_q + (Ww + 1)'(aw_take) - (Ww + 1)'(w_take);
      chip_b_q     <= chip_write;
      if (chip_write) chip_b_unit_q <= head.unit;
    end
  end
  always_ff @(posedge clk_i) if (aw_take) order_mem[order_wr_q] <= tail;

  hbm0923_onchip #(.Depth(OnchipDepth)) u_onchip (
    .clk_i,
    .write_i     (chip_write),
    .write_beat_i(head.beat),
    .write_data_i(ddr_wdata_o),
    .write_strb_i(ddr_wstrb_o),
    .read_i      (chip_read),
    .read_ready_o(chip_ready),
    .read_beat_i (walk_beat_q),
    .read_data_o (chip_data)
  );

  // ---- answers
  assign ddr_bready_o = !chip_b_q;
  assign bresp_o      = chip_b_q ? 2'b00 : ddr_bresp_i;
  always_comb begin
    bvalid_o = '0;
    if (chip_b_q) bvalid_o[chip_b_unit_q] = 1'b1;
    else if (ddr_bvalid_i) bvalid_o[unit_of(ddr_bid_i)] = 1'b1;
  end

  if (2 ** Ww != MaxWrites) begin : gen_check
    $error("MaxWrites must be a power of two");
  end

`ifndef SYNTHESIS
  // Assertions hold from the first cycle out of reset; a flop, so that the reset stays purely asynchronous.
  logic out_of_reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_of_reset_q <= 1'b0;
    else out_of_reset_q <= 1'b1;
  end
  logic [Units-1:0] foreign;  // an ID is another unit's
  always_comb begin
    foreign = '0;
    if (arvalid_i != '0) for (int unsigned u = 0; u < Units; u++) foreign[u] = arvalid_i[u] && unit_of(arid_i[u]) != 3'(u);
  end
  for (genvar u = 0; u < Units; u++) begin : gen_unit_rules
    // What was offered and not taken must stand; kept only then, so that checking costs nothing while all is quiet.
    logic         ar_waits_q, aw_waits_q, w_waits_q;
    logic [44:0]  ar_was_q;
    logic [32:0]  aw_was_q;
    logic [575:0] w_was_q;
    always_ff @(posedge clk_i) begin
      if (out_of_reset_q) begin
        if (arvalid_i[u]) assert (32'(araddr_i[u][11:6]) + 32'(arlen_i[u]) < 64);
        if (arvalid_i[u]) assert (araddr_i[u][5:0] == '0);
        if (awvalid_i[u]) assert (awaddr_i[u][5:0] == '0);
        if (ar_waits_q) assert (arvalid_i[u] && ar_was_q == {araddr_i[u], arlen_i[u], arid_i[u]});
        if (aw_waits_q) assert (awvalid_i[u] && aw_was_q == awaddr_i[u]);
        if (w_waits_q) assert (wvalid_i[u] && w_was_q == {wdata_i[u], wstrb_i[u]});
      end
      ar_waits_q <= out_of_reset_q && arvalid_i[u] && !arready_o[u];
      if (arvalid_i[u] && !arready_o[u]) ar_was_q <= {araddr_i[u], arlen_i[u], arid_i[u]};
      aw_waits_q <= out_of_reset_q && awvalid_i[u] && !awready_o[u];
      if (awvalid_i[u] && !awready_o[u]) aw_was_q <= awaddr_i[u];
      w_waits_q <= out_of_reset_q && wvalid_i[u] && !wready_o[u];
      if (wvalid_i[u] && !wready_o[u]) w_was_q <= {wdata_i[u], wstrb_i[u]};
    end
  end
  // What was offered and not taken must stand; kept only then, so that checking costs nothing while all is quiet.
  logic        ddr_ar_waits_q, ddr_aw_waits_q;
  logic [44:0] ddr_ar_was_q;
  logic [36:0] ddr_aw_was_q;
  always_ff @(posedge clk_i) begin
    if (out_of_reset_q) begin
      if (rvalid_o) assert (count_q[rid_o] != 8'd0);
      assert (order_used_q <= (Ww + 1)'(MaxWrites));
      assert (foreign == '0);
      if (ddr_ar_waits_q) assert (ddr_arvalid_o && ddr_ar_was_q == {ddr_araddr_o, ddr_arlen_o, ddr_arid_o});
      if (ddr_aw_waits_q) assert (ddr_awvalid_o && ddr_aw_was_q == {ddr_awaddr_o, ddr_awid_o});
    end
    ddr_ar_waits_q <= out_of_reset_q && ddr_arvalid_o && !ddr_arready_i;
    if (ddr_arvalid_o && !ddr_arready_i) ddr_ar_was_q <= {ddr_araddr_o, ddr_arlen_o, ddr_arid_o};
    ddr_aw_waits_q <= out_of_reset_q && ddr_awvalid_o && !ddr_awready_i;
    if (ddr_awvalid_o && !ddr_awready_i) ddr_aw_was_q <= {ddr_awaddr_o, ddr_awid_o};
  end
`endif
endmodule
