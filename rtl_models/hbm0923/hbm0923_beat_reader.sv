// Asks for the 64-byte beats of a walk. Where they are contiguous they are asked for in bursts, which stay within
// MaxBurst-aligned windows and hence within 4 KiB; else one by one. Only as many as the receiving buffer has room for, so
// that responses are always taken.
module hbm0923_beat_reader
  import hbm0923_feature_pkg::*;
  import hbm0923_unit_pkg::*;
#(
  parameter int unsigned Depth    = 128,  // beats of the buffer, at least MaxBurst
  parameter int unsigned MaxBurst = 32    // a power of two of at most 64
) (
  input  logic   clk_i,
  input  logic   rst_ni,

  input  logic   start_i,
  input  logic   none_i,     // nothing to read
  input  walk_t  walk_i,     // at the start
  input  logic   go_i,       // may ask
  input  bound_t bound_i,    // without go_i: for what lies below
  output logic   left_o,     // beats are still to be asked for
  output logic   blocked_o,  // would ask, but may not

  output logic   valid_o,
  output read_t  read_o,
  input  logic   ready_i,
  input  logic   pop_i       // a beat left the buffer
);
  localparam int unsigned Cw = $clog2(Depth) + 1;
  localparam int unsigned Bw = $clog2(MaxBurst);

  walk_t         walk_q;
  logic [32:0]   addr_q, run_q, line_q;   // of the next burst, this run, this line
  logic [15:0]   left0_q, left1_q, left2_q, lanes_q;
  logic [Cw-1:0] free_q;
  logic [7:0]    burst;
  logic          contiguous, take, run_done;
  logic [15:0]   grown;                   // beats of the next run, where they grow

  assign contiguous = walk_q.stride0 == 32'd64;
  logic [7:0] may;
  assign may = readable(go_i, bound_i, {1'b0, addr_q[32:6]});
  always_comb begin
    burst = 8'(MaxBurst) - 8'(addr_q[6+:Bw]);
    if (!contiguous) burst = 8'd1;
    if (left0_q < 16'(burst)) burst = left0_q[7:0];
    if (may != '0 && may < burst) burst = may;
  end

  logic ask;
  assign ask       = left2_q != '0 && 32'(free_q) >= 32'(burst);
  assign valid_o   = ask && may != '0;
  assign blocked_o = ask && may == '0;
  assign left_o    = left2_q != '0;
  assign read_o    = '{addr: addr_q, len: burst - 8'd1};
  assign take      = valid_o && ready_i;
  assign run_done  = left0_q == 16'(burst);
  assign grown     = (lanes_q + 16'd32) >> 5;  // ceil((lanes + 1) / 32)

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      walk_q  <= '0;
      addr_q  <= '0;
      run_q   <= '0;
      line_q  <= '0;
      left0_q <= '0;
      left1_q <= '0;
      left2_q <= '0;
      lanes_q <= '0;
      free_q  <= Cw'(Depth);
    end else begin
      if (start_i) begin
        walk_q  <= walk_i;
        addr_q  <= walk_i.addr;
        run_q   <= walk_i.addr;
        line_q  <= walk_i.addr;
        left0_q <= walk_i.grow ? (walk_i.lanes + 16'd31) >> 5 : walk_i.n0;
        left1_q <= walk_i.n1;
        left2_q <= none_i ? 16'd0 : walk_i.n2;
        lanes_q <= walk_i.lanes;
      end else if (take) begin
        left0_q <= left0_q - 16'(burst);
        addr_q  <= {addr_q[32], addr_q[31:0] + (contiguous ? {18'd0, burst, 6'd0} : walk_q.stride0)};
        if (run_done) begin
          if (left1_q != 16'd1) begin
            left1_q <= left1_q - 16'd1;
            lanes_q <= lanes_q + 16'd1;
            left0_q <= walk_q.grow ? grown : walk_q.n0;
            run_q   <= {run_q[32], run_q[31:0] + walk_q.stride1};
            addr_q  <= {run_q[32], run_q[31:0] + walk_q.stride1};
          end else begin
            left1_q <= walk_q.n1;
            left2_q <= left2_q - 16'd1;
            lanes_q <= walk_q.lanes;
            left0_q <= walk_q.grow ? (walk_q.lanes + 16'd31) >> 5 : walk_q.n0;
            line_q  <= {line_q[32], line_q[31:0] + walk_q.stride2};
            run_q   <= {line_q[32], line_q[31:0] + walk_q.stride2};
            addr_q  <= {line_q[32], line_q[31:0] + walk_q.stride2};
          end
        end
      end
      if (start_i) free_q <= Cw'(Depth);
      else free_q <= free_q - (take ? Cw'(burst) : '0) + Cw'(pop_i);
    end
  end

  // What the start has taken apart.
  logic unused_walk;
  assign unused_walk = ^walk_q;

  if (Depth < MaxBurst || MaxBurst > 64 || 2 ** Bw != MaxBurst) begin : gen_check
    $error("a burst must fit in the buffer and in 4 KiB");
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
  end
`endif
endmodule
