"""A compiled graph: its instructions for every step, its inputs and outputs, memory images."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from hashlib import sha256
from pathlib import Path

import numpy as np

from fleet.errors import DeviceError, ModelError
from fleet.isa.description import Description, parameter_values
from fleet.isa.issue import Binary
from fleet.isa.memory import MemoryImage
from fleet.isa.reading.cache import load
from fleet.sdk import Call, Device, InstructionSet, Memory
from fleet.sdk.tasks import GraphTasks, TaskOperand
from fleet.targets.accel.binary import AuxBinary
from fleet.targets.accel.constants import GraphConstants
from fleet.targets.accel.emission import ConstantPlace, Emission, Loop
from fleet.targets.accel.legality import smallest
from fleet.targets.accel.memory.storage import StoragePlan
from fleet.targets.accel.settings import BuildConfig
from fleet.targets.accel.steps import Round, Steps
from fleet.targets.accel.stream import CallGroup, DeviceSegment, DeviceStream, segment_bytes
from fleet.targets.driver.cpp import DriverLanguage

INSTS_FILE = "inst.bin"
"""Name of the binary's file, beside those of the constants."""


@dataclass(frozen=True)
class NodePlace:
    """A call of the graph: `count` instructions of a step's calls from `first` on, and the places of its results in that step."""

    name: str
    op: str
    first: int
    count: int
    results: tuple[TaskOperand, ...]


@dataclass(frozen=True)
class CompiledGraph:
    """A compiled graph without the driver's source.

    Attributes:
        name: of the model.
        instruction_set, device, description_hash: what it is compiled for.
        config, target: of the build.
        emission: the instructions with expressions in their fields. steps: binds their dimensions.
        storage: the memory plan. constants: the constants in memory.
        binary: in Aux mode. insts: the storage of the binary. staging: the storage through which weights go to HBM, or "".
    """

    name: str
    instruction_set: InstructionSet
    device: Device
    description_hash: str
    config: BuildConfig
    target: DriverLanguage
    emission: Emission
    steps: Steps
    storage: StoragePlan
    constants: GraphConstants
    binary: AuxBinary | None
    insts: str
    staging: str

    # ---- contents

    @property
    def aux(self) -> bool:
        """Whether the instructions are in memory as a binary."""
        return self.binary is not None

    @property
    def tasks(self) -> GraphTasks:
        """The set's services for graphs."""
        assert self.instruction_set.tasks is not None
        return self.instruction_set.tasks

    @cached_property
    def description(self) -> Description:
        """The set's description."""
        return load(self.instruction_set.description)

    @property
    def log(self) -> tuple[str, ...]:
        """One line per call: where it reads and writes (setting debug)."""
        return self.emission.log

    @property
    def parameters(self) -> Mapping[str, int]:
        """Parameter register ("eps") -> value."""
        return self.emission.parameters

    @property
    def registers(self) -> Mapping[int, int]:
        """The parameter registers by byte address."""
        return parameter_values(self.description, self.parameters)

    @property
    def dims(self) -> dict[str, int]:
        """Dynamic dimension -> its largest value."""
        return {n: v.max_data or 0 for n, v in self.emission.dims.items()}

    @cached_property
    def inputs(self) -> dict[str, TaskOperand]:
        """Inputs of the graph by name, with their addresses."""
        return {n: self.steps.operand(o) for n, o in self.emission.inputs.items()}

    @cached_property
    def outputs(self) -> dict[str, TaskOperand]:
        """ "output", or "output0", "output1", ... for a Tuple; the indices of an argmax with another result: "output_argmax"."""
        return {n: self.steps.operand(o) for n, o in self.emission.outputs.items()}

    @property
    def argmax_register(self) -> int | None:
        """Number of the register with the result of the last argmax; None if the model has no argmax."""
        for node in reversed(self.emission.nodes):
            if any(r.dtype != "float16" for r in node.results):
                item = self.emission.items[node.end - 1]
                made = item.body[-1] if isinstance(item, Loop) else item
                unit = self.description.units[self.description.instructions[made.instruction].unit]
                return None if unit.result is None else unit.result.number
        return None

    # ---- one step

    @cached_property
    def first_step(self) -> dict[str, int]:
        """The smallest step: the one that the unpatched binary holds."""
        return smallest(self.steps, self.emission.dims)

    def bind(self, given: Mapping[str, int]) -> dict[str, int]:
        """Return all dimensions of a step; `token` defaults to 1, `last_token` to 0. Raises ModelError beyond the plan."""
        usual = {n: v for n, v in {"token": 1, "last_token": 0}.items() if n in self.emission.dims}
        return self.steps.bind({**usual, **given})

    def _rounds(self, dims: Mapping[str, int]) -> list[Round]:
        return list(self.steps.rounds(self.bind(dims)))

    def calls(self, **dims: int) -> tuple[Call, ...]:
        """The instructions of a step, in order; `ops` has the graph's node."""
        return tuple(r.call for r in self._rounds(dims))

    def patches(self, **dims: int) -> list[tuple[int, np.ndarray]]:
        """(DDR offset, uint32 words) of the binary that depend on the step. Raises DeviceError without Aux mode."""
        binary = self._aux()
        base = self.storage.storages[self.insts].address
        return [(base + offset, words) for offset, words in binary.patches(self._rounds(dims))]

    def prepare(self, memory: Memory, **dims: int) -> tuple[tuple[Call, ...], tuple[Binary, ...]]:
        """Prepare memory for a step, except its inputs: patch the binary. Return what a backend executes."""
        rounds = self._rounds(dims)
        calls = tuple(r.call for r in rounds)
        if self.binary is None:
            return calls, ()
        place = self.storage.storages[self.insts]
        for offset, words in self.binary.patches(rounds):
            memory.view(place.space, place.address + offset, words.nbytes)[:] = np.ascontiguousarray(words).view(np.uint8)
        return calls, self.binary.binaries(rounds, place.address, place.space)

    def binaries(self, **dims: int) -> tuple[Binary, ...]:
        """Return the places of a step's calls in memory; none without Aux mode."""
        if self.binary is None:
            return ()
        place = self.storage.storages[self.insts]
        return self.binary.binaries(self._rounds(dims), place.address, place.space)

    def runs_of(self, dims: Mapping[str, int]) -> list[int]:
        """Tasks of every run of the binary in a step."""
        return [b.count for b in self._aux().binaries(self._rounds(dims), 0, "ddr")]

    def _aux(self) -> AuxBinary:
        if self.binary is None:
            raise DeviceError("it was built without a binary", where=f"model '{self.name}'", hint="build with aux=True")
        return self.binary

    def nodes(self, **dims: int) -> tuple[NodePlace, ...]:
        """Return the calls of the graph that have instructions, as a step runs them."""
        bound = self.bind(dims)
        counts = Counter(r.item for r in self.steps.rounds(bound))
        made: list[NodePlace] = []
        first = 0
        for node in self.emission.nodes:
            count = sum(counts[i] for i in range(node.first, node.end))
            results = tuple(self.steps.bound_operand(r, bound) for r in node.results)
            made.append(NodePlace(node.name, node.op, first, count, results))
            first += count
        return tuple(made)

    def stream(self, **dims: int) -> DeviceStream:
        """Return a step's instructions with their memory, in the form of listings and files.

        Raises ModelError if the step was not planned; its images raise as `images`.
        """
        bound = self.bind(dims)
        calls = self.calls(**dims)
        groups = tuple(CallGroup((n.name,), calls[n.first : n.first + n.count], (), ()) for n in self.nodes(**dims))
        segment = DeviceSegment(groups, (), self.binaries(**dims))
        step = ", ".join(f"{name}={value}" for name, value in bound.items())
        images = partial(self.images, **bound)
        h = sha256(self.description_hash.encode() + segment_bytes(segment) + json.dumps(sorted(self.parameters.items())).encode())
        for image in images():
            h.update(f"{image.space} {image.bank} {image.offset} {len(image.data)}\n".encode())
            h.update(image.data.tobytes())
        memory = self.storage.lines([node.name for node in self.emission.nodes])
        return DeviceStream(
            f"{self.name}{f' ({step})' if step else ''}", self.instruction_set, self.device, self.description_hash, h.hexdigest(),
            (segment,), self.parameters, tuple(memory), images,
        )  # fmt: skip

    # ---- inputs and outputs

    def shape_of(self, name: str, **dims: int) -> tuple[int, ...]:
        """Shape of an input or output in a step."""
        return tuple(int(d) for d in self.bound_port(name, **dims).shape)

    def bound_port(self, name: str, **dims: int) -> TaskOperand:
        """Return an input or output with its expressions evaluated. Raises ModelError if there is none of that name."""
        known = {**self.emission.inputs, **self.emission.outputs}
        if name not in known:
            raise ModelError(f"no input or output '{name}'", where=f"model '{self.name}'", hint=f"there are {', '.join(known)}")
        return self.steps.bound_operand(known[name], self.bind(dims))

    def write_input(self, memory: Memory, name: str, array: np.ndarray, **dims: int) -> None:
        """Write an input (heads, tokens, channels) to memory, rounded to FP16. Raises DeviceError if the shape differs."""
        for write in self.tasks.store(self.device, self.bound_port(name, **dims), array):
            memory.view(write.space, write.offset, write.data.size, write.bank)[:] = write.data

    def read_output(self, memory: Memory, name: str, **dims: int) -> np.ndarray:
        """Return an output as stored in memory: float16 (heads, tokens, channels), or uint32 indices (1, tokens)."""
        return self.tasks.load(self.device, self.bound_port(name, **dims), memory)

    # ---- images

    def images(self, **dims: int) -> Iterator[MemoryImage]:
        """Return the contents of memory before the first step; constants are packed one at a time.

        Constants without data are omitted. dims: of the step whose words the binary has; none: `first_step`. Raises ModelError if
        data does not fit.
        """
        for place in self.constants.places:
            if self.constants.has_data(place):
                at = self.storage.storages[place.storage]
                for bank, data in enumerate(self.constants.load(place)):
                    yield MemoryImage(place.space, bank, at.address, data)
        if self.binary is not None:
            at = self.storage.storages[self.insts]
            yield MemoryImage(at.space, 0, at.address, np.frombuffer(self.get_insts_bin(**dims), np.uint8))

    def loads(self) -> Iterator[tuple[int, np.ndarray, Sequence[Call]]]:
        """Yield (DDR offset, bytes, copies): the loading of weights into HBM through the device (setting wt2hbm), piece by piece.

        The copies of a piece run before the next piece is written. Raises DeviceError without the setting.
        """
        if not self.staging:
            raise DeviceError("it was built without wt2hbm", where=f"model '{self.name}'")
        at = self.storage.storages[self.staging].address
        for place in self.constants.places:
            if place.space == "hbm" and self.constants.has_data(place):
                for bank, data in enumerate(self.constants.load(place)):
                    yield at, data, self.copies(place, bank)

    def copies(self, place: ConstantPlace, bank: int) -> Sequence[Call]:
        """Return the instructions that copy one bank of a constant from the staging storage."""
        loader = self.instruction_set.loader
        if loader is None or not self.staging:
            raise DeviceError("its instructions cannot fill the HBM", where=self.instruction_set.name)
        source, target = self.storage.storages[self.staging].address, self.storage.storages[place.storage].address
        return loader(self.device, source, bank, target, place.packing.room.size)

    def get_insts_bin(self, **dims: int) -> bytes:
        """Return the binary with the words of a step; by default of `first_step`. Raises DeviceError without Aux mode."""
        binary = self._aux()
        return binary.words(list(self.steps.rounds(self.bind(dims or self.first_step)))).tobytes()

    def write_params(self, folder: str | Path) -> list[Path]:
        """Write the files that the driver's load function reads: constants bank by bank, and the binary.

        Raises ModelError if the folder cannot be written, and as `images`.
        """
        target = Path(folder)
        try:
            return self._write_params(target)
        except OSError as error:
            raise ModelError(f"cannot be written ({error.strerror or error})", where=str(target)) from error

    def _write_params(self, target: Path) -> list[Path]:
        target.mkdir(parents=True, exist_ok=True)
        written: list[Path] = []
        for place in self.constants.places:
            if self.constants.has_data(place):
                for file, data in zip(self.constants.files(place), self.constants.load(place), strict=True):
                    (target / file).write_bytes(data.tobytes())
                    written.append(target / file)
        if self.binary is not None:
            (target / INSTS_FILE).write_bytes(self.get_insts_bin())
            written.append(target / INSTS_FILE)
        return written
