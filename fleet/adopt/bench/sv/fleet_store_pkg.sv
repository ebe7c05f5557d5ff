// The memory behind all ports of a bench, in C++ (store.cpp): many spaces of bytes, and which of them somebody wrote.
// plain_store.sv is the same in plain arrays.
package fleet_store_pkg;
  typedef bit [1023:0] line_t;  // of at most 128 bytes, the first one lowest
  typedef bit [127:0] lanes_t;  // a bit a byte of it

  import "DPI-C" function int unsigned fleet_store_read(
    input byte unsigned space, input longint unsigned address, input int unsigned bytes, input lanes_t lanes, output line_t data);
  import "DPI-C" function void fleet_store_write(
    input byte unsigned space, input longint unsigned address, input int unsigned bytes, input lanes_t lanes, input line_t data);
  // A file into memory, and memory into a file: a byte a line, "--" where nobody wrote it.
  import "DPI-C" function void fleet_store_load(input string file, input byte unsigned space, input longint unsigned address);
  import "DPI-C" function void fleet_store_dump(
    input string file, input byte unsigned space, input longint unsigned address, input longint unsigned bytes);

  // What is read and written: no variable of a function, for wide ones are set to 0 in each cycle where they are inlined.
  line_t line;
  int unsigned missed;  // bytes of the last read that nobody wrote: they are 0

  // The bytes of `lanes`; the others are rubbish.
  function automatic void read_line(bit [7:0] space, bit [55:0] address, int unsigned bytes, lanes_t lanes);
    missed = fleet_store_read(space, 64'(address), bytes, lanes, line);
  endfunction

  function automatic void write_line(bit [7:0] space, bit [55:0] address, int unsigned bytes, lanes_t lanes);
    fleet_store_write(space, 64'(address), bytes, lanes, line);
  endfunction
endpackage
