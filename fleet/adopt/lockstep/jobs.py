"""Runs a functional model over the commands of a test: its jobs, with what each read, wrote and gave."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fleet.adopt.bench.observe import Observation
from fleet.adopt.bench.plan import BenchPlan, spaces_of
from fleet.adopt.bench.script import ReplayScript, ScriptOperation, fields_of
from fleet.adopt.lockstep.events import DoneOperation
from fleet.adopt.lockstep.native_model import NativeModel
from fleet.adopt.workspace import AdoptWorkspace
from fleet.core.plugins import module_of, raised_by_code, reason
from fleet.errors import FleetError, ModelError
from fleet.sdk.functional import Command, FunctionalModel

INSIDE = 256
"""Number of the first memory inside the design; those before it are the spaces of its ports."""

_KINDS = {1: "write", 2: "read", 3: "read", 5: "send", 7: "set"}


@dataclass(frozen=True)
class ModelRead:
    """A read of the model."""

    memory: int
    address: int
    data: bytes


@dataclass(frozen=True)
class ModelWrite:
    """A write of the model. reads: number of the job's reads before it."""

    memory: int
    address: int
    data: bytes
    reads: int


@dataclass(frozen=True)
class GivenWord:
    """A word that leaves through a port, and which of its bits count."""

    port: str
    value: int
    mask: int


@dataclass
class ModelJob:
    """A job, or what a command did without one (rule None, not a job: it holds at once).

    Attributes:
        number: in the order of the program.
        rule: number of its `[[commit]]`; None: nothing says when it ends.
        begin: time at which the first command after the last job began; started: of the command that started it.
        text, where: of that command. taken: when the design took it, -1: not told.
    """

    number: int
    is_job: bool
    rule: int | None
    tag: int
    events: int
    queue: str
    after: tuple[int, ...]
    begin: int
    started: int
    text: str
    where: str
    taken: int = -1
    reads: list[ModelRead] = field(default_factory=list[ModelRead])
    writes: list[ModelWrite] = field(default_factory=list[ModelWrite])
    given: list[GivenWord] = field(default_factory=list[GivenWord])

    def bytes(self) -> Mapping[tuple[int, int], tuple[int, ModelWrite]]:
        """(memory, address) -> the last value, and the write that it is of."""
        found: dict[tuple[int, int], tuple[int, ModelWrite]] = {}
        for w in self.writes:
            for n, value in enumerate(w.data):
                found[w.memory, w.address + n] = value, w
        return found


@dataclass
class ModelRun:
    """The model's run of a test.

    Attributes:
        commands: operations of the test that were commands.
        compared: reads of the test of which the model said what they must read; expected: those that differ, one line each.
    """

    jobs: list[ModelJob] = field(default_factory=list[ModelJob])
    commands: set[int] = field(default_factory=set[int])
    compared: int = 0
    expected: list[str] = field(default_factory=list[str])


def load_model(path: Path, parameters: Mapping[str, str]) -> FunctionalModel:
    """The model of a Python file, which is run, or of a shared library.

    Raises ModelError if it raises, or has not exactly one `FunctionalModel`.
    """
    if path.suffix != ".py":
        return NativeModel(path, parameters)
    module = module_of(path, f"fleet_functional_{path.stem}", ModelError)
    found = [
        v for v in vars(module).values()
        if inspect.isclass(v) and issubclass(v, FunctionalModel) and not inspect.isabstract(v) and v.__module__ == module.__name__
    ]  # fmt: skip
    if len(found) != 1:
        raise ModelError(
            f"has {len(found)} functional models, expected one", where=str(path),
            hint="a class that extends fleet.sdk.functional.FunctionalModel and has `command`",
        )  # fmt: skip
    try:
        return found[0](parameters)
    except BaseException as error:
        if not raised_by_code(error):
            raise
        raise ModelError(f"{found[0].__name__} cannot be made: {reason(error)}", where=str(path)) from error


def run_model(
    work: AdoptWorkspace, plan: BenchPlan, script: ReplayScript, observed: Observation, operations: Sequence[DoneOperation],
    before: Mapping[tuple[int, int], int],
) -> ModelRun:  # fmt: skip
    """Run the model of the observation over the operations that were done.

    before: (memory, address) -> byte, at the beginning. Raises ModelError for the model's mistakes.
    """
    assert observed.model is not None
    model = load_model(observed.model, work.parameters)
    run = _Context(work, plan, script, observed, dict(before))
    for done in operations:
        command = run.command(done)
        if command is None:
            continue
        run.begin(command, done)
        try:
            model.command(command, run)
        except FleetError:
            raise
        except BaseException as error:
            if not raised_by_code(error):
                raise
            raise ModelError(
                f"the model raises in {run.text} ({command.where}): {reason(error)}", where=_place(error, observed.model)
            ) from error
    return run.run


def _place(error: BaseException, path: Path) -> str:
    lines = [f.tb_lineno for f in _frames(error) if f.tb_frame.f_code.co_filename == str(path)]
    return f"{path}:{lines[-1]}" if lines else str(path)


def _frames(error: BaseException) -> Iterator:
    at = error.__traceback__
    while at is not None:
        yield at
        at = at.tb_next


class _Context:
    """`fleet.sdk.functional.JobContext` for one test."""

    def __init__(
        self, work: AdoptWorkspace, plan: BenchPlan, script: ReplayScript, observed: Observation, memory: dict[tuple[int, int], int]
    ) -> None:
        self._work, self._plan, self._script, self._observed, self._memory = work, plan, script, observed, memory
        self.run = ModelRun()
        self.text = ""
        self._first: int | None = None  # when the first command since the last job began
        self._command = Command("set", "")
        self._done = DoneOperation(0, 0, 0, 0)
        self._current: ModelJob | None = None
        self._drivers = {n: name for name, n in plan.driven.items()}
        self._ties = {n: name for name, n in plan.ties.items()}

    def command(self, done: DoneOperation) -> Command | None:
        """The command that an operation is; None for one that gives the design nothing."""
        op = self._script.ops[done.at]
        kind = _KINDS.get(op.code)
        if kind == "write":
            return Command("write", self._drivers[op.number], self._register(op), op.a, op.b, where=op.where)
        if kind == "read":
            return Command("read", self._drivers[op.number], self._register(op), op.a, done.value & (1 << 1024) - 1, where=op.where)
        if kind == "set":
            return Command("set", self._ties[op.number], data=op.b, where=op.where)
        if kind is None:
            return None
        port = self._drivers[op.number]
        instance = self._plan.driver(port)
        assert instance is not None
        fields: dict[str, int] = {}
        value = op.b
        for name, bits in reversed(fields_of(instance, sent=True)):
            fields[name] = value & (1 << bits) - 1
            value >>= bits
        return Command("send", port, data=op.b, fields=fields, where=op.where)

    def _register(self, op: ScriptOperation) -> str:
        return next((r.name for r in self._work.registers if r.offset == op.a), "")

    def begin(self, command: Command, done: DoneOperation) -> None:
        """The next command."""
        op = self._script.ops[done.at]
        self.run.commands.add(done.at)
        self._command, self._done, self._current = command, done, None
        self.text = op.text
        if self._first is None and command.kind != "read":
            self._first = done.begin

    # What a model calls.

    def job(self, commit: str = "", *, tag: int | None = None, events: int = 1, queue: str = "", after: Sequence[int] = ()) -> int:
        rule: int | None = None
        commits = self._observed.commits
        if commit or len(commits) == 1:
            rule = self._observed.commit(commit) if commit else 0
            if rule is None:
                raise self._wrong(f"there is no commit {commit}", f"declared are {', '.join(c.name for c in commits) or 'none'}")
        elif commits:
            raise self._wrong("a job names its commit", f"declared are {', '.join(c.name for c in commits)}")
        if rule is not None and commits[rule].tagged != (tag is not None):
            raise self._wrong(
                f"commit {commits[rule].name} has {'tags' if commits[rule].tagged else 'no tags'}, the job has tag {tag}"
            )
        if events < 1:
            raise self._wrong(f"a job takes at least one event, not {events}")
        numbers = {j.number for j in self.run.jobs if j.is_job}
        if unknown := [n for n in after if n not in numbers]:
            raise self._wrong(f"there is no job {unknown[0]} to come after")
        started = self._done.begin
        begin = started if self._first is None else min(self._first, started)
        self._current = self._add(True, rule, tag or 0, events, queue, tuple(after), begin)
        self._first = None
        return self._current.number

    def read(self, memory: str, address: int, size: int) -> bytes:
        place = self._place(memory)
        data = bytes(self._memory.get((place, address + n), 0) for n in range(size))
        if self._current is not None:
            self._current.reads.append(ModelRead(place, address, data))
        return data

    def write(self, memory: str, address: int, data: bytes) -> None:
        place = self._place(memory)
        held = bytes(data)
        for n, value in enumerate(held):
            self._memory[place, address + n] = value
        job = self._held()
        job.writes.append(ModelWrite(place, address, held, len(job.reads)))

    def give(self, port: str, value: int | None = None, **fields: int) -> None:
        instance = self._plan.driver(port)
        places = fields_of(instance, sent=False) if instance is not None else ()
        if not places:
            raise self._wrong(f"{port} gives no words")
        if (value is None) == (not fields):
            raise self._wrong("a word is its value, or its signals")
        whole = mask = 0
        known = dict(places)
        if value is not None:
            name, bits = places[-1]
            fields = {name: value}
        for name, given in fields.items():
            if name not in known:
                raise self._wrong(f"{port} has no signal {name}", f"it has {', '.join(known)}")
            if not 0 <= given < 1 << known[name]:
                raise self._wrong(f"{given:#x} does not fit into {name}, which has {known[name]} bits")
        for name, bits in places:
            whole = whole << bits | fields.get(name, 0)
            mask = mask << bits | ((1 << bits) - 1 if name in fields else 0)
        self._held().given.append(GivenWord(port, whole, mask))

    def expect(self, value: int, mask: int = -1) -> None:
        if self._command.kind != "read":
            raise self._wrong(f"a {self._command.kind} reads nothing")
        self.run.compared += 1
        if (self._command.data ^ value) & mask:
            self.run.expected.append(
                f"{self._command.where}: {self.text}: {self._command.data & mask:#x}, the model has {value & mask:#x}"
            )

    # Help.

    def _add(
        self, is_job: bool, rule: int | None, tag: int, events: int, queue: str, after: tuple[int, ...], begin: int
    ) -> ModelJob:
        job = ModelJob(
            len(self.run.jobs), is_job, rule, tag, events, queue, after, begin, self._done.begin, self.text, self._command.where,
            self._done.taken,
        )  # fmt: skip
        self.run.jobs.append(job)
        return job

    def _held(self) -> ModelJob:
        if self._current is None:
            self._current = self._add(False, None, 0, 1, "", (), self._done.begin)
        return self._current

    def _place(self, memory: str) -> int:
        for n, state in enumerate(self._observed.states):
            if state.name == memory:
                return INSIDE + n
        if found := spaces_of(self._plan, memory):
            return found[0]
        known = [p.name for p in self._plan.memories()] + [s.name for s in self._observed.states]
        raise self._wrong(f"there is no memory {memory}", f"there are {', '.join(known) or 'none'}")

    def _wrong(self, what: str, hint: str | None = None) -> ModelError:
        return ModelError(f"{self.text or 'a command'}: {what}", where=str(self._observed.model), hint=hint)
