"""The profile of a RISC-V run: kinds of instructions against an independent disassembler, blocks and their text."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from riscv_models import model
from test_riscv_engine import ARRAYS, many

from fleet.engines.base import RunOptions
from fleet.engines.riscv import run_image
from fleet.report.run.performance import code_profile
from fleet.targets.riscv.compile import RiscvProgram, compile_riscv
from fleet.targets.riscv.elf import PF_X
from fleet.targets.riscv.isa import find_isa
from fleet.targets.riscv.mix import instructions_of, kind_of

OBJDUMP = shutil.which("llvm-objdump-22")


def program(isa: str = "rv64gc") -> RiscvProgram:
    return compile_riscv(model(ARRAYS, many, weights=["w"]), isa=find_isa(isa))


def kind_of_text(mnemonic: str, operands: str) -> str:
    """From the assembler's words, not from bits."""
    if mnemonic.startswith("v"):
        return "vector"
    if re.match(r"(c\.)?(b(eq|ne|lt|ge|gt|le)|j|jr|jal|jalr|ret|call|tail)", mnemonic) and not mnemonic.startswith("bset"):
        return "branch"
    if "(" in operands:
        return "load" if mnemonic in ("lb", "lbu", "lh", "lhu", "lw", "lwu", "ld", "flw", "fld") else "store"
    return "float" if mnemonic.startswith("f") else "integer"


@pytest.mark.skipif(OBJDUMP is None, reason="llvm-objdump-22 is not installed")
@pytest.mark.parametrize("isa", ["rv64gc", "rv64gcv"])
def test_kinds_are_a_disassembler_s(isa: str, tmp_path: Path) -> None:
    compiled = program(isa)
    path = tmp_path / "image.elf"
    path.write_bytes(compiled.elf)
    features = "--mattr=+m,+a,+f,+d,+c,+v"
    text = subprocess.run([str(OBJDUMP), "-d", features, str(path)], capture_output=True, text=True, check=True).stdout
    names: dict[int, tuple[str, str]] = {}
    for line in text.splitlines():
        if found := re.match(r"\s*([0-9a-f]+):\s+[0-9a-f]+\s+(\S+)\s*(.*)", line):
            names[int(found[1], 16)] = (found[2], found[3].split("<")[0])
    segment = next(s for s in compiled.image.segments if s.flags & PF_X)
    seen: set[str] = set()
    for symbol in (s for s in compiled.image.symbols if s.function):
        begin = symbol.address - segment.address
        for offset, word in instructions_of(segment.data[begin : begin + symbol.size]):
            mnemonic, operands = names[symbol.address + offset]
            if mnemonic == "unimp":
                continue
            assert kind_of(word) == kind_of_text(mnemonic, operands), f"{mnemonic} {operands}"
            seen.add(kind_of(word))
    assert seen >= {"load", "store", "float", "integer", "branch"}
    assert ("vector" in seen) == (isa != "rv64gc")


def test_the_profile_adds_up_and_shows_the_hottest_blocks() -> None:
    compiled = program()
    trace = run_image(compiled, compiled.elf, {"x": ARRAYS["x"]}, RunOptions())
    profile = trace.meta["riscv_profile"]
    assert len(profile["operations"]) == len(compiled.operations)
    for row in profile["operations"]:
        assert sum(row["kinds"].values()) == row["instructions"] == trace.counters[f"instructions.{row['id']}"] > 0
    assert profile["operations"][0]["macs"] == 5 * 9 * 6
    shares = [block["share"] for block in profile["blocks"]]
    assert shares == sorted(shares, reverse=True)
    assert 0 < sum(shares) < 1
    for block in profile["blocks"]:
        assert len(block["lines"]) == block["instructions"]
        assert not any("0x" in line.split()[1] for line in block["lines"]), "words instead of text"
    best = profile["blocks"][0]
    assert best["runs"] * best["instructions"] == pytest.approx(best["share"] * trace.counters["instructions"])


def test_a_run_without_kept_tensors_has_no_profile() -> None:
    compiled = program()
    trace = run_image(compiled, compiled.elf, {"x": ARRAYS["x"]}, RunOptions(keep_tensors=False))
    assert "riscv_profile" not in trace.meta


def test_the_report_s_rows() -> None:
    from fleet.cosim.what_ran import EngineRun

    compiled = program()
    trace = run_image(compiled, compiled.elf, {"x": np.ascontiguousarray(ARRAYS["x"])})
    rows = code_profile(EngineRun("riscv", "ran", meta=trace.meta), most=3)
    assert rows is not None
    assert len(rows.operations) == 3
    assert rows.more == len(compiled.operations) - 3
    assert all(sum(shares) == pytest.approx(1) for _, _, _, shares in rows.operations)
    assert code_profile(EngineRun("vm", "ran")) is None
