"""What the MVM unit refuses: nothing is written, the error interrupt is raised and the commit carries the cause."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from mvm_random import (
    ERR_CAUSE,
    IRQ_EN,
    IRQ_STAT,
    OPCODES,
    STATUS,
    Case,
    Place,
    Runner,
    compare,
    prepare,
    start,
)

from fleet.engines.rtl_sim.job import JobScript
from fleet.sets.hbm0923.mvm_operands import FIELDS

CASE = Case(chin=96, chout=40, tokens=3, tblk=32, bn=True, residual=True, argmax=True)
MODE, SIZE, UNALIGNED, RANGE, BUSY, BUS, UNSUPPORTED = range(1, 8)

# field, value (None: taken from another field), cause
REFUSED = [
    ("mvm_start", 0, MODE),
    ("mvm_start", 0x11E, MODE),
    ("mvm_start", 0x51F, MODE),
    ("mvm_start", 0x91F, MODE),
    ("mvm_start", 0x1F1F, MODE),
    ("mvm_chin", 0, SIZE),
    ("mvm_chin", 128, SIZE),
    ("mvm_chin", 1 << 20, SIZE),
    ("mvm_chin_last", 0, SIZE),
    ("mvm_chin_last", 2049, SIZE),
    ("mvm_win", 0, SIZE),
    ("mvm_win", 513, SIZE),
    ("mvm_wout", 4, SIZE),
    ("mvm_win_dup", 2, SIZE),
    ("mvm_chout_last", 0, SIZE),
    ("mvm_chout_slice", 8, SIZE),
    ("mvm_splits_m1", 0xFFFFFFFF, SIZE),
    ("mvm_in_surface", 128, SIZE),
    ("mvm_out_surface", 128, SIZE),
    ("mvm_in_addr", 0x1020, UNALIGNED),
    ("mvm_out_addr", 0x10010, UNALIGNED),
    ("mvm_wt_addr", 16, UNALIGNED),
    ("mvm_bn_addr", 0x20, UNALIGNED),
    ("mvm_res_addr", 0x8, UNALIGNED),
    ("mvm_argmax_addr", 0x4, UNALIGNED),
    ("mvm_in_surface", 200, UNALIGNED),
    ("mvm_out_line", 32, UNALIGNED),
    ("mvm_in_addr", 0xFFFFFF80, RANGE),
    ("mvm_out_surface", 0xFFFFFFC0, RANGE),
    ("mvm_wt_addr", 0x0FFFFFE0, RANGE),
    ("mvm_wt_addr", 0xF0000000, RANGE),
    ("mvm_out_addr", "mvm_in_addr", RANGE),
    ("mvm_out_addr", "mvm_res_addr", RANGE),
    ("mvm_argmax_addr", "mvm_out_addr", RANGE),
    ("mvm_hin", 2, UNSUPPORTED),
    ("mvm_hout", 0, UNSUPPORTED),
    ("mvm_bank_step", 27, UNSUPPORTED),
    ("mvm_res_mode", 4, UNSUPPORTED),
    ("mvm_onchip", 8, UNSUPPORTED),
    ("mvm_zero28", 1, UNSUPPORTED),
    ("mvm_sparse", 4, UNSUPPORTED),
    ("mvm_tgroup", (10 << 19) + 1024, UNSUPPORTED),
    ("mvm_tblk", (5 << 19) + 64, UNSUPPORTED),
    ("mvm_tblk", (4 << 19) + 16, UNSUPPORTED),
    ("mvm_wt_bits", 256, UNSUPPORTED),
    ("mvm_in_addr", 64 << 20, RANGE),
    ("mvm_wt_addr", 4 << 20, RANGE),
    ("mvm_bn_addr", (64 << 20) - 64, RANGE),
]


@pytest.fixture
def fields(small: Runner) -> dict[str, int]:
    o = prepare(small.device, small.memory, CASE, Place(), np.random.default_rng(1))
    return o.encode(small.device)


def test_refusals_write_nothing_and_name_their_cause(small: Runner, fields: dict[str, int]) -> None:
    before = np.array(small.memory.view("ddr", 0, 1 << 20))
    script = JobScript()
    script.write(IRQ_EN, 2)
    expected: list[tuple[int, int]] = []
    for name, value, cause in REFUSED:
        changed = fields | {name: fields[value] if isinstance(value, str) else value}
        instruction = small.set.instructions["mvm_bn_res"]
        assert instruction.legal(small.device, changed), f"the functional model takes {name} = {value}"
        for number, field in enumerate(FIELDS, start=2):
            script.write(4 * number, changed[field], start=field == "mvm_start")
        script.wait_irq(1000)
        for register in (IRQ_STAT, ERR_CAUSE, ERR_CAUSE + 4, STATUS):
            script.read(register)
        script.write(IRQ_STAT, 3)
        expected.append((cause, 0 if name == "mvm_start" else OPCODES["mvm_bn_res"]))
    status, records, reads = small.play(script)
    assert len(records) == len(REFUSED)
    for i, (cause, opcode) in enumerate(expected):
        what = f"{REFUSED[i]}"
        assert (records[i].error, records[i].opcode) == (cause, opcode), what
        assert (records[i].digest, records[i].bytes_written, records[i].result) == (0, 0, None), what
        assert sum(records[i].cycles.values()) == records[i].end - records[i].start, what
        irq, err_cause, err_instr, done = reads[4 * i : 4 * i + 4]
        assert (irq & 2, err_cause, err_instr, done) == (2, cause, opcode, 1), what
    assert status.traffic["ddr.read_bytes"] == status.traffic["ddr.write_bytes"] == 0
    assert (small.memory.view("ddr", 0, 1 << 20) == before).all()
    compare(small, [CASE], 2)  # and the unit goes on


def test_a_mode_without_the_operand_does_not_look_at_it(small: Runner, fields: dict[str, int]) -> None:
    plain = fields | {"mvm_start": 0x11F, "mvm_bn_addr": 0x20, "mvm_res_addr": 0x8, "mvm_argmax_addr": 0}
    assert not small.set.instructions["mvm"].legal(small.device, plain)
    script = JobScript()
    script.write(IRQ_EN, 1)
    start(script, plain)
    _, records, _ = small.play(script)
    assert records[0].error == 0


def test_start_while_busy_is_refused_and_disturbs_nothing(small: Runner, fields: dict[str, int]) -> None:
    script = JobScript()
    script.write(IRQ_EN, 3)
    for number, field in enumerate(FIELDS, start=2):
        script.write(4 * number, fields[field], start=field == "mvm_start")
    # Operands may be written while it runs; a second start may not.
    script.write(4 * 13, 0x40)
    script.write(4 * 3, 0)
    script.write(4 * 33, 0x11F)
    script.read(ERR_CAUSE)
    script.read(ERR_CAUSE + 4)
    script.read(STATUS)
    script.poll(STATUS, 1, 1)
    script.read(ERR_CAUSE)
    script.read(IRQ_STAT)
    writes = small.set.instructions["mvm_bn_res"].execute(small.device, fields, small.memory)
    _, records, reads = small.play(script, "fixed:100")
    assert reads == [BUSY, OPCODES["mvm"], 0, BUSY, 3]
    assert [r.error for r in records] == [0]
    for w in writes:
        if w.space == "ddr":
            assert (small.memory.view("ddr", w.offset, w.data.size) == w.data.reshape(-1)).all()


def test_of_several_violations_the_highest_counts(small: Runner, fields: dict[str, int]) -> None:
    several = [
        ({"mvm_in_addr": 8, "mvm_out_addr": fields["mvm_in_addr"]}, UNALIGNED),
        ({"mvm_in_addr": 8, "mvm_chout_last": 0}, SIZE),
        ({"mvm_in_addr": 8, "mvm_out_surface": 64}, SIZE),
        ({"mvm_in_addr": 8, "mvm_splits_m1": 1 << 30, "mvm_chout_slice": 1 << 20}, SIZE),
        ({"mvm_win": 0, "mvm_wt_bits": 256}, UNSUPPORTED),
        ({"mvm_in_addr": 8, "mvm_wt_bits": 256}, UNSUPPORTED),
        ({"mvm_chin": 0, "mvm_wt_bits": 256}, SIZE),
        ({"mvm_hin": 0, "mvm_win": 0, "mvm_start": 0x11E}, MODE),
    ]
    script = JobScript()
    script.write(IRQ_EN, 2)
    for changes, _ in several:
        start(script, fields | changes)
    _, records, _ = small.play(script)
    assert [r.error for r in records] == [cause for _, cause in several]


@pytest.mark.parametrize("name", ["mvm_wt_addr", "mvm_in_addr", "mvm_out_addr", "mvm_bn_addr"])
def test_a_bus_error_ends_the_instruction_with_its_cause(small: Runner, fields: dict[str, int], name: str, tmp_path: Path) -> None:
    # Memories that are shorter than the device says: an address that is legal, and answered with an error.
    short = 1 << 20
    for image in [small.folder / "ddr.bin", *small.folder.glob("hbm_*.bin")]:
        with image.open("rb") as f:
            (tmp_path / image.name).write_bytes(f.read(short))
    script = JobScript()
    script.write(IRQ_EN, 3)
    start(script, fields | {name: 2 * short})
    script.read(ERR_CAUSE)
    _, records, reads = small.play(script, images=tmp_path)
    assert (records[0].error, records[0].result) == (BUS, None)
    assert reads == [BUS]
    compare(small, [CASE], 2)
