"""Program -> RISC-V object -> linked image, all in process.

`compile_riscv` is the entry point. Code depends on the IR alone, never on weight values. So results are cached by the hash of the
IR, of this package's sources and of the compiler's version: always in memory, and in a folder if one is given.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fleet.core.files import write_atomically
from fleet.errors import FleetError, SetupError
from fleet.ir.program import Program
from fleet.targets.riscv.elf import ElfImage, Symbol, read_object, write_image
from fleet.targets.riscv.isa import DEFAULT_ISA, Isa
from fleet.targets.riscv.plan import CODE_BASE, CODE_SPACE, ENTRY, MemoryPlan

if TYPE_CHECKING:
    from fleet.targets.riscv.codegen import OperationCode
    from fleet.targets.riscv.host_calls import HostCall

CPU = "generic-rv64"
ABI = "lp64d"
_objects: dict[str, bytes] = {}
_modules: dict[str, bytes] = {}
"""Optimised modules, as bitcode, of the programs that were compiled last: their assembly is emitted if it is asked for."""
_MODULES = 32
_keeping = threading.Lock()


@dataclass(frozen=True)
class RiscvProgram:
    """A model compiled for RISC-V, with all that is needed to run it.

    Attributes:
        program: the source, with its weights (the code does not contain them).
        object: the relocatable ELF64 object.
        image: the linked program.
        plan: places of weights, inputs and results.
        operations: the functions of the operations in program order.
        views: ids of operations that need no code.
        code_hash: SHA-256 (hex) of everything that determines the code; the cache's key.
        llvm_ir: what LLVM compiles.
        isa: the instruction set that it needs.
        host_calls: what it leaves to the host, by number of the call.
    """

    program: Program
    object: bytes
    image: ElfImage
    plan: MemoryPlan
    operations: tuple[OperationCode, ...]
    code_hash: str
    llvm_ir: str = field(repr=False)
    views: tuple[str, ...] = ()
    isa: Isa = DEFAULT_ISA
    host_calls: tuple[HostCall, ...] = ()

    @cached_property
    def elf(self) -> bytes:
        """The image as an ELF64 executable, for `run_image` and other tools."""
        return write_image(self.image)

    @cached_property
    def hash(self) -> str:
        """SHA-256 (hex) of the image."""
        return hashlib.sha256(self.elf).hexdigest()

    @cached_property
    def symbols(self) -> dict[str, Symbol]:
        """The image's symbols by name."""
        return {symbol.name: symbol for symbol in self.image.symbols}

    def asm(self, functions: Collection[str] | None = None) -> str:
        """Return the assembly text of the whole program (`--emit riscv-asm`), or of some functions alone, which costs no more.

        Compiles again what this process has not compiled.
        """
        return _assembly(self.code_hash, self.llvm_ir, self.isa, None if functions is None else frozenset(functions))

    def save(self, path: Path) -> None:
        """Write the ELF image to a file, first under a temporary name. Raises FleetError on failure."""
        write_atomically(path, self.elf)


def compile_riscv(
    program: Program, *, isa: Isa = DEFAULT_ISA, keep_tensors: bool = True, cache: Path | None = None, host: bool = False
) -> RiscvProgram:
    """Compile a program (double-float ABI, static, medium code model).

    Args:
        program: float32, float64, int32, int64 and bool tensors and scalars of static shape.
        isa: instructions that the code may use.
        keep_tensors: whether every operation's result stays readable after a run; else results share memory.
        cache: a folder that keeps objects between runs; a damaged entry is made again.
        host: whether the host may compute what the target lacks; else that is refused.

    Raises:
        DeviceError: the target cannot hold an operation, dtype or size; names the operation's id and place.
        LinkError: the code does not link (a fault of the compiler, or a model that is too large).
    """
    from fleet.targets.riscv.codegen import generate
    from fleet.targets.riscv.linker import LinkError, link

    module = generate(program, isa, keep=keep_tensors, host=host)
    key = hashlib.sha256(f"{tools(isa)}\n{module.llvm_ir}".encode()).hexdigest()
    code = _objects.get(key) or _cached(cache, key)
    if code is None:
        ready, machine = optimised(module.llvm_ir, isa)
        _keep_module(key, ready.as_bitcode())  # emitting code changes a module
        code = bytes(machine.emit_object(ready))
        if cache is not None:
            write_atomically(cache / f"{key}.o", code + hashlib.sha256(code).digest())
    _objects[key] = code
    image = link(code, CODE_BASE, ENTRY, module.absolute)
    end = max(segment.address + segment.size for segment in image.segments)
    if end > CODE_BASE + CODE_SPACE:
        raise LinkError(f"{end - CODE_BASE >> 20} MiB of code; expected at most {CODE_SPACE >> 20}", where=program.source_name)
    return RiscvProgram(
        program, code, image, module.plan, module.operations, key, module.llvm_ir, module.views, isa, module.host_calls
    )


@lru_cache(maxsize=8)
def tools(isa: Isa = DEFAULT_ISA) -> str:
    """Return versions and settings of the compiler, which the code depends on besides the IR."""
    import llvmlite
    import llvmlite.binding as llvm

    return f"llvmlite {llvmlite.__version__} LLVM {llvm.llvm_version_info} {CPU} {isa.features} {ABI} O3"


def optimised(llvm_ir: str, isa: Isa = DEFAULT_ISA) -> tuple[Any, Any]:
    """Return LLVM IR text as an optimised module, and the target machine that emits its code."""
    import llvmlite.binding as llvm

    machine = target_machine(isa)
    module = llvm.parse_assembly(llvm_ir)
    module.verify()
    passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=3))
    passes.getModulePassManager().run(module, passes)
    return module, machine


def target_machine(isa: Isa = DEFAULT_ISA) -> Any:
    """Return LLVM's machine for an instruction set. SetupError if it lays data out in another way than the code expects."""
    import llvmlite
    import llvmlite.binding as llvm

    from fleet.targets.riscv.codegen import DATA_LAYOUT, TRIPLE

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(TRIPLE).create_target_machine(
        cpu=CPU, features=isa.features, opt=3, reloc="static", codemodel="medium", abiname=ABI
    )
    if str(machine.target_data) != DATA_LAYOUT:
        raise SetupError(f"llvmlite {llvmlite.__version__} lays data out as {machine.target_data}; expected {DATA_LAYOUT}")
    return machine


def _keep_module(key: str, bitcode: bytes) -> None:
    with _keeping:
        _modules[key] = bitcode
        while len(_modules) > _MODULES:
            del _modules[next(iter(_modules))]


@lru_cache(maxsize=4)
def _assembly(key: str, llvm_ir: str, isa: Isa, functions: frozenset[str] | None) -> str:
    import llvmlite.binding as llvm

    bitcode = _modules.get(key)
    module = optimised(llvm_ir, isa)[0] if bitcode is None else llvm.parse_bitcode(bitcode)
    if functions is not None:
        module = llvm.parse_assembly(_without_bodies(str(module), functions))
    return str(target_machine(isa).emit_assembly(module))


def _without_bodies(llvm_ir: str, functions: Collection[str]) -> str:
    """Return a module whose other external functions are declared only; what has another linkage stays."""

    def kept(found: re.Match[str]) -> str:
        return found[0] if found["quoted"] in functions or found["name"] in functions else f"declare {found['head']}"

    return _DEFINITION.sub(kept, llvm_ir)


_DEFINITION = re.compile(
    r'^define (?P<head>(?!weak|internal|private|linkonce)[^\n@]*@(?:"(?P<quoted>[^"]*)"|(?P<name>[^\s("]+))\([^\n]*) \{\n.*?^\}$',
    re.M | re.S,
)


def _cached(folder: Path | None, key: str) -> bytes | None:
    if folder is None:
        return None
    try:
        blob = (folder / f"{key}.o").read_bytes()
        code, digest = blob[:-32], blob[-32:]
        if hashlib.sha256(code).digest() != digest:
            return None
        read_object(code)
    except (OSError, FleetError):
        return None
    return code
