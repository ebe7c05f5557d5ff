"""The part of a bench that plays a test: a state machine on the reference clock.

One text for all simulators: nothing in it waits, so Verilator needs no scheduler of events for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Embedded:
    """A test that is written into the bench, in place of its files: items of `case` statements, and lines.

    ops: operation -> its fields; loads: image -> puts; answers: operation -> checks; dumps: check of memory -> checks; end:
    statements when the test is over; claim: declarations of the check of a model.
    """

    ops: tuple[str, ...]
    loads: tuple[str, ...]
    answers: tuple[str, ...]
    dumps: tuple[str, ...]
    end: tuple[str, ...]
    claim: tuple[str, ...]


def sequencer_text(top: str, ties: Sequence[int], watched: Sequence[tuple[str, int]], driven: int, test: Embedded | None) -> str:
    """SystemVerilog.

    ties: numbers of the inputs that a test sets (`t0`, ...); watched: what it may wait for, and its bits; driven: how many parts it
    drives (`result0`, ...); test: None: the one of the file script.txt.
    """
    found = _FILES if test is None else _embedded(test)
    found = {
        **found,
        "TOP": top,
        "TIES": _items(f"t{n} <= $bits(t{n})'(b);" for n in ties),
        "RESULTS": _items(f"value = result{n};" for n in range(driven)),
        "COUNTS": _items(f"met = result{n}[31:0] >= a[31:0];" for n in range(driven)),
        "MEETS": _items(f"met = (({net}) & b[{bits - 1}:0]) == c[{bits - 1}:0];" for net, bits in watched),
        "SEEN": _items(f"value = OPW'({net});" for net, _ in watched),
    }  # fmt: skip
    return _PLACE.sub(lambda m: found[m[1]], _SEQUENCER)


_PLACE = re.compile(r"@([A-Z]+)@")


def _items(statements: Iterable[str]) -> str:
    """Items of a case statement, numbered from 0."""
    return "".join(f"        {n}: {statement}\n" for n, statement in enumerate(statements)) + "        default: ;"


def _case(what: str, items: Sequence[str]) -> str:
    return "\n".join([f"case ({what})", *items, "default: ;", "endcase"])


def _embedded(test: Embedded) -> Mapping[str, str]:
    """The places that a test fills which is written into the bench."""
    ended = [
        *test.end, 'if (what != "end") fail(what);', '$display("%s", fails == 0 ? "PASS" : "FAIL");',
        'if (fails != 0) $fatal(1, "it fails");',
    ]  # fmt: skip
    return {
        "IMPORT": "", "BEGUN": "", "ANSWERED": "", "READ": f"more = 1;\n{_case('at', test.ops)}",
        "CHECK": _case("at", test.answers),
        "LOAD": _case("k", test.loads), "DUMP": _case("k", test.dumps), "OBSERVING": "1", "CHECKS": "\n".join(ended), "END": "",
        "CLAIM": "\n".join(["  bit claimed = 0;", "  logic [2047:0] bytes_;", *test.claim]),
    }  # fmt: skip


_FILES = {
    "IMPORT": """  // The next line of script.txt; 0 at its end. words: how many of 64 bits `b` and `c` have.
  import "DPI-C" function int unsigned fleet_script_next(
    output int code, output int k, output longint unsigned a, output longint unsigned limit, output int words);
  import "DPI-C" function longint unsigned fleet_script_word(input int of_c, input int number);
  // Lines of results.txt, a few times sooner than $fdisplay makes them.
  import "DPI-C" function string fleet_script_begun(input int at, input longint unsigned now);
  import "DPI-C" function string fleet_script_answered(
    input int at, input longint unsigned now, input longint unsigned value, input longint unsigned at_time,
    input longint unsigned taken_at);
  int script_words;
""",
    "READ": """more = fleet_script_next(code, k, a, limit, script_words) != 0;
    b = '0;
    c = '0;
    for (int n = 0; n < script_words; n++) begin
      b |= OPW'(fleet_script_word(0, n)) << 64 * n;
      c |= OPW'(fleet_script_word(1, n)) << 64 * n;
    end""",
    "CHECK": "", "BEGUN": '$fdisplay(results, "%s", fleet_script_begun(at, $time));',
    "ANSWERED": """if (value[OPW-1:64] != 0) $fdisplay(results, "R|%0d|%0d|%0h|%0d|%0d", at, cycle, value, $time, told);
    else $fdisplay(results, "%s", fleet_script_answered(at, cycle, value[63:0], $time, told));""",
    "LOAD": 'fleet_store_load($sformatf("image%0d.bin", k), 8\'(b), a);',
    "DUMP": "fleet_store_dump($sformatf(\"dump%0d.txt\", k), 8'(b), a, 64'(c));",
    "OBSERVING": '$test$plusargs("observe") != 0', "CHECKS": "", "CLAIM": "",
    "END": """
  final if (ended) begin  // behind all of its last edge
    $fdisplay(results, "E|%0d|%s|%0d|%0d|%0d", last_cycle, why, last_at, violations, unwritten);
    $fclose(results);
  end""",
}  # fmt: skip
_SEQUENCER = """
@IMPORT@  // What the operation `at` waits for: nothing, it is the next one; the end of a part's work; that the part has seen that;
  // a value of an output; words of a port; edges; the end of the reset; edges behind it; rest of the design.
  typedef enum bit [3:0] {FETCH, WORKS, ENDS, WATCHES, RECEIVES, IDLES, RESETS, SETTLES, RESTING} state_t;
  state_t state = FETCH;
  int code, at = 0, k, last_at;
  bit more;
  longint unsigned a, limit, last, position, told, last_cycle;
  bit [OPW-1:0] b, c, value;  // wide, so no arguments and no results: Verilator clears these in every cycle
  bit [31:0] left;  // edges
  bit [3:0] size;  // of an access: n + 1: of 2**n bytes, 0: not stated
  string file, why;
  bit over = 0, ended = 0, stays, met;
@CLAIM@
  task automatic finish(string what);
    why = what;
    last_cycle = cycle;
    last_at = at;
    ended = 1;
    @CHECKS@
    $finish;
  endtask
  // The operation has answered (`value`).
  task automatic answer;
    @CHECK@
    told = code == 1 || code == 2 || code == 3 || code == 5 ? taken[k] : $time;
    @ANSWERED@
    reads++;
    next();
  endtask
  // It is over, or its limit is.
  task automatic next;
    if (over && !ended) finish("limit");
    at++;
    state = FETCH;
  endtask
  // A part gets it as `op`, which nobody reads whose `go` is not set.
  task automatic drive;
    go[k] <= 1;
    last = cycle + limit;
    state = WORKS;
  endtask
  task automatic get_result;
    case (k)
@RESULTS@
    endcase
  endtask
  task automatic fetch;
    @READ@
    size = code[11:8];
    code = code & 255;
    if (!more) finish("script");
    else begin
      @BEGUN@
      last = cycle + limit;
      case (code)
        0: begin finish("end"); next(); end
        1: begin op = (OPW'({size, 1'b1}) << 1088) | (OPW'(a) << 1024) | b; drive(); end
        2: begin op = (OPW'(size) << 1089) | (OPW'(a) << 1024); drive(); end
        3: begin op = (OPW'(size) << 1089) | (OPW'(a) << 1024); position = last; drive(); end
        4: state = WATCHES;
        5: begin op = (OPW'(c[0]) << (OPW - 1)) | b; drive(); end
        6: state = RECEIVES;
        7: begin
          case (k)
@TIES@
          endcase
          left = 1;
          state = IDLES;
        end
        8: begin left = a[31:0]; state = IDLES; end
        9: begin @LOAD@ next(); end
        10: begin @DUMP@ next(); end
        11: begin
          observing = @OBSERVING@;
          running <= 1;
          left = 1;
          state = RESETS;
        end
        12: begin left = REST; state = RESTING; end
        default: begin finish("script"); next(); end
      endcase
    end
  endtask
  // All that does not wait for a later edge.
  task automatic step;
    stays = 0;
    while (!stays && !ended)
      case (state)
        FETCH: fetch();
        WORKS:
          if (!fin[k] && cycle < last) stays = 1;
          else begin over = !fin[k]; go[k] <= 0; state = ENDS; end
        ENDS:
          if (!over && fin[k]) stays = 1;
          else begin
            get_result();
            if (code == 3 && !over && (value & b) != c && cycle < position) begin
              limit = position - cycle;
              drive();
            end else begin
              if (code == 3 && (value & b) != c) over = 1;
              if (code == 1) value = OPW'(value[1024]) << 1024;
              if (code == 5) value = '0;
              answer();
            end
          end
        WATCHES: begin
          met = 0;
          case (k)
@MEETS@
          endcase
          if (!met && cycle < last) stays = 1;
          else begin
            over = !met;
            value = '0;
            case (k)
@SEEN@
            endcase
            answer();
          end
        end
        RECEIVES: begin
          met = 0;
          case (k)
@COUNTS@
          endcase
          if (!met && cycle < last) stays = 1;
          else begin over = !met; get_result(); answer(); end
        end
        IDLES:
          if (left != 0) begin left--; stays = 1; end
          else begin value = '0; answer(); end
        RESETS:
          if (left != 0) begin left--; stays = 1; end
          else if (rst) stays = 1;
          else begin left = 2; state = SETTLES; end
        SETTLES:
          if (left != 0) begin left--; stays = 1; end
          else begin snapshot(); next(); end
        default:
          if (RESTS ? rests <= REST && cycle < last : left != 0) begin left--; stays = 1; end
          else begin over = RESTS && rests <= REST; snapshot(); next(); end
      endcase
  endtask
  longint unsigned most = 64'd1000000000;
  initial begin
    results = $fopen("results.txt", "w");
    if (!$value$plusargs("limit=%d", most)) most = 64'd1000000000;
    if ($test$plusargs("wave")) begin
      if ($value$plusargs("wave=%s", file)) $dumpfile(file);
      $dumpvars(0, @TOP@);
    end
    step();
  end
  always @(posedge reference) if (!ended) begin
    step();
    if (cycle > most && !ended) finish("limit");
  end@END@"""
