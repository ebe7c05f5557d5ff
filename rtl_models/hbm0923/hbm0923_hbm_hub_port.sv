// One HBM port for two readers and two writers.
//
// Readers take turns, unless what the first one asks for is for later: then it waits while the second one asks or has bursts
// under way, for these would come behind its own. The port answers in order, so a queue holds whose bursts are under way. Writers take turns between whole transactions:
// the other one goes on when everything of the first is answered (only the oldest instruction writes, so none waits).
module hbm0923_hbm_hub_port
  import fleet_axi_pkg::*;
#(
  parameter int unsigned MaxReads = 64  // bursts under way, a power of two
) (
  input  logic              clk_i,
  input  logic              write_clk_i,
  input  logic              rst_ni,

  // Reader and writer 0, 1: element 0, 1.
  input  logic              second_first_i,
  input  hbm_rd_req_t [1:0] rd_req_i,
  output hbm_rd_rsp_t [1:0] rd_rsp_o,
  input  hbm_wr_req_t [1:0] wr_req_i,
  output hbm_wr_rsp_t [1:0] wr_rsp_o,

  output hbm_req_t          hbm_req_o,
  input  hbm_rsp_t          hbm_rsp_i
);
  localparam int unsigned Qw = $clog2(MaxReads);

  // ---- the readers' and writers' channels, and the port's
  logic [1:0]        ar_asks, ar_ready, r_valid, aw_asks, aw_ready, w_asks, w_ready, w_last, b_valid;
  hbm_ax_t [1:0]     ar, aw;
  logic [1:0][255:0] w_data;
  logic [1:0][31:0]  w_strb;
  logic              ar_valid, aw_valid, w_valid, hbm_ar_ready, hbm_aw_ready, hbm_w_ready, hbm_r_valid, hbm_r_last, hbm_b_valid;
  hbm_ax_t           hbm_ar, hbm_aw;
  logic [255:0]      hbm_w_data;
  logic [31:0]       hbm_w_strb;
  logic              hbm_w_last;
  for (genvar i = 0; i < 2; i++) begin : gen_side
    assign ar_asks[i]  = rd_req_i[i].ar_valid;
    assign ar[i]       = rd_req_i[i].ar;
    assign aw_asks[i]  = wr_req_i[i].aw_valid;
    assign aw[i]       = wr_req_i[i].aw;
    assign w_asks[i]   = wr_req_i[i].w_valid;
    assign w_data[i]   = wr_req_i[i].w.data;
    assign w_strb[i]   = wr_req_i[i].w.strb;
    assign w_last[i]   = wr_req_i[i].w.last;
    assign rd_rsp_o[i] = '{ar_ready: ar_ready[i], r_valid: r_valid[i], r: hbm_rsp_i.r};
    assign wr_rsp_o[i] = '{aw_ready: aw_ready[i], w_ready: w_ready[i], b: hbm_rsp_i.b, b_valid: b_valid[i]};
  end
  assign hbm_ar_ready = hbm_rsp_i.ar_ready;
  assign hbm_r_valid  = hbm_rsp_i.r_valid;
  assign hbm_r_last   = hbm_rsp_i.r.last;
  assign hbm_aw_ready = hbm_rsp_i.aw_ready;
  assign hbm_w_ready  = hbm_rsp_i.w_ready;
  assign hbm_b_valid  = hbm_rsp_i.b_valid;
  assign hbm_req_o    = '{
    aw: hbm_aw, aw_valid: aw_valid, w_valid: w_valid, b_ready: 1'b1, ar: hbm_ar, ar_valid: ar_valid, r_ready: 1'b1,
    w: '{last: hbm_w_last, strb: hbm_w_strb, data: hbm_w_data}
  };

  // ---- reads
  logic [MaxReads-1:0] owner_q;
  logic [Qw-1:0]       wr_q, rd_q;
  logic [Qw:0]         used_q;
  logic [Qw:0]         second_q;   // bursts of the second reader
  logic                held_q, last_q, reader, room, take, done, stands_back;

  // In turn where both ask; a burst that was offered stays so. Nothing is computed while nobody asks.
  assign room        = !used_q[Qw];
  assign stands_back = second_first_i && second_q != '0 && !held_q;
  always_comb begin
    reader   = 1'b0;
    ar_valid = 1'b0;
    hbm_ar   = '0;
    take     = 1'b0;
    ar_ready = 2'b00;
    if (ar_asks != 2'b00) begin
      reader   = held_q ? last_q : (ar_asks == 2'b11) ? second_first_i || !last_q : ar_asks[1];
      ar_valid = (reader ? ar_asks[1] : ar_asks[0] && !stands_back) && room;
      hbm_ar   = reader ? ar[1] : ar[0];
      take     = ar_valid && hbm_ar_ready;
      ar_ready = {take && reader, take && !reader};
    end
  end
  assign done    = hbm_r_valid && hbm_r_last;
  assign r_valid = !hbm_r_valid ? 2'b00 : owner_q[rd_q] ? 2'b10 : 2'b01;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      owner_q  <= '0;
      wr_q     <= '0;
      rd_q     <= '0;
      used_q   <= '0;
      second_q <= '0;
      held_q   <= 1'b0;
      last_q   <= 1'b0;
    end else if (ar_valid || done) begin
      if (ar_valid) begin
        held_q <= !hbm_ar_ready;
        last_q <= reader;
      end
      if (take) begin
        owner_q[wr_q] <= reader;
        wr_q          <= wr_q + Qw'(1'b1);
      end
      if (done) rd_q <= rd_q + Qw'(1'b1);
      if (take || done) begin
        used_q   <= used_q + (Qw + 1)'(take) - (Qw + 1)'(done);
        second_q <= second_q + (Qw + 1)'(take && reader) - (Qw + 1)'(done && owner_q[rd_q]);
      end
    end
  end

  // ---- writes
  logic       writer_q, writer, writing_q, aw_take, w_take;
  logic [7:0] waiting_q;    // bursts without an answer
  logic [7:0] data_q;       // bursts whose data is still to come
  // What is offered, and apart from it what is taken: the port's readiness changes in every cycle, the data do not.
  always_comb begin
    writer     = writer_q;
    aw_valid   = 1'b0;
    hbm_aw     = '0;
    w_valid    = 1'b0;
    hbm_w_data = '0;
    hbm_w_strb = '0;
    hbm_w_last = 1'b0;
    if (aw_asks != 2'b00 || writing_q) begin
      writer     = writing_q ? writer_q : aw_asks[1] && !aw_asks[0];
      aw_valid   = aw_asks[writer] && !(&waiting_q);
      hbm_aw     = writer ? aw[1] : aw[0];
      w_valid    = w_asks[writer] && data_q != '0;
      hbm_w_data = writer ? w_data[1] : w_data[0];
      hbm_w_strb = writer ? w_strb[1] : w_strb[0];
      hbm_w_last = w_last[writer];
    end
  end
  always_comb begin
    aw_take  = 1'b0;
    w_take   = 1'b0;
    aw_ready = 2'b00;
    w_ready  = 2'b00;
    if (aw_valid || w_valid) begin
      aw_take  = aw_valid && hbm_aw_ready;
      w_take   = w_valid && hbm_w_ready;
      aw_ready = {aw_take && writer, aw_take && !writer};
      w_ready  = {w_take && writer, w_take && !writer};
    end
  end
  assign b_valid = !hbm_b_valid ? 2'b00 : writer_q ? 2'b10 : 2'b01;

  always_ff @(posedge write_clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      writer_q  <= 1'b0;
      writing_q <= 1'b0;
      waiting_q <= '0;
      data_q    <= '0;
    end else if (aw_valid || writing_q) begin
      writer_q  <= writer;
      writing_q <= (aw_valid && !aw_take) || waiting_q + 8'(aw_take) - 8'(hbm_b_valid) != '0;
      waiting_q <= waiting_q + 8'(aw_take) - 8'(hbm_b_valid);
      data_q    <= data_q + 8'(aw_take) - 8'(w_take && hbm_w_last);
    end
  end

  if (2 ** Qw != MaxReads) begin : gen_check
    $error("MaxReads must be a power of two");
  end

`ifndef SYNTHESIS
  // Assertions hold from the first cycle out of reset; a flop, so that the reset stays purely asynchronous.
  logic out_of_reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_of_reset_q <= 1'b0;
    else out_of_reset_q <= 1'b1;
  end
  // What was offered and not taken must stand; kept only then, so that checking costs nothing while all is quiet.
  logic         ar_waits_q, aw_waits_q, w_waits_q;
  hbm_ax_t      ar_was_q, aw_was_q;
  logic [287:0] w_was_q;
  always_ff @(posedge clk_i) begin
    if (out_of_reset_q) begin
      if (ar_waits_q) assert (ar_valid && ar_was_q == hbm_ar);
      if (aw_waits_q) assert (aw_valid && aw_was_q == hbm_aw);
      if (w_waits_q) assert (w_valid && w_was_q == {hbm_w_data, hbm_w_strb});
      if (hbm_r_valid) assert (used_q != '0);
      if (take) assert (used_q != (Qw + 1)'(MaxReads));
      if (hbm_b_valid) assert (waiting_q != '0);
    end
    ar_waits_q <= out_of_reset_q && ar_valid && !hbm_ar_ready;
    if (ar_valid && !hbm_ar_ready) ar_was_q <= hbm_ar;
    aw_waits_q <= out_of_reset_q && aw_valid && !hbm_aw_ready;
    if (aw_valid && !hbm_aw_ready) aw_was_q <= hbm_aw;
    w_waits_q <= out_of_reset_q && w_valid && !hbm_w_ready;
    if (w_valid && !hbm_w_ready) w_was_q <= {hbm_w_data, hbm_w_strb};
  end
  for (genvar i = 0; i < 2; i++) begin : gen_rules
    always_ff @(posedge clk_i) if (out_of_reset_q) begin
      if (ar_asks[i]) assert (32'(ar[i].addr[11:5]) + 32'(ar[i].len) < 128);
      if (aw_asks[i]) assert (32'(aw[i].addr[11:5]) + 32'(aw[i].len) < 128);
    end
  end
`endif
  // Units always take what comes.
  logic unused_ready;
  assign unused_ready = ^{rd_req_i[1].r_ready, rd_req_i[0].r_ready, wr_req_i[1].b_ready, wr_req_i[0].b_ready};
endmodule
