# ruff: noqa: E501  (SystemRDL, a register a line)
"""Views: one unit's registers under each instruction's own names, in loader, codec, binary form and package."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from fleet.isa.codec import CodecError, decode_writes, disassemble, register_writes
from fleet.isa.codec_binary import decode_binary, encode_binary
from fleet.isa.description import Description, DescriptionError
from fleet.isa.export import export
from fleet.isa.reading.cache import load
from fleet.sdk import Call, generated_files

RDL = """\
addrmap demo {
    fleet_map = "registers";
    default regwidth = 32;
    default sw = rw;
    default hw = r;
    reg { fleet_unit = "u"; fleet_role = "operand"; fleet_order = 1; field { fleet_kind = "value"; } value[31:0] = 0; } u_r2 @ 0x8;
    reg { fleet_unit = "u"; fleet_role = "operand"; fleet_order = 0; field { fleet_kind = "value"; } value[15:0] = 0; } u_r3 @ 0xC;
    reg { fleet_unit = "u"; fleet_role = "start"; default swmod; field { fleet_kind = "mode"; } go[3:0] = 0; } u_start @ 0x10;
    reg { fleet_unit = "x"; fleet_role = "operand"; fleet_fetch_word = "address"; field { fleet_kind = "address"; fleet_space = "ddr"; fleet_align = 64; } value[31:0] = 0; } x_at @ 0x20;
    reg { fleet_unit = "x"; fleet_role = "operand"; fleet_fetch_word = "beats"; field { fleet_kind = "count"; } value[31:0] = 0; } x_beats @ 0x24;
    reg { fleet_unit = "x"; fleet_role = "operand"; fleet_fetch_word = "tasks"; field { fleet_kind = "count"; } value[31:0] = 0; } x_tasks @ 0x28;
    reg { fleet_unit = "x"; fleet_role = "start"; default swmod; field { fleet_kind = "mode"; } go[3:0] = 0; } x_start @ 0x2C;
    reg { fleet_unit = "idle"; fleet_role = "start"; default swmod; field { fleet_kind = "mode"; } go[3:0] = 0; } idle_start @ 0x30;
};
addrmap demo_instructions {
    fleet_map = "instructions";
    default regwidth = 8;
    default sw = r;
    default hw = na;
    reg { fleet_unit = "u"; fleet_opcode = 1; fleet_start = 1; field { fleet_kind = "constant"; } id[7:0] = 1; } copy @ 0x0;
    reg { fleet_unit = "u"; fleet_opcode = 2; fleet_start = 2; field { fleet_kind = "constant"; } id[7:0] = 2; } fill @ 0x1;
    reg { fleet_unit = "u"; fleet_opcode = 3; fleet_start = 4; field { fleet_kind = "constant"; } id[7:0] = 3; } plain @ 0x2;
    reg { fleet_unit = "x"; fleet_opcode = 4; fleet_start = 1; fleet_beats = 0; fleet_fetch; field { fleet_kind = "constant"; } id[7:0] = 4; } run @ 0x3;
    regfile {
        default regwidth = 32; default sw = rw; default hw = r;
        reg { name = "Source"; field { fleet_kind = "address"; fleet_space = "ddr"; fleet_align = 64; } value[31:0] = 0; } copy_from @ 0x8;
        reg { name = "Length"; field { fleet_kind = "size"; } value[15:0] = 0; } copy_size @ 0xC;
    } copy_view @ 0x100;
    regfile {
        default regwidth = 32; default sw = rw; default hw = r;
        reg { name = "Low and high"; field { fleet_kind = "value"; fleet_allowed = '{1, 2}; } low[7:0] = 0; field { fleet_kind = "value"; } high[31:16] = 0; } fill_parts @ 0x8;
        reg { name = "Target"; field { fleet_kind = "mode"; } value[3:0] = 0; } fill_to @ 0xC;
    } fill_view @ 0x200;
};
"""

COPY = Call("copy", {"copy_size": 5, "copy_from": 0x40, "u_start": 1})
FILL = Call("fill", {"fill_to": 7, "fill_parts": 0x30002, "u_start": 2})
PLAIN = Call("plain", {"u_r3": 9, "u_r2": 8, "u_start": 4})


def write(folder: Path, text: str) -> Path:
    path = folder / "demo.rdl"
    path.write_text(text)
    return path


@pytest.fixture
def demo(tmp_path: Path) -> Description:
    return load(write(tmp_path, RDL))


def test_a_view_renames_the_operands_in_the_units_write_order(demo: Description) -> None:
    assert [r.name for r in demo.words("copy")] == ["copy_size", "copy_from", "u_start"]
    assert [r.address for r in demo.words("copy")] == [0xC, 0x8, 0x10]
    assert [r.name for r in demo.words("plain")] == ["u_r3", "u_r2", "u_start"]
    source = demo.register("copy_from")
    assert (source.local_name, source.title, source.role, source.unit, source.view) == ("from", "Source", "operand", "u", "copy")
    assert (source.fields[0].space, source.fields[0].align) == ("ddr", 64)


def test_a_unit_without_instructions_is_one(demo: Description) -> None:
    assert demo.units["idle"].operands == ()
    with pytest.raises(CodecError, match="idle_start = 0x1 is no instruction; the unit has none"):
        decode_writes(demo, [(0x30, 1)])


@pytest.mark.parametrize("call", [COPY, FILL, PLAIN], ids=lambda c: c.instruction)
def test_writes_and_binary_and_back(demo: Description, call: Call) -> None:
    writes = register_writes(demo, call)
    assert writes == list(zip((0xC, 0x8, 0x10), call.fields.values(), strict=True))
    assert decode_writes(demo, [writes[1], writes[0], writes[2]]) == call
    data = encode_binary(demo, [call])
    assert data[64:76] == struct.pack("<3I", *call.fields.values())
    assert decode_binary(demo, data) == [call]


def test_the_views_fields_are_checked_and_shown(demo: Description) -> None:
    with pytest.raises(CodecError, match=r"copy\.copy_from: 32 is not a multiple of 64"):
        register_writes(demo, Call("copy", {**COPY.fields, "copy_from": 32}))
    with pytest.raises(CodecError, match=r"fill\.fill_parts\.low: 3 is not allowed"):
        register_writes(demo, Call("fill", {**FILL.fields, "fill_parts": 3}))
    with pytest.raises(CodecError, match="missing copy_from; unknown u_r2; instruction 'copy' has copy_size, copy_from, u_start"):
        register_writes(demo, Call("copy", {"copy_size": 1, "u_r2": 2, "u_start": 1}))
    assert disassemble(demo, COPY) == "copy size=5 from=0x40 start=1"
    assert disassemble(demo, FILL, detailed=True).splitlines()[2].split()[:5] == ["reg", "2", "fill_parts", "=", "0x00030002"]


def test_the_fetch_has_no_binary_form(demo: Description) -> None:
    fetch = demo.fetch
    assert fetch is not None
    assert (fetch.word.name, fetch.address.name, fetch.beats.name, fetch.tasks.name) == ("run", "x_at", "x_beats", "x_tasks")
    run = Call("run", {"x_at": 0, "x_beats": 65, "x_tasks": 1, "x_start": 1})
    assert register_writes(demo, run)[-1] == (0x2C, 1)
    with pytest.raises(CodecError, match="run: has no binary form"):
        encode_binary(demo, [run])
    data = bytearray(encode_binary(demo, [PLAIN]))
    data[0] = 4
    with pytest.raises(CodecError, match="cfg_id 0x04 is no instruction"):
        decode_binary(demo, bytes(data))


@pytest.mark.parametrize(
    ("old", "new"),
    [("copy_from @ 0x8", "copy_source @ 0x8"), ("fleet_allowed = '{1, 2}", "fleet_allowed = '{1, 3}"), ("value[3:0]", "value[4:0]"),
     ("fleet_fetch;", ""), ('"beats"; field', '"tasks"; field'), ("name = \"Source\"", "name = \"A comment\"")],
)  # fmt: skip
def test_the_hash_follows_the_view(tmp_path: Path, old: str, new: str) -> None:
    before = load(write(tmp_path, RDL)).hash
    assert old in RDL
    text = RDL.replace(old, new, 1)
    if '"tasks"; field' in new:
        text = text.replace('"tasks"; field', '"beats"; field', 2).replace('"beats"; field', '"tasks"; field', 1)
    after = load(write(tmp_path, text)).hash
    assert (after == before) == ("comment" in new)


BAD = [
    ("copy_size @ 0xC", "copy_size @ 0x14", 27, "offset 0x14 is not an operand of unit 'u'"),
    ("copy_size @ 0xC", "copy_size @ 0x10", 27, "offset 0x10 is not an operand"),
    ("} copy_size @ 0xC;", "} copy_size @ 0xC; reg { field { fleet_kind = \"value\"; } value[31:0] = 0; } copy_more @ 0x18;", 27, "copy_more: offset 0x18"),
    ("copy_size @ 0xC", "size @ 0xC", 27, "named 'copy_...'"),
    ("copy_size @ 0xC", "copy_input @ 0xC", 27, "keyword"),
    ("copy_view @", "copies_view @", 28, "is the view of 'copies', and there is no such instruction"),
    ("value[15:0] = 0; } copy_size", "value[16:0] = 0; } copy_size", 27, "bits 0x10000, which u_r3 has not"),
    ("reg { name = \"Length\";", "reg { name = \"Length\"; fleet_role = \"operand\";", 27, "fleet_role is that of u_r3"),
    ("reg { name = \"Length\"; field { fleet_kind", "reg { name = \"Length\"; field { sw = r; fleet_kind", 27, "sw = rw; hw = r;"),
    ("reg { name = \"Length\"; field { fleet_kind = \"size\"", "reg { name = \"Length\"; field { fleet_kind = \"length\"", 27, "fleet_kind is 'length'"),
    ("} copy @ 0x0", "} u @ 0x0", None, "is the view of 'copy', and there is no such instruction"),
    ("fleet_fetch_word = \"beats\"", "fleet_fetch_word = \"beat\"", 10, "fleet_fetch_word is 'beat'"),
    ("fleet_fetch_word = \"beats\"", "fleet_fetch_word = \"tasks\"", 23, 'fleet_fetch_word = "beats"'),
    ("fleet_beats = 0; fleet_fetch;", "fleet_fetch;", 23, "needs fleet_beats = 0"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "line", "message"), BAD)
def test_mistakes_are_named_with_file_and_line(tmp_path: Path, old: str, new: str, line: int | None, message: str) -> None:
    assert old in RDL
    path = write(tmp_path, RDL.replace(old, new, 1))
    with pytest.raises(DescriptionError, match=message) as caught:
        load(path)
    assert (caught.value.where or "").startswith(f"{path}:{line}" if line else f"{path}:")


def test_a_view_that_misses_a_register(tmp_path: Path) -> None:
    lines = [line for line in RDL.splitlines(keepends=True) if "copy_size" not in line]
    path = write(tmp_path, "".join(lines))
    with pytest.raises(DescriptionError, match=r"copy_view: no register for u_r3 at 0xc") as caught:
        load(path)
    assert caught.value.where == f"{path}:27"


def test_a_view_of_an_instruction_called_like_a_unit(tmp_path: Path) -> None:
    text = (
        RDL.replace("} copy @ 0x0", "} u @ 0x0")
        .replace("copy_view", "u_view")
        .replace("copy_from", "u_from")
        .replace("copy_size", "u_size")
    )
    with pytest.raises(DescriptionError, match="instruction 'u' is called like a unit"):
        load(write(tmp_path, text))


def test_a_name_that_exists(tmp_path: Path) -> None:
    text = (
        RDL.replace("} plain @", "} fill_to @")
        .replace(
            "fill_view @ 0x200;",
            """fill_view @ 0x200;
    regfile { default regwidth = 32; default sw = rw; default hw = r;
        reg { field { fleet_kind = "value"; } value[31:0] = 0; } fill_to_a @ 0x8;
        reg { field { fleet_kind = "value"; } value[3:0] = 0; } fill_to_b @ 0xC;
    } fill_to_view @ 0x300;""",
        )
        .replace("} fill_to @ 0xC", "} fill_to_a @ 0xC")
    )
    with pytest.raises(DescriptionError, match="register 'fill_to_a' exists already"):
        load(write(tmp_path, text))


def test_package_and_decoder(tmp_path: Path) -> None:
    """The package's structs and decoder, evaluated by the simulator itself."""
    verilator = shutil.which("verilator")
    assert verilator, "verilator is needed; run `fleet doctor`"
    export(write(tmp_path, RDL), tmp_path / "out")
    bench = tmp_path / "bench.sv"
    bench.write_text("""
module bench;
  import demo_pkg::*;
  u_operands_t raw;
  copy_operands_t copy;
  aux_task_t task_1, task_4;
  initial begin
    raw = {32'd5, 32'h40};
    copy = copy_operands_t'(raw);
    task_1 = aux_decode(8'd1);
    task_4 = aux_decode(8'd4);
    $display("%0d %0h | %0d %0d %0d %0d %0h %0d | %0d %0d", copy.size, copy.from, task_1.known, task_1.unit == AuxUnitU, task_1.beats,
             task_1.words, task_1.start, AuxBlockBeats, task_4.known, task_4.words);
    $finish;
  end
endmodule
""")
    files = [tmp_path / "out" / f for f in generated_files("demo") if f.endswith((".vlt", "demo_pkg.sv"))]
    command = [
        verilator,
        "--binary",
        "-CFLAGS",
        "-O0",
        "-Wno-fatal",
        "--quiet",
        "--top-module",
        "bench",
        "--Mdir",
        tmp_path / "obj",
    ]
    built = subprocess.run([*command, "-o", "bench", *files, bench], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    ran = subprocess.run([tmp_path / "obj" / "bench"], capture_output=True, text=True, check=False, timeout=60)
    assert ran.stdout.splitlines()[0] == "5 40 | 1 1 1 3 1 65 | 0 0"
