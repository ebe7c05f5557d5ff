"""Random programs without end: legal and illegal ones of the conformance suite, on `iss` and `rtl`, on every memory in turn.

Program n of a seed is a case of the suite with a name, so it can be made again alone (`fleet stream run NAME`), and a run that was
stopped goes on where it stood.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np

from fleet.cosim.files import write_atomically
from fleet.cosim.streams.bundle import save_bundle
from fleet.cosim.streams.case import StreamCase, StreamOutcome
from fleet.cosim.streams.run import StreamRunner
from fleet.cosim.streams.suite import make_case, memories, settings
from fleet.errors import DeviceError, ModelError
from fleet.isa.conformance import sources
from fleet.isa.contract import Call, Write
from fleet.isa.registry import description_hash, find_device

__all__ = ["Chooser", "FuzzState", "case_name", "fuzz", "load_state", "state_file"]

_FORM = 1
_STRIDE = 10_000_000
"""Programs of one seed, at most."""
_KINDS, _SHARES = ("program", "illegal", "random"), (0.5, 0.25, 0.25)
_SAVED_EVERY = 5.0


class Chooser(Protocol):
    """Chooses what is run next, knowing what has been met: how a run is steered towards what it has not seen yet."""

    def choose(self, number: int) -> str:
        """Name of case `number`, which `make_case` takes; it depends on the seed and on what was met, on nothing else."""
        ...

    def wrote(self, place: int, call: Call, writes: Sequence[Write]) -> None:
        """What the functional model writes at a place of the case that runs now."""
        ...

    def met(self, case: StreamCase, outcomes: Sequence[StreamOutcome]) -> None:
        """A case was run; in order of the numbers."""
        ...


@dataclass
class FuzzState:
    """How far a run came. next: number of the next program; failures: names of cases, each with the setting and the first reason.

    executed, refused: instructions compared in every bit; seconds: of all runs together.
    """

    device: str
    seed: int
    description_hash: str
    next: int = 0
    programs: int = 0
    executed: int = 0
    refused: int = 0
    bytes: int = 0
    seconds: float = 0.0
    failures: list[str] = field(default_factory=list[str])


def state_file(folder: Path, device: str, seed: int) -> Path:
    """Where the state of a device and seed stands."""
    return folder / f"{device}-{seed}.json"


def load_state(path: Path, device: str, seed: int) -> FuzzState:
    """The stored state, or a new one. Raises ModelError for a file that is none, or one of another description."""
    instruction_set, chip = find_device(device)
    now = description_hash(instruction_set, chip)
    if not path.exists():
        return FuzzState(device, seed, now)
    try:
        table: Any = json.loads(path.read_text(encoding="utf-8"))
        if cast("dict[str, Any]", table).pop("form", None) != _FORM:
            raise ValueError(f"not of form {_FORM}")
        state = FuzzState(**table)
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise ModelError(f"no state of a fuzz run ({error})", where=str(path), hint="remove it to begin again") from error
    if state.description_hash != now:
        what = f"made for description {str(state.description_hash)[:16]}, {device} has {now[:16]}"
        raise ModelError(what, where=f"{path}:1", hint="remove it to begin again")
    return state


def case_name(device: str, seed: int, number: int) -> str:
    """The name of program `number` of a seed."""
    instruction_set, _ = find_device(device)
    known = list(sources(instruction_set))
    if not known:
        raise DeviceError("the instruction set does not say what to draw", where=device, hint="see fleet.isa.conformance")
    rng = np.random.default_rng([seed, number])
    kind = str(rng.choice(_KINDS, p=_SHARES))
    what = "program" if kind == "program" else f"{known[int(rng.integers(len(known)))]}/{kind}"
    return f"{device}/{what}/{seed * _STRIDE + number}"


def fuzz(
    state: FuzzState, folder: Path, *, seconds: float, count: int | None = None, stop_after: int = 10,
    told: Callable[[FuzzState], None] | None = None, chooser: Chooser | None = None,
) -> FuzzState:  # fmt: skip
    """Goes on from `state` for so long, or so many programs; stores state and failing streams below `folder`.

    stop_after: failures after which it is no use to go on; told: called now and then.
    chooser: names the programs; None: `case_name` does. Raises SetupError, BuildError, FleetError.
    """
    path = state_file(folder, state.device, state.seed)
    _, chip = find_device(state.device)
    ways = settings(state.device, 0, every=True)
    last, found = state.next + count if count is not None else _STRIDE, 0
    with StreamRunner(state.device, power_on=state.seed) as runner:
        runner.watch = chooser.wrote if chooser is not None else None
        began = before = time.monotonic()  # the build does not count
        try:
            while state.next < min(last, _STRIDE) and time.monotonic() - began < seconds and found < stop_after:
                name = chooser.choose(state.next) if chooser is not None else case_name(state.device, state.seed, state.next)
                way = ways[state.next % len(ways)]
                model = next(m for m in memories(chip, state.next) if m.partition(":")[0] == way.memory.partition(":")[0])
                case = make_case(name)
                (outcome,) = runner.run(case, [type(way)(model, way.issue)])
                if chooser is not None:
                    chooser.met(case, [outcome])
                state.next += 1
                state.programs += 1
                state.executed += sum(not c.cause for c in outcome.expected)
                state.refused += sum(bool(c.cause) for c in outcome.expected)
                state.bytes += outcome.bytes_compared
                if not outcome.passed:
                    found += 1
                    stored = save_bundle(outcome, folder, power_on=state.seed)
                    state.failures.append(f"{name} {outcome.setting.name}: {outcome.reasons[0]}; fleet stream run {stored}")
                now = time.monotonic()
                if now - before > _SAVED_EVERY:
                    state.seconds += now - before
                    before = now
                    _save(state, path)
                    if told is not None:
                        told(state)
        finally:
            state.seconds += time.monotonic() - before
            _save(state, path)
    return state


def _save(state: FuzzState, path: Path) -> None:
    write_atomically(path, (json.dumps({"form": _FORM, **asdict(state)}, indent=1) + "\n").encode())
