// The three modules with their scratchpads, dependency queues and memory ports.
module vgemm_core
  import vgemm_pkg::*;
  import vgemm_types_pkg::*;
  import fleet_axi_pkg::*;
#(
  parameter int unsigned Block    = 4,
  parameter int unsigned UopDepth = 512,
  parameter int unsigned InpDepth = 1024,
  parameter int unsigned WgtDepth = 1024,
  parameter int unsigned AccDepth = 1024,
  parameter int unsigned Depth    = 8
) (
  input  logic              clk_i,
  input  logic              rst_ni,

  input  logic [2:0]        issue_i,
  input  issue_t            issue_data_i,
  input  logic              clear_tokens_i,
  output logic [2:0]        done_valid_o,
  output done_t [2:0]       done_o,
  input  logic [2:0]        done_pop_i,
  input  logic              store_oldest_i,
  input  logic [2:0]        observe_i,

  output ddr_rd_req_t [1:0] rd_req_o,  // of load and compute
  input  ddr_rd_rsp_t [1:0] rd_rsp_i,
  output ddr_wr_req_t       wr_req_o,
  input  ddr_wr_rsp_t       wr_rsp_i
);
  localparam int unsigned Log2Block = $clog2(Block);
  localparam int unsigned UopAw     = $clog2(UopDepth);
  localparam int unsigned InpAw     = $clog2(InpDepth);
  localparam int unsigned WgtAw     = $clog2(WgtDepth);
  localparam int unsigned AccAw     = $clog2(AccDepth);

  // ---- the modules' fronts
  logic [2:0]       begins, ends, allowed;
  word_t [2:0]      words;
  logic [2:0][15:0] errors;
  logic [2:0][1:0]  classes;
  logic [2:0][3:0]  pops, pushes;
  logic [3:0]       some;
  logic [3:0][7:0]  tokens_q;

  assign allowed = {store_oldest_i, 1'b1, 1'b1};
  for (genvar m = 0; m < 3; m++) begin : gen_stage
    vgemm_stage #(.Depth(Depth)) u_stage (
      .clk_i,
      .rst_ni,
      .issue_i     (issue_i[m]),
      .issue_data_i,
      .allowed_i   (allowed[m]),
      .tokens_i    (some),
      .pop_o       (pops[m]),
      .push_o      (pushes[m]),
      .begin_o     (begins[m]),
      .word_o      (words[m]),
      .end_i       (ends[m]),
      .error_i     (errors[m]),
      .class_i     (classes[m]),
      .done_valid_o(done_valid_o[m]),
      .done_o      (done_o[m]),
      .done_pop_i  (done_pop_i[m])
    );
  end

  // ---- the dependency queues: tokens without content
  for (genvar q = 0; q < 4; q++) begin : gen_tokens
    logic more, less;
    assign some[q] = tokens_q[q] != '0;
    assign more    = pushes[0][q] | pushes[1][q] | pushes[2][q];
    assign less    = pops[0][q] | pops[1][q] | pops[2][q];
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) tokens_q[q] <= '0;
      else if (clear_tokens_i) tokens_q[q] <= '0;
      else tokens_q[q] <= tokens_q[q] + 8'(more) - 8'(less);
    end
  end

  // ---- load
  transfer_t  load_transfer;
  pad_write_t load_write;
  logic       load_error, load_weights_q;
  assign load_transfer = transfer_of(words[ModLoad]);
  vgemm_loader #(.Log2Elem0(Log2Block), .Log2Elem1(2 * Log2Block)) u_load (
    .clk_i,
    .rst_ni,
    .start_i   (begins[ModLoad]),
    .transfer_i(load_transfer),
    .second_i  (load_transfer.memory_type == TypeWgt),
    .done_o    (ends[ModLoad]),
    .error_o   (load_error),
    .write_o   (load_write),
    .ddr_req_o (rd_req_o[0]),
    .ddr_rsp_i (rd_rsp_i[0])
  );
  assign errors[ModLoad]  = load_error ? ErrBusError : ErrNone;
  assign classes[ModLoad] = load_weights_q ? 2'd1 : 2'd2;

  // ---- compute: its own loads, and the loops
  transfer_t  own_transfer;
  pad_write_t own_write, loop_write, compute_write;
  logic       own_start, own_done, own_error, own_loads_q, own, alu;
  logic       loop_done, loop_valid;
  logic [Block*32-1:0] loop_data;
  logic [AccAw-1:0]    acc_index, src_index, store_index;
  assign own_transfer = transfer_of(words[ModCompute]);
  assign own          = words[ModCompute].w0[2:0] == OpLoad[2:0];
  assign alu          = words[ModCompute].w0[2:0] == OpAlu[2:0];
  assign own_start    = begins[ModCompute] && own;
  vgemm_loader #(.Log2Elem0(2), .Log2Elem1(Log2Block + 2)) u_own_load (
    .clk_i,
    .rst_ni,
    .start_i   (own_start),
    .transfer_i(own_transfer),
    .second_i  (own_transfer.memory_type == TypeAcc),
    .done_o    (own_done),
    .error_o   (own_error),
    .write_o   (own_write),
    .ddr_req_o (rd_req_o[1]),
    .ddr_rsp_i (rd_rsp_i[1])
  );
  assign ends[ModCompute]    = own_done || loop_done;
  assign errors[ModCompute]  = (own_loads_q && own_error) ? ErrBusError : ErrNone;
  assign classes[ModCompute] = own_loads_q ? 2'd2 : 2'd0;

  logic [UopAw-1:0]         uop_index;
  logic [31:0]              uop;
  logic [InpAw-1:0]         inp_index;
  logic [Block*8-1:0]       inp;
  logic [WgtAw-1:0]         wgt_index;
  logic [Block*Block*8-1:0] wgt;
  logic [2:0][Block*32-1:0] acc;
  vgemm_array #(.Block(Block), .UopAw(UopAw), .InpAw(InpAw), .WgtAw(WgtAw), .AccAw(AccAw)) u_array (
    .clk_i,
    .rst_ni,
    .start_i     (begins[ModCompute] && !own),
    .word_i      (words[ModCompute]),
    .alu_i       (alu),
    .done_o      (loop_done),
    .uop_o       (uop_index),
    .uop_i       (uop),
    .inp_o       (inp_index),
    .inp_i       (inp),
    .wgt_o       (wgt_index),
    .wgt_i       (wgt),
    .acc_o       (acc_index),
    .acc_i       (acc[0]),
    .src_o       (src_index),
    .src_i       (acc[1]),
    .write_o     (loop_valid),
    .write_data_o(loop_data)
  );

  // An accumulator to its place in a beat.
  logic [31:0] loop_place;
  assign loop_place = 32'(acc_index) << (Log2Block + 2);
  assign loop_write = '{
    valid:  loop_valid,
    second: 1'b1,
    beat:   loop_place[21:6],
    data:   512'(loop_data) << {loop_place[5:0], 3'd0},
    strb:   64'((65'd1 << (4 * Block)) - 65'd1) << loop_place[5:0]
  };
  assign compute_write = loop_valid ? loop_write : own_write;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      load_weights_q <= 1'b0;
      own_loads_q    <= 1'b0;
    end else begin
      if (begins[ModLoad]) load_weights_q <= load_transfer.memory_type == TypeWgt;
      if (begins[ModCompute]) own_loads_q <= own;
    end
  end

  // ---- store
  logic store_error;
  vgemm_storer #(.Block(Block), .Aw(AccAw)) u_store (
    .clk_i,
    .rst_ni,
    .start_i   (begins[ModStore]),
    .transfer_i(transfer_of(words[ModStore])),
    .done_o    (ends[ModStore]),
    .error_o   (store_error),
    .read_o    (store_index),
    .read_i    (acc[2]),
    .ddr_req_o (wr_req_o),
    .ddr_rsp_i (wr_rsp_i)
  );
  assign errors[ModStore]  = store_error ? ErrBusError : ErrNone;
  assign classes[ModStore] = 2'd3;

  // ---- scratchpads
  vgemm_pad #(.ElemBytes(4), .Depth(UopDepth), .Reads(1)) u_uop (
    .clk_i,
    .write_i(compute_write.valid && !compute_write.second),
    .beat_i (compute_write.beat),
    .data_i (compute_write.data),
    .strb_i (compute_write.strb),
    .read_i (uop_index),
    .read_o (uop)
  );
  vgemm_pad #(.ElemBytes(Block), .Depth(InpDepth), .Reads(1)) u_inp (
    .clk_i,
    .write_i(load_write.valid && !load_write.second),
    .beat_i (load_write.beat),
    .data_i (load_write.data),
    .strb_i (load_write.strb),
    .read_i (inp_index),
    .read_o (inp)
  );
  vgemm_pad #(.ElemBytes(Block * Block), .Depth(WgtDepth), .Reads(1)) u_wgt (
    .clk_i,
    .write_i(load_write.valid && load_write.second),
    .beat_i (load_write.beat),
    .data_i (load_write.data),
    .strb_i (load_write.strb),
    .read_i (wgt_index),
    .read_o (wgt)
  );
  vgemm_pad #(.ElemBytes(4 * Block), .Depth(AccDepth), .Reads(3)) u_acc (
    .clk_i,
    .write_i(compute_write.valid && compute_write.second),
    .beat_i (compute_write.beat),
    .data_i (compute_write.data),
    .strb_i (compute_write.strb),
    .read_i ({store_index, src_index, acc_index}),
    .read_o (acc)
  );

  vgemm_observe u_observe (
    .clk_i,
    .rst_ni,
    .load_i       (load_write),
    .load_end_i   (ends[ModLoad]),
    .compute_i    (compute_write),
    .compute_end_i(ends[ModCompute]),
    .tell_i       (observe_i)
  );

  logic unused;
  assign unused = ^{loop_place[31:22]};
endmodule
