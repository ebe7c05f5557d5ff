// Features as the units besides MVM walk over them: lines (heads) x tokens x groups of 32 channels, a beat of 64 bytes each.
package hbm0923_feature_pkg;

  // Where a feature stands.
  typedef struct packed {
    logic        onchip;
    logic [31:0] addr;
    logic [31:0] surface;  // bytes from a group of channels to the next
    logic [31:0] line;     // from a line or head to the next
  } feature_t;

  // The sizes of what an instruction walks over.
  typedef struct packed {
    logic [15:0] surfaces;  // groups of channels
    logic [7:0]  lines;
    logic [15:0] tokens;
  } sizes_t;

  // What the second input is.
  typedef enum logic [1:0] {
    SideNone,  // there is none
    SideFlat,  // coefficients: contiguous bytes
    SideTable, // coefficients: a feature
    SideData   // activations: a feature
  } side_e;

  // A walk over beats: n0 of them every stride0 bytes, n1 times every stride1, n2 times every stride2. With grow the
  // innermost count starts at ceil(lanes / 32) and lanes is one more at each step of the middle one (a causal mask).
  typedef struct packed {
    logic [32:0] addr;
    logic [31:0] stride0;
    logic [31:0] stride1;
    logic [31:0] stride2;
    logic [15:0] n0;
    logic [15:0] n1;
    logic [15:0] n2;
    logic        grow;
    logic [15:0] lanes;
  } walk_t;

  // A read burst that a stream asks for; bit 32 of the address: on chip.
  typedef struct packed {
    logic [32:0] addr;
    logic [7:0]  len;  // beats - 1
  } read_t;

  // Token by token, or a whole surface of tokens at a time; the order of the beats is the same where both are right.
  function automatic walk_t walk_tokens(input feature_t f, input sizes_t s);
    walk_t w;
    w.addr  = {f.onchip, f.addr};
    w.grow  = 1'b0;
    w.lanes = 16'd0;
    w.n2    = 16'(s.lines);
    w.stride2 = f.line;
    if (s.surfaces == 16'd1) begin
      // One beat a token: tokens are contiguous.
      w.stride0 = 32'd64;
      w.stride1 = 32'd64;
      w.n0      = s.tokens;
      w.n1      = 16'd1;
    end else begin
      w.stride0 = f.surface;
      w.stride1 = 32'd64;
      w.n0      = s.surfaces;
      w.n1      = s.tokens;
    end
    return w;
  endfunction

  function automatic walk_t walk_surfaces(input feature_t f, input sizes_t s);
    walk_t w;
    w = walk_tokens(f, s);
    if (s.tokens != 16'd1 && s.surfaces != 16'd1) begin
      w.stride0 = 32'd64;
      w.stride1 = f.surface;
      w.n0      = s.tokens;
      w.n1      = s.surfaces;
    end
    return w;
  endfunction

endpackage
