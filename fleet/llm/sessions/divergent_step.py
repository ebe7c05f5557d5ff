"""Explains a language model's first divergent commit: runs the step again on the functional model up to it, then replays it.

Only the caches survive between steps; a step writes everything else before it reads it. So the step can start again on the
functional model's own memory, whatever ran on it since, and writes the same bytes into the caches. Its results are checked against
the digests of the functional model's first run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from fleet.compare.diverged import Divergence
from fleet.engines.rtl import RtlBackend
from fleet.engines.rtl_sim.expected import expected_of
from fleet.engines.trace import Trace
from fleet.errors import FleetError
from fleet.isa.digest import digest_writes
from fleet.isa.memory import MappedMemory
from fleet.llm.sessions.session import TokenStep
from fleet.sdk import Call
from fleet.streams.replay.chain import HostNames
from fleet.streams.replay.explain import ReplayContext, account, spans
from fleet.streams.replay.fetch import fetch_at_end
from fleet.streams.replay.history import MemoryHistory
from fleet.streams.replay.window import replay
from fleet.targets.accel.module import Module

_SECONDS = 0.4


class SteppedModel(Protocol):
    """The part of a `DeviceSession` that a replay needs."""

    module: Module
    memory: MappedMemory

    def prepare(self, memory: MappedMemory, step: TokenStep) -> None:
        """Write the inputs of a step into memory."""
        ...

    def calls(self, tokens: int, position: int) -> Sequence[Call]:
        """Return the instructions of a step."""
        ...


def explain_step(
    session: SteppedModel,
    model: SteppedModel,
    backend: RtlBackend,
    divergence: Divergence,
    step: TokenStep,
    traces: tuple[Trace, Trace],
) -> Divergence | None:
    """Return the divergence after a replay; None if no replay is possible.

    Args:
        session: of the hardware; its memory is overwritten.
        model: of the functional model.
        backend: the hardware.
        divergence: with numbers within the step.
        step: of the hardware.
        traces: of the functional model and of the hardware, with numbers within the step.
    """
    seq = divergence.seq
    reference, other = traces
    if seq is None or seq >= min(len(reference.commits), len(other.commits)):
        return None
    module = session.module
    memory = model.memory
    try:
        session.prepare(memory, step)
        calls = session.calls(len(step.tokens), step.position)
        history = MemoryHistory(module.instruction_set, module.device, memory, calls)
        history.to(seq)
        if digest_writes(module.device, history.writes()) != reference.commits[seq].digest:
            return None  # memory differs from what the functional model had
        hardware = backend.hardware()
        fetch = fetch_at_end(hardware) if module.aux else None
        window = replay(history, hardware, expected_of(reference.commits), seq, other.commits[seq], fetch=fetch)
        if window is None:
            return None
        known = ReplayContext(
            near=spans(reference.commits, other.commits, seq), cut=len(other.commits) < len(reference.commits),
            digests={c.seq: c.digest for c in reference.commits[:seq]}, host=_host_names(session), seconds=_SECONDS,
        )  # fmt: skip
        return account(divergence, history, hardware, reference.commits[seq], other.commits[seq], window, known)
    except FleetError:
        return None


def _host_names(session: SteppedModel) -> HostNames:
    """Name the data that the host wrote, as far as a compiled graph knows them."""
    module = session.module
    constants = {place.storage: f"constant {place.name}" for place in module.constants.places}
    inputs = {port.storage: f"input {name}, embedded" for name, port in module.inputs.items()}
    places = [
        (s.space, int(s.address), int(s.size), constants.get(name) or inputs.get(name) or f"{name}, of earlier steps")
        for name, s in module.storage.storages.items()
    ]

    def name(space: str, _bank: int, offset: int) -> str:
        # Among storages that share bytes, the one that begins last is the nearest.
        found = [(start, text) for where, start, size, text in places if where == space and start <= offset < start + size]
        return max(found)[1] if found else ""

    return name
