"""A batch of programs: drawn, compared, counted. The result depends only on the seed, the numbers and the bins aimed at."""

from __future__ import annotations

import gc
import re
from collections import Counter
from dataclasses import dataclass, field

from fleet.core.codec import NOT_STORED
from fleet.verify.programs.bins import BINS, BinCounts
from fleet.verify.programs.devices import draw_device_program
from fleet.verify.programs.drawing import FUNCTION, DrawnProgram, draw_program
from fleet.verify.programs.oracle import KERNEL_ENGINES, ComparedProgram, ProgramOracle, ProgramOutcome, by_cpython
from fleet.verify.programs.parts.wrong import same_kind

ENGINES = ("interp", *KERNEL_ENGINES, "iss")
EVERY = {**dict.fromkeys(KERNEL_ENGINES, 64), "interp": 8, "iss": 200}
"""Engine -> one program in so many runs on it. Programs for iss are drawn for a device. All run on CPython and the golden."""


@dataclass(frozen=True)
class BatchOrder:
    """Programs first <= n < first + count of a seed, on some of `ENGINES`; wanted: bins to aim at; avoided: refused bins."""

    seed: int
    first: int
    count: int
    wanted: tuple[int, ...]
    engines: tuple[str, ...]
    avoided: frozenset[int] = frozenset()


@dataclass(frozen=True)
class ProgramFailure:
    """A program whose results differ. signature: the same for failures with one cause."""

    number: int
    signature: str
    said: str
    model: ComparedProgram


@dataclass
class Batch:
    """Counts of a batch, or the sums of several.

    accepted: programs that were compared, whether they agreed or not.
    refused: by code, programs that CPython runs and that were not planted.
    wrong: programs that CPython refuses too.
    planted: programs with a statement that fleet refuses by design, whether CPython runs them or not.
    engines: name -> programs that agreed on it.
    reordered: accepted programs that agreed only with operands in C order.
    """

    accepted: int = 0
    refused: Counter[str] = field(default_factory=Counter[str])
    wrong: int = 0
    planted: int = 0
    statements: int = 0
    reordered: int = 0
    engines: Counter[str] = field(default_factory=Counter[str])
    account: BinCounts = field(default_factory=BinCounts)
    failures: list[ProgramFailure] = field(default_factory=list[ProgramFailure], metadata=NOT_STORED)

    @property
    def drawn(self) -> int:
        """Programs that CPython runs and that were not planted."""
        return self.accepted + sum(self.refused.values())

    def add(self, other: Batch) -> None:
        """Add another batch's counts."""
        self.accepted += other.accepted
        self.wrong += other.wrong
        self.planted += other.planted
        self.statements += other.statements
        self.reordered += other.reordered
        self.refused.update(other.refused)
        self.engines.update(other.engines)
        self.account.add(other.account)
        self.failures += other.failures


def run_batch(order: BatchOrder, oracle: ProgramOracle) -> Batch:
    """Run the programs one after the other."""
    found = Batch()
    gc.disable()  # the IR is full of reference cycles; collecting between batches saves a third of the time
    try:
        for number in range(order.first, order.first + order.count):
            _one(order, number, oracle, found)
    finally:
        gc.enable()
        gc.collect()
    return found


def _one(order: BatchOrder, number: int, oracle: ProgramOracle, found: Batch) -> None:
    if "iss" in order.engines and number % EVERY["iss"] == EVERY["iss"] - 1:
        model, drawn = draw_device_program((order.seed, number)), None
    else:
        drawn = draw_program((order.seed, number), order.wanted, order.avoided)
        engines = tuple(e for e in order.engines if e != "iss" and number % EVERY[e] == 0 and not drawn.wrong)
        model = ComparedProgram(drawn.source, drawn.arrays, drawn.weights, engines)
    outcome = oracle.compare(model)
    if drawn is not None:
        _account(drawn, outcome, found)
        if drawn.wrong and outcome.kind == "refused":
            outcome = _placed(drawn, outcome, oracle)
    if outcome.kind == "refused":
        if drawn is None or not drawn.wrong:
            found.refused[outcome.cause] += 1
        elif drawn.planted:
            found.planted += 1
        else:
            found.wrong += 1
        return
    found.accepted += 1
    found.statements += len(drawn.lines) if drawn is not None else 1
    found.reordered += outcome.reordered
    found.engines.update(outcome.engines)
    if outcome.kind == "differs":
        found.failures.append(ProgramFailure(number, signature(model, outcome), outcome.said, model))


def _placed(drawn: DrawnProgram, outcome: ProgramOutcome, oracle: ProgramOracle) -> ProgramOutcome:
    """Return the refusal, or a difference if the refusal is misplaced.

    It is misplaced if it names a line before the wrong statement, and that line is accepted without the statement; or if its kind
    differs from CPython's error at the statement.
    """
    rows = sum(line.text.count("\n") + 1 for line in drawn.lines[:-1])
    first = drawn.source[: drawn.source.index(f"def {FUNCTION}(")].count("\n") + 2
    if first + rows <= outcome.line and not drawn.planted:
        raised = by_cpython(drawn.source, drawn.arrays).results
        if isinstance(raised, str) and not same_kind(outcome.cause, raised, outcome.said):
            return ProgramOutcome(
                "differs", "kind", f"line {outcome.line}: CPython raises {raised}; fleet refuses with {outcome.said}"
            )
    around = not outcome.line or (drawn.planted and outcome.line < first)
    if first + rows <= outcome.line or around or not drawn.before:
        return outcome
    if oracle.compare(ComparedProgram(drawn.before, drawn.arrays, drawn.weights)).kind == "refused":
        return outcome
    return ProgramOutcome(
        "differs", "place", f"line {outcome.line} is refused, but only where line {first + rows} stands: {outcome.said}"
    )


def _account(drawn: DrawnProgram, outcome: ProgramOutcome, found: Batch) -> None:
    account = found.account
    account.add(drawn.account)
    if outcome.kind == "agreed":
        for line in drawn.lines:
            for number in line.bins:
                account.met[number] = account.met.get(number, 0) + 1
    elif outcome.kind == "refused" and outcome.line:
        row = drawn.source.split("\n")[outcome.line - 1].strip()
        for line in drawn.lines:
            if any(row == t.strip() for t in line.text.split("\n")):
                for number in line.bins:
                    account.refused[number] = account.refused.get(number, 0) + 1
                break


_DTYPE = re.compile(r"\b(?:bool|u?int\d+|float\d+)\b")


def kind_of(outcome: ProgramOutcome) -> tuple[str, ...]:
    """Return what a smaller program must share: the cause; for dtypes the dtypes, for engines words without names and numbers."""
    if outcome.cause in ENGINES:
        first = outcome.said.partition(";")[0]
        return outcome.cause, " ".join(w for w in first.split() if w.isalpha())
    return (outcome.cause, *(_DTYPE.findall(outcome.said) if outcome.cause == "dtype" else ()))


_NAMES = re.compile(r"np\.(?:linalg\.)?\w+|\.\w+(?=\()|//=?|\*\*=?|<<|>>|[-+*/%&|^]=?")


def signature(model: ComparedProgram, outcome: ProgramOutcome) -> str:
    """Return the cause and the functions in the statement that differs."""
    name = re.match(r"(\w+)\[|(\w+):", outcome.said)
    lines = [r for r in model.source.split("\n") if name is not None and re.match(rf"    {name[1] or name[2]}\b", r)]
    text = lines[-1] if lines else ""
    known = [n for n in _NAMES.findall(text.partition("=")[2]) if n not in {f"np.{d}" for d in {b[1] for b in BINS}}]
    return (
        f"{outcome.cause}: {' '.join(sorted(set(known)))}"
        if known
        else f"{outcome.cause}: {re.sub(r'[0-9]+', 'N', outcome.said)[:80]}"
    )
