"""The 128-bit words: numbers typed in from docs/vgemm.md, what the description says of the bits, and back again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.isa.codec import description_of, encode_binary
from fleet.isa.registry import find_instruction_set
from fleet.sdk import Call
from fleet.sets.vgemm.words import Flags, Loops, Transfer, finish_fields


def bits(n: int) -> st.SearchStrategy[int]:
    return st.integers(0, (1 << n) - 1)


FLAGS = st.builds(Flags, st.booleans(), st.booleans(), st.booleans(), st.booleans())
PADS = st.tuples(bits(4), bits(4))
LOADS = st.builds(
    Transfer,
    memory_type=st.sampled_from([0, 1, 2, 3]), sram_base=bits(16), address=bits(30).map(lambda n: 4 * n),
    y_size=bits(16), x_size=bits(16), x_stride=bits(16), y_pad=PADS, x_pad=PADS, flags=FLAGS,
)  # fmt: skip
PAIRS_11, PAIRS_10 = st.tuples(bits(11), bits(11)), st.tuples(bits(10), bits(10))
UOPS, EXTENTS = st.tuples(bits(12), bits(12)), st.tuples(bits(14), bits(14))
GEMMS = st.builds(
    Loops, uops=UOPS, extents=EXTENTS, acc=PAIRS_11, second=PAIRS_11, wgt=PAIRS_10, reset=st.booleans(), flags=FLAGS
)  # fmt: skip
ALUS = st.builds(
    Loops, uops=UOPS, extents=EXTENTS, acc=PAIRS_11, second=PAIRS_10, op=st.integers(0, 4), use_imm=st.booleans(),
    imm=st.integers(-(1 << 15), (1 << 15) - 1), flags=FLAGS,
)  # fmt: skip


def described(name: str, fields: dict[str, int]) -> dict[str, int]:
    """Field name -> value, by the description."""
    d = description_of(find_instruction_set("vgemm"))
    return {f.name: f.get(fields[r.name]) for r in d.operands(name) for f in r.fields}


@given(LOADS)
def test_a_load_is_what_the_description_says(t: Transfer) -> None:
    fields = t.fields("load")
    assert Transfer.of("load", fields) == t
    found = described("load", fields)
    assert found == {
        "opcode": 1, "memory_type": t.memory_type, "sram_base": t.sram_base, "value": t.address, "y_size": t.y_size,
        "x_size": t.x_size, "x_stride": t.x_stride, "y_pad_before": t.y_pad[0], "y_pad_after": t.y_pad[1],
        "x_pad_before": t.x_pad[0], "x_pad_after": t.x_pad[1], "pop_prev": t.flags.pop_prev, "pop_next": t.flags.pop_next,
        "push_prev": t.flags.push_prev, "push_next": t.flags.push_next,
    }  # fmt: skip


@given(GEMMS)
def test_a_gemm_is_what_the_description_says(x: Loops) -> None:
    fields = x.fields("gemm")
    assert Loops.of("gemm", fields) == x
    found = described("gemm", fields)
    assert (found["opcode"], found["reset"], found["uop_begin"], found["uop_end"]) == (3, x.reset, *x.uops)
    assert (found["iter_out"], found["iter_in"]) == x.extents
    assert (found["acc_out"], found["acc_in"]) == x.acc
    assert (found["inp_out"], found["inp_in"]) == x.second
    assert (found["wgt_out"], found["wgt_in"]) == x.wgt


@given(ALUS)
def test_an_alu_is_what_the_description_says(x: Loops) -> None:
    fields = x.fields("alu")
    assert Loops.of("alu", fields) == x
    found = described("alu", fields)
    assert (found["opcode"], found["op"], found["use_imm"], found["imm"]) == (4, x.op, x.use_imm, x.imm & 0xFFFF)
    assert (found["dst_out"], found["dst_in"], found["src_out"], found["src_in"]) == (*x.acc, *x.second)


def test_words_by_hand() -> None:
    """Bits counted by hand, so that a shift that description and Python share is seen."""
    load = Transfer(2, 0x12, 0x3456, 5, 6, 7, (1, 2), (3, 4), Flags(pop_next=True, push_next=True))
    assert load.fields("load") == {
        "load_w0": 0x0012_0151, "load_w1": 0x3456, "load_w2": 0x0006_0005, "load_w3": 0x4321_0007, "cmd_start": 1,
    }  # fmt: skip
    gemm = Loops((1, 4), (2, 3), (5, 6), (7, 8), (9, 10), reset=True, flags=Flags(pop_prev=True))
    assert gemm.fields("gemm") == {
        "gemm_w0": 0x0040_018B, "gemm_w1": 0x0000_C002, "gemm_w2": 0x0240_3005, "gemm_w3": 0x0280_4007, "cmd_start": 3,
    }  # fmt: skip
    alu = Loops((0, 1), (1, 1), (2, 3), (4, 5), op=3, use_imm=True, imm=-2)
    assert alu.fields("alu") == {
        "alu_w0": 0x0010_0004, "alu_w1": 0xB000_4001, "alu_w2": 0x0100_1802, "alu_w3": 0xFFFE_0005, "cmd_start": 4,
    }  # fmt: skip
    assert finish_fields() == {"finish_w0": 5, "finish_w1": 0, "finish_w2": 0, "finish_w3": 0, "cmd_start": 5}


def test_the_binary_has_the_word_in_one_piece() -> None:
    fields = Transfer(2, 0x12, 0x3454, 5, 6, 7).fields("load")
    data = encode_binary(find_instruction_set("vgemm"), [Call("load", fields)])
    assert data[0] == 1
    assert data[64:80] == bytes.fromhex("01011200543400000500060007000000")
    assert data[80:84] == bytes([1, 0, 0, 0])


def test_a_value_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="does not fit"):
        Transfer(0, 1 << 16, 0, 1, 1, 1).fields("load")
