// What all parts of a bench share: memory, the file of results, findings of the monitors.
package fleet_bench_pkg;
  import fleet_store_pkg::*;
  longint unsigned cycle;         // of the reference clock
  longint unsigned unwritten;     // bytes that were read before anybody wrote them
  int results;                    // file
  int violations;
  int settling;                   // resets before their last pulse: what a design does is not judged
  bit observing;                  // whether writes and commits are recorded
  int unsigned commits, words;    // events of `[[commit]]`, words that left through a port: state inside is looked at then
  int unsigned tokens, token;     // bursts of writes so far; of the burst that is written, 0 where writes have no response

  // Bytes of memory, those of fleet_store_pkg::lanes, for fleet_store_pkg::read_word; the others are rubbish.
  function automatic void get_line(bit [7:0] space, bit [55:0] address, int unsigned bytes);
    read_line(space, address, bytes);
    unwritten += 64'(missed);
  endfunction

  // Bytes of fleet_store_pkg::line, those of its lanes, into memory.
  function automatic void put_line(bit [7:0] space, bit [55:0] address, int unsigned bytes);
    write_line(space, address, bytes);
    if (observing && lanes != 0)
      $fdisplay(results, "%s", fleet_store_written(cycle, $time, space, 64'(address), bytes, lanes, line, token));
  endfunction

  function automatic bit [7:0] get(bit [7:0] space, bit [55:0] address);
    lanes = 1;
    get_line(space, address, 1);
    return 8'(read_word(0));
  endfunction

  function automatic void put(bit [7:0] space, bit [55:0] address, bit [7:0] value);
    line = 1024'(value);
    lanes = 1;
    put_line(space, address, 1);
  endfunction

  // The response to a burst of writes was taken.
  function automatic void answered(int unsigned burst);
    if (observing) $fdisplay(results, "A|%0d|%0d|%0d", cycle, $time, burst);
  endfunction

  // A word left through a port.
  function automatic void gave(string port, bit [2047:0] word);
    words++;
  endfunction

  // An event that a `[[commit]]` declares.
  function automatic void commit(int rule, bit [63:0] tag);
    if (observing) $fdisplay(results, "C|%0d|%0d|%0d|%h", cycle, $time, rule, tag);
    commits++;
  endfunction

  // Log 2 of the bytes of an access, of `bytes` that the port has. size: n + 1: at most 2**n; 0: as many as the address allows.
  function automatic int unsigned log2_of(bit [3:0] size, bit [63:0] address, int unsigned bytes);
    int unsigned log2;
    log2 = 0;
    while ((32'd2 << log2) <= bytes && (size == 0 || log2 + 1 < 32'(size)) && address % (64'd2 << log2) == 0) log2++;
    return log2;
  endfunction

  // Where the counter of a part begins by which it refuses: two parts are not in step.
  function automatic int unsigned seed_of(string path);
    int unsigned seed = 0;
    for (int i = 0; i < path.len(); i++) seed = seed * 31 + 32'(path[i]);
    return seed % 65536;
  endfunction

  function automatic bit drawn(int pause, longint unsigned step);
    return ((step * 64'h9e3779b97f4a7c15) >> 40) % 64'(pause) == 0;
  endfunction

  // Whether a part refuses in this cycle: of `pause` cycles one, and of `pause` stretches of 16 cycles one whole, not in step with
  // anything; 0: never. A design that takes more while what it gives is refused loses it in a long stretch only.
  function automatic bit refuses(int pause, longint unsigned step);
    return pause != 0 && (drawn(pause, step) || drawn(pause, (step >> 4) + 1));
  endfunction

  // A number below `most` that looks random.
  function automatic int unsigned any_of(int unsigned most, longint unsigned step);
    return 32'(((step * 64'h9e3779b97f4a7c15) >> 40) % 64'(most));
  endfunction

  // blame: "design" or "bench".
  function automatic void violation(string port, string rule, string blame);
    if (settling != 0) return;
    violations++;
    if (violations <= 1000) $fdisplay(results, "V|%0d|%s|%s|%s", cycle, port, rule, blame);
  endfunction
endpackage
