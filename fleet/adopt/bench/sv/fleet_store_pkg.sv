// The memory behind all ports of a bench, in C++ (store.cpp): many spaces of bytes, and which of them somebody wrote.
// plain_store.sv is the same in plain arrays.
package fleet_store_pkg;
  typedef bit [1023:0] line_t;  // of at most 128 bytes, the first one lowest
  typedef bit [127:0] lanes_t;  // a bit a byte of it

  // Reads of memory; fleet_store_word then has 8 bytes each.
  import "DPI-C" function int unsigned fleet_store_read(
    input byte unsigned space, input longint unsigned address, input int unsigned bytes, input lanes_t lanes);
  import "DPI-C" function longint unsigned fleet_store_word(input int number);
  import "DPI-C" function void fleet_store_write(
    input byte unsigned space, input longint unsigned address, input int unsigned bytes, input lanes_t lanes, input line_t data);
  // Records of the bytes of a write, a line each.
  import "DPI-C" function string fleet_store_written(
    input longint unsigned cycle, input longint unsigned now, input byte unsigned space, input longint unsigned address,
    input int unsigned bytes, input lanes_t lanes, input line_t data, input int unsigned burst);
  // A file into memory, and memory into a file: a byte a line, "--" where nobody wrote it.
  import "DPI-C" function void fleet_store_load(input string file, input byte unsigned space, input longint unsigned address);
  import "DPI-C" function void fleet_store_dump(
    input string file, input byte unsigned space, input longint unsigned address, input longint unsigned bytes);

  // Of the next access: no arguments, for wide ones of functions are cleared in each cycle where they are inlined.
  line_t line;          // what is written
  lanes_t lanes;        // bytes of it; of a read the others are rubbish
  int unsigned missed;  // bytes of the last read that nobody wrote: they are 0

  function automatic void read_line(bit [7:0] space, bit [55:0] address, int unsigned bytes);
    missed = fleet_store_read(space, 64'(address), bytes, lanes);
  endfunction

  // 8 bytes of the last read.
  function automatic bit [63:0] read_word(int number);
    return fleet_store_word(number);
  endfunction

  function automatic void write_line(bit [7:0] space, bit [55:0] address, int unsigned bytes);
    fleet_store_write(space, 64'(address), bytes, lanes, line);
  endfunction
endpackage
