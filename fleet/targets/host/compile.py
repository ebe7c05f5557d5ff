"""Program -> machine code of this processor, in process.

The LLVM IR is the RISC-V target's (`fleet.targets.riscv.codegen`): one source of kernels for both, so the two engines give the same
bits, and a fault in an emulator shows. Three things differ: the triple and the processor's features; buffers, which lie where
this process has them; and faults (a bad index), which are noted and reported after the run instead of trapping.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fleet.errors import DeviceError
from fleet.ir.program import Program
from fleet.ir.schedule import USUAL_SCHEDULE, Schedule
from fleet.targets.host.code import FIRST, Arena, HostCode
from fleet.targets.host.kept import KeptCode, kept_code
from fleet.targets.host.loader import host_machine, initialize, load
from fleet.targets.riscv.faults import FAULT_SYMBOL, checks_of
from fleet.targets.riscv.plan import MemoryPlan
from fleet.targets.schedule import tuning_options
from fleet.transforms.passes import find_pass

_NOTE = "fleet_note_fault"
_CURRENT = "fleet_current_operation"
_NOTE_IR = f"""
@"{FIRST}" = global [4 x i64] zeroinitializer
@"{_CURRENT}" = internal global i64 -1
define internal void @"{_NOTE}"() noinline nounwind {{
  %held = load i64, ptr @"{FIRST}"
  %free = icmp eq i64 %held, 0
  br i1 %free, label %note, label %leave
note:
  call void @llvm.memcpy.p0.p0.i64(ptr @"{FIRST}", ptr @"{FAULT_SYMBOL}", i64 24, i1 false)
  %operation = load i64, ptr @"{_CURRENT}"
  %place = getelementptr i64, ptr @"{FIRST}", i64 3
  store i64 %operation, ptr %place
  br label %leave
leave:
  ret void
}}
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
"""
_INSIDE = "fleet_part"
_ENTRY_IR = """
define i64 @"{name}"({pointers}) nounwind {{
  store i64 0, ptr @"{first}"
  call void @"{inside}"({pointers})
  %fault = load i64, ptr @"{first}"
  ret i64 %fault
}}
"""
_TRAP = re.compile(r'call void @"llvm\.trap"\(\)\s*unreachable')
_FUNCTION = re.compile(r'^define [^\n]*?@"(?P<name>[^"]+)"[^\n]*\n\{\n[^\n]*:\n', re.MULTILINE)
"""A function's head, its brace and the label of its first block."""


@dataclass(frozen=True)
class HostProgram(HostCode):
    """A program compiled for this machine.

    Attributes:
        program: the source.
        plan: buffers by name; addresses are only distances here.
        processor: LLVM's name of it.
        symbols: those that the code leaves to the loader -> address in the plan.
        kept: where the code is kept between processes.
    """

    program: Program
    plan: MemoryPlan
    processor: str
    symbols: Mapping[str, int]
    kept: KeptCode


def compile_host(program: Program, *, keep: bool = True) -> HostProgram:
    """Compiles a program for this machine. The code is kept between processes.

    Args:
        program: what the RISC-V target takes; static shapes.
        keep: whether every operation's result can be fetched, or only outputs and what is printed (which needs less memory).

    Raises:
        DeviceError: an operation, dtype or size that the target cannot hold, with the operation's id and place.
    """
    import llvmlite.binding as llvm

    from fleet.targets.riscv.codegen import generate

    try:
        module = generate(program, keep=keep, threads=True)
    except DeviceError as error:
        raise DeviceError(error.what.replace("on riscv", "on llvm-cpu"), where=error.where, hint=error.hint) from error
    processor, features, machine = host_machine()
    functions = {operation.symbol: n for n, operation in enumerate(module.operations)}
    text = _without_traps(module.llvm_ir, functions) + _NOTE_IR
    parsed, kept = llvm.parse_assembly(text), kept_code(text, processor, features, program.schedule)
    if kept.code is None:
        _optimise(parsed, machine, program.schedule)
    else:
        parsed.triple, parsed.data_layout = machine.triple, str(machine.target_data)
    engine = llvm.create_mcjit_compiler(parsed, machine)
    kept.attach(engine)
    arena = Arena(module.plan.regions, program.source_name)
    for buffer in module.plan.weights.values():
        arena.view(buffer)[...] = program.weights[buffer.name]
    symbols = {symbol: address for symbol, (address, _size) in module.absolute.items() if _global(parsed, symbol)}
    load(engine, parsed, symbols, arena)
    ids = tuple((operation.id, operation.at) for operation in module.operations)
    plan = module.plan
    return HostProgram(
        tuple(plan.inputs.values()), plan.outputs, ids, checks_of(program), engine, arena, program, plan, processor, symbols, kept
    )


def host_object(functions: Mapping[str, Program]) -> tuple[bytes, Mapping[str, str]]:
    """An ELF object for programs of this machine, with a C function for each program that can be compiled.

    `int64_t name(arguments..., results...)` takes pointers to C-contiguous arrays, in the order of the program's arguments (weights
    too) and outputs, and returns 0, or the number of a `RuntimeFault` that the data caused. One thread at a time may call it.

    Returns:
        The object, and for every function that is not in it why: an operation or dtype that the target lacks.
    """
    import llvmlite.binding as llvm

    from fleet.targets.riscv.codegen import generate_callable

    initialize()
    machine = llvm.Target.from_default_triple().create_target_machine(opt=3, reloc="pic", codemodel="default")
    whole = llvm.parse_assembly("")
    missing: dict[str, str] = {}
    for name, program in functions.items():
        try:
            text = generate_callable(find_pass("widen-halves").run(program), _INSIDE)
        except DeviceError as error:
            missing[name] = error.what.replace("on riscv", "on the host")
            continue
        pointers = ", ".join(f"ptr %p{i}" for i in range(len(program.arguments) + len(program.outputs)))
        entry = _ENTRY_IR.format(name=name, pointers=pointers, inside=_INSIDE, first=FIRST)
        part = llvm.parse_assembly(_without_traps(text, {}) + _NOTE_IR + entry)
        for item in (*part.functions, *part.global_variables):
            if not item.is_declaration and item.name != name:
                item.linkage = "internal"
        whole.link_in(part)
    _optimise(whole, machine)
    return machine.emit_object(whole), missing


def _optimise(module: Any, machine: Any, schedule: Schedule = USUAL_SCHEDULE) -> None:
    import llvmlite.binding as llvm

    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    module.verify()
    passes = llvm.create_pass_builder(machine, tuning_options(schedule))
    passes.getModulePassManager().run(module, passes)


def _global(module: Any, name: str) -> Any:
    try:
        return module.get_global_variable(name)
    except NameError:  # optimised away: nothing uses it
        return None


def _without_traps(llvm_ir: str, functions: Mapping[str, int]) -> str:
    """Every operation's function says first that it runs; a trap becomes a note of that and a return: this process must survive."""

    def begin(match: re.Match[str]) -> str:
        number = functions.get(match["name"])
        said = "" if number is None else f'  store i64 {number}, ptr @"{_CURRENT}"\n'
        return match[0] + said

    return _FUNCTION.sub(begin, _TRAP.sub(f'call void @"{_NOTE}"()\n  ret void', llvm_ir))
