"""A run of the fuzzer: resumes the last run of its seed, aims at unmet bins, shrinks and stores programs that differ."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from fleet.core.codec import decode, encode_record
from fleet.core.files import read_form, write_table
from fleet.errors import ModelError
from fleet.verify.mutation.store import content
from fleet.verify.programs.batches import Batch, BatchOrder, ProgramFailure, kind_of
from fleet.verify.programs.oracle import ComparedProgram, ProgramOracle
from fleet.verify.programs.shrinking import shrink
from fleet.verify.programs.stored import save_program
from fleet.verify.programs.workers import in_order

_FORM = 3
_NONE, _AGAIN = "no state of a fuzz run", "remove it to begin again"
_BATCH, _ROUND = 50, 2000
"""Programs per batch, and per round. The open bins are updated after each round."""
STOP_AFTER = 20
"""Number of different failures after which the run stops."""
_SHRINK_SECONDS = 15.0
_SOURCES = (
    *("fleet/frontend", "fleet/ir", "fleet/symbols", "fleet/transforms", "fleet/targets", "fleet/sdk", "fleet/sets", "fleet/isa"),
    *("fleet/engines", "fleet/compare", "fleet/verify/programs"),
)
"""Folders that decide whether a program agrees: a stored state goes on only while none of their files has changed."""


@dataclass
class ProgramFuzzState:
    """The progress of a seed's runs.

    sources: hash of the tested sources; next: number of the next program; failures: signature -> [first program, count, message,
    file]; seconds: wall time.
    """

    seed: int
    sources: str
    next: int = 0
    sums: Batch = field(default_factory=Batch)
    wanted: tuple[int, ...] = ()
    avoided: tuple[int, ...] = ()
    failures: dict[str, tuple[int, int, str, str]] = field(default_factory=dict[str, tuple[int, int, str, str]])
    seconds: float = 0.0

    @property
    def failed(self) -> int:
        """Number of programs that differ."""
        return sum(f[1] for f in self.failures.values())


def sources_hash() -> str:
    """Return a hash of the compiler, the golden and the fuzzer. A state holds only for the sources with that hash."""
    return content(Path(__file__).parents[3], _SOURCES)


def load_state(path: Path, seed: int) -> ProgramFuzzState:
    """Read the stored state; begin anew if no file exists or other sources wrote it. Raises ModelError if it is damaged."""
    now = sources_hash()
    if not path.exists():
        return ProgramFuzzState(seed, now)
    table = read_form(path, _FORM, _NONE, _AGAIN)
    if table.get("seed") != seed:
        raise ModelError(f"{_NONE} (seed {table.get('seed')})", where=str(path), hint=_AGAIN)
    if table.get("sources") != now:
        return ProgramFuzzState(seed, now)
    return decode(ProgramFuzzState, table, str(path), "state")


def save_state(path: Path, state: ProgramFuzzState) -> None:
    """Write the state. Raises FleetError if it cannot be written."""
    write_table(path, {"form": _FORM, **encode_record(state)})


def fuzz(
    path: Path, kept: Path, seed: int, *, programs: int | None, seconds: float, jobs: int, engines: tuple[str, ...],
    told: Callable[[ProgramFuzzState, Batch], None] | None = None,
) -> tuple[ProgramFuzzState, Batch]:  # fmt: skip
    """Run until so many programs were accepted, or so many seconds have passed.

    Args:
        path: of the state.
        kept: folder for failing programs, shrunk.
        engines: used beside CPython and the golden, of `batches.ENGINES`.
        told: called after every batch with the state and the sums of this run.

    Returns the state and the sums of this run. Raises FleetError.
    """
    state = load_state(path, seed)
    here = Batch()
    began = time.monotonic()
    before = state.seconds

    def orders() -> Iterator[BatchOrder | None]:
        number = state.next
        while time.monotonic() - began < seconds and len(state.failures) < STOP_AFTER:
            if programs is not None and here.accepted >= programs:
                return
            if number % _ROUND == 0:
                if state.next != number:
                    yield None
                    continue
                state.wanted = tuple(state.sums.account.open())
                state.avoided = tuple(state.sums.account.refusing())
            yield BatchOrder(seed, number, _BATCH, state.wanted, engines, frozenset(state.avoided))
            number += _BATCH

    for batch in in_order(orders(), jobs):
        state.next += _BATCH
        state.sums.add(replace(batch, failures=[]))
        here.add(batch)
        state.seconds = before + time.monotonic() - began
        for failure in batch.failures:
            _keep(state, failure, kept)
        save_state(path, state)
        if told is not None:
            told(state, here)
    return state, here


def _keep(state: ProgramFuzzState, failure: ProgramFailure, kept: Path) -> None:
    """Count a failure. The first one of a signature is shrunk and stored."""
    known = state.failures.get(failure.signature)
    if known is not None:
        state.failures[failure.signature] = (known[0], known[1] + 1, known[2], known[3])
        return
    with ProgramOracle() as oracle:

        def fails(model: ComparedProgram) -> bool:
            outcome = oracle.compare(model)
            return outcome.kind == "differs" and kind_of(outcome) == wanted

        wanted = kind_of(oracle.compare(failure.model))
        small = shrink(failure.model, fails, _SHRINK_SECONDS)
        said = oracle.compare(small).said or failure.said
    stored = save_program(kept, small, f"seed {state.seed}, program {failure.number}: {said}")
    # Store it as drawn too: the shrunk program may fail for another reason.
    save_program(kept / "drawn", failure.model, f"seed {state.seed}, program {failure.number}: {failure.said}", name=stored.stem)
    state.failures[failure.signature] = (failure.number, 1, said, str(stored))
