"""Runs an ELF file that fleet wrote, without the model that it was compiled from."""

from __future__ import annotations

import io
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np

from fleet.engines.riscv import fetch, place
from fleet.engines.riscv_emulators.base import EmulationError, Emulator
from fleet.engines.riscv_emulators.registry import default_emulator, find_emulator
from fleet.errors import ModelError
from fleet.targets.riscv.executable import ExecutableRecord, load_executable
from fleet.targets.riscv.faults import FAULT_SYMBOL, RuntimeFault
from fleet.targets.riscv.isa import find_isa

_LIMIT_FACTOR = 8
"""A run is stopped after this multiple of the instructions stated in the file."""


def run_executable(
    path: Path, inputs: Mapping[str, np.ndarray], emulator: str | None = None
) -> tuple[dict[str, np.ndarray], dict[str, float], str]:
    """Run the file.

    emulator: its name; None: the default of the file's instruction set.

    Returns outputs by name, the counter "instructions", and the printed text.
    Raises ModelError if the file is damaged, inputs do not fit or the code refuses the data; EmulationError if it crashes.
    """
    record, image = load_executable(path)
    isa = find_isa(record.isa)
    machine = (find_emulator(emulator) if emulator else default_emulator(isa)).make(isa)
    try:
        machine.load(image)
        for region in record.regions:
            machine.map(region.address, region.size, writable=region.writable)
        for stored in record.inputs:
            place(machine, stored.buffer(), inputs, "input")
        try:
            done = machine.run(image.entry, record.stack, limit=_LIMIT_FACTOR * (record.work + 1000))
        except EmulationError as error:
            raise _explained(error, machine, record, image.symbol(FAULT_SYMBOL).address, str(path)) from error
        text = io.StringIO()
        for one in record.prints:
            one.show(partial(fetch, machine), text)
        outputs = {stored.name: fetch(machine, stored.buffer()) for stored in record.outputs}
        return outputs, {"instructions": float(done.instructions)}, text.getvalue()
    finally:
        machine.close()


def _explained(error: EmulationError, machine: Emulator, record: ExecutableRecord, fault: int, where: str) -> Exception:
    name = record.operations.get(error.symbol, f"function {error.symbol}")
    code, value, bound = (int(word) for word in np.frombuffer(machine.read(fault, 24), "<i8"))
    if error.trapped and code in {int(f) for f in RuntimeFault if f}:
        checks = {int(number): message for number, message in record.checks.items()}
        return ModelError(f"{name}: {RuntimeFault(code).message(value, bound, checks)}", where=where, hint="check the input data")
    return EmulationError(f"{name} crashed: {error.what}", where=where, pc=error.pc, symbol=error.symbol, address=error.address)
