"""ELF files: what is written is read back, other tools accept it, and damaged ones are refused in one line."""

from __future__ import annotations

import re
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region

from fleet.errors import FleetError
from fleet.frontend.source import load
from fleet.ir.build import make
from fleet.ir.program import Argument, Program
from fleet.ir.types import tensor_type
from fleet.targets.riscv import compile as compiler
from fleet.targets.riscv.compile import RiscvProgram, compile_riscv
from fleet.targets.riscv.elf import ElfError, read_image, read_object, write_image
from fleet.targets.riscv.isa import Isa
from fleet.targets.riscv.prepare import prepared


def program(id_: str = "h 1/a") -> RiscvProgram:
    type_ = tensor_type((4, 6), np.float32)
    block = Block(arg_types=[type_, type_])
    op = make("mul", block.args)
    op.describe(id=id_, at="m.py:3:1")
    block.add_ops([op, ReturnOp(op.results[0])])
    function = FuncOp("model", ([type_, type_], [type_]), Region(block))
    arguments = (Argument("x", (4, 6), np.dtype(np.float32), "input"), Argument("w", (4, 6), np.dtype(np.float32), "weight"))
    return compile_riscv(Program(ModuleOp([function]), arguments, {"w": np.ones((4, 6), np.float32)}, ("y",), source_name="m.py"))


def test_an_image_reads_back_as_it_was() -> None:
    compiled = program()
    again = read_image(compiled.elf)
    assert again == compiled.image
    assert write_image(again) == compiled.elf
    assert again.symbol("fleet_main").address == again.entry
    with pytest.raises(ElfError, match="no symbol 'nowhere'"):
        again.symbol("nowhere")


def test_the_plan_is_in_the_symbol_table() -> None:
    compiled = program()
    for buffer in compiled.plan.buffers():
        symbol = compiled.symbols[buffer.symbol]
        assert (symbol.address, symbol.size) == (buffer.address, buffer.nbytes)
        assert buffer.address % 64 == 0
    ends = [(r.address, r.address + r.size) for r in compiled.plan.regions]
    assert all(a[1] + 4096 <= b[0] for a, b in pairwise(ends)), "an unmapped page between regions"
    (operation,) = compiled.operations
    assert operation.symbol == "op_0_h_1_a"
    assert f"{operation.symbol}:" in compiled.asm()
    assert compiled.symbols[operation.symbol].function


@pytest.mark.skipif(shutil.which("readelf") is None, reason="readelf is not installed")
def test_readelf_accepts_it(tmp_path: Path) -> None:
    compiled = program()
    path = tmp_path / "a folder" / "model.elf"
    compiled.save(path)
    done = subprocess.run(
        ["readelf", "-W", "-a", str(path)], capture_output=True, text=True, check=True, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}
    )
    assert "Warning" not in done.stderr + done.stdout
    assert "Error" not in done.stderr
    for text in ("RISC-V", "EXEC (Executable file)", "RVC, double-float ABI", "op_0_h_1_a", f"0x{compiled.image.entry:x}"):
        assert text in done.stdout
    assert path.read_bytes() == compiled.elf
    assert list(path.parent.iterdir()) == [path], "no temporary file stays"


def test_a_place_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FleetError, match="cannot be written"):
        program().save(tmp_path / "file" / "model.elf")


def test_truncated_and_damaged_files_are_refused() -> None:
    compiled = program()
    rng = np.random.default_rng(50)
    errors: list[str] = []
    for reader, blob in ((read_image, compiled.elf), (read_object, compiled.object)):
        for size in [0, 1, 63, 64, *rng.integers(64, len(blob), 40).tolist()]:
            with pytest.raises(ElfError):
                reader(blob[:size])
        with pytest.raises(ElfError, match="not a little-endian ELF64"):
            reader(b"MZ" + blob[2:])
        for _ in range(200):
            damaged = bytearray(blob)
            damaged[int(rng.choice(np.r_[0:200, len(blob) - 600 : len(blob)]))] ^= 1 << int(rng.integers(8))
            try:
                reader(bytes(damaged))
            except ElfError as error:
                errors.append(str(error))
    assert errors
    assert not any("\n" in error for error in errors)
    with pytest.raises(ElfError, match="expected type 2"):
        read_image(compiled.object)


def test_the_cache_is_used_and_a_damaged_entry_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    real = compiler.optimised

    def counted(text: str, *rest: Isa) -> object:
        calls.append(text)
        return real(text, *rest)

    monkeypatch.setattr(compiler, "optimised", counted)
    source = program().program

    def compile_fresh() -> RiscvProgram:
        compiler._objects.clear()
        return compile_riscv(source, cache=tmp_path)

    calls.clear()
    first = compile_fresh()
    assert len(calls) == 1
    assert compile_fresh().elf == first.elf
    assert len(calls) == 1
    (entry,) = tmp_path.iterdir()
    blob = bytearray(entry.read_bytes())
    blob[300] ^= 1
    entry.write_bytes(bytes(blob))
    assert compile_fresh().elf == first.elf
    assert len(calls) == 2
    assert compile_riscv(source).elf == first.elf
    assert len(calls) == 2


def test_the_text_is_that_of_the_code(tmp_path: Path) -> None:
    """The module that is kept for it gives the object, bit for bit; what is not kept any more is compiled again."""
    (tmp_path / "m.py").write_text(
        "import numpy as np\n\n\ndef forward(x):\n    y = np.tanh(x @ x)\n    return np.sort(y, axis=1) @ y, y.sum()\n"
    )
    compiler._objects.clear()
    compiled = compile_riscv(prepared(load(f"{tmp_path / 'm.py'}:forward", {}, {"x": np.ones((4, 4), np.float32)}), "riscv"))
    kept = llvm.parse_bitcode(compiler._modules[compiled.code_hash])
    assert bytes(compiler.target_machine(compiled.isa).emit_object(kept)) == compiled.object
    text = compiled.asm()
    assert all(f"{o.body}:" in text for o in compiled.operations)
    compiler._modules.clear()
    assert compiled.asm() is text, "it is kept, too"
    compiler._assembly.cache_clear()
    assert compiled.asm() == text


def test_the_text_of_one_function_is_that_of_the_whole() -> None:
    compiled = program()

    def lines(text: str, function: str) -> list[str]:
        body = text.split(f"\n{function}:", 1)[1].split(".Lfunc_end", 1)[0]
        return re.sub(r"\.L\w+", "label", body).splitlines()[1:]

    for o in compiled.operations:
        alone = compiled.asm({o.body})
        assert lines(alone, o.body) == lines(compiled.asm(), o.body)
        assert f"\n{o.symbol}:" not in alone


def test_the_modules_of_the_last_programs_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "_MODULES", 2)
    compiler._objects.clear()
    hashes = [program(id_).code_hash for id_ in ("a", "b", "c")]
    assert [h in compiler._modules for h in hashes] == [False, True, True]
