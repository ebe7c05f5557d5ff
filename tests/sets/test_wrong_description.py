"""Planted: a wrong entry in the shared description. The literal tests find it and name the register or instruction.

Everything generated follows a wrong description, so both sides of every comparison would agree on it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import test_hbm0923_encoding as literal
from hbm0923_numbers import differences

import fleet.sets
from fleet.errors import FleetError
from fleet.isa.codec import decode_writes, register_writes
from fleet.isa.description import Description
from fleet.isa.reading.cache import load

RDL = Path(fleet.sets.__file__).parent / "hbm0923" / "hbm0923.rdl"


def edited(folder: Path, *edits: tuple[str, str]) -> Description:
    """The description after replacements, each of a text that stands there once, all at the same time (so two can swap)."""
    text = RDL.read_text()
    for n, (old, _) in enumerate(edits):
        assert text.count(old) == 1, f"'{old}' stands there {text.count(old)} times"
        text = text.replace(old, f"\0{n}\0")
    for n, (_, new) in enumerate(edits):
        text = text.replace(f"\0{n}\0", new)
    path = folder / RDL.name
    path.write_text(text)
    return load(path)


def test_an_unedited_copy_has_no_differences(tmp_path: Path) -> None:
    copy = edited(tmp_path)
    assert differences(copy) == []
    assert copy.hash == load(RDL).hash


def modes(instruction: str, start: int, opcode: int) -> Callable[[Description], None]:
    return lambda d: literal.test_modes_and_opcodes(d, instruction, start, opcode)


FAULTS = [
    pytest.param(
        [("mvm_in_addr @ 4 * 10;", "mvm_in_addr @ 4 * 13;"), ("mvm_out_addr @ 4 * 13;", "mvm_out_addr @ 4 * 10;")],
        ["register 10: expected mvm_in_addr, found mvm_out_addr", "register 13: expected mvm_out_addr, found mvm_in_addr"],
        [literal.test_worked_example, literal.test_binary_words_of_the_worked_example],
        id="two-addresses-swapped",
    ),
    pytest.param(
        # Both hold the token count: no stream, no simulation and no example value shows it.
        [("mvm_wout @ 4 * 5;", "mvm_wout @ 4 * 9;"), ("mvm_win_dup @ 4 * 9;", "mvm_win_dup @ 4 * 5;")],
        ["register 5: expected mvm_wout, found mvm_win_dup", "register 9: expected mvm_win_dup, found mvm_wout"],
        [],
        id="two-of-equal-content-swapped",
    ),
    pytest.param(
        [("irq_en @ 4 * 227;", "irq_en @ 4 * 228;"), ("irq_stat @ 4 * 228;", "irq_stat @ 4 * 227;")],
        ["register 227: expected irq_en, found irq_stat", "register 228: expected irq_stat, found irq_en"],
        [literal.test_interrupt_registers],
        id="interrupt-registers-swapped",
    ),
    pytest.param(
        [("fleet_start = 0x31F;", "fleet_start = 0x51F;")],
        ["instruction mvm_bn: expected start values ['0x31f', '0xb1f'], found ['0x51f', '0xd1f']"],
        [modes("mvm_bn", 0x31F, 0x48), literal.test_no_other_mode_is_an_instruction],
        id="start-value-changed",
    ),
    pytest.param(
        [("fleet_start = 0x31F;", "fleet_start = 0x71F;"), ("fleet_start = 0x71F;", "fleet_start = 0x31F;")],
        [
            "instruction mvm_bn: expected start values ['0x31f', '0xb1f'], found ['0x71f', '0xf1f']",
            "instruction mvm_bn_res: expected start values ['0x71f', '0xf1f'], found ['0x31f', '0xb1f']",
        ],
        [modes("mvm_bn", 0x31F, 0x48), modes("mvm_bn_res", 0x71F, 0xC8)],
        id="start-values-swapped",
    ),
    pytest.param(
        [("fleet_opcode = 0x48;", "fleet_opcode = 0x49;"), ("cfg_id[7:0] = 0x48;", "cfg_id[7:0] = 0x49;")],
        ["instruction mvm_bn: expected opcode 0x48, found 0x49"],
        [modes("mvm_bn", 0x31F, 0x48)],
        id="opcode-changed",
    ),
    pytest.param(
        [("bn[9:9]", "bn[10:10]"), ("res[10:10]", "res[9:9]")],
        [
            "register mvm_start: expected fields {'mvm': (8, 0), 'bn': (9, 9), 'res': (10, 10), ",
        ],
        [literal.test_disassembly_is_readable],
        id="mode-bits-swapped",
    ),
    pytest.param(
        [("bad_size = 2 {", "bad_size = 3 {"), ("unaligned = 3 {", "unaligned = 2 {")],
        ["register err_cause: expected values"],
        [literal.test_error_causes],
        id="error-causes-swapped",
    ),
]


@pytest.mark.parametrize(("edits", "lines", "tests"), FAULTS)
def test_a_wrong_entry_is_found_and_named(
    tmp_path: Path, edits: list[tuple[str, str]], lines: list[str], tests: list[Callable[[Description], None]]
) -> None:
    wrong = edited(tmp_path, *edits)
    found = differences(wrong)
    assert len(found) == len(lines), found
    assert all(f.startswith(line) for f, line in zip(found, lines, strict=True)), found
    # The literal tests themselves, run on the wrong copy.
    with pytest.raises(AssertionError):
        literal.test_the_description_has_the_literal_numbers(wrong)
    for test in tests:
        with pytest.raises((AssertionError, FleetError)):
            test(wrong)
    # What is built on the copy agrees with itself: only literals can tell.
    call = literal.call("mvm")
    assert decode_writes(wrong, register_writes(wrong, call)) == call
    assert wrong.hash != load(RDL).hash
