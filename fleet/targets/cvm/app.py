"""Exports a model as a standalone program: bytecode, kernels, the sources of the C VM and a Makefile."""

from __future__ import annotations

import platform
from pathlib import Path

from fleet.core.files import write_atomically
from fleet.errors import FleetError
from fleet.ir.program import Argument, Program
from fleet.targets.cvm.build import sources, vm_folder
from fleet.targets.cvm.compile import MACHINES, Machine, compile_vm, kernels_object, native

_KINDS = {"x86_64": "x86-64", "AMD64": "x86-64", "aarch64": "aarch64", "arm64": "aarch64", "riscv64": "riscv64"}
_FILES = Path(__file__).resolve().parent / "app"


def machine_names() -> tuple[str, ...]:
    """Return the names that `machine_named` accepts."""
    return (*MACHINES, "native")


def machine_named(name: str | None) -> Machine:
    """Return a machine; None: the kind of this machine, with the features common to that kind. Raises FleetError."""
    kind = _KINDS.get(platform.machine(), "native") if name is None else name
    if kind == "native":
        return native()
    if kind not in MACHINES:
        raise FleetError(f"no machine is called {kind}", hint=f"choose among {', '.join(machine_names())}")
    return MACHINES[kind]


def export_app(program: Program, folder: Path, machine: Machine) -> tuple[Path, ...]:
    """Write everything that `make` needs for a program `model` into a folder, which is created; existing files are replaced.

    Args:
        program: after the passes of `fleet.targets.riscv.prepare`, with its weights.
        folder: for model.fbc, kernels.o, kernels.txt, vm/*, embed.c and Makefile.
        machine: target of the kernels; the C sources are portable.

    Returns the files. Raises DeviceError for an operation without code, FleetError if the folder cannot be written.
    """
    compiled = compile_vm(program)
    about = f"{machine.name}: {machine.triple}, {machine.cpu}\n" + "".join(
        _input(a) for a in program.arguments if a.kind == "input"
    )
    files = {
        folder / "kernels.o": kernels_object(compiled.kernels, machine),
        folder / "kernels.txt": about.encode(),
        **{folder / "vm" / f.name: f.read_bytes() for f in (*sources(), vm_folder() / "vm.h")},
        **{folder / f.name: f.read_bytes() for f in sorted(_FILES.iterdir()) if f.is_file()},
    }
    for path, data in files.items():
        write_atomically(path, data)
    compiled.module.save(folder / "model.fbc")
    return (folder / "model.fbc", *files)


def _input(argument: Argument) -> str:
    return f"input {argument.name}: {argument.dtype}{list(argument.shape)}, given as {argument.name}=FILE.npy\n"
