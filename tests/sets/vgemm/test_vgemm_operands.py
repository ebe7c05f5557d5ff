"""The 128-bit words: numbers typed in from docs/vgemm.md."""

from __future__ import annotations

import pytest

from fleet.isa.codec_binary import encode_binary
from fleet.isa.registry import find_instruction_set
from fleet.sdk import Call, DeviceError
from fleet.sets.vgemm.operands import AluOp, AluOperands, FinishOperands, GemmOperands, LoadOperands, MemoryType

SIZES = {"y_size": 5, "x_size": 6, "x_stride": 7}


def test_words_by_hand() -> None:
    """Bits counted by hand, so that a shift that description and generated Python share is seen."""
    pads = {"y_pad_before": 1, "y_pad_after": 2, "x_pad_before": 3, "x_pad_after": 4}
    load = LoadOperands(
        memory_type=MemoryType.INP, sram_base=0x12, address=0x3456, **SIZES, **pads, pop_next=True, push_next=True
    )  # fmt: skip
    assert load.encode() == {
        "load_w0": 0x0012_0151, "load_w1": 0x3456, "load_w2": 0x0006_0005, "load_w3": 0x4321_0007, "cmd_start": 1,
    }  # fmt: skip
    gemm = GemmOperands(
        uop_begin=1, uop_end=4, iter_out=2, iter_in=3, acc_out=5, acc_in=6, inp_out=7, inp_in=8, wgt_out=9, wgt_in=10, reset=True,
        pop_prev=True,
    )  # fmt: skip
    assert gemm.encode() == {
        "gemm_w0": 0x0040_018B, "gemm_w1": 0x0000_C002, "gemm_w2": 0x0240_3005, "gemm_w3": 0x0280_4007, "cmd_start": 3,
    }  # fmt: skip
    alu = AluOperands(
        uop_begin=0, uop_end=1, iter_out=1, iter_in=1, dst_out=2, dst_in=3, src_out=4, src_in=5, op=AluOp.SHR, use_imm=True, imm=-2
    )  # fmt: skip
    assert alu.encode() == {
        "alu_w0": 0x0010_0004, "alu_w1": 0xB000_4001, "alu_w2": 0x0100_1802, "alu_w3": 0xFFFE_0005, "cmd_start": 4,
    }  # fmt: skip
    assert FinishOperands().encode() == {"finish_w0": 5, "finish_w1": 0, "finish_w2": 0, "finish_w3": 0, "cmd_start": 5}
    for operands in (load, gemm, alu):
        assert type(operands).decode(operands.encode()) == operands


def test_the_binary_has_the_word_in_one_piece() -> None:
    fields = LoadOperands(memory_type=MemoryType.INP, sram_base=0x12, address=0x3454, **SIZES).encode()
    data = encode_binary(find_instruction_set("vgemm"), [Call("load", fields)])
    assert data[0] == 1
    assert data[64:80] == bytes.fromhex("01011200543400000500060007000000")
    assert data[80:84] == bytes([1, 0, 0, 0])


def test_a_value_that_does_not_fit_is_refused() -> None:
    with pytest.raises(DeviceError, match=r"load\.sram_base: is 65536, expected 0 to 65535"):
        LoadOperands(sram_base=1 << 16, address=0, **SIZES).encode()
