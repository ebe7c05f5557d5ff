"""The progress of a fuzz run on disk: a file of sums, and a journal of the programs since that file was written.

A program's line is in the journal as soon as its result is known, so a run that is killed loses at most the programs in progress.
The stored data do not depend on the number of processes or on the order in which they ended.
"""

from __future__ import annotations

import fcntl
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from fleet.core.codec import decode, encode_record
from fleet.core.files import read_form, write_table
from fleet.errors import FleetError, ModelError
from fleet.isa.registry import description_hash, find_device

_FORM = 3
_NONE, _AGAIN = "no state of a fuzz run", "remove it to begin again"


@dataclass(frozen=True)
class RanProgram:
    """One program that was run.

    executed, refused: instructions compared; bytes: of destinations; cycles: of the whole job.
    failure: empty, or case, setting, first reason and the command that replays it.
    left_out: empty, or why the program does not fit into the device's memory; then nothing was compared.
    undefined: instructions that were not compared: they depend on undefined data or come after an instruction that does.
    spent: phase -> seconds (`fleet.streams.run.PHASES` and "draw").
    """

    number: int
    executed: int
    refused: int
    bytes: int
    cycles: int = 0
    failure: str = ""
    left_out: str = ""
    undefined: int = 0
    spent: dict[str, float] = field(default_factory=dict[str, float])


@dataclass
class StreamFuzzState:
    """The progress of a run.

    next: all programs with lower numbers were run; done: higher numbers that were run too, ascending.
    programs: number that were compared; left_out: number that do not fit into the device's memory.
    executed, refused: instructions compared bit for bit; seconds: of all runs; failures: one line each, by number.
    """

    device: str
    seed: int
    description_hash: str
    next: int = 0
    done: list[int] = field(default_factory=list[int])
    programs: int = 0
    left_out: int = 0
    executed: int = 0
    refused: int = 0
    bytes: int = 0
    seconds: float = 0.0
    failures: list[str] = field(default_factory=list[str])

    @property
    def instructions(self) -> int:
        """Number of executed and refused instructions."""
        return self.executed + self.refused

    def was_run(self, number: int) -> bool:
        """Return whether the program with that number was run."""
        return number < self.next or number in self.done

    def add(self, ran: RanProgram) -> None:
        """Count a program, unless it is counted already."""
        if self.was_run(ran.number):
            return
        self.done = sorted([*self.done, ran.number])
        while self.done and self.done[0] == self.next:
            self.next += 1
            del self.done[0]
        self.programs += not ran.left_out
        self.left_out += bool(ran.left_out)
        self.executed += ran.executed
        self.refused += ran.refused
        self.bytes += ran.bytes
        if ran.failure:
            self.failures = sorted([*self.failures, ran.failure], key=_number)


def _number(failure: str) -> int:
    return int(failure.partition(":")[0])


def state_file(folder: Path, device: str, seed: int) -> Path:
    """Return the path of the state of a device and seed."""
    return folder / f"{device}-{seed}.json"


def set_aside(path: Path, device: str) -> Path | None:
    """Rename the state of another description, with the bins that it met; return where it is kept, or None for a current one.

    Raises ModelError for a file that is no state.
    """
    now = description_hash(*find_device(device))
    stored = str(read_form(path, _FORM, _NONE, _AGAIN).get("description_hash")) if path.exists() else now
    if stored == now:
        return None
    for old in (path, _journal_file(path), path.with_name(f"{path.stem}-coverage.json")):
        if old.exists():
            old.replace(old.with_name(f"{old.name}.{stored[:16]}"))
    return path.with_name(f"{path.name}.{stored[:16]}")


def load_state(path: Path, device: str, seed: int) -> StreamFuzzState:
    """Return the stored state with its journal applied, or a new state.

    Raises ModelError if the file is damaged or belongs to another description.
    """
    instruction_set, chip = find_device(device)
    now = description_hash(instruction_set, chip)
    state = StreamFuzzState(device, seed, now)
    if path.exists():
        table = read_form(path, _FORM, _NONE, _AGAIN)
        stored = str(table.get("description_hash"))
        if stored != now:
            what = f"made for description {stored[:16]}, {device} has {now[:16]}"
            raise ModelError(what, where=f"{path}:1", hint=_AGAIN)
        try:
            state = _checked(decode(StreamFuzzState, table, str(path), "state"), device, seed)
        except ValueError as error:
            raise ModelError(f"{_NONE} ({error})", where=str(path), hint=_AGAIN) from error
    _replay(state, _journal_file(path))
    return state


def _checked(state: StreamFuzzState, device: str, seed: int) -> StreamFuzzState:
    """Return the state. Raises ValueError if it cannot belong to a run of this device and seed."""
    if (state.device, state.seed) != (device, seed):
        raise ValueError(f"of {state.device}, seed {state.seed}")
    if min(state.next, state.programs, state.left_out, state.executed, state.refused, state.bytes, state.seconds, *state.done) < 0:
        raise ValueError("a number is negative")
    for failure in state.failures:
        _number(failure)
    return state


def _journal_file(path: Path) -> Path:
    return path.with_suffix(".journal")


def _replay(state: StreamFuzzState, path: Path) -> None:
    """Apply a journal. An incomplete last line and journals of another description are ignored."""
    if not path.exists():
        return
    head, *lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    if head != state.description_hash:
        return
    elapsed = 0.0
    for number, line in enumerate(lines[:-1], 2):
        where = f"{path}:{number}"
        try:
            ran, at = _read(line, where)
        except (ValueError, ModelError) as error:
            what = error.what if isinstance(error, ModelError) else error
            raise ModelError(f"no line of a fuzz run's journal ({what})", where=where, hint="remove it") from error
        if not state.was_run(ran.number):
            elapsed = at
        state.add(ran)
    state.seconds += elapsed


@dataclass(frozen=True)
class _JournalLine:
    """The stored form of `RanProgram`: number, executed, refused, bytes, failure, left out; t: seconds since the run began."""

    n: int
    e: int
    r: int
    b: int
    f: str
    o: str
    t: float


def _read(line: str, where: str) -> tuple[RanProgram, float]:
    row = decode(_JournalLine, json.loads(line), where, "line")
    if row.n < 0 or (row.f and _number(row.f) != row.n):
        raise ValueError(f"program {row.n}, failure '{row.f:.40}'")
    return RanProgram(row.n, row.e, row.r, row.b, failure=row.f, left_out=row.o), row.t


class Journal:
    """The state on disk during a run; a context manager. It locks the state: one run at a time."""

    def __init__(self, state: StreamFuzzState, path: Path) -> None:
        """path: of the state. Raises FleetError if it cannot be written or another run holds it."""
        self._state, self._path, self._before = state, path, state.seconds
        journal = _journal_file(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = journal.open("a", encoding="utf-8")
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FleetError("another run of the same seed is under way", where=str(path), hint="take another --seed") from None
        except OSError as error:
            raise FleetError(f"cannot be written ({error.strerror or error})", where=str(journal)) from error
        self.save()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.save()
        self._file.close()

    def add(self, ran: RanProgram) -> None:
        """Count a program and write its line. `state.seconds` must be up to date."""
        self._state.add(ran)
        at = round(self._state.seconds - self._before, 3)
        line = _JournalLine(ran.number, ran.executed, ran.refused, ran.bytes, ran.failure, ran.left_out, at)
        print(json.dumps(encode_record(line)), file=self._file, flush=True)

    def save(self) -> None:
        """Write the sums and empty the journal. After a kill in between, the journal repeats lines that the sums include."""
        write_table(self._path, {"form": _FORM, **encode_record(self._state)}, indent=1)
        self._before = self._state.seconds
        os.ftruncate(self._file.fileno(), 0)
        print(self._state.description_hash, file=self._file, flush=True)
