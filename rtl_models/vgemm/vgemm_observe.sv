// Simulation only: tells the bench what each instruction wrote into the scratchpads, at its commit and not when it was written,
// because instructions overlap. Of an accumulator that an instruction writes again and again the last value counts.
module vgemm_observe
  import vgemm_pkg::*;
  import vgemm_types_pkg::*;
(
  input logic       clk_i,
  input logic       rst_ni,
  input pad_write_t load_i,       // second: wgt
  input logic       load_end_i,
  input pad_write_t compute_i,    // second: acc
  input logic       compute_end_i,
  input logic [2:0] tell_i        // by module
);
`ifndef SYNTHESIS
  import "DPI-C" function void fleet_observe_write(
    input int unsigned space, input longint unsigned offset, input bit [511:0] data, input bit [63:0] strb);

  // By module and whether it is the module's second memory.
  localparam int unsigned Spaces [2][2] = '{'{SpaceInp, SpaceWgt}, '{SpaceUop, SpaceAcc}};

  typedef struct packed {
    logic [31:0]  beat;    // bit 31: of the second memory
    logic [511:0] data;
    logic [63:0]  strb;
  } record_t;

  // By module: 0 load, 1 compute.
  record_t     written [2][$];     // of all instructions that are through
  int unsigned counts [2][$];      // how many are each instruction's
  logic [511:0] data [2][int unsigned];
  logic [63:0]  strb [2][int unsigned];

  function automatic void add(
    input logic m, input int unsigned beat, input logic [511:0] new_data, input logic [63:0] new_strb);
    logic [511:0] merged;
    merged = data[m].exists(beat) ? data[m][beat] : '0;
    for (int unsigned b = 0; b < 64; b++) if (new_strb[b]) merged[8*b+:8] = new_data[8*b+:8];
    data[m][beat] = merged;
    strb[m][beat] = (strb[m].exists(beat) ? strb[m][beat] : '0) | new_strb;
  endfunction

  function automatic void close(input logic m);
    record_t r;
    counts[m].push_back($unsigned(data[m].num()));
    foreach (data[m][beat]) begin
      r.beat = beat;
      r.data = data[m][beat];
      r.strb = strb[m][beat];
      written[m].push_back(r);
    end
    data[m].delete();
    strb[m].delete();
  endfunction

  function automatic void tell(input logic m);
    int unsigned n;
    record_t     r;
    n = counts[m].pop_front();
    for (int unsigned i = 0; i < n; i++) begin
      r = written[m].pop_front();
      fleet_observe_write(Spaces[m][r.beat[31]], 64'(r.beat[30:0]) << 6, r.data, r.strb);
    end
  endfunction

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      for (int unsigned m = 0; m < 2; m++) begin
        written[m].delete();
        counts[m].delete();
        data[m].delete();
        strb[m].delete();
      end
    end else begin
      if (tell_i[ModLoad]) tell(1'b0);
      if (tell_i[ModCompute]) tell(1'b1);
      if (load_i.valid) add(1'b0, {load_i.second, 31'(load_i.beat)}, load_i.data, load_i.strb);
      if (compute_i.valid) add(1'b1, {compute_i.second, 31'(compute_i.beat)}, compute_i.data, compute_i.strb);
      if (load_end_i) close(1'b0);
      if (compute_end_i) close(1'b1);
    end
  end
`endif
  logic unused;
  assign unused = ^{tell_i, rst_ni};
endmodule
