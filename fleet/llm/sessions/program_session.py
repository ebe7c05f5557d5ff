"""Sessions on engines that run a program: the NumPy VM (the golden and the rounded golden), RISC-V, and the C VM.

The session holds keys and values, [kv_heads, capacity, D] per cache, and passes them as inputs to every step's program. All
programs share the weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fleet.core.blas_threads import one_thread
from fleet.engines.base import RunOptions
from fleet.llm.models import ModelGraph
from fleet.llm.sessions.session import F32, Embedding, GenerationSession, RanStep
from fleet.transforms.conversion.emitter import MASK, StepProgram
from fleet.transforms.conversion.to_program import mask_of, to_program
from fleet.transforms.conversion.weights import GraphWeights

if TYPE_CHECKING:
    from fleet.engines.cvm import LoadedVmProgram
    from fleet.engines.riscv import LoadedImage
    from fleet.engines.trace import Trace
    from fleet.targets.bytecode.vm import VM


class ProgramSession(GenerationSession):
    """Base class: caches, inputs and results of a step."""

    def __init__(self, model: ModelGraph, embedding: Embedding, weights: GraphWeights) -> None:
        super().__init__(model, embedding)
        self.weights = weights
        self._caches: dict[str, F32] = {}

    def _inputs(self, step: StepProgram, x: F32, slots: int) -> dict[str, np.ndarray]:
        """Return a step's inputs. slots: cache slots of the program; from `position` on they hold zeros or discarded tokens."""
        first, n = self.position, step.tokens
        inputs: dict[str, np.ndarray] = {"x": x}
        for cache in step.caches:
            if cache.node not in self._caches:
                room = max(self.capacity, -(-self.capacity // 64) * 64)
                self._caches[cache.node] = np.zeros((cache.heads, room, cache.channels), np.float32)
            inputs[cache.argument] = self._caches[cache.node][:, :slots]
        for table in step.tables:
            inputs[table.cos], inputs[table.sin] = table.cosines[first : first + n], table.sines[first : first + n]
        if step.masked:
            inputs[MASK] = mask_of(n, first, slots)
        return inputs

    def _append(self, step: StepProgram, outputs: dict[str, np.ndarray]) -> None:
        for cache in step.caches:
            self._caches[cache.node][:, self.position : self.position + step.tokens] = outputs[cache.result]


class VmSession(ProgramSession):
    """The golden: float32 in NumPy. One program for a step of n tokens serves every position.

    name: "vm", or "vm-rounded" if `weights` are rounded as on the device.
    """

    def __init__(self, model: ModelGraph, embedding: Embedding, weights: GraphWeights, name: str = "vm") -> None:
        self.name = name
        super().__init__(model, embedding, weights)
        self._machines: dict[int, tuple[StepProgram, VM]] = {}

    def _machine(self, n: int) -> tuple[StepProgram, VM]:
        from fleet.targets.bytecode.convert import ByteCodeConverter
        from fleet.targets.bytecode.vm import VM

        if n not in self._machines:
            step = to_program(self.model.root, n, masked=n > 1, weights=self.weights, name=self.model.config.architecture)
            self._machines[n] = step, VM(ByteCodeConverter(step.program).convert())
        return self._machines[n]

    def _run(self, x: F32, tensors: tuple[str, ...]) -> RanStep:
        step, machine = self._machine(len(x))
        kept: dict[str, np.ndarray] | None = {} if tensors else None
        with one_thread():
            outputs = machine.run(self._inputs(step, x, self.position), tensors=kept, keep=set(tensors))
        self._append(step, outputs)
        logits = outputs[step.outputs[0]][-1]
        return RanStep(logits, int(np.argmax(logits)), tensors=kept or {})


@dataclass
class _Machine:
    step: StepProgram
    image: LoadedImage
    tensors: bool


class SlotSession(ProgramSession):
    """A session whose programs come with cache slots in steps; the mask hides unused slots."""

    SLOTS = 64

    def _slots(self) -> int:
        return -(-self.position // self.SLOTS) * self.SLOTS

    def _step(self, n: int, slots: int) -> StepProgram:
        return to_program(self.model.root, n, slots, weights=self.weights, name=self.model.config.architecture)

    def _ran(self, step: StepProgram, trace: Trace, tensors: tuple[str, ...], counters: dict[str, float]) -> RanStep:
        """Take the step's caches and logits from a trace."""
        self._append(step, trace.outputs)
        logits = trace.outputs[step.outputs[0]][-1]
        kept = {name: trace.tensors[name] for name in tensors if name in trace.tensors}
        return RanStep(logits, int(np.argmax(logits)), tensors=kept, counters=counters)


class CvmSession(SlotSession):
    """In the C VM: each step is a process that reads the weights anew. One program is kept, as on riscv."""

    name = "cvm"

    def __init__(self, model: ModelGraph, embedding: Embedding, weights: GraphWeights) -> None:
        super().__init__(model, embedding, weights)
        self._loaded: tuple[StepProgram, LoadedVmProgram] | None = None

    def _run(self, x: F32, tensors: tuple[str, ...]) -> RanStep:
        slots = self._slots()
        if self._loaded is None or (self._loaded[0].tokens, self._loaded[0].past) != (len(x), slots):
            from fleet.engines.cvm import ENGINE

            self.close()
            made = self._step(len(x), slots)
            self._loaded = made, ENGINE.load(made.program)
        step, loaded = self._loaded
        trace = loaded.run(self._inputs(step, x, slots), keep=bool(tensors))
        return self._ran(step, trace, tensors, {})

    def close(self) -> None:
        """Remove the program's files."""
        if self._loaded is not None:
            self._loaded[1].close()
            self._loaded = None


class RiscvSession(SlotSession):
    """Compiled for RISC-V, run by an emulator.

    The emulator keeps one image. A step with another number of tokens or slots loads another image.
    """

    name = "riscv"

    def __init__(self, model: ModelGraph, embedding: Embedding, weights: GraphWeights, options: RunOptions | None = None) -> None:
        """options: only `riscv` ("isa", "emulator") is used."""
        super().__init__(model, embedding, weights)
        self._options = options or RunOptions()
        self._machine: _Machine | None = None
        self.compile_seconds = 0.0

    def _loaded(self, n: int, slots: int, tensors: bool) -> _Machine:
        import time

        from fleet.engines.riscv import LoadedImage
        from fleet.engines.riscv_emulators.registry import default_emulator, find_emulator
        from fleet.targets.riscv.compile import compile_riscv
        from fleet.targets.riscv.isa import find_isa

        found = self._machine
        if found is not None and (found.step.tokens, found.step.past) == (n, slots) and found.tensors >= tensors:
            return found
        self.close()
        start = time.perf_counter()
        chosen = self._options.riscv
        isa = find_isa(chosen.get("isa", "rv64gc"))
        name = chosen.get("emulator")
        step = self._step(n, slots)
        compiled = compile_riscv(step.program, isa=isa, keep_tensors=tensors)
        image = LoadedImage(compiled, emulator=(find_emulator(name) if name else default_emulator(isa)).make(isa))
        self._machine = _Machine(step, image, tensors)
        self.compile_seconds += time.perf_counter() - start
        return self._machine

    def _run(self, x: F32, tensors: tuple[str, ...]) -> RanStep:
        machine = self._loaded(len(x), self._slots(), bool(tensors))
        options = RunOptions(keep_tensors=bool(tensors), progress=self.progress)
        trace = machine.image.run(self._inputs(machine.step, x, self._slots()), options)
        return self._ran(machine.step, trace, tensors, {"instructions": trace.counters["instructions"]})

    def close(self) -> None:
        """Close the emulator's image."""
        if self._machine is not None:
            self._machine.image.close()
            self._machine = None
