"""Program -> the input of `fleet-vm`: bytecode for the target `c-vm`, and an object with its kernels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from fleet.errors import DeviceError
from fleet.ir.program import Program
from fleet.targets.bytecode.convert import ByteCodeConverter
from fleet.targets.bytecode.module import ByteCodeModule
from fleet.targets.cvm.kernels import generate_kernels
from fleet.targets.riscv.compile import ABI, CPU
from fleet.targets.riscv.isa import DEFAULT_ISA

TARGET = "c-vm"
"""Target of a module that only `fleet-vm` can run."""


@dataclass(frozen=True)
class Machine:
    """Target of kernels, in LLVM's terms."""

    name: str
    triple: str
    cpu: str
    features: str = ""
    abi: str = ""


MACHINES: dict[str, Machine] = {
    m.name: m
    for m in (
        Machine("x86-64", "x86_64-linux-gnu", "x86-64-v3"),
        Machine("aarch64", "aarch64-linux-gnu", "generic"),
        Machine("riscv64", "riscv64-linux-gnu", CPU, DEFAULT_ISA.features, ABI),
    )
}
"""Kinds of processors; x86-64 with AVX2 and fused multiply-add (from 2013 on)."""


@dataclass(frozen=True)
class VmProgram:
    """module: the bytecode, with the weights; kernels: LLVM IR text; program: the source of both."""

    program: Program
    module: ByteCodeModule
    kernels: str
    kernel_count: int


def compile_vm(program: Program) -> VmProgram:
    """Compile a program after the passes of `fleet.targets.riscv.prepare`.

    Raises DeviceError if there is no code for an operation, dtype or shape; names the operation's id and place.
    """
    kernels = generate_kernels(program)
    module = replace(ByteCodeConverter(program).convert(), target=TARGET)
    return VmProgram(program, replace(module, weights=_made(module)), kernels.llvm_ir, kernels.count)


def _made(module: ByteCodeModule) -> dict[str, np.ndarray]:
    """Return arrays for all weights: the VM cannot generate random numbers."""
    return {name: module.weights[name] for name in module.weights}


@lru_cache(maxsize=1)
def native() -> Machine:
    """Return this machine."""
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features().flatten()
    return Machine("native", llvm.get_default_triple(), llvm.get_host_cpu_name(), features)


def kernels_object(llvm_ir: str, machine: Machine, *, assembly: bool = False) -> bytes:
    """Return a position-independent object, or its assembly text. Raises DeviceError if LLVM has no code for the machine."""
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    try:
        target = llvm.Target.from_triple(machine.triple)
    except RuntimeError as error:
        raise DeviceError(f"no code is made for {machine.triple}: {error}") from error
    maker: Any = target.create_target_machine(
        cpu=machine.cpu, features=machine.features, opt=3, reloc="pic", codemodel="default", abiname=machine.abi
    )
    module = llvm.parse_assembly(llvm_ir)
    module.triple, module.data_layout = machine.triple, str(maker.target_data)
    module.verify()
    passes = llvm.create_pass_builder(maker, llvm.create_pipeline_tuning_options(speed_level=3))
    passes.getModulePassManager().run(module, passes)
    return maker.emit_assembly(module).encode() if assembly else bytes(maker.emit_object(module))
