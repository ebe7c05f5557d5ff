"""HBM0923's numbers, typed in from the public description and never generated: the independent check of the .rdl file."""

from __future__ import annotations

from pathlib import Path

import pytest

import fleet.isa
from fleet.isa.codec import decode_binary, decode_writes, disassemble, encode_binary, interrupt, register_writes
from fleet.isa.contract import Call
from fleet.isa.description import Description, load
from fleet.isa.devices import load_devices

FOLDER = Path(fleet.isa.__file__).parent / "hbm0923"

# Register number -> value of the published example: (1, 1 token, 4096) x (4096, 256) as a plain product.
PRODUCT = {
    2: 4096, 3: 1, 4: 1, 5: 1, 6: 1, 7: 256, 8: 256, 9: 1, 10: 0, 11: 0, 12: 16896, 13: 0x1000000, 14: 0, 15: 28, 16: 0,
    17: 0, 18: 0, 19: 0, 20: 0, 21: 0, 22: 5769216, 23: 3670144, 24: 2048, 25: 0, 26: 0, 27: 0, 28: 0,
    29: 64, 30: 64, 31: 64, 32: 64, 33: 287,
}  # fmt: skip

NAMES = {
    1: "mvm_status", 2: "mvm_chin", 3: "mvm_win", 4: "mvm_hin", 5: "mvm_wout", 6: "mvm_hout", 7: "mvm_chout_slice",
    8: "mvm_chout_last", 9: "mvm_win_dup", 10: "mvm_in_addr", 11: "mvm_wt_addr", 12: "mvm_wt_bits", 13: "mvm_out_addr",
    14: "mvm_splits_m1", 15: "mvm_bank_step", 16: "mvm_res_mode", 17: "mvm_argmax_addr", 18: "mvm_onchip",
    19: "mvm_zero19", 20: "mvm_zero20", 21: "mvm_zero21", 22: "mvm_tgroup", 23: "mvm_tblk", 24: "mvm_chin_last",
    25: "mvm_zero25", 26: "mvm_bn_addr", 27: "mvm_res_addr", 28: "mvm_zero28", 29: "mvm_in_surface", 30: "mvm_in_line",
    31: "mvm_out_surface", 32: "mvm_out_line", 33: "mvm_start", 40: "mvm_result", 224: "eps", 225: "err_cause",
    226: "err_instr", 227: "irq_en", 228: "irq_stat", 229: "desc_hash", 230: "cycles", 231: "cycles_compute",
    232: "cycles_weight_wait", 233: "cycles_activation_wait", 234: "cycles_write_back", 235: "cycles_issue",
    236: "cycles_dependency",
}  # fmt: skip


@pytest.fixture(scope="module")
def description() -> Description:
    return load(FOLDER / "hbm0923.rdl")


def call(instruction: str, **changes: int) -> Call:
    fields = {NAMES[n]: v for n, v in PRODUCT.items()}
    return Call(instruction, {**fields, **changes})


def test_register_numbers(description: Description) -> None:
    assert {r.number: r.name for r in description.registers} == NAMES
    assert {r.address for r in description.registers} == {4 * n for n in NAMES}


def test_worked_example(description: Description) -> None:
    writes = register_writes(description, call("mvm"))
    assert writes == [(4 * n, PRODUCT[n]) for n in range(2, 34)]
    assert decode_writes(description, writes) == call("mvm")


@pytest.mark.parametrize(
    ("instruction", "mode", "opcode"),
    [
        ("mvm", 0x11F, 0x08),
        ("mvm_bn", 0x31F, 0x48),
        ("mvm_bn", 0xB1F, 0x48),
        ("mvm_bn_res", 0x71F, 0xC8),
        ("mvm_bn_res", 0xF1F, 0xC8),
    ],
)
def test_modes_and_opcodes(description: Description, instruction: str, mode: int, opcode: int) -> None:
    one = call(instruction, mvm_start=mode)
    writes = register_writes(description, one)
    assert writes[-1] == (132, mode)
    assert decode_writes(description, writes).instruction == instruction
    data = encode_binary(description, [one])
    assert len(data) == 4160
    assert data[0] == opcode
    assert decode_binary(description, data) == [one]


def test_no_other_mode_is_an_instruction(description: Description) -> None:
    known = [m for m in range(1 << 12) if any(i.accepts(m) for i in description.instructions.values())]
    assert known == [0x11F, 0x31F, 0x71F, 0xB1F, 0xF1F]


def test_binary_words_of_the_worked_example(description: Description) -> None:
    data = encode_binary(description, [call("mvm")])
    expected = b"".join(PRODUCT[n].to_bytes(4, "little") for n in range(2, 34))
    assert data[64:192] == expected
    assert len(expected) == 2 * 64


def test_interrupt_registers(description: Description) -> None:
    assert interrupt(description) == (4 * 227, 4 * 228, 1, 2, 4 * 225)


def test_error_causes(description: Description) -> None:
    (field,) = description.register("err_cause").fields
    assert {e.value: e.name for e in field.encode} == {
        0: "none", 1: "illegal_mode", 2: "bad_size", 3: "unaligned", 4: "out_of_range", 5: "busy", 6: "bus_error", 7: "unsupported",
    }  # fmt: skip


def test_disassembly_is_readable(description: Description) -> None:
    line = disassemble(description, call("mvm_bn", mvm_start=0xB1F))
    assert line.startswith("mvm_bn chin=4096 win=1 ")
    assert "out_addr=0x1000000" in line
    assert line.endswith("start=mvm+bn+argmax")
    detailed = disassemble(description, call("mvm"), detailed=True)
    assert "reg  12  mvm_wt_bits        = 0x00004200      16896  Weight bits per output channel" in detailed
    assert "[31:19] log2       = 7" in detailed


def test_every_register_is_documented(description: Description) -> None:
    assert [r.name for r in description.registers if not r.desc or r.title == r.name] == []


@pytest.mark.parametrize(
    ("name", "parameters", "ddr", "hbm", "limits"),
    [
        (
            "hbm0923",
            {"Tin": 128, "Tout": 32, "HbmPorts": 32, "Tblk": 128, "TgroupCh": 2048, "DatDepth": 8192, "WtDepth": 1024,
             "PortFifoDepth": 128, "MaxToken": 2048, "Log2BankStep": 28},
            1 << 30, 64 << 20, (2048, 1024, 64),
        ),
        (
            "hbm_small",
            {"Tin": 64, "Tout": 8, "HbmPorts": 8, "Tblk": 128, "TgroupCh": 2048, "DatDepth": 1024, "WtDepth": 256,
             "PortFifoDepth": 32, "MaxToken": 512, "Log2BankStep": 28},
            64 << 20, 4 << 20, (512, 256, 64),
        ),
    ],
)  # fmt: skip
def test_devices(name: str, parameters: dict[str, int], ddr: int, hbm: int, limits: tuple[int, int, int]) -> None:
    device = load_devices(FOLDER / "devices", "hbm0923")[name]
    assert device.parameters == parameters
    assert device.memory == {"ddr": ddr, "hbm": hbm}
    assert device.clock_mhz == 280.0
    assert tuple(device.limits[k] for k in ("macs_per_cycle", "hbm_bytes_per_cycle", "ddr_bytes_per_cycle")) == limits
