"""The functional model against one number after the other, in Python integers, written from docs/vgemm.md."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fleet.isa.memory import MappedMemory
from fleet.isa.registry import find_device
from fleet.sdk import Device
from fleet.sets.vgemm.loops import alu
from fleet.verify.conformance.suite import make_case, names

DEVICE = "vgemm_small"


def wrapped(n: int) -> int:
    return (n + (1 << 31)) % (1 << 32) - (1 << 31)


def alu_by_hand(op: int, a: int, b: int) -> int:
    if op == 0:
        return min(a, b)
    if op == 1:
        return max(a, b)
    if op == 2:
        return wrapped(a + b)
    if op == 3:
        return a // 2 ** min(b, 64) if b >= 0 else wrapped(a * 2**-b if b > -32 else 0)
    return wrapped(a * b)


class Slow:
    """A device of Python lists: numbers by scratchpad, bytes of DDR."""

    def __init__(self, device: Device, ddr: np.ndarray) -> None:
        p = device.parameters
        self.block = b = p["Block"]
        self.ddr = bytearray(ddr.tobytes())
        self.uop = [0] * p["UopDepth"]
        self.inp = [[0] * b for _ in range(p["InpDepth"])]
        self.wgt = [[0] * (b * b) for _ in range(p["WgtDepth"])]
        self.acc = [[0] * b for _ in range(p["AccDepth"])]

    def numbers(self, kind: int, at: int) -> list[int]:
        width, count = {0: (4, 1), 1: (1, self.block**2), 2: (1, self.block), 3: (4, self.block)}[kind]
        raw = [self.ddr[at + width * i : at + width * (i + 1)] for i in range(count)]
        return [int.from_bytes(r, "little", signed=kind != 0) for r in raw]

    def run(self, name: str, fields: dict[str, int]) -> None:
        w = fields[f"{name}_w0"] | fields[f"{name}_w1"] << 32 | fields[f"{name}_w2"] << 64 | fields[f"{name}_w3"] << 96

        def get(low: int, width: int) -> int:
            return w >> low & (1 << width) - 1

        if name in {"load", "store"}:
            self.transfer(name, get(7, 3), get(16, 16), get(32, 32), get(64, 16), get(80, 16), get(96, 16), get)
        elif name in {"gemm", "alu"}:
            self.loops(name, get)

    def transfer(self, name, kind, sram, address, rows, columns, stride, get) -> None:
        size = {0: 4, 1: self.block**2, 2: self.block, 3: 4 * self.block, 4: self.block}[kind]
        if name == "store":
            for y in range(rows):
                for x in range(columns):
                    at = address + (y * stride + x) * size
                    for n in self.acc[sram]:
                        piece = (n & 0xFFFF_FFFF).to_bytes(4, "little")[: 4 if kind == 3 else 1]
                        self.ddr[at : at + len(piece)] = piece
                        at += len(piece)
                    sram += 1
            return
        top, bottom, left, right = get(112, 4), get(116, 4), get(120, 4), get(124, 4)
        pads = [self.uop, self.wgt, self.inp, self.acc]
        for y in range(-top, rows + bottom):
            for x in range(-left, columns + right):
                inside = 0 <= y < rows and 0 <= x < columns
                value = self.numbers(kind, address + (y * stride + x) * size) if inside else [0] * len(self.numbers(kind, 0))
                pads[kind][sram] = value[0] if kind == 0 else value
                sram += 1

    def loops(self, name, get) -> None:
        factors = ((64, 75), (96, 107), (86, 118)) if name == "gemm" else ((64, 75), (86, 96), None)
        for out in range(get(32, 14)):
            for inner in range(get(46, 14)):
                for pc in range(get(8, 12), get(20, 12)):
                    u = self.uop[pc]
                    width = 11 if name == "gemm" else 10
                    a = (u & 0x7FF) + out * get(64, 11) + inner * get(75, 11)
                    s = (u >> 11 & 0x7FF) + out * get(factors[1][0], width) + inner * get(factors[1][1], width)
                    a, s = a % len(self.acc), s % 2048
                    if name == "alu":
                        op, imm = get(60, 3), get(112, 16)
                        second = [imm - (imm >> 15 << 16)] * self.block if get(63, 1) else list(self.acc[s % len(self.acc)])
                        self.acc[a] = [alu_by_hand(op, x, y) for x, y in zip(self.acc[a], second, strict=True)]
                    elif get(7, 1):
                        self.acc[a] = [0] * self.block
                    else:
                        weights = self.wgt[((u >> 22) + out * get(86, 10) + inner * get(118, 10)) % 1024 % len(self.wgt)]
                        inputs = self.inp[s % len(self.inp)]
                        for o in range(self.block):
                            total = sum(inputs[i] * weights[o * self.block + i] for i in range(self.block))
                            self.acc[a][o] = wrapped(self.acc[a][o] + total)


CASES = [n for n in names(DEVICE, random=range(6), programs=range(6)) if "directed" not in n] + [
    n for n in names(DEVICE) if "/directed/" in n and not n.endswith(("load/directed/5", "load/directed/7", "load/directed/4"))
]


@pytest.mark.parametrize("name", CASES)
def test_memory_after_a_stream_is_that_of_single_numbers(name: str, tmp_path: Path) -> None:
    instruction_set, device = find_device(DEVICE)
    case = make_case(name)
    memory = MappedMemory(device, tmp_path)
    memory.fill_undefined(None)  # as the other model begins
    for block in case.blocks:
        memory.view(block.space, block.offset, block.data.size)[:] = block.data
    used = device.memory["ddr"]  # programs have places at its end too
    slow = Slow(device, memory.view("ddr", 0, used))
    assert case.causes is not None
    for call, cause in zip(case.calls, case.causes, strict=True):
        if cause:  # every fourth program has refused calls, which leave everything alone
            continue
        for write in instruction_set.instructions[call.instruction].execute(device, call.fields, memory):
            memory.view(write.space, write.offset, write.data.size)[:] = write.data
        slow.run(call.instruction, dict(call.fields))
    assert bytes(memory.view("ddr", 0, used)) == bytes(slow.ddr)
    acc = memory.view("acc", 0, 1024 * 16).view("<i4").reshape(1024, 4)
    assert acc.tolist() == slow.acc
    memory.close()


@pytest.mark.parametrize("op", range(5))
def test_alu_on_odd_numbers(op: int) -> None:
    odd = [0, 1, -1, 31, 32, 33, -31, -32, -33, 2**31 - 1, -(2**31), 12345, -54321]
    a, b = (np.array(x, np.int32) for x in zip(*[(x, y) for x in odd for y in odd], strict=True))
    small = [(x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    expected = [alu_by_hand(op, x, y) for x, y in small]
    assert alu(op, a, b).tolist() == expected


@pytest.mark.parametrize(
    ("kind", "dtype"), [(0, "<u4"), (1, "|i1"), (2, "|i1"), (3, "<i4"), (4, "|i1")], ids=["uop", "wgt", "inp", "acc", "out"]
)
def test_writes_say_what_their_numbers_are(kind: int, dtype: str, tmp_path: Path) -> None:
    """Else a report takes them for FP16."""
    instruction_set, device = find_device(DEVICE)
    memory = MappedMemory(device, tmp_path)
    for name, opcode in (("load", 1), ("store", 2)):
        fields = {
            f"{name}_w0": opcode | kind << 7,
            f"{name}_w1": 0,
            f"{name}_w2": 1 | 1 << 16,
            f"{name}_w3": 1,
            "cmd_start": opcode,
        }
        if instruction_set.instructions[name].legal(device, fields):
            assert (name, kind) in {("load", 4), ("store", 0), ("store", 1), ("store", 2)}
            continue
        writes = instruction_set.instructions[name].execute(device, fields, memory)
        assert [w.dtype for w in writes] == [dtype]
    memory.close()
