"""A compiled program as one ELF file that runs without the model: `fleet compile --emit riscv-asm -o m.elf`, `fleet run m.elf`.

Weights are a segment of it. A section that is not loaded says, as JSON, where inputs, outputs and printed values lie and which
memory has to be mapped. Of the file of a stranger nothing is believed: every array must lie in memory that the file asks for.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fleet.core.codec import decode, encode
from fleet.core.files import write_atomically
from fleet.core.room import check_room
from fleet.errors import ModelError
from fleet.isa.memory import as_bytes
from fleet.targets.riscv.elf import PF_R, ElfImage, LoadSegment, read_image, read_note, write_image
from fleet.targets.riscv.faults import checks_of
from fleet.targets.riscv.plan import DTYPES, PAGE, Region
from fleet.targets.riscv.stored import StoredBuffer, StoredPrint, stored, stored_prints

if TYPE_CHECKING:
    from fleet.targets.riscv.compile import RiscvProgram

SECTION = ".fleet.program"
"""The section with the `ExecutableRecord`."""
_WEIGHTS = ".weights"


@dataclass(frozen=True)
class ExecutableRecord:
    """What has to be known to run the file.

    Attributes:
        source: the model's file, for messages. isa: the instruction set that the code needs.
        stack: initial stack pointer. work: an estimate of the instructions of a run.
        regions: memory besides the segments: name, address, size, whether the program writes there.
        operations: symbol of a function -> the operation and its place in the source. checks: number -> message of an `assert`.
    """

    source: str
    isa: str
    stack: int
    work: int
    regions: tuple[Region, ...]
    inputs: tuple[StoredBuffer, ...]
    outputs: tuple[StoredBuffer, ...]
    prints: tuple[StoredPrint, ...]
    operations: Mapping[str, str]
    checks: Mapping[str, str]

    def arrays(self) -> Iterable[StoredBuffer]:
        """Return every array that a run reads or writes from outside."""
        yield from (*self.inputs, *self.outputs, *(value for one in self.prints for value in one.values))


def save_executable(compiled: RiscvProgram, path: Path) -> None:
    """Write a program that needs no host as a file that runs without its model. Raises FleetError if it cannot be written."""
    plan, program = compiled.plan, compiled.program
    segments = list(compiled.image.segments)
    mapped = [region for region in plan.regions if region.name != "weights"]
    for region in plan.regions:
        if region.name == "weights":
            data = bytearray(region.size)
            for buffer in plan.weights.values():
                at = buffer.address - region.address
                data[at : at + buffer.nbytes] = as_bytes(program.weights[buffer.name]).data
            segments.append(LoadSegment(_WEIGHTS, region.address, bytes(data), region.size, PF_R))
    record = ExecutableRecord(
        program.source_name,
        compiled.isa.name,
        plan.stack[1],
        sum(operation.work for operation in compiled.operations),
        tuple(mapped),
        tuple(map(stored, plan.inputs.values())),
        tuple(stored(replace(buffer, name=name)) for name, buffer in plan.outputs),
        stored_prints(program, plan),
        {o.symbol: " at ".join(filter(None, (f"operation {o.id}", o.at))) for o in compiled.operations},
        {str(number): message for number, message in checks_of(program).items()},
    )
    image = ElfImage(compiled.image.entry, tuple(segments), compiled.image.symbols)
    write_atomically(path, write_image(image, {SECTION: json.dumps(encode(record)).encode()}))


def load_executable(path: Path) -> tuple[ExecutableRecord, ElfImage]:
    """Read what `save_executable` wrote. Raises ModelError, or ElfError for another ELF file."""
    try:
        blob = path.read_bytes()
    except OSError as error:
        raise ModelError(f"cannot be read ({error.strerror})", where=str(path), hint="check the path") from None
    note = read_note(blob, SECTION)
    if note is None:
        hint = "fleet runs those that `fleet compile --emit riscv-asm -o NAME.elf` wrote"
        raise ModelError("an ELF file that does not say where its arrays lie", where=str(path), hint=hint)
    try:
        found = json.loads(note)
    except (ValueError, RecursionError) as error:
        raise ModelError(f"its section {SECTION} is no JSON ({error})", where=str(path), hint="write it again") from None
    record, image = decode(ExecutableRecord, found, str(path)), read_image(blob)
    _check(record, image, str(path))
    return record, image


def _check(record: ExecutableRecord, image: ElfImage, where: str) -> None:
    """Raise ModelError unless every array lies in the file's own memory."""

    def refuse(what: str) -> ModelError:
        return ModelError(what, where=where, hint="the file is damaged: write it again")

    for region in record.regions:
        if region.address % PAGE or region.size % PAGE or region.address < 0 or region.size <= 0:
            raise refuse(f"region {region.name} at {region.address:#x} of {region.size} bytes; expected whole pages")
    memory = [(r.address, r.size) for r in record.regions] + [(s.address, s.size) for s in image.segments]
    whole = sum(size for _, size in memory)
    check_room(whole, "the memory of the program", where=where)
    for array in record.arrays():
        if array.dtype not in DTYPES or len(array.shape) != len(array.strides) or min(array.shape, default=0) < 0:
            raise refuse(f"array {array.name} of {array.dtype}{list(array.shape)}")
        if math.prod(array.shape) * np.dtype(array.dtype).itemsize > whole:
            raise refuse(f"array {array.name} of {array.dtype}{list(array.shape)} is larger than the program's memory")
        low, size = array.buffer().extent
        if size and not any(a <= low and low + size <= a + n for a, n in memory):
            raise refuse(f"array {array.name} at {array.address:#x} lies outside the program's memory")
