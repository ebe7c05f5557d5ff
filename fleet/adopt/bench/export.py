"""A failing test as a bench of plain SystemVerilog in one file, which shows the failure without fleet.

The bench is the one that the test ran on, with the script, the images and what is expected written into it; of a difference from
the functional model the first one, as a check at the same event. The design's own files lie beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import reduce
from pathlib import Path

from fleet.adopt.bench.design_copy import copy_design
from fleet.adopt.bench.library import PLAIN_STORE, part_files
from fleet.adopt.bench.observe import Observation, ResponseCommit
from fleet.adopt.bench.plan import BenchPlan
from fleet.adopt.bench.script import ADDRESSED, ERROR, IMAGE, ReplayScript
from fleet.adopt.bench.sequencer import Embedded
from fleet.adopt.bench.text import TOP, bench_text
from fleet.adopt.closure import closure_hash
from fleet.adopt.data_files import place_data
from fleet.adopt.lockstep.account import Claim
from fleet.adopt.lockstep.jobs import INSIDE
from fleet.adopt.workspace import AdoptWorkspace
from fleet.core.files import write_atomically
from fleet.engines.rtl_sim.tools import find_toolchain

_MODULE = re.compile(r"^module\s+(\w+).*?^endmodule\n", re.S | re.M)
_CHUNK = 256
_WORD = 2048


def export_case(
    work: AdoptWorkspace, plan: BenchPlan, observed: Observation | None, script: ReplayScript, claim: Claim | None,
    failure: Sequence[str], folder: Path,
) -> Sequence[Path]:  # fmt: skip
    """Write a folder that shows the failure by itself: bench.sv, design.f, README.md, the design's files below `design`.

    claim: of the functional model, None if nothing differs from it; failure: what the run said, a line each.
    Raises DeviceError for a file that cannot be read.
    """
    text = bench_text(work, plan, observed, _embedded(plan, observed, script, claim))
    names = set(re.findall(r"\bfleet_\w+", text))
    _, package_file, *parts = part_files(work.protocols.values())
    library = "\n".join(path.read_text(encoding="utf-8") for path in parts)
    modules = {m[1]: m[0] for m in _MODULE.finditer(library)}
    used: set[str] = set()
    while new := {n for n in names if n in modules} - used:
        used |= new
        names |= {word for n in new for word in re.findall(r"\bfleet_\w+", modules[n])}
    head = f"// {script.name} of {work.top.name}: prints PASS, or FAIL and why. README.md says how to run it.\n`timescale 1ns/1ps"
    package = _package(package_file, plan, observed, script)
    folder.mkdir(parents=True, exist_ok=True)
    place_data(work.top, folder, copy=True)
    written = {
        "bench.sv": "\n".join([head, package, *map(plain_module, (*(modules[n] for n in modules if n in used), text))]),
        "design.f": "".join(f"{line}\n" for line in copy_design(work, folder)),
        "README.md": _README.format(
            test=script.name, top=work.top.name, bench=TOP, version=find_toolchain().verilator_version,
            failure="\n".join(f"- {line}" for line in failure), closure=closure_hash(work.top, work.sources),
        ),
    }  # fmt: skip
    home = {op.where.rpartition("/")[0] + "/" for op in script.ops if "/" in op.where}
    for name, content in written.items():
        there = reduce(lambda text, place: text.replace(place, ""), home, content)  # the test's folder does not go with it
        write_atomically(folder / name, there.encode())
    return [folder / name for name in written]


_README = """# {test} of {top} fails

{failure}

The bench shows the first of these. It needs this folder and a simulator:

    verilator --binary --timing --relative-includes -Wno-fatal -Wno-lint -Wno-style --top-module {bench} -f design.f bench.sv
    ./obj_dir/V{bench}

It prints FAIL, what differs, what the design has, what was expected, and the cycle, and ends with another code than 0; where the
fault is mended it prints PASS. It was written for {version}. Icarus Verilog 11 reads the bench too, where it reads the design:

    iverilog -g2012 -grelative-include -s {bench} -o bench.vvp -f design.f bench.sv
    vvp -n bench.vvp

Another simulator takes the same files, those of `design.f` and then `bench.sv`.

- `bench.sv`: ports, memory, monitors, the test and what is expected, in one file.
- `design/`, `design.f`: the sources as they were, byte by byte; SHA-256 of their closure: {closure}
"""


_CALLED = re.compile(r"(?<![.\w])(?:read_line|read_word|write_line|mark_line|get_line|put_line|take)\b(?=\()")
_BEFORE = {"get_line": "b_get_line", "put_line": "b_put_line"}


def ordered_functions(text: str) -> str:
    """Rename functions that functions call: Icarus Verilog 11 elaborates them by their names, and a callee must come first."""
    return _CALLED.sub(lambda m: _BEFORE.get(m[0], f"a_{m[0]}"), text)


def plain_module(module: str) -> str:
    """A module in what Icarus Verilog 11 reads, too: without calls through `::` and parameters that are strings by their type."""
    module = ordered_functions(re.sub(r"\bfleet_(?:bench|store)_pkg::(?!\*)", "", module))
    module = module.replace("  import fleet_store_pkg::*;\n", "").replace("parameter string ", "parameter ")
    if "import fleet_bench_pkg::*;" in module:
        return module
    return re.sub(r"^(module\s+\w+)", r"\1\n  import fleet_bench_pkg::*;\n ", module, count=1, flags=re.M)


def with_plain_store(package: str) -> str:
    """Return the package with its memory in SystemVerilog, and without records of what is written."""
    store = PLAIN_STORE.read_text(encoding="utf-8").partition("package fleet_store_pkg;\n")[2].replace("endpackage\n", "")
    head, record, rest = package.replace("  import fleet_store_pkg::*;\n", store).partition("    if (observing && lanes != 0)\n")
    assert record
    return head + rest.partition(";\n")[2]


def _package(path: Path, plan: BenchPlan, observed: Observation | None, script: ReplayScript) -> str:
    """The package, with its memory, and with what the checks of this file look at: events of each commit, words of each port, which
    writes count.
    """
    text = with_plain_store(path.read_text(encoding="utf-8"))
    first = "  // Bytes of memory, those of fleet_store_pkg::lanes"
    write = "    write_line(space, address, bytes);\n"
    response = "automatic void answered(int unsigned burst);\n"
    finding = '    fails++;\n    $display("FAIL: %s: %s (by the %s, cycle %0d)", port, rule, blame, cycle);\n'
    ports = "".join(f"    if (port == {_text(p.name)}) return {n};\n" for n, p in enumerate(plan.ports))
    state = _STATE.replace("@LAST@", str(max(0, len(plan.ports) - 1)))
    for old, new in (
        (first, _CHECKS.replace("@PORTS@", ports) + first),
        (write, write + "    mark_line(space, address, bytes, token);\n"),
        (response, response + "    take(burst);\n"),
        ("    commits++;\n", "    commits++;\n    if (rule >= 0 && rule < 64) commits_of[rule]++;\n"),
        ("    violations++;\n", "    violations++;\n" + finding),
        ("  int violations;\n", "  int violations;\n" + state),
        ("    words++;\n", "".join(f"    {line}\n" for line in _gave(observed, script))),
    ):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return ordered_functions(text)


def _gave(observed: Observation | None, script: ReplayScript) -> Iterator[str]:
    """Yield the statements for a word: count it, compare it with what a test expects, report a commit."""
    yield "int unsigned number, place;"
    yield "place = port_at(port);"
    yield "number = words_of[place];"
    for check in script.received:
        for n, (value, mask) in enumerate(check.expected):
            text = _text(f"{check.where}: {check.port} word {n}")
            got, wanted = f"(word & {_hex(mask, _WORD)})", _hex(value & mask, _WORD)
            yield f"if (port == {_text(check.port)} && number == {n} && {got} !== {wanted})"
            yield f'  fail($sformatf("%s: %0h, expected {value & mask:x}", {text}, word & {_hex(mask, _WORD)}));'
    for n, rule in enumerate(observed.commits if observed is not None else ()):
        if isinstance(rule, ResponseCommit):
            held = [f"word[{lsb} +: {bits}] == {bits}'h{value:x}" for lsb, bits, value in rule.when]
            yield f"if ({' && '.join([f'port == {_text(rule.port)}', *held])}) commits_of[{n}]++;"
    yield "words_of[place] = number + 1;"
    yield "word_of[place] = word;"
    yield "words++;"


_STATE = """  int fails;
  int unsigned words_of [0:@LAST@];
  bit [2047:0] word_of [0:@LAST@];
  int unsigned commits_of [0:63];
  localparam int BURSTS = 1048576;
  bit taken_of [0:BURSTS-1];  // bursts whose response was taken
"""
_CHECKS = """
  function automatic void fail(string what);
    fails++;
    $display("FAIL: %s (cycle %0d)", what, cycle);
  endfunction

  function automatic int unsigned port_at(string port);
@PORTS@    return 0;
  endfunction

  function automatic void take(int unsigned burst);
    if (burst >= BURSTS) $fatal(1, "more than %0d bursts are written: raise BURSTS", BURSTS);
    taken_of[burst] = 1;
  endfunction

  // Whether the last write of a byte counts: its response was taken.
  function automatic bit counts(bit [7:0] space, bit [55:0] address);
    if (burst_at(space, address) == 0) return 1;
    return taken_of[burst_at(space, address)];
  endfunction

  function automatic string held(bit [7:0] space, bit [55:0] address);
    if (!is_there(space, address)) return "nothing was written";
    if (!counts(space, address)) return $sformatf("0x%02h, whose response was not taken yet", byte_at(space, address));
    return $sformatf("0x%02h", byte_at(space, address));
  endfunction

  // Whether a byte was written, the write counts, and it holds a value.
  function automatic bit holds(bit [7:0] space, bit [55:0] address, bit [7:0] value);
    return is_there(space, address) && byte_at(space, address) == value && counts(space, address);
  endfunction
"""


def _embedded(plan: BenchPlan, observed: Observation | None, script: ReplayScript, claim: Claim | None) -> Embedded:
    ops = [
        f"{n}: begin code = {op.whole_code}; k = {op.number}; a = 64'h{op.a:x}; b = {_hex(op.b, plan.op_bits)}; "
        f"c = {_hex(op.c, plan.op_bits)}; limit = 64'd{op.limit}; end"
        for n, op in enumerate(script.ops)
    ]
    return Embedded(
        tuple(ops), tuple(_loads(script)), tuple(_answers(script)), tuple(_dumps(script)),
        tuple(_end(script, claim)), tuple(_claim(plan, observed, claim)) if claim is not None else (),
    )  # fmt: skip


def _hex(value: int, bits: int) -> str:
    return f"{bits}'h{value & (1 << bits) - 1:x}"


def _text(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', "'").replace("%", "%%") + '"'


def _loads(script: ReplayScript) -> Iterator[str]:
    for op in script.ops:
        if op.code != IMAGE:
            continue
        data = script.images[op.number]
        yield f"{op.number}: begin"
        for at in range(0, len(data), _CHUNK):
            part = data[at : at + _CHUNK]
            bits = 8 * len(part)
            yield f"  bytes_ = {8 * _CHUNK}'({_hex(int.from_bytes(part, 'little'), bits)});"
            yield f"  for (int i = 0; i < {len(part)}; i++) put(8'(b), a[55:0] + 56'({at} + i), bytes_[i*8 +: 8]);"
        yield "end"


def _answers(script: ReplayScript) -> Iterator[str]:
    """Checks of what an operation answered (`value`)."""
    compares = {c.op: c for c in script.compares}
    for n, op in enumerate(script.ops):
        if op.code not in ADDRESSED:
            continue
        text = _text(f"{op.where}: {op.text}")
        checks = [f"if (value[{ERROR}] !== 1'b{int(op.error)}) fail({{{text}, {_text(': an error, or none, in the answer')}}});"]
        if (c := compares.get(n)) is not None:
            mask = _hex(c.mask, ERROR)
            checks.append(
                f"if ((value[{ERROR - 1}:0] & {mask}) !== {_hex(c.value, ERROR)}) "
                f'fail($sformatf("%s: %0h, expected {c.value:x}", {text}, value[{ERROR - 1}:0] & {mask}));'
            )
        yield f"{n}: begin {' '.join(checks)} end"


def _dumps(script: ReplayScript) -> Iterator[str]:
    for check in script.memory:
        yield f"{check.dump}: begin"
        for n, byte in enumerate(check.expected):
            key = f"8'(b), a[55:0] + 56'd{n}"
            text = _text(f"{check.where}: {check.text} at {check.address + n:#x}")
            yield (
                f"  if (!is_there({key}) || byte_at({key}) !== 8'h{byte:02x}) "
                f'fail($sformatf("%s: %s, expected {byte:#04x}", {text}, held({key})));'
            )
        yield "end"


def _count(port: str) -> str:
    return f"words_of[port_at({_text(port)})]"


def _end(script: ReplayScript, claim: Claim | None) -> Iterator[str]:
    """Yield the checks at the end of the test."""
    for check in script.received:
        count = len(check.expected)
        yield f"if ({_count(check.port)} != {count}) fail({_text(f'{check.where}: {check.port} gives {count} words')});"
    if claim is not None and claim.trigger == "end":
        yield "claim_();"
    elif claim is not None and claim.kind != "never":
        yield f"if (!claimed) fail({_text('the event at which the model is compared did not come')});"


def _claim(plan: BenchPlan, observed: Observation | None, claim: Claim) -> Iterator[str]:
    """The lines of a task `claim_`, and when it runs."""
    assert observed is not None
    yield "task automatic claim_();"
    yield "  claimed = 1;"
    if claim.kind == "bytes":
        for (memory, address), value in sorted(claim.bytes.items()):
            if memory < INSIDE:
                name = next(p.name for p in plan.memories() if p.space == memory)
                key = f"8'd{memory}, 56'h{address:x}"
                test = f"!holds({key}, 8'h{value:02x})"
                if claim.trigger == "rest":  # it may be what it was before the run
                    test = f"byte_at({key}) !== 8'h{value:02x}"
                found = f"held({key})"
            else:
                state = observed.states[memory - INSIDE]
                name, order = state.name, state.keeper.order()
                place = address if order is None else int((order == address).nonzero()[0][0])
                array, at = divmod(place, state.keeper.share)
                element, byte = divmod(at, state.element)
                index = f"[{element + state.variable.first}]" if state.variable.elements else ""
                part = f"dut.{state.keeper.names[array]}{index}"
                test = f"8'({part} >> {state.lsb + 8 * byte}) !== 8'h{value:02x}"
                if state.bits - 8 * byte < 8:
                    mask = (1 << (state.bits - 8 * byte)) - 1
                    test = f"(8'({part} >> {state.lsb + 8 * byte}) & 8'h{mask:02x}) !== 8'h{value:02x}"
                found = f'$sformatf("0x%02h", 8\'({part} >> {state.lsb + 8 * byte}))'
            text = _text(f"{name} at {address:#x}")
            yield f'  if ({test}) fail($sformatf("%s: %s, the model has {value:#04x}", {text}, {found}));'
    elif claim.kind == "word":
        yield (
            f"  if ((word_of[port_at({_text(claim.name)})] & {_hex(claim.mask, _WORD)}) !== {_hex(claim.value, _WORD)}) "
            f'fail($sformatf("%s: 0x%0h, the model gives {claim.value:#x}", {_text(f"{claim.name} word {claim.number}")}, '
            f"word_of[port_at({_text(claim.name)})] & {_hex(claim.mask, _WORD)}));"
        )
    elif claim.kind == "words":
        said = f'$sformatf("%s: %0d words, the model gives {claim.number}", {_text(claim.name)}, {_count(claim.name)})'
        yield f"  if ({_count(claim.name)} != {claim.number}) fail({said});"
    elif claim.kind == "never":
        yield f"  fail({_text('an event that the model does not have')});"
    else:
        yield f"  if (commits_of[{int(claim.name)}] <= {claim.number}) fail({_text('a commit that the model has does not come')});"
    yield "endtask"
    when = {
        "commit": ("commits", f"commits_of[{claim.name or 0}] > {claim.number}"),
        "word": ("words", f"{_count(claim.name)} > {claim.number}"),
        "operation": ("reads", f"at == {claim.number}"),
        "rest": ("points", f"points > {claim.number}"),
        "end": ("", ""),
    }[claim.trigger]
    if when[0]:
        yield f"int unsigned {when[0]}_claim = 0;"
        yield f"always @({when[0]}) {when[0]}_claim <= {when[0]};"
        yield f"always @({when[0]}_claim) if (!claimed && observing && {when[1]}) claim_();"
