// The memory behind all ports of a bench in plain arrays, for simulators without associative ones: pages that are written take places of
// a table. A byte also has the burst of its last write (0: the write counts at once).
package fleet_store_pkg;
  typedef bit [1023:0] line_t;  // of at most 128 bytes, the first one lowest
  typedef bit [127:0] lanes_t;  // a bit a byte of it
  localparam int PAGES = 4096, PAGE = 256;
  bit used [0:PAGES-1];
  bit [63:0] page_of [0:PAGES-1];
  int pages;
  bit [7:0] bytes_of [0:PAGES*PAGE-1];
  bit there_of [0:PAGES*PAGE-1];
  int unsigned burst_of [0:PAGES*PAGE-1];
  bit [1023:0] line;    // what is written, what was read
  bit [127:0] lanes;    // bytes of it; of a read the others are rubbish
  int unsigned missed;  // bytes of the last read that nobody wrote: they are 0

  // The place of a byte; -1 if its page is not there, and shall not be.
  function automatic int place_of(bit [7:0] space, bit [55:0] address, bit make);
    bit [63:0] key;
    int at;
    key = {8'd0, space, address[55:8]};
    at = 32'((key * 64'h9e3779b97f4a7c15) >> 52);
    while (used[at] && page_of[at] != key) at = (at + 1) % PAGES;
    if (!used[at]) begin
      if (!make) return -1;
      pages++;
      if (pages == PAGES) $fatal(1, "more than %0d bytes of memory are written: raise PAGES", (PAGES - 1) * PAGE);
      used[at] = 1;
      page_of[at] = key;
    end
    return at * PAGE + 32'(address[7:0]);
  endfunction

  function automatic bit is_there(bit [7:0] space, bit [55:0] address);
    int at;
    at = place_of(space, address, 0);
    if (at < 0) return 0;
    return there_of[at];
  endfunction

  function automatic bit [7:0] byte_at(bit [7:0] space, bit [55:0] address);
    int at;
    at = place_of(space, address, 0);
    if (at < 0) return 0;
    return bytes_of[at];
  endfunction

  function automatic int unsigned burst_at(bit [7:0] space, bit [55:0] address);
    return burst_of[place_of(space, address, 1)];
  endfunction

  // Icarus Verilog 11 takes no part of a package's variable.
  function automatic void read_line(bit [7:0] space, bit [55:0] address, int unsigned bytes);
    bit [1023:0] found;
    found = 0;
    missed = 0;
    for (int unsigned i = 0; i < bytes; i++)
      if (!1'(lanes >> i)) found[i*8 +: 8] = 8'hda;
      else begin
        found[i*8 +: 8] = byte_at(space, address + 56'(i));
        if (!is_there(space, address + 56'(i))) missed++;
      end
    line = found;
  endfunction

  // 8 bytes of the last read.
  function automatic bit [63:0] read_word(int number);
    return 64'(line >> 64 * number);
  endfunction

  function automatic void write_line(bit [7:0] space, bit [55:0] address, int unsigned bytes);
    int at;
    for (int unsigned i = 0; i < bytes; i++)
      if (1'(lanes >> i)) begin
        at = place_of(space, address + 56'(i), 1);
        bytes_of[at] = 8'(line >> 8 * i);
        there_of[at] = 1;
        burst_of[at] = 0;
      end
  endfunction

  function automatic void mark_line(bit [7:0] space, bit [55:0] address, int unsigned bytes, int unsigned burst);
    for (int unsigned i = 0; i < bytes; i++) if (1'(lanes >> i)) burst_of[place_of(space, address + 56'(i), 1)] = burst;
  endfunction
endpackage
