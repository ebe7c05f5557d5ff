"""Sessions on an accelerator's functional model or simulated hardware, with one memory and one open backend for all steps.

Weights, KV cache and, in Aux mode, the binary are in the device's memory. A step writes the embedded tokens, patches the binary's
words that depend on the step, runs the instructions and reads logits and argmax.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from fleet.compare.diverged import Divergence
from fleet.compare.divergence import StreamEvidence, explain
from fleet.compare.memory_held import other_memory
from fleet.engines.backend import Backend
from fleet.engines.base import RunOptions
from fleet.engines.legs.relay import Relay
from fleet.engines.rtl import RtlBackend
from fleet.engines.trace import Commit, Trace
from fleet.errors import ComparisonFailure, DeviceError
from fleet.isa.memory import MappedMemory, MemoryImage
from fleet.llm.models import ModelGraph
from fleet.llm.sessions.divergent_step import explain_step
from fleet.llm.sessions.session import F32, Embedding, GenerationSession, RanStep, TokenStep
from fleet.sdk import Call, Device
from fleet.targets.accel.module import Module
from fleet.transforms.products.widen_heads import padded_width

_LARGE = 1 << 30
"""Size of images from which a session releases their memory between steps."""
_AHEAD = 4
"""Largest number of steps behind the one that is waited for: each keeps its states, and the model is not faster than so many."""
_HEADS = ("wq", "wk", "wv", "rope_q", "rope_k", "mix")
"""Suffixes of node names whose channels are those of heads, if q, k and v are separate products."""


def load_images(module: Module) -> list[MemoryImage]:
    """Return all images of a module; sessions on several engines share them. Quantises: takes seconds on a large model."""
    return list(module.images())


def session_options(options: RunOptions, device: Device, folder: Path) -> RunOptions:
    """Return the options, without progress, with which a session in a folder opens its backend."""
    return replace(options, device=device.name, workdir=folder)


class _Step(NamedTuple):
    """A step under way. expected: all of its commits are known."""

    dims: dict[str, int]
    calls: Sequence[Call]
    expected: bool


@runtime_checkable
class Stoppable(Protocol):
    """A backend that can stop at the first unexpected commit."""

    def expect(self, commits: Sequence[Commit]) -> None:
        """Set the commits that the next calls must produce."""
        ...


class DeviceSession(GenerationSession):
    """A session on an accelerator.

    Attributes:
        module: the compiled model.
        memory: the device's memory.
        seq: commits so far.
    """

    def __init__(
        self, model: ModelGraph, embedding: Embedding, module: Module, backend: Backend, folder: Path, options: RunOptions,
        images: Iterable[MemoryImage] | None = None, *, inside: bool = True,
        head: Callable[[np.ndarray], np.ndarray] | None = None,
    ) -> None:  # fmt: skip
        """Args:
            model, embedding: as in `GenerationSession`.
            module: `model` compiled.
            backend: opened here, closed by `close`.
            folder: for the files of the memory and the simulation; created here.
            options: "memory", "seed", "rtl_jobs" and "rtl_sample" are used.
            images: from `load_images`, if another session shares them.
            head: logits of the last norm's result, if the graph ends before the head and the host multiplies.
            inside: provide inner values of nodes. The step then runs node by node, which would change cycle counts on hardware.

        Raises:
            FleetError: the disk is full; or an error from opening the backend.
        """
        super().__init__(model, embedding)
        self.name = backend.name
        self.module, self.backend = module, backend
        self._memory_model, self.sampled = options.memory, bool(options.rtl_sample) and backend.name == "rtl"
        self.seq = 0
        self._open, self._inside, self._head = False, inside, head
        self._expected: Sequence[Commit] = ()
        self._jobs, self._ended = options.rtl_jobs, 0.0
        loaded = list(load_images(module) if images is None else images)
        self._large = sum(image.data.size for image in loaded) > _LARGE
        self.memory = MappedMemory.fresh(module.device, folder / "memory", loaded, module.registers)
        if self._large:
            self.memory.release()
        run = replace(session_options(options, module.device, folder), progress=self._tell)
        try:
            backend.open(module.instruction_set, module.device, self.memory, run)
        except BaseException:
            self.memory.close()
            raise
        self._open = True

    def _tell(self, fraction: float, words: str) -> None:
        if self.progress is not None:
            self.progress(fraction, words)

    @property
    def _relay(self) -> Relay | None:
        """Runs that overlap; None if there are none, or if a second memory in use would be too large."""
        return self.backend.relay if isinstance(self.backend, RtlBackend) and not self._large else None

    @property
    def ahead(self) -> int:
        """As in `GenerationSession.ahead`: so many that processes have legs when a step ends."""
        return 0 if self._relay is None else min(self._jobs, _AHEAD)

    @property
    def cut(self) -> str:
        """Cuts of the steps so far into legs, as in `GenerationSession.cut`."""
        return self.backend.evidence().cut

    def expect(self, commits: Sequence[Commit]) -> None:
        """Set the commits that the next step must produce."""
        self._expected = commits

    def calls(self, tokens: int, position: int) -> Sequence[Call]:
        """Return the instructions of a step."""
        return self.module.calls(token=tokens, last_token=position)

    def _run(self, x: F32, tensors: tuple[str, ...]) -> RanStep:
        try:
            return self._ran(x, tensors)
        finally:
            if self._large:  # each engine of a run has a copy, of which one is in use
                self.memory.release()

    def _ran(self, x: F32, tensors: tuple[str, ...]) -> RanStep:
        module, memory = self.module, self.memory
        dims = {"token": len(x), "last_token": self.position}
        module.write_input(memory, "x", x[None], **dims)
        calls, binaries = module.prepare(memory, **dims)
        before = dict(self.backend.counters())
        start = time.perf_counter()
        if tensors and self._inside:
            commits, kept = self._watched(calls, dims, set(tensors))
        else:
            if isinstance(self.backend, Stoppable):
                self.backend.expect(self._expected)
            commits, kept = list(self.backend.execute(calls, self.seq, binaries)), {}
        expected = len(self._expected) == len(calls)
        self.seq += len(calls)
        return self._came(_Step(dims, calls, expected), memory, commits, kept, before, start)

    def begin(self, tokens: Sequence[int], tensors: Sequence[str] = ()) -> Callable[[], TokenStep]:
        """Begin a step, on hardware whose runs overlap beside those under way; `tensors` are then those of no node."""
        relay = self._relay
        if relay is None:
            return super().begin(tokens, tensors)
        assert isinstance(self.backend, RtlBackend)
        begun = time.perf_counter()
        x, position = self._next(tokens), self.position
        looked_up = time.perf_counter()
        dims = {"token": len(tokens), "last_token": position}
        self.module.write_input(relay.host, "x", x[None], **dims)
        calls, binaries = self.module.prepare(relay.host, **dims)
        self.backend.expect(self._expected)
        self.backend.begin(calls, self.seq, binaries)
        step = _Step(dims, calls, len(self._expected) == len(calls))
        self.seq, self.position = self.seq + len(calls), position + len(tokens)

        def end() -> TokenStep:
            assert isinstance(self.backend, RtlBackend)
            before, start = dict(self.backend.counters()), max(begun, self._ended)
            try:
                commits = list(self.backend.end())
                ran = self._came(step, relay.results, commits, {}, before, start)
            finally:
                self._ended = time.perf_counter()
            return TokenStep(position, tuple(tokens), ran, self._ended - start, looked_up - begun)

        return end

    def _came(
        self, step: _Step, memory: MappedMemory, commits: list[Commit], kept: dict[str, np.ndarray], before: dict[str, float],
        start: float,
    ) -> RanStep:  # fmt: skip
        """Return what came of a step. memory: after it. before, start: counters, and the moment, in which it began."""
        module, dims, calls = self.module, step.dims, step.calls
        stopped = not self.sampled and 0 < len(commits) < len(calls) and step.expected
        if len(commits) != len(calls) and not stopped and not self.sampled:
            raise DeviceError(f"{len(calls)} instructions, {len(commits)} commits", where=f"engine {self.name}")
        after = self.backend.counters()
        if isinstance(self.backend, RtlBackend) and (why := other_memory(self._memory_model, after)):
            raise ComparisonFailure(why, where=f"engine {self.name}")
        counters = {k: v - before.get(k, 0.0) for k, v in after.items() if not k.endswith(("_rate", "_share", "per_second"))}
        counters |= {"instructions": float(len(calls)), "execute_seconds": time.perf_counter() - start}
        cycles = counters.get("cycles")
        clock = None if cycles is None else int(cycles)
        if self._head is not None:
            start = time.perf_counter()
            logits = self._head(module.read_output(memory, "output", **dims)[0, -1].astype(np.float32))
            counters["host_head_seconds"] = time.perf_counter() - start
            return RanStep(logits, int(np.argmax(logits)), clock, tuple(commits), kept, counters)
        logits = module.read_output(memory, "output0", **dims)[0, -1].astype(np.float32)
        result = commits[-1].result
        if stopped or self.sampled:  # the logits are meaningless and are not used
            return RanStep(np.zeros_like(logits), -1, clock, tuple(commits), kept, counters)
        if result is None:
            raise DeviceError("the last instruction has no argmax", where=f"model '{module.name}'")
        return RanStep(logits, int(result), clock, tuple(commits), kept, counters)

    def _watched(self, calls: Sequence[Call], dims: dict[str, int], wanted: set[str]) -> tuple[list[Commit], dict[str, np.ndarray]]:
        """Run node by node, to read a result before its memory is reused."""
        commits: list[Commit] = []
        kept: dict[str, np.ndarray] = {}
        at = 0
        for node in self.module.nodes(**dims):
            if node.name not in wanted:
                continue
            end = node.first + node.count
            commits += self.backend.execute(calls[at:end], self.seq + at)
            at = end
            value = self._unfilled(node.name, self.module.tasks.load(self.module.device, node.results[0], self.memory))
            kept[node.name] = np.asarray(value, np.float32) if value.shape[0] > 1 else np.asarray(value[0], np.float32)
        commits += self.backend.execute(calls[at:], self.seq + at) if at < len(calls) else []
        return commits, kept

    def _unfilled(self, name: str, value: np.ndarray) -> np.ndarray:
        """Return a node's value without the zeros that pad narrow heads to a width of the device."""
        channels, widths = self.model.config.head_channels, self.module.instruction_set.head_channels
        width = padded_width(channels, widths)
        if width == channels or name.rpartition(".")[2] not in _HEADS:
            return value
        return value.reshape(*value.shape[:-1], -1, width)[..., :channels].reshape(*value.shape[:-1], -1)

    def explain(
        self, divergence: Divergence, reference: TokenStep, other: TokenStep, beside: GenerationSession | None = None
    ) -> Divergence:
        """Add instruction, registers, addresses and values to the divergence, as far as memory still holds them."""
        if divergence.seq is None or not other.ran.commits:
            return divergence
        first = other.ran.commits[0].seq
        calls = self.calls(len(other.tokens), other.position)
        expected, found_trace = (
            Trace(engine, "", commits=[replace(c, seq=c.seq - step.ran.commits[0].seq) for c in step.ran.commits])
            for engine, step in (("iss", reference), (self.name, other))
        )
        local = replace(divergence, seq=divergence.seq - first)
        found = None
        if isinstance(self.backend, RtlBackend) and isinstance(beside, DeviceSession):
            found = explain_step(self, beside, self.backend, local, other, (expected, found_trace))
        if found is None:
            evidence = StreamEvidence(self.module.instruction_set, self.module.device, calls, self.memory)
            found = explain(local, expected, found_trace, evidence)
        return replace(found, seq=divergence.seq)

    def prepare(self, memory: MappedMemory, step: TokenStep) -> None:
        """Write the inputs of a step into memory, as `step` does before it executes."""
        module, dims = self.module, {"token": len(step.tokens), "last_token": step.position}
        module.write_input(memory, "x", self._embedding(step.tokens, step.position)[None], **dims)

    def close(self) -> None:
        """Close the backend and the memory."""
        if self._open:
            self._open = False
            self.backend.close()
            self.memory.close()
