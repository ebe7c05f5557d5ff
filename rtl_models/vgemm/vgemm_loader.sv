// Copies a two-dimensional range of DDR into one of two scratchpads, with zeros around it: a unit (an element, at most 64 bytes) a cycle.
//
// A row is read by bursts, none of which crosses 4 KiB; a beat is kept while units are taken from it.
module vgemm_loader
  import vgemm_types_pkg::*;
  import fleet_axi_pkg::*;
#(
  parameter int unsigned Log2Elem0 = 2,        // bytes of an element of the first and of the second scratchpad
  parameter int unsigned Log2Elem1 = 4
) (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         start_i,                // one cycle, with the transfer
  input  transfer_t    transfer_i,
  input  logic         second_i,
  output logic         done_o,                 // in the cycle of the last write
  output logic         error_o,                // the memory answered with an error, with done_o
  output pad_write_t   write_o,

  output ddr_rd_req_t  ddr_req_o,
  input  ddr_rd_rsp_t  ddr_rsp_i
);
  typedef enum logic [1:0] {StIdle, StRun, StAsk} state_e;

  state_e       state_q, state_d;
  transfer_t    t_q;
  logic         second_q, error_q;
  logic [16:0]  x_q, y_q;
  logic [3:0]   chunk_q;
  logic [16:0]  elem_q;          // in the scratchpad
  logic [31:0]  row_q, addr_q;   // of the row and of the unit in DDR
  logic [511:0] beat_q;
  logic         beat_valid_q;
  logic [6:0]   left_q;          // beats of the burst that have not come

  logic [4:0]   log2_elem;
  logic [2:0]   log2_unit;
  logic [3:0]   chunks;
  assign log2_elem = second_q ? 5'(Log2Elem1) : 5'(Log2Elem0);
  assign log2_unit = (log2_elem > 5'd6) ? 3'd6 : log2_elem[2:0];
  assign chunks    = 4'(32'd1 << (log2_elem - 5'(log2_unit)));

  logic [16:0] rows, columns;
  logic        in_row, pad, have, write, last_chunk, last_column, last_row;
  assign rows        = 17'(t_q.y_pad_before) + 17'(t_q.y_size) + 17'(t_q.y_pad_after);
  assign columns     = 17'(t_q.x_pad_before) + 17'(t_q.x_size) + 17'(t_q.x_pad_after);
  assign in_row      = y_q >= 17'(t_q.y_pad_before) && y_q < 17'(t_q.y_pad_before) + 17'(t_q.y_size);
  assign pad         = !in_row || x_q < 17'(t_q.x_pad_before) || x_q >= 17'(t_q.x_pad_before) + 17'(t_q.x_size);
  assign have        = beat_valid_q;
  assign write       = state_q == StRun && (pad || have);
  assign last_chunk  = chunk_q == chunks - 4'd1;
  assign last_column = x_q == columns - 17'd1;
  assign last_row    = y_q == rows - 17'd1;

  // Beats from here to the end of the row and to the next 4 KiB.
  logic [31:0] row_last;
  logic [26:0] to_end;
  logic [6:0]  to_page, burst;
  assign row_last = row_q + (32'(t_q.x_size) << log2_elem) - 32'd1;
  assign to_end   = {1'b0, row_last[31:6]} - {1'b0, addr_q[31:6]} + 27'd1;
  assign to_page  = 7'd64 - {1'b0, addr_q[11:6]};
  assign burst    = (to_end < 27'(to_page)) ? to_end[6:0] : to_page;

  assign ddr_req_o.ar_valid = state_q == StAsk;
  assign ddr_req_o.ar.addr  = {1'b0, addr_q[31:6], 6'd0};
  assign ddr_req_o.ar.id    = '0;  // the top knows whose it is
  assign ddr_req_o.ar.len   = 8'(burst) - 8'd1;
  assign ddr_req_o.r_ready  = state_q == StRun && !pad && !have && left_q != '0;

  always_comb begin
    state_d = state_q;
    case (state_q)
      StIdle:  if (start_i) state_d = StRun;
      StRun: begin
        if (write && last_chunk && last_column && last_row) state_d = StIdle;
        else if (!write && left_q == '0) state_d = StAsk;
      end
      StAsk:   if (ddr_rsp_i.ar_ready) state_d = StRun;
      default: state_d = StIdle;
    endcase
  end
  assign done_o  = write && last_chunk && last_column && last_row;
  assign error_o = error_q;

  logic [31:0] next_row, next_addr;
  assign next_row  = row_q + (32'(t_q.x_stride) << log2_elem);
  assign next_addr = addr_q + (32'd1 << log2_unit);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q      <= StIdle;
      t_q          <= '0;
      second_q     <= 1'b0;
      error_q      <= 1'b0;
      x_q          <= '0;
      y_q          <= '0;
      chunk_q      <= '0;
      elem_q       <= '0;
      row_q        <= '0;
      addr_q       <= '0;
      beat_q       <= '0;
      beat_valid_q <= 1'b0;
      left_q       <= '0;
    end else begin
      state_q <= state_d;
      if (state_q == StIdle && start_i) begin
        t_q          <= transfer_i;
        second_q     <= second_i;
        error_q      <= 1'b0;
        x_q          <= '0;
        y_q          <= '0;
        chunk_q      <= '0;
        elem_q       <= 17'(transfer_i.sram_base);
        row_q        <= transfer_i.address;
        addr_q       <= transfer_i.address;
        beat_valid_q <= 1'b0;
        left_q       <= '0;
      end
      if (state_q == StAsk && ddr_rsp_i.ar_ready) left_q <= burst;
      if (ddr_req_o.r_ready && ddr_rsp_i.r_valid) begin
        beat_q       <= ddr_rsp_i.r.data;
        beat_valid_q <= 1'b1;
        left_q       <= left_q - 7'd1;
        if (ddr_rsp_i.r.resp[1]) error_q <= 1'b1;
      end
      if (write) begin
        if (!pad) begin
          addr_q <= next_addr;
          if (next_addr[31:6] != addr_q[31:6]) beat_valid_q <= 1'b0;
        end
        chunk_q <= last_chunk ? '0 : chunk_q + 4'd1;
        if (last_chunk) begin
          elem_q <= elem_q + 17'd1;
          x_q    <= last_column ? '0 : x_q + 17'd1;
          if (last_column) begin
            y_q <= y_q + 17'd1;
            if (in_row) begin
              row_q        <= next_row;
              addr_q       <= next_row;
              beat_valid_q <= 1'b0;
            end
          end
        end
      end
    end
  end

  // A unit out of the beat, and to its place in a beat of the scratchpad.
  logic [31:0]  place;           // byte in the scratchpad
  logic [63:0]  unit_strb;
  logic [511:0] unit_mask, unit;
  assign place     = (32'(elem_q) << log2_elem) + (32'(chunk_q) << 6);
  assign unit_strb = (log2_unit == 3'd6) ? '1 : (64'd1 << (32'd1 << log2_unit)) - 64'd1;
  for (genvar b = 0; b < 64; b++) begin : gen_mask
    assign unit_mask[8*b+:8] = {8{unit_strb[b]}};
  end
  assign unit = pad ? '0 : (beat_q >> {addr_q[5:0], 3'd0}) & unit_mask;
  assign write_o = '{
    valid:  write,
    second: second_q,
    beat:   place[21:6],
    data:   unit << {place[5:0], 3'd0},
    strb:   unit_strb << place[5:0]
  };

  logic unused;
  assign unused = ^{place[31:22], t_q.memory_type, t_q.sram_base, t_q.address, row_last[5:0], ddr_rsp_i.r.id,
                    ddr_rsp_i.r.resp[0], ddr_rsp_i.r.last};
`ifndef SYNTHESIS
  // Assertions hold from the first cycle out of reset; a flop, so that the reset stays purely asynchronous.
  logic out_of_reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) out_of_reset_q <= 1'b0;
    else out_of_reset_q <= 1'b1;
  end
  // Beats that were asked for have all come when the next burst is asked for and when the transfer is over.
  always_ff @(posedge clk_i) if (out_of_reset_q) begin
    if (start_i) assert (state_q == StIdle);
    if (ddr_req_o.ar_valid || done_o) assert (left_q == '0);
    if (ddr_req_o.r_ready && ddr_rsp_i.r_valid) assert (left_q != '0 && !beat_valid_q);
  end
`endif
endmodule
