"""Program -> an image for AArch64: the LLVM IR is the RISC-V target's, so kernels, order of sums and bits are those of riscv."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from fleet.errors import DeviceError
from fleet.ir.program import Program
from fleet.targets.aarch64.linker import link_aarch64
from fleet.targets.riscv.codegen import RiscvModule, generate
from fleet.targets.riscv.elf import ElfImage, Symbol
from fleet.targets.riscv.plan import CODE_BASE, CODE_SPACE, ENTRY

TRIPLE = "aarch64-unknown-none-elf"
CPU = "generic"
"""ARMv8-A: scalar and NEON, fused multiply-add."""
_GLOBAL = re.compile(r"^(@\S+ = (?:external )?)global", re.MULTILINE)


@dataclass(frozen=True)
class Aarch64Program:
    """program: the source. module: LLVM IR, memory plan, operations, calls of the host. image: linked at the plan's addresses."""

    program: Program
    module: RiscvModule
    image: ElfImage

    @cached_property
    def symbols(self) -> dict[str, Symbol]:
        """The image's symbols by name."""
        return {symbol.name: symbol for symbol in self.image.symbols}


def compile_aarch64(program: Program, *, keep: bool = True) -> Aarch64Program:
    """Compile a program after the passes of `fleet.targets.riscv.prepare`; the host computes what has no code.

    keep: whether every operation's result stays readable after a run. Raises DeviceError and LinkError as
    `fleet.targets.riscv.compile.compile_riscv`.
    """
    import llvmlite.binding as llvm

    try:
        module = generate(program, keep=keep, host=True)
    except DeviceError as error:
        raise DeviceError(error.what.replace("on riscv", "on aarch64"), where=error.where, hint=error.hint) from error
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(TRIPLE).create_target_machine(cpu=CPU, opt=3, reloc="static", codemodel="small")
    # What the linker places is near: without the word, LLVM would read its addresses from a table.
    parsed = llvm.parse_assembly(_GLOBAL.sub(r"\1dso_local global", module.llvm_ir))
    parsed.triple, parsed.data_layout = machine.triple, str(machine.target_data)
    parsed.verify()
    passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=3))
    passes.getModulePassManager().run(parsed, passes)
    image = link_aarch64(bytes(machine.emit_object(parsed)), CODE_BASE, ENTRY, module.absolute)
    if (end := max(segment.address + segment.size for segment in image.segments)) > CODE_BASE + CODE_SPACE:
        have = end - CODE_BASE >> 20
        raise DeviceError(f"{have} MiB of code on aarch64; expected at most {CODE_SPACE >> 20}", where=program.source_name)
    return Aarch64Program(program, module, image)
