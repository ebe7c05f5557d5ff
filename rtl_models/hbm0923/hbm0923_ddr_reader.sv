// Asks for DDR reads: `runs` runs of `beats` 64-byte beats; the address moves on by `stride` bytes after every `repeats`
// runs (a pixel that several blocks of output channels share is read once for each).
//
// Bursts stay within MaxBurst-aligned windows, hence within 4 KiB, and are asked for only when the receiving ring of
// Depth beats has room, so that responses are always taken.
module hbm0923_ddr_reader
  import hbm0923_mvm_pkg::*;
  import hbm0923_unit_pkg::*;
#(
  parameter int unsigned Depth    = 64,  // beats, at least MaxBurst
  parameter int unsigned MaxBurst = 16   // beats, a power of two of at most 64
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        start_i,
  input  logic        go_i,      // may ask
  input  bound_t      bound_i,   // without go_i: for what lies below
  input  logic        chip_i,    // the addresses are of the on-chip memory
  input  logic [31:0] addr_i,
  input  logic [31:0] stride_i,
  input  logic [31:0] beats_i,
  input  logic [19:0] runs_i,
  input  logic [5:0]  repeats_i,
  output logic        done_o,    // the last burst is being taken: may be started anew in the same cycle
  output logic        last_o,    // the last run, or none
  output logic        low_o,     // less than MaxBurst beats are in the ring or under way

  output logic        valid_o,
  output ddr_ar_t     ar_o,
  input  logic        ready_i,
  input  logic [1:0]  pop_i      // beats that left the ring
);
  localparam int unsigned Cw = $clog2(Depth) + 1;
  localparam int unsigned Bw = $clog2(MaxBurst);

  logic [31:0]   run_addr_q, addr_q, left_q, beats_q;
  logic [19:0]   runs_q;
  logic [5:0]    repeat_q;
  logic [Cw-1:0] free_q;
  logic [7:0]    burst, may;
  logic          take, run_done;

  assign may = readable(go_i, bound_i, {1'b0, chip_i, addr_q[31:6]});
  always_comb begin
    burst = 8'(MaxBurst) - 8'(addr_q[6+:Bw]);
    if (left_q < 32'(burst)) burst = left_q[7:0];
    if (may != '0 && may < burst) burst = may;
  end
  assign valid_o  = runs_q != 20'd0 && 32'(free_q) >= 32'(burst) && may != '0;
  assign ar_o     = '{addr: addr_q, len: burst - 8'd1};
  assign take     = valid_o && ready_i;
  assign run_done = left_q == 32'(burst);
  assign done_o   = take && run_done && runs_q == 20'd1;
  assign last_o   = runs_q <= 20'd1;
  assign low_o    = 32'(free_q) > Depth - MaxBurst;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      run_addr_q <= '0;
      addr_q     <= '0;
      left_q     <= '0;
      beats_q    <= '0;
      runs_q     <= '0;
      repeat_q   <= '0;
      free_q     <= Cw'(Depth);
    end else begin
      if (start_i) begin
        run_addr_q <= addr_i;
        addr_q     <= addr_i;
        left_q     <= beats_i;
        beats_q    <= beats_i;
        runs_q     <= runs_i;
        repeat_q   <= repeats_i;
      end else if (take) begin
        addr_q <= addr_q + {18'd0, burst, 6'd0};
        left_q <= left_q - 32'(burst);
        if (run_done) begin
          left_q   <= beats_q;
          runs_q   <= runs_q - 20'd1;
          repeat_q <= repeat_q - 6'd1;
          addr_q   <= run_addr_q;
          if (repeat_q == 6'd1) begin
            repeat_q   <= repeats_i;
            run_addr_q <= run_addr_q + stride_i;
            addr_q     <= run_addr_q + stride_i;
          end
        end
      end
      free_q <= free_q - (take ? Cw'(burst) : '0) + Cw'(pop_i);
    end
  end

  if (Depth < MaxBurst || MaxBurst > 64 || 2 ** Bw != MaxBurst) begin : gen_check
    $error("a burst must fit in the ring and in 4 KiB");
  end
`ifndef SYNTHESIS
  // Assertions hold from the first cycle out of reset; a flop, so that the reset stays purely asynchronous.
  logic out_of_reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_of_reset_q <= 1'b0;
    else out_of_reset_q <= 1'b1;
  end
  // Credits: never more than the buffer holds, and a burst is asked for only with as many as it has beats.
  always_ff @(posedge clk_i) if (out_of_reset_q) begin
    assert (free_q <= Cw'(Depth));
    if (take) assert (32'(free_q) >= 32'(burst));
    // A start finds the one before asked for completely, at the latest in this cycle.
    if (start_i) assert (runs_q == '0 || done_o);
  end
`endif
endmodule
