"""The fields of registers, and the state that an instruction found, on the page of `fleet why`."""

from __future__ import annotations

from pathlib import Path

from fleet.compare.diverged import Divergence
from fleet.isa.codec import disassemble
from fleet.isa.registry import find_instruction_set
from fleet.report.run.why import StoredFailure, page
from fleet.sdk import Call
from fleet.sets.vgemm.operands import GemmOperands

GEMM = GemmOperands(uop_begin=0, uop_end=5, iter_out=3, iter_in=4, acc_out=11, acc_in=5, inp_out=0, inp_in=11, wgt_out=1, wgt_in=0)


def shown(lines: tuple[str, ...], registers: tuple[tuple[int, int], ...]) -> str:
    found = Divergence("rtl-vs-iss", 5, "gemm", (), "digest expected 1, found 2", registers=registers, disassembly=lines)
    return page(StoredFailure(Path("stream.json"), "a stream", "", "fleet stream run stream.json", (), found))


def test_registers_are_decoded_into_fields() -> None:
    vgemm = find_instruction_set("vgemm")
    call = Call("gemm", GEMM.encode())
    lines = ("gemm", *disassemble(vgemm, call, detailed=True).splitlines())
    text = shown(lines, ((0x10, call.fields["gemm_w0"]), (0x14, call.fields["gemm_w1"])))
    assert "reg   5  gemm_w1            = 0x00010003      65539  Loops\n                        iter_out 3, iter_in 4\n" in text
    assert "uop_begin 0, uop_end 5\n" in text


def test_state_registers_have_a_part_of_their_own() -> None:
    lines = (
        "mvin rows=2",
        "mvin  opcode 0x02  Move in",
        "  reg   4  mvin_rows          = 0x00000002          2  Rows (count)",
        "  state    load_stride        = 0x00000040         64  Bytes between rows (stride)",
        "  state    size               = 0x00080008     524296  Size",
        "           [ 15:0] rows       = 8  Rows of a tile",
        "           [31:16] columns    = 8",
    )
    text = shown(lines, ((16, 2),))
    assert "register writes reg   4  mvin_rows          = 0x00000002          2  Rows (count)\n" in text
    part = text[text.index("\nstate ") :].splitlines()[1:4]
    assert part[0].endswith("load_stride        = 0x00000040         64  Bytes between rows (stride)")
    assert part[2].strip() == "rows 8, columns 8"
