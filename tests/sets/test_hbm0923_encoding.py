"""HBM0923's description and encodings against the literal numbers of `hbm0923_numbers`."""

from __future__ import annotations

from pathlib import Path

import pytest
from hbm0923_numbers import ERROR_CAUSES, INSTRUCTIONS, PRODUCT, REGISTERS, differences

import fleet.sets
from fleet.isa.codec import decode_writes, disassemble, interrupt, register_writes
from fleet.isa.codec_binary import decode_binary, encode_binary
from fleet.isa.description import Description
from fleet.isa.reading.cache import load
from fleet.sdk import Call, load_devices
from fleet.sets.hbm0923.state import STATE

FOLDER = Path(fleet.sets.__file__).parent / "hbm0923"


@pytest.fixture(scope="module")
def description() -> Description:
    return load(FOLDER / "hbm0923.rdl")


def call(instruction: str, **changes: int) -> Call:
    fields = {REGISTERS[n]: v for n, v in PRODUCT.items()}
    return Call(instruction, {**fields, **changes})


def test_the_description_has_the_literal_numbers(description: Description) -> None:
    assert differences(description) == []
    assert {r.address for r in description.registers} == {4 * n for n in REGISTERS}


def test_worked_example(description: Description) -> None:
    writes = register_writes(description, call("mvm"))
    assert writes == [(4 * n, PRODUCT[n]) for n in range(2, 34)]
    assert decode_writes(description, writes) == call("mvm")


@pytest.mark.parametrize(
    ("instruction", "mode", "opcode"),
    [(name, start, opcode) for name, (opcode, starts) in INSTRUCTIONS.items() for start in starts if name.startswith("mvm")],
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
    mine = [i for i in description.instructions.values() if i.unit == "mvm"]
    known = [m for m in range(1 << 12) if any(i.accepts(m) for i in mine)]
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
    assert {e.value: e.name for e in field.encode} == ERROR_CAUSES


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


LATENCIES = {
    "ArrayLatency": 4,
    "ProductLatency": 6,
    "DotLatency": 5,
    "RoundLatency": 7,
    "ScaleLatency": 3,
    "AddLatency": 9,
    "NarrowLatency": 2,
}


@pytest.mark.parametrize(
    ("name", "parameters", "ddr", "hbm", "limits"),
    [
        (
            "hbm0923",
            {"Tin": 128, "Tout": 32, "HbmPorts": 32, "Tblk": 128, "TgroupCh": 2048, "DatDepth": 8192, "WtDepth": 1024,
             "PortFifoDepth": 256, "MaxToken": 2048, "Log2BankStep": 28,
             "OnchipDepth": 8192, "SfuInterval": 1, "AttInterval": 1, "AttQueries": 4, **LATENCIES, "ScaleFp20": 0, "Sparse": 0,
             "MaxChannels": 16384},
            1 << 30, 256 << 20, (2048, 1024, 64),
        ),
        (
            "hbm1128",
            {"Tin": 128, "Tout": 32, "HbmPorts": 32, "Tblk": 128, "TgroupCh": 2048, "DatDepth": 4096, "WtDepth": 2048,
             "PortFifoDepth": 256, "MaxToken": 2048, "Log2BankStep": 28,
             "OnchipDepth": 8192, "SfuInterval": 2, "AttInterval": 1, "AttQueries": 4, **LATENCIES, "ScaleFp20": 1, "Sparse": 0,
             "MaxChannels": 16384},
            1 << 30, 256 << 20, (2048, 1024, 64),
        ),
        (
            "hbm_small",
            {"Tin": 64, "Tout": 8, "HbmPorts": 8, "Tblk": 128, "TgroupCh": 2048, "DatDepth": 1024, "WtDepth": 256,
             "PortFifoDepth": 256, "MaxToken": 512, "Log2BankStep": 28,
             "OnchipDepth": 1024, "SfuInterval": 2, "AttInterval": 1, "AttQueries": 2, **LATENCIES, "ScaleFp20": 0, "Sparse": 0,
             "MaxChannels": 4096},
            64 << 20, 4 << 20, (512, 256, 64),
        ),
    ],
)  # fmt: skip
def test_devices(name: str, parameters: dict[str, int], ddr: int, hbm: int, limits: tuple[int, int, int]) -> None:
    device = load_devices(FOLDER / "devices", "hbm0923", state=STATE)[name]
    assert device.parameters == parameters
    assert device.memory == {"ddr": ddr, "hbm": hbm}
    assert device.clock_mhz == 280.0
    assert tuple(device.limits[k] for k in ("macs_per_cycle", "hbm_bytes_per_cycle", "ddr_bytes_per_cycle")) == limits
