"""Runs what fleet wrote: bytecode files on the VM, RISC-V executables on an emulator, without the model that they were made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import click
import numpy as np

from fleet.errors import FleetError
from fleet.targets.bytecode.module import ByteCodeModule

ENGINES: Mapping[str, str] = {".fbc": "vm", ".elf": "riscv"}
"""Suffix of a file that runs -> the engine that runs it."""


@dataclass(frozen=True)
class StoredRun:
    """A run of a file. counters: as a trace has them. printed: text that the program printed and that is not shown yet."""

    engine: str
    outputs: Mapping[str, np.ndarray]
    counters: Mapping[str, float] = field(default_factory=dict[str, float])
    printed: str = ""


def is_stored(model: str) -> bool:
    """Return whether the name is that of a file that runs as it is."""
    return Path(model).suffix in ENGINES


def run_stored(
    model: str,
    engine: str | None,
    input_path: Path | None,
    *,
    profile: bool = False,
    quiet: bool = False,
    emulator: str | None = None,
) -> StoredRun:
    """Run the file with inputs out of a .npz.

    engine: must be the file's own; None: that one. profile: print the VM's table of operations. quiet: discard what the VM prints.
    emulator: of RISC-V. Raises FleetError as the engines do.
    """
    from fleet.cosim.models.data import load_arrays

    path = Path(model)
    own = ENGINES[path.suffix]
    if engine not in (None, own):
        kind = "bytecode files" if own == "vm" else "RISC-V executables"
        raise FleetError(f"engine {engine} does not run {kind}", where=model, hint=f"use --engines {own}")
    inputs = load_arrays(input_path, what="input") if input_path else {}
    if own == "vm":
        return StoredRun(own, on_the_vm(ByteCodeModule.load(path), inputs, profile, quiet))
    if profile:
        raise FleetError("a RISC-V executable has no profile of operations", where="--profile", hint="leave it out")
    from fleet.engines.riscv_emulators.executable import run_executable

    return StoredRun(own, *run_executable(path, inputs, emulator))


def on_the_vm(
    module: ByteCodeModule, inputs: Mapping[str, np.ndarray], profile: bool, quiet: bool = False
) -> Mapping[str, np.ndarray]:
    """Run the module on the VM. profile: print its table on standard error; quiet: discard what the program prints."""
    from fleet.targets.bytecode.profile import Profile
    from fleet.targets.bytecode.vm import VM

    found = Profile() if profile else None
    outputs = VM(module, echo=_nothing if quiet else print).run(inputs, profile=found)
    if found is not None:
        click.echo(found.table(), err=True, nl=False)
    return outputs


def _nothing(*_values: object) -> None:
    """Discard what a program prints, if the output is JSON."""
