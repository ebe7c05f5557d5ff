# ruff: noqa: E501  (SystemRDL, a register a line)
"""The codec, on a set of two instructions written here: exact bytes and every error."""

from __future__ import annotations

import random
import struct
from dataclasses import replace
from pathlib import Path

import pytest

from fleet.isa.codec import CodecError, decode_writes, disassemble, interrupt, register_writes
from fleet.isa.codec_binary import decode_binary, encode_binary
from fleet.isa.description import Description
from fleet.isa.reading.cache import load
from fleet.sdk import Call

RDL = """\
addrmap demo {
    fleet_map = "registers";
    default regwidth = 32;
    default sw = rw;
    default hw = r;
    reg { name = "Length"; fleet_unit = "u"; fleet_role = "operand"; field { fleet_kind = "size"; } value[15:0] = 0; } u_len @ 0x4;
    reg { name = "Source"; fleet_unit = "u"; fleet_role = "operand"; field { fleet_kind = "address"; fleet_space = "ddr"; fleet_align = 64; } value[31:0] = 0; } u_src @ 0x8;
    reg { name = "Always 7"; fleet_unit = "u"; fleet_role = "operand"; field { fleet_kind = "constant"; fleet_allowed = '{7}; } value[31:0] = 0; } u_seven @ 0xC;
    reg { fleet_unit = "u"; fleet_role = "operand"; field { fleet_kind = "size"; } low[3:0] = 0; field { desc = "The upper part."; fleet_kind = "size"; fleet_allowed = '{0, 5}; } high[15:8] = 0; } u_parts @ 0x10;
    reg { fleet_unit = "u"; fleet_role = "start"; default swmod; field { fleet_kind = "mode"; } go[0:0] = 0; field { fleet_kind = "mode"; } fast[1:1] = 0; field { fleet_kind = "mode"; } two[2:2] = 0; } u_start @ 0x14;
    reg { fleet_role = "irq_enable"; field { fleet_kind = "mode"; } done[0:0] = 0; field { fleet_kind = "mode"; } error[4:4] = 0; } en @ 0x40;
    reg { fleet_role = "irq_status"; default hwset; default onwrite = woclr; field { fleet_kind = "value"; } done[0:0] = 0; field { fleet_kind = "value"; } error[4:4] = 0; } stat @ 0x44;
};
addrmap demo_instructions {
    fleet_map = "instructions";
    default regwidth = 8;
    default sw = r;
    default hw = na;
    reg { fleet_unit = "u"; fleet_opcode = 0x11; fleet_start = 1; fleet_start_optional = 2; field { fleet_kind = "constant"; } id[7:0] = 1; } one @ 0x0;
    reg { fleet_unit = "u"; fleet_opcode = 0x22; fleet_start = 5; fleet_beats = 2; field { fleet_kind = "constant"; } id[7:0] = 2; } two @ 0x1;
};
"""

CALL = Call("one", {"u_len": 3, "u_src": 0x1040, "u_seven": 7, "u_parts": 0x509, "u_start": 3})


@pytest.fixture
def demo(tmp_path: Path) -> Description:
    path = tmp_path / "demo.rdl"
    path.write_text(RDL)
    return load(path)


def changed(**fields: int) -> Call:
    return replace(CALL, fields={**CALL.fields, **fields})


def test_writes_are_the_operands_in_order_and_then_start(demo: Description) -> None:
    assert register_writes(demo, CALL) == [(4, 3), (8, 0x1040), (12, 7), (16, 0x509), (20, 3)]


def test_decoding_is_the_inverse(demo: Description) -> None:
    writes = register_writes(demo, CALL)
    assert decode_writes(demo, writes) == CALL
    shuffled = writes[:-1]
    random.Random(1).shuffle(shuffled)
    assert decode_writes(demo, [*shuffled, writes[-1]]) == CALL


def test_interrupt_registers_come_from_the_roles(demo: Description) -> None:
    assert interrupt(demo) == (0x40, 0x44, 1, 16, None)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (Call("three", {}), "no instruction 'three'; instructions are one, two"),
        (Call("one", {k: v for k, v in CALL.fields.items() if k != "u_src"}), "missing u_src"),
        (changed(u_dst=1), "unknown u_dst"),
        (changed(u_len=1 << 32), "does not fit in 32 bits"),
        (changed(u_len=-1), "does not fit in 32 bits"),
        (changed(u_len=1 << 16), "sets bits that no field has"),
        (changed(u_src=0x1020), "not a multiple of 64"),
        (changed(u_seven=8), "8 is not allowed, expected 7"),
        (changed(u_parts=0x409), r"one\.u_parts\.high: 4 is not allowed, expected 0 or 5"),
        (changed(u_start=5), "u_start is 0x5, expected 0x1"),
        (changed(u_start=0), "u_start is 0x0"),
    ],
)
def test_wrong_calls_are_refused(demo: Description, call: Call, message: str) -> None:
    with pytest.raises(CodecError, match=message):
        register_writes(demo, call)


def test_a_test_may_write_what_hardware_has_to_refuse(demo: Description) -> None:
    assert register_writes(demo, changed(u_seven=8, u_src=1), strict=False)[1:3] == [(8, 1), (12, 8)]
    with pytest.raises(CodecError, match="no field has"):
        register_writes(demo, changed(u_len=1 << 16), strict=False)


@pytest.mark.parametrize(
    ("writes", "message"),
    [
        ([], "no register writes"),
        ([(4, 3), (8, 0)], "the last write goes to 0x8"),
        ([(4, 3), (4, 3), (20, 1)], "u_len is written twice"),
        ([(4, 3), (0x40, 3), (20, 1)], "0x40 is not an operand of unit 'u'"),
        ([(4, 3), (20, 1)], "missing u_src, u_seven, u_parts"),
        ([(4, 3), (8, 0x1040), (12, 7), (16, 0), (20, 4)], "u_start = 0x4 is no instruction"),
        ([(20, 1), (4, 3), (20, 1)], "u_start is written twice"),
    ],
)
def test_wrong_writes_are_refused(demo: Description, writes: list[tuple[int, int]], message: str) -> None:
    with pytest.raises(CodecError, match=message):
        decode_writes(demo, writes)


def test_disassembly(demo: Description) -> None:
    assert disassemble(demo, CALL) == "one len=3 src=0x1040 parts=0x509 start=go+fast"
    lines = disassemble(demo, replace(CALL, ops=("add.1",)), detailed=True).splitlines()
    assert lines[0] == "one  opcode 0x11  one  [add.1]"
    assert lines[2].split() == ["reg", "2", "u_src", "=", "0x00001040", "4160", "Source", "(address", "in", "ddr)"]
    assert [line.split()[1] for line in lines if "reg" in line] == ["1", "2", "3", "4", "5"]
    assert any("high" in line and "= 5" in line and "The upper part." in line for line in lines)


def test_binary_has_ids_then_whole_beats_of_data(demo: Description) -> None:
    two = changed(u_start=5)
    data = encode_binary(demo, [CALL, replace(two, instruction="two"), CALL])
    assert len(data) == 4160
    assert data[:64] == bytes([0x11, 0x22, 0x11]) + bytes(61)
    words = struct.pack("<5I", 3, 0x1040, 7, 0x509, 3)
    assert data[64:128] == words + bytes(44)
    assert data[128:256] == struct.pack("<5I", 3, 0x1040, 7, 0x509, 5) + bytes(108)
    assert data[256:320] == words + bytes(44)
    assert not any(data[320:])


def test_binary_sizes_and_blocks(demo: Description) -> None:
    assert encode_binary(demo, []) == b""
    for count, blocks in ((1, 1), (32, 1), (33, 2), (65, 3)):
        calls = [changed(u_len=n) for n in range(count)]
        data = encode_binary(demo, calls)
        assert len(data) == blocks * 4160
        assert decode_binary(demo, data) == calls


@pytest.mark.parametrize(
    ("position", "value", "message"),
    [
        (0, 0x33, "byte 0x0: cfg_id 0x33 is no instruction"),
        (2, 0x11, "byte 0x1: an empty task before the last one"),
        (40, 0x11, "more than 32 tasks"),
        (64 + 8, 6, "byte 0x40: .*6 is not allowed, expected 7"),
        (64 + 16, 5, "u_start is 0x5"),
        (64 + 20, 1, "byte 0x54: fill byte is 0x01"),
        (4159, 9, "byte 0x103f: fill byte is 0x09"),
    ],
)
def test_wrong_binaries_are_refused(demo: Description, position: int, value: int, message: str) -> None:
    data = bytearray(encode_binary(demo, [CALL]))
    data[position] = value
    with pytest.raises(CodecError, match=message):
        decode_binary(demo, bytes(data))


def test_a_truncated_binary_is_refused(demo: Description) -> None:
    with pytest.raises(CodecError, match="no whole number of blocks"):
        decode_binary(demo, encode_binary(demo, [CALL])[:-1])
