// Drives the generated register block of the vector adder over AXI4-Lite and checks what hardware and software see.
// Ends with $finish; prints "PASS" only when every check held.

module csr_bench;
  logic clk = 1'b0;
  logic rst_n = 1'b0;
  always #5 clk = ~clk;

  logic        awvalid = 1'b0, wvalid = 1'b0, bready = 1'b0, arvalid = 1'b0, rready = 1'b0;
  logic        awready, wready, bvalid, arready, rvalid;
  logic [15:0] awaddr = '0, araddr = '0;
  logic [31:0] wdata = '0, rdata;
  logic [3:0]  wstrb = '1;
  logic [1:0]  bresp, rresp;

  logic [31:0] a, b, out, beats, start;
  logic        pulse, irq;
  logic [31:0] status = '0, cause = '0, hash = 32'hcafe_f00d;
  logic        done_set = 1'b0, error_set, collide = 1'b0;

  vector_add_csr dut (
    .clk_i(clk), .rst_ni(rst_n),
    .s_axil_awvalid_i(awvalid), .s_axil_awready_o(awready), .s_axil_awaddr_i(awaddr),
    .s_axil_wvalid_i(wvalid), .s_axil_wready_o(wready), .s_axil_wdata_i(wdata), .s_axil_wstrb_i(wstrb),
    .s_axil_bvalid_o(bvalid), .s_axil_bready_i(bready), .s_axil_bresp_o(bresp),
    .s_axil_arvalid_i(arvalid), .s_axil_arready_o(arready), .s_axil_araddr_i(araddr),
    .s_axil_rvalid_o(rvalid), .s_axil_rready_i(rready), .s_axil_rdata_o(rdata), .s_axil_rresp_o(rresp),
    .vadd_a_o(a), .vadd_b_o(b), .vadd_out_o(out), .vadd_beats_o(beats),
    .vadd_start_o(start), .vadd_start_pulse_o(pulse), .vadd_status_i(status),
    .irq_status_done_set_i(done_set), .irq_status_error_set_i(error_set),
    .error_cause_i(cause), .desc_hash_i(hash), .irq_o(irq)
  );

  assign error_set = collide && dut.u_regs.decoded_reg_strb.irq_status && dut.u_regs.decoded_req_is_wr;

  int unsigned collisions = 0;
  always_ff @(posedge clk) if (error_set) collisions <= collisions + 1;

  int unsigned failures = 0;
  int unsigned pulses = 0;
  logic [31:0] seen_start, seen_a;

  always_ff @(posedge clk) begin
    if (pulse) begin
      pulses     <= pulses + 1;
      seen_start <= start;
      seen_a     <= a;
    end
  end

  task automatic expect_eq(input string what, input logic [31:0] got, input logic [31:0] want);
    if (got !== want) begin
      failures++;
      $display("FAIL %s: got %h, expected %h", what, got, want);
    end
  endtask

  logic [1:0] last_resp;

  task automatic write(input logic [15:0] address, input logic [31:0] value);
    @(negedge clk);
    awaddr = address; awvalid = 1'b1; wdata = value; wvalid = 1'b1; bready = 1'b1;
    while (awvalid || wvalid) begin
      logic aw_taken, w_taken;
      #1 aw_taken = awvalid && awready;
      w_taken = wvalid && wready;
      @(posedge clk);
      @(negedge clk);
      if (aw_taken) awvalid = 1'b0;
      if (w_taken) wvalid = 1'b0;
    end
    while (!bvalid) @(negedge clk);
    last_resp = bresp;
    @(negedge clk);
    bready = 1'b0;
    @(negedge clk);
  endtask

  task automatic read(input logic [15:0] address, output logic [31:0] value);
    @(negedge clk);
    araddr = address; arvalid = 1'b1; rready = 1'b1;
    #1;
    while (!arready) begin
      @(negedge clk);
      #1;
    end
    @(negedge clk);
    arvalid = 1'b0;
    while (!rvalid) @(negedge clk);
    value = rdata;
    last_resp = rresp;
    @(negedge clk);
    rready = 1'b0;
  endtask

  task automatic strobe_done();
    @(negedge clk) done_set = 1'b1;
    @(negedge clk) done_set = 1'b0;
  endtask

  logic [31:0] v;

  initial begin
    repeat (4) @(negedge clk);
    rst_n = 1'b1;
    expect_eq("a after reset", a, 0);
    write(16'h10, 32'h1234_5640);
    write(16'h1C, 32'd7);
    expect_eq("a", a, 32'h1234_5640);
    expect_eq("beats", beats, 7);
    expect_eq("b is untouched", b | out, 0);
    expect_eq("response", 32'(last_resp), 0);
    read(16'h10, v);
    expect_eq("read back", v, 32'h1234_5640);
    expect_eq("no pulse yet", pulses, 0);

    write(16'h20, 32'd1);
    expect_eq("one pulse", pulses, 1);
    expect_eq("mode with the pulse", seen_start, 1);
    expect_eq("operand with the pulse", seen_a, 32'h1234_5640);
    write(16'h20, 32'h8000_0001);
    expect_eq("a second pulse", pulses, 2);
    expect_eq("second mode", seen_start, 32'h8000_0001);
    read(16'h20, v);
    expect_eq("reading is no start", pulses, 2);

    status = 32'd1; cause = 32'd6;
    read(16'h24, v);
    expect_eq("status", v, 1);
    read(16'h48, v);
    expect_eq("cause", v, 6);
    read(16'h4C, v);
    expect_eq("hash", v, 32'hcafe_f00d);

    strobe_done();
    expect_eq("interrupt is masked", 32'(irq), 0);
    read(16'h44, v);
    expect_eq("pending", v, 1);
    write(16'h40, 32'd2);
    expect_eq("the other cause is enabled", 32'(irq), 0);
    write(16'h40, 32'd3);
    expect_eq("interrupt", 32'(irq), 1);
    write(16'h44, 32'd2);
    expect_eq("clearing another bit", 32'(irq), 1);
    write(16'h44, 32'd1);
    expect_eq("cleared", 32'(irq), 0);

    // Hardware sets in the very cycle in which software clears: the interrupt must not be lost.
    collide = 1'b1;
    write(16'h44, 32'd3);
    collide = 1'b0;
    expect_eq("they met once", collisions, 1);
    read(16'h44, v);
    expect_eq("set wins over clear", v, 2);
    expect_eq("interrupt by error", 32'(irq), 1);

    write(16'h24, 32'd1);
    expect_eq("writing status is refused", 32'(last_resp), 2);
    write(16'h8000, 32'd1);
    expect_eq("an unknown address is refused", 32'(last_resp), 2);
    read(16'h8010, v);
    expect_eq("an unknown address reads with an error", 32'(last_resp), 2);
    expect_eq("and wrote nothing", a, 32'h1234_5640);
    expect_eq("no more pulses", pulses, 2);

    rst_n = 1'b0;
    #1 expect_eq("asynchronous reset", a | beats | 32'(irq), 0);
    if (failures == 0) $display("PASS");
    $finish;
  end

  initial begin
    repeat (2000) @(posedge clk);
    $display("FAIL: still running after 2000 cycles");
    $finish;
  end
endmodule
