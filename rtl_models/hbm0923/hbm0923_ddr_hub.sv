// One DDR port and the on-chip memory for all units.
//
// Bit 32 of an address says which of the two. Requests are served in turn, with a register before DDR; the responses of
// both memories share the units' read channel, beat by beat in turn. One ID has requests under way in one of the two
// memories only, so that its responses stay in order. Writes are single beats; a unit takes its answers at once.
module hbm0923_ddr_hub
  import hbm0923_unit_pkg::*;
  import hbm0923_fabric_pkg::*;
  import fleet_axi_pkg::*;
#(
  parameter int unsigned OnchipDepth = 1024,
  parameter int unsigned MaxWrites   = 32     // whose data is still to come, a power of two
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  output logic                    active_o,  // something is under way in it

  // Units. A beat of read data is shown to all of them: a unit knows its own by the ID.
  input  ddr_rd_req_t [Units-1:0] rd_req_i,
  output ddr_rd_rsp_t [Units-1:0] rd_rsp_o,
  input  ddr_wr_req_t [Units-1:0] wr_req_i,
  output ddr_wr_rsp_t [Units-1:0] wr_rsp_o,

  output ddr_req_t                ddr_req_o,
  input  ddr_rsp_t                ddr_rsp_i
);
  localparam int unsigned Aw = $clog2(2 * OnchipDepth);

  // ---- the units' channels
  logic [Units-1:0]        ar_valid, ar_ready, aw_valid, aw_ready, w_valid, w_ready, b_valid;
  ddr_ax_t [Units-1:0]     ar;
  logic [Units-1:0][32:0]  aw_addr;
  logic [Units-1:0][511:0] w_data;
  logic [Units-1:0][63:0]  w_strb;
  logic                    r_valid, r_last;
  logic [3:0]              r_id;
  logic [1:0]              r_resp, b_resp;
  logic [511:0]            r_data;
  for (genvar u = 0; u < Units; u++) begin : gen_unit
    assign ar_valid[u] = rd_req_i[u].ar_valid;
    assign ar[u]       = rd_req_i[u].ar;
    assign aw_valid[u] = wr_req_i[u].aw_valid;
    assign aw_addr[u]  = wr_req_i[u].aw.addr;
    assign w_valid[u]  = wr_req_i[u].w_valid;
    assign w_data[u]   = wr_req_i[u].w.data;
    assign w_strb[u]   = wr_req_i[u].w.strb;
    assign rd_rsp_o[u] = '{
      ar_ready: ar_ready[u], r_valid: r_valid, r: '{id: r_id, resp: r_resp, last: r_last, data: r_data}
    };
    assign wr_rsp_o[u] = '{
      aw_ready: aw_ready[u], w_ready: w_ready[u], b: '{id: id_of(3'(u)), resp: b_resp}, b_valid: b_valid[u]
    };
  end

  // ---- reads: each memory has its own queue of one
  logic [15:0]      in_flight;          // of an ID: requests under way (only while one asks)
  logic [15:0]      chip_q;             // and where
  logic [15:0][7:0] count_q;
  logic [Units-1:0] may, ask_ddr, ask_chip, grant_ddr, grant_chip;
  logic             take_ddr, take_chip, ddr_open, chip_open, any_take;
  ddr_ax_t          ddr_next, chip_next, ddr_q;
  logic             ddr_valid_q;

  always_comb begin
    in_flight = '0;
    may       = '0;
    ask_ddr   = '0;
    ask_chip  = '0;
    if (ar_valid != '0) begin
      for (int unsigned i = 0; i < 16; i++) in_flight[i] = count_q[i] != 8'd0;
      for (int unsigned u = 0; u < Units; u++) begin
        may[u] = ar_valid[u] && count_q[ar[u].id] != 8'hFF
                 && (!in_flight[ar[u].id] || chip_q[ar[u].id] == ar[u].addr[OnchipBit]);
        ask_ddr[u]  = may[u] && !ar[u].addr[OnchipBit];
        ask_chip[u] = may[u] && ar[u].addr[OnchipBit];
      end
    end
  end
  always_comb begin
    ddr_next  = '0;
    chip_next = '0;
    for (int unsigned u = 0; u < Units; u++) begin
      if (grant_ddr[u]) ddr_next = ar[u];
      if (grant_chip[u]) chip_next = ar[u];
    end
  end
  assign take_ddr  = ddr_open && grant_ddr != '0;
  assign take_chip = chip_open && grant_chip != '0;
  assign any_take  = take_ddr || take_chip;
  assign ar_ready  = (grant_ddr & {Units{ddr_open}}) | (grant_chip & {Units{chip_open}});

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

  assign ddr_open = !ddr_valid_q || ddr_rsp_i.ar_ready;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ddr_valid_q <= 1'b0;
      ddr_q       <= '0;
    end else if (ddr_open) begin
      ddr_valid_q <= take_ddr;
      if (take_ddr) ddr_q <= ddr_next;
    end
  end
  assign ddr_req_o.ar_valid = ddr_valid_q;
  assign ddr_req_o.ar       = ddr_q;

  logic last;
  assign last = r_valid && r_last;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
      chip_q  <= '0;
    end else if (any_take || last) begin
      for (int unsigned i = 0; i < 16; i++) begin
        count_q[i] <= count_q[i] + 8'(take_ddr && 32'(ddr_next.id) == i) + 8'(take_chip && 32'(chip_next.id) == i)
                      - 8'(last && 32'(r_id) == i);
        if (take_ddr && 32'(ddr_next.id) == i) chip_q[i] <= 1'b0;
        if (take_chip && 32'(chip_next.id) == i) chip_q[i] <= 1'b1;
      end
    end
  end

  // ---- reads of the on-chip memory: a beat a cycle, the response held until its turn on the channel
  logic          walk_q, chip_valid_q, chip_last_q, chip_read, chip_taken, ddr_was_q;
  logic [3:0]    walk_id_q, chip_id_q;
  logic [Aw-1:0] walk_beat_q;
  logic [7:0]    walk_left_q;
  logic [511:0]  chip_data;

  assign chip_read  = walk_q && (!chip_valid_q || chip_taken);
  assign chip_open  = !walk_q || (chip_read && walk_left_q == 8'd0);
  assign chip_taken = chip_valid_q && (!ddr_rsp_i.r_valid || ddr_was_q);

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
      if (chip_read) begin
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
      else if (ddr_rsp_i.r_valid) ddr_was_q <= 1'b1;
    end
  end

  assign ddr_req_o.r_ready = !chip_taken;
  assign r_valid           = chip_taken || ddr_rsp_i.r_valid;
  assign r_id              = chip_taken ? chip_id_q : ddr_rsp_i.r.id;
  assign r_data            = chip_taken ? chip_data : ddr_rsp_i.r.data;
  assign r_resp            = chip_taken ? 2'b00 : ddr_rsp_i.r.resp;
  assign r_last            = chip_taken ? chip_last_q : ddr_rsp_i.r.last;

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
  logic             aw_room, aw_take, w_there, w_take, ddr_write, chip_write, chip_b_q;
  logic [2:0]       chip_b_unit_q;
  logic [Units-1:0] aw_grant;
  logic [32:0]      next_addr;
  logic [511:0]     head_data;
  logic [63:0]      head_strb;

  hbm0923_round_robin #(.Requesters(Units)) u_write_turn (
    .clk_i,
    .rst_ni,
    .valid_i(aw_valid),
    .take_i (aw_take),
    .grant_o(aw_grant)
  );

  always_comb begin
    tail      = '0;
    next_addr = '0;
    for (int unsigned u = 0; u < Units; u++) begin
      if (aw_grant[u]) begin
        tail.unit = 3'(u);
        next_addr = aw_addr[u];
      end
    end
    tail.chip = next_addr[OnchipBit];
    tail.beat = Aw'(next_addr[31:6]);
  end
  assign aw_room            = !order_used_q[Ww];
  assign aw_take            = aw_grant != '0 && aw_room && (tail.chip || ddr_rsp_i.aw_ready);
  assign aw_ready           = aw_grant & {Units{aw_take}};
  assign ddr_req_o.aw_valid = aw_grant != '0 && aw_room && !tail.chip;
  assign ddr_req_o.aw       = '{id: id_of(tail.unit), addr: {1'b0, next_addr[31:0]}, len: 8'd0};

  assign head              = order_mem[order_rd_q];
  assign w_there           = order_used_q != '0 && w_valid[head.unit];
  assign ddr_write         = w_there && !head.chip;
  assign chip_write        = w_there && head.chip;
  assign w_take            = chip_write || (ddr_write && ddr_rsp_i.w_ready);
  assign ddr_req_o.w_valid = ddr_write;
  assign ddr_req_o.w       = '{last: 1'b1, strb: head_strb, data: head_data};

  always_comb begin
    head_data = '0;
    head_strb = '0;
    w_ready   = '0;
    for (int unsigned u = 0; u < Units; u++) begin
      if (w_there && head.unit == 3'(u)) begin
        head_data  = w_data[u];
        head_strb  = w_strb[u];
        w_ready[u] = w_take;
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
    .write_data_i(head_data),
    .write_strb_i(head_strb),
    .read_i      (chip_read),
    .read_beat_i (walk_beat_q),
    .read_data_o (chip_data)
  );

  assign active_o = ddr_valid_q || walk_q || chip_valid_q || order_used_q != '0 || chip_b_q;

  // ---- answers
  assign ddr_req_o.b_ready = !chip_b_q;
  assign b_resp            = chip_b_q ? 2'b00 : ddr_rsp_i.b.resp;
  always_comb begin
    b_valid = '0;
    if (chip_b_q) b_valid[chip_b_unit_q] = 1'b1;
    else if (ddr_rsp_i.b_valid) b_valid[unit_of(ddr_rsp_i.b.id)] = 1'b1;
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
    if (ar_valid != '0) for (int unsigned u = 0; u < Units; u++) foreign[u] = ar_valid[u] && unit_of(ar[u].id) != 3'(u);
  end
  for (genvar u = 0; u < Units; u++) begin : gen_unit_rules
    // What was offered and not taken must stand; kept only then, so that checking costs nothing while all is quiet.
    logic         ar_waits_q, aw_waits_q, w_waits_q;
    ddr_ax_t      ar_was_q;
    logic [32:0]  aw_was_q;
    logic [575:0] w_was_q;
    always_ff @(posedge clk_i) begin
      if (out_of_reset_q) begin
        if (ar_valid[u]) assert (32'(ar[u].addr[11:6]) + 32'(ar[u].len) < 64);
        if (ar_valid[u]) assert (ar[u].addr[5:0] == '0);
        if (aw_valid[u]) assert (aw_addr[u][5:0] == '0);
        if (ar_waits_q) assert (ar_valid[u] && ar_was_q == ar[u]);
        if (aw_waits_q) assert (aw_valid[u] && aw_was_q == aw_addr[u]);
        if (w_waits_q) assert (w_valid[u] && w_was_q == {w_data[u], w_strb[u]});
      end
      ar_waits_q <= out_of_reset_q && ar_valid[u] && !ar_ready[u];
      if (ar_valid[u] && !ar_ready[u]) ar_was_q <= ar[u];
      aw_waits_q <= out_of_reset_q && aw_valid[u] && !aw_ready[u];
      if (aw_valid[u] && !aw_ready[u]) aw_was_q <= aw_addr[u];
      w_waits_q <= out_of_reset_q && w_valid[u] && !w_ready[u];
      if (w_valid[u] && !w_ready[u]) w_was_q <= {w_data[u], w_strb[u]};
    end
  end
  // What was offered and not taken must stand; kept only then, so that checking costs nothing while all is quiet.
  logic    ddr_ar_waits_q, ddr_aw_waits_q;
  ddr_ax_t ddr_ar_was_q, ddr_aw_was_q;
  always_ff @(posedge clk_i) begin
    if (out_of_reset_q) begin
      if (r_valid) assert (count_q[r_id] != 8'd0);
      assert (order_used_q <= (Ww + 1)'(MaxWrites));
      assert (foreign == '0);
      if (ddr_ar_waits_q) assert (ddr_req_o.ar_valid && ddr_ar_was_q == ddr_req_o.ar);
      if (ddr_aw_waits_q) assert (ddr_req_o.aw_valid && ddr_aw_was_q == ddr_req_o.aw);
    end
    ddr_ar_waits_q <= out_of_reset_q && ddr_req_o.ar_valid && !ddr_rsp_i.ar_ready;
    if (ddr_req_o.ar_valid && !ddr_rsp_i.ar_ready) ddr_ar_was_q <= ddr_req_o.ar;
    ddr_aw_waits_q <= out_of_reset_q && ddr_req_o.aw_valid && !ddr_rsp_i.aw_ready;
    if (ddr_req_o.aw_valid && !ddr_rsp_i.aw_ready) ddr_aw_was_q <= ddr_req_o.aw;
  end
`endif
  // Units always take what comes; the hub gives their writes an ID and one beat.
  logic [Units-1:0] unused_unit;
  for (genvar u = 0; u < Units; u++) begin : gen_unused
    assign unused_unit[u] = ^{rd_req_i[u].r_ready, wr_req_i[u].aw.id, wr_req_i[u].aw.len, wr_req_i[u].w.last, wr_req_i[u].b_ready};
  end
endmodule
