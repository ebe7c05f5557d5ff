"""Streams of HBM0923 written out by hand from the public description: register writes and bytes, nothing generated.

Each row is one register: number, value, the value's four bytes as they stand in the binary, low byte first.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import fleet.sets
from fleet.isa.codec import CodecError, decode_writes, register_writes
from fleet.isa.codec_binary import decode_binary, encode_binary
from fleet.isa.description import Description
from fleet.isa.reading.cache import load
from fleet.sdk import Call

Row = tuple[int, int, str]

# (1, 1 token, 4096) x (4096, 256) into 0x1000000: the published example.
MVM: tuple[Row, ...] = (
    (2, 4096, "00 10 00 00"), (3, 1, "01 00 00 00"), (4, 1, "01 00 00 00"), (5, 1, "01 00 00 00"),
    (6, 1, "01 00 00 00"), (7, 256, "00 01 00 00"), (8, 256, "00 01 00 00"), (9, 1, "01 00 00 00"),
    (10, 0, "00 00 00 00"), (11, 0, "00 00 00 00"), (12, 16896, "00 42 00 00"), (13, 0x1000000, "00 00 00 01"),
    (14, 0, "00 00 00 00"), (15, 28, "1c 00 00 00"), (16, 0, "00 00 00 00"), (17, 0, "00 00 00 00"),
    (18, 0, "00 00 00 00"), (19, 0, "00 00 00 00"), (20, 0, "00 00 00 00"), (21, 0, "00 00 00 00"),
    (22, 5769216, "00 08 58 00"), (23, 3670144, "80 00 38 00"), (24, 2048, "00 08 00 00"), (25, 0, "00 00 00 00"),
    (26, 0, "00 00 00 00"), (27, 0, "00 00 00 00"), (28, 0, "00 00 00 00"), (29, 64, "40 00 00 00"),
    (30, 64, "40 00 00 00"), (31, 64, "40 00 00 00"), (32, 64, "40 00 00 00"), (33, 287, "1f 01 00 00"),
)  # fmt: skip

# RMS norm of 3 tokens of 4096 channels (128 groups); 1 / 4096 = 2^-12 is FP20 (31 - 12) << 13 = 0x26000.
NORM: tuple[Row, ...] = (
    (194, 0x4000, "00 40 00 00"), (195, 0x10000, "00 00 01 00"), (196, 192, "c0 00 00 00"), (197, 24576, "00 60 00 00"),
    (198, 0x20000, "00 00 02 00"), (199, 192, "c0 00 00 00"), (200, 24576, "00 60 00 00"), (201, 128, "80 00 00 00"),
    (202, 1, "01 00 00 00"), (203, 3, "03 00 00 00"), (204, 3, "03 00 00 00"), (205, 0x26000, "00 60 02 00"),
    (206, 0, "00 00 00 00"), (207, 0, "00 00 00 00"), (208, 3, "03 00 00 00"), (209, 0x20, "20 00 00 00"),
)  # fmt: skip

# 32 query heads on 2 key heads, D 128, 70 positions; FP16(1 / sqrt(128)) = 0x2DA8, bank step 28; heads (15, 32, 2).
TRP_MVM: tuple[Row, ...] = (
    (194, 0x2000, "00 20 00 00"), (195, 0x100, "00 01 00 00"), (196, 0x40, "40 00 00 00"), (197, 0x100, "00 01 00 00"),
    (198, 0x8000, "00 80 00 00"), (199, 0x40, "40 00 00 00"), (200, 0xC0, "c0 00 00 00"), (201, 0x4000, "00 40 00 00"),
    (202, 256, "00 01 00 00"), (203, 128, "80 00 00 00"), (204, 70, "46 00 00 00"), (205, 1, "01 00 00 00"),
    (206, 0x1C2DA8, "a8 2d 1c 00"), (207, 0xF2002, "02 20 0f 00"), (208, 0, "00 00 00 00"), (209, 2, "02 00 00 00"),
)  # fmt: skip

# A - B, 40 channels (2 groups, 8 valid lanes in the last), 5 tokens.
ELEMENTWISE: tuple[Row, ...] = (
    (130, 1, "01 00 00 00"), (131, 0, "00 00 00 00"), (132, 320, "40 01 00 00"), (133, 640, "80 02 00 00"),
    (134, 0x1000, "00 10 00 00"), (135, 320, "40 01 00 00"), (136, 640, "80 02 00 00"), (137, 0x80002, "02 00 08 00"),
    (138, 1, "01 00 00 00"), (139, 5, "05 00 00 00"), (140, 0x2000, "00 20 00 00"), (141, 4, "04 00 00 00"),
    (142, 1, "01 00 00 00"),
)  # fmt: skip

# K of 2 heads of 128 channels, 3 tokens after 67.
DAT2HBM: tuple[Row, ...] = (
    (194, 0, "00 00 00 00"), (195, 0x400, "00 04 00 00"), (196, 192, "c0 00 00 00"), (197, 768, "00 03 00 00"),
    (198, 0x2000, "00 20 00 00"), (199, 0x4000, "00 40 00 00"), (200, 256, "00 01 00 00"), (201, 28, "1c 00 00 00"),
    (202, 67, "43 00 00 00"), (203, 3, "03 00 00 00"), (204, 2, "02 00 00 00"), (205, 4, "04 00 00 00"),
    (206, 1, "01 00 00 00"), (207, 0, "00 00 00 00"), (208, 0, "00 00 00 00"), (209, 0x40, "40 00 00 00"),
)  # fmt: skip

# Instruction -> cfg_id, bytes of the slot, rows.
VECTORS: dict[str, tuple[int, int, tuple[Row, ...]]] = {
    "mvm": (0x08, 128, MVM),
    "norm": (0x07, 64, NORM),
    "trp_mvm": (0x03, 64, TRP_MVM),
    "elementwise": (0x01, 64, ELEMENTWISE),
    "dat2hbm": (0x30, 64, DAT2HBM),
}


@pytest.fixture(scope="module")
def description() -> Description:
    return load(Path(fleet.sets.__file__).parent / "hbm0923" / "hbm0923.rdl")


def slot(name: str) -> bytes:
    _, size, rows = VECTORS[name]
    return bytes.fromhex(" ".join(row[2] for row in rows)).ljust(size, b"\0")


def call_of(description: Description, name: str) -> Call:
    return decode_writes(description, [(4 * number, value) for number, value, _ in VECTORS[name][2]])


@pytest.mark.parametrize("name", VECTORS)
def test_register_writes(description: Description, name: str) -> None:
    writes = [(4 * number, value) for number, value, _ in VECTORS[name][2]]
    call = decode_writes(description, writes)
    assert call.instruction == name
    assert register_writes(description, call) == writes


@pytest.mark.parametrize("name", VECTORS)
def test_bytes_of_one_task(description: Description, name: str) -> None:
    expected = bytes([VECTORS[name][0]]) + bytes(63) + slot(name)
    expected += bytes(4160 - len(expected))
    call = call_of(description, name)
    assert encode_binary(description, [call]) == expected
    assert decode_binary(description, expected) == [call]


def test_bytes_of_two_blocks(description: Description) -> None:
    """33 tasks: the last one stands in a block of its own, and slots of one beat follow each other without a gap."""
    names = ["norm", "mvm", "elementwise", "trp_mvm", "dat2hbm"]
    first = (names * 7)[:32]
    calls = [call_of(description, n) for n in (*first, "norm")]
    ids = bytes(VECTORS[n][0] for n in first) + bytes(32)
    block = (ids + b"".join(slot(n) for n in first)).ljust(4160, b"\0")
    expected = block + (b"\x07" + bytes(63) + slot("norm")).ljust(4160, b"\0")
    assert encode_binary(description, calls) == expected
    assert decode_binary(description, expected) == calls


def test_names_of_a_view(description: Description) -> None:
    fields = call_of(description, "norm").fields
    assert fields["norm_wt_addr"] == 0x4000
    assert fields["norm_recip_channels"] == 0x26000
    assert fields["sfu_start"] == 0x20
    assert call_of(description, "dat2hbm").fields["dat2hbm_last"] == 67
    assert call_of(description, "trp_mvm").fields["trp_mvm_total"] == 70


def test_what_has_no_binary_form(description: Description) -> None:
    copy = decode_writes(
        description, [(260, 0), (264, 0), (268, 0), (272, 64), (276, 32), (280, 0), (284, 256), (288, 3), (292, 2)]
    )
    assert copy.instruction == "wt2hbm"
    assert copy.fields["aux_port"] == 3
    with pytest.raises(CodecError, match="wt2hbm: has no binary form"):
        encode_binary(description, [copy])
    fetch = description.fetch
    assert fetch is not None
    assert [r.number for r in (fetch.address, fetch.beats, fetch.tasks, fetch.unit.start)] == [65, 66, 67, 73]
