// One HBM port for two readers and two writers.
//
// Readers take turns, unless what the first one asks for is for later: then it waits while the second one asks or has bursts
// under way, for these would come behind its own. The port answers in order, so a queue holds whose bursts are under way. Writers take turns between whole transactions:
// the other one goes on when everything of the first is answered (only the oldest instruction writes, so none waits).
module hbm0923_hbm_hub_port #(
  parameter int unsigned MaxReads = 64  // bursts under way, a power of two
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  // Reader and writer 0, 1: bit or element 0, 1.
  input  logic              second_first_i,
  input  logic [1:0]        arvalid_i,
  output logic [1:0]        arready_o,
  input  logic [1:0][32:0]  araddr_i,
  input  logic [1:0][7:0]   arlen_i,
  output logic [1:0]        rvalid_o,
  input  logic [1:0]        awvalid_i,
  output logic [1:0]        awready_o,
  input  logic [1:0][32:0]  awaddr_i,
  input  logic [1:0][7:0]   awlen_i,
  input  logic [1:0]        wvalid_i,
  output logic [1:0]        wready_o,
  input  logic [1:0][255:0] wdata_i,
  input  logic [1:0][31:0]  wstrb_i,
  input  logic [1:0]        wlast_i,
  output logic [1:0]        bvalid_o,

  output logic              hbm_arvalid_o,
  input  logic              hbm_arready_i,
  output logic [32:0]       hbm_araddr_o,
  output logic [7:0]        hbm_arlen_o,
  input  logic              hbm_rvalid_i,
  input  logic              hbm_rlast_i,
  output logic              hbm_awvalid_o,
  input  logic              hbm_awready_i,
  output logic [32:0]       hbm_awaddr_o,
  output logic [7:0]        hbm_awlen_o,
  output logic              hbm_wvalid_o,
  input  logic              hbm_wready_i,
  output logic [255:0]      hbm_wdata_o,
  output logic [31:0]       hbm_wstrb_o,
  output logic              hbm_wlast_o,
  input  logic              hbm_bvalid_i
);
  localparam int unsigned Qw = $clog2(MaxReads);

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
    reader        = 1'b0;
    hbm_arvalid_o = 1'b0;
    hbm_araddr_o  = '0;
    hbm_arlen_o   = '0;
    take          = 1'b0;
    arready_o     = 2'b00;
    if (arvalid_i != 2'b00) begin
      reader        = held_q ? last_q : (arvalid_i == 2'b11) ? second_first_i || !last_q : arvalid_i[1];
      hbm_arvalid_o = (reader ? arvalid_i[1] : arvalid_i[0] && !stands_back) && room;
      hbm_araddr_o  = reader ? araddr_i[1] : araddr_i[0];
      hbm_arlen_o   = reader ? arlen_i[1] : arlen_i[0];
      take          = hbm_arvalid_o && hbm_arready_i;
      arready_o     = {take && reader, take && !reader};
    end
  end
  assign done     = hbm_rvalid_i && hbm_rlast_i;
  assign rvalid_o = !hbm_rvalid_i ? 2'b00 : owner_q[rd_q] ? 2'b10 : 2'b01;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      owner_q  <= '0;
      wr_q     <= '0;
      rd_q     <= '0;
      used_q   <= '0;
      second_q <= '0;
      held_q   <= 1'b0;
      last_q   <= 1'b0;
    end else if (hbm_arvalid_o || done) begin
      if (hbm_arvalid_o) begin
        held_q <= !hbm_arready_i;
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
  always_comb begin
    writer        = writer_q;
    hbm_awvalid_o = 1'b0;
    hbm_awaddr_o  = '0;
    hbm_awlen_o   = '0;
    hbm_wvalid_o  = 1'b0;
    hbm_wdata_o   = '0;
    hbm_wstrb_o   = '0;
    hbm_wlast_o   = 1'b0;
    aw_take       = 1'b0;
    w_take        = 1'b0;
    awready_o     = 2'b00;
    wready_o      = 2'b00;
    if (awvalid_i != 2'b00 || writing_q) begin
      writer        = writing_q ? writer_q : awvalid_i[1] && !awvalid_i[0];
      hbm_awvalid_o = awvalid_i[writer] && !(&waiting_q);
      hbm_awaddr_o  = writer ? awaddr_i[1] : awaddr_i[0];
      hbm_awlen_o   = writer ? awlen_i[1] : awlen_i[0];
      hbm_wvalid_o  = wvalid_i[writer] && data_q != '0;
      hbm_wdata_o   = writer ? wdata_i[1] : wdata_i[0];
      hbm_wstrb_o   = writer ? wstrb_i[1] : wstrb_i[0];
      hbm_wlast_o   = wlast_i[writer];
      aw_take       = hbm_awvalid_o && hbm_awready_i;
      w_take        = hbm_wvalid_o && hbm_wready_i;
      awready_o     = {aw_take && writer, aw_take && !writer};
      wready_o      = {w_take && writer, w_take && !writer};
    end
  end
  assign bvalid_o = !hbm_bvalid_i ? 2'b00 : writer_q ? 2'b10 : 2'b01;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      writer_q  <= 1'b0;
      writing_q <= 1'b0;
      waiting_q <= '0;
      data_q    <= '0;
    end else if (hbm_awvalid_o || writing_q) begin
      writer_q  <= writer;
      writing_q <= (hbm_awvalid_o && !aw_take) || waiting_q + 8'(aw_take) - 8'(hbm_bvalid_i) != '0;
      waiting_q <= waiting_q + 8'(aw_take) - 8'(hbm_bvalid_i);
      data_q    <= data_q + 8'(aw_take) - 8'(w_take && hbm_wlast_o);
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
  logic [40:0]  ar_was_q;
  logic [40:0]  aw_was_q;
  logic [287:0] w_was_q;
  always_ff @(posedge clk_i) begin
    if (out_of_reset_q) begin
      if (ar_waits_q) assert (hbm_arvalid_o && ar_was_q == {hbm_araddr_o, hbm_arlen_o});
      if (aw_waits_q) assert (hbm_awvalid_o && aw_was_q == {hbm_awaddr_o, hbm_awlen_o});
      if (w_waits_q) assert (hbm_wvalid_o && w_was_q == {hbm_wdata_o, hbm_wstrb_o});
      if (hbm_rvalid_i) assert (used_q != '0);
      if (take) assert (used_q != (Qw + 1)'(MaxReads));
      if (hbm_bvalid_i) assert (waiting_q != '0);
    end
    ar_waits_q <= out_of_reset_q && hbm_arvalid_o && !hbm_arready_i;
    if (hbm_arvalid_o && !hbm_arready_i) ar_was_q <= {hbm_araddr_o, hbm_arlen_o};
    aw_waits_q <= out_of_reset_q && hbm_awvalid_o && !hbm_awready_i;
    if (hbm_awvalid_o && !hbm_awready_i) aw_was_q <= {hbm_awaddr_o, hbm_awlen_o};
    w_waits_q <= out_of_reset_q && hbm_wvalid_o && !hbm_wready_i;
    if (hbm_wvalid_o && !hbm_wready_i) w_was_q <= {hbm_wdata_o, hbm_wstrb_o};
  end
  for (genvar i = 0; i < 2; i++) begin : gen_rules
    always_ff @(posedge clk_i) if (out_of_reset_q) begin
      if (arvalid_i[i]) assert (32'(araddr_i[i][11:5]) + 32'(arlen_i[i]) < 128);
      if (awvalid_i[i]) assert (32'(awaddr_i[i][11:5]) + 32'(awlen_i[i]) < 128);
    end
  end
`endif
endmodule
