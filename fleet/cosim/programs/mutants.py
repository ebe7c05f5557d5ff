"""Mutants of the front end: small changes of its sources, one at a time, and whether random programs tell them from the original.

`python -m fleet.cosim.programs.mutants --count 100 --seed 1` draws among the places that the programs reach, line by line, and says
how many there are that none of them reaches. Every mutant runs in a fresh process (`fleet.cosim.mutation.python_hook`) on programs
that run its line. The first program whose outcome is another finds it: other results, a refusal, its code or its lines, an internal
error. Survivors that nothing can find stand in `sim/fuzz/survivors.toml`, each with a reason.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from fleet.core.cache import cache_root
from fleet.core.processes import run
from fleet.core.scratch import Scratch
from fleet.cosim.files import write_atomically
from fleet.cosim.mutation.mutant import Mutant, identified
from fleet.cosim.mutation.python_hook import environment
from fleet.cosim.mutation.python_sites import Change, changes
from fleet.cosim.mutation.survivors import load_survivors
from fleet.cosim.programs.batches import outcomes
from fleet.cosim.programs.drawing import Shares
from fleet.cosim.programs.fuzz import sources_hash
from fleet.cosim.programs.oracle import Outcome

__all__ = ["FILES", "SURVIVORS", "Known", "Sites", "known", "look", "main", "sites"]

ROOT = Path(__file__).parents[3]
SURVIVORS = ROOT / "sim" / "fuzz" / "survivors.toml"
FILES = (
    *(f"fleet/frontend/_{n}.py" for n in ("arguments", "builder", "composed", "create", "evaluator", "expressions", "indexing")),
    *(f"fleet/frontend/_{n}.py" for n in ("known", "numpy", "order", "shapes", "shifts", "signatures", "sizes", "statements")),
    *(f"fleet/frontend/_{n}.py" for n in ("static", "tracing", "values")),
    *(f"fleet/ir/{n}.py" for n in ("promotion", "infer", "infer_movement", "infer_reductions", "shapes", "einsum", "types")),
)
"""What the programs are about: statements, expressions, NumPy's functions, shapes and dtypes. Left out: classes, text, random
generators, `@jit`, the interpreter, sizes that only the run knows."""
PROGRAMS, LOOKING, SEED = 3000, 250, 77
"""Programs that were run once without a mutant; those that look for one mutant, at most; their seed."""
SHARES = Shares(wrong=0.3, unknown=0.3, weights=0.1)
"""More of what is rare: a night runs thirty times as many programs."""
_PATIENCE_S = 180.0
_FORM = 2


@dataclass(frozen=True)
class Known:
    """What programs do without a mutant. outcomes, sources: of each; lines: "file:line" -> numbers of the programs that run it."""

    outcomes: list[list[str | int]]
    sources: list[str]
    lines: dict[str, list[int]]

    def looking(self, mutant: Mutant) -> list[int]:
        """The programs for a mutant: those that run its line, half of them refused; of a table, those with a word of the row."""
        if mutant.unit != "module":
            there = self.lines.get(mutant.place, [])
        else:
            words = set(_WORD.findall(mutant.context)) - {"for", "not", "Signature", "axis"}
            there = [n for n, s in enumerate(self.sources) if words & set(_WORD.findall(s))]
            there = there[:LOOKING] + [n for n in range(0, len(self.sources), 8) if n not in there]
        refused = [n for n in there if self.outcomes[n][0] == "refused"]
        taken = set(_spread(refused, LOOKING // 2))
        return sorted(taken | set(_spread([n for n in there if n not in taken], LOOKING - len(taken))))


def _spread(numbers: list[int], most: int) -> list[int]:
    return numbers[:: max(1, len(numbers) // most)][:most]


_PLACE = re.compile(r"model\.py:(\d+)")
_WORD = re.compile(r"[A-Za-z_]\w{2,}")


@dataclass(frozen=True)
class Sites:
    """All mutants of `FILES` with their changes; reached: ids of those in a line that a program runs."""

    mutants: tuple[Mutant, ...]
    changes: dict[str, Change]
    reached: frozenset[str]


def sites(programs: Known) -> Sites:
    """Reads the files."""
    found = [(f, c, (ROOT / f).read_text(encoding="utf-8").splitlines()[c.line - 1].strip()) for f, c in _all()]
    mutants = identified(("passes", f, c.line, c.unit, c.operator, c.before, c.after, line) for f, c, line in found)
    reached = frozenset(m.id for m in mutants if m.unit == "module" or m.place in programs.lines)
    return Sites(tuple(mutants), {m.id: c for m, (_, c, _) in zip(mutants, found, strict=True)}, reached)


def _all() -> Iterator[tuple[str, Change]]:
    for f in FILES:
        yield from ((f, c) for c in changes((ROOT / f).read_text(encoding="utf-8")))


def known(programs: int = PROGRAMS) -> Known:
    """Runs the programs and sees which lines they run; for sources that have not changed, what was kept of it."""
    path = cache_root() / "program-mutants" / f"{sources_hash()}-{programs}.json"
    if path.exists():
        table = json.loads(path.read_text(encoding="utf-8"))
        if table["form"] == _FORM:
            return Known(table["outcomes"], table["sources"], table["lines"])
    found = _run(programs)
    table = {"form": _FORM, "outcomes": found.outcomes, "sources": found.sources, "lines": found.lines}
    write_atomically(path, json.dumps(table).encode())
    return found


def _run(programs: int) -> Known:
    names = {str(ROOT / f): f for f in FILES}
    seen: set[tuple[str, int]] = set()

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        name = names.get(frame.f_code.co_filename)
        if name is None:
            return None
        if event == "line":
            seen.add((name, frame.f_lineno))
        return trace

    found = Known([], [], {})
    sys.settrace(trace)
    try:
        for number, (source, outcome) in enumerate(outcomes(SEED, range(programs), SHARES)):
            found.sources.append(source)
            found.outcomes.append(_told(outcome))
            for file, line in seen:
                found.lines.setdefault(f"{file}:{line}", []).append(number)
            seen.clear()
    finally:
        sys.settrace(None)
    return found


def _told(outcome: Outcome) -> list[str | int]:
    return [outcome.kind, outcome.cause, *(_PLACE.findall(outcome.said) if outcome.kind == "refused" else ())]


def look(change: Change | None, file: str, numbers: Sequence[int], expected: Sequence[list[str | int]]) -> str:
    """How programs of these numbers and outcomes find the mutant, empty where it survives; None: the unchanged front end."""
    variables = (
        dict(os.environ) if change is None else environment(ROOT / file, change.start, change.end, change.before, change.after)
    )
    with Scratch("mutants") as folder:
        path = folder / "expected.json"
        path.write_text(json.dumps([[n, expected[n]] for n in numbers]), encoding="utf-8")
        command = [sys.executable, "-W", "ignore", "-m", "fleet.cosim.programs.mutants", "--child", str(path)]
        try:
            done = run(command, env=variables, cwd=ROOT, timeout=_PATIENCE_S)
        except subprocess.TimeoutExpired:
            return f"does not end in {_PATIENCE_S:g} s"
    if done.returncode == 0:
        return ""
    lines = (done.stdout.strip() or done.stderr.strip() or "no word").splitlines()
    return lines[-1]


def _child(path: Path) -> int:
    """Ends with 1 at the first outcome that is another."""
    expected: list[tuple[int, list[str | int]]] = json.loads(path.read_text(encoding="utf-8"))
    numbers = [n for n, _ in expected]
    for (number, before), (_, outcome) in zip(expected, outcomes(SEED, numbers, SHARES), strict=True):
        if _told(outcome) != before:
            first = outcome.said.splitlines()[:1]
            print(f"{' '.join(map(str, _told(outcome)))} instead of {' '.join(map(str, before))}: program {number}: {first}")
            return 1
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints a line a mutant, and the shares. Ends with 1 where a survivor is not explained."""
    parser = argparse.ArgumentParser(description="Mutants of the front end, and whether random programs find them.")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="", help="ids, separated by commas")
    parser.add_argument("--child", metavar="EXPECTED", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.child:
        return _child(Path(given.child))
    before = known()
    there = sites(before)
    reached = [m for m in there.mutants if m.id in there.reached]
    chosen = random.Random(given.seed).sample(reached, min(given.count, len(reached)))
    if given.only:
        chosen = [m for m in there.mutants if m.id in given.only.split(",")]
    explained = load_survivors(SURVIVORS)
    print(f"{len(there.mutants):,} mutants in {len(FILES)} files, {len(reached):,} in lines that programs reach", flush=True)
    if how := look(None, "", range(0, PROGRAMS, PROGRAMS // 100), before.outcomes):
        print(f"the unchanged front end is found: {how}")
        return 3

    def one(m: Mutant) -> tuple[Mutant, str, float]:
        began = time.monotonic()
        how = look(there.changes[m.id], m.file, before.looking(m), before.outcomes)
        return m, how, time.monotonic() - began

    found = equivalent = holes = 0
    with ThreadPoolExecutor(given.jobs) as executor:
        for m, how, seconds in executor.map(one, chosen):
            judged = explained.get(m.id)
            same = judged is not None and judged.kind == "equivalent" and not how
            found, equivalent = found + bool(how), equivalent + same
            holes += not how and judged is None
            word = "found   " if how else judged.kind if judged is not None else "SURVIVED"
            print(f"{word} {m.id} {m.describe()} ({seconds:.0f} s): {how[:150]}", flush=True)
    rest = max(1, len(chosen) - equivalent)
    print(
        f"{found} of {len(chosen)} found, {equivalent} equivalent: {100 * found / rest:.1f} % of the others; {holes} unexplained; "
        f"seed {given.seed}"
    )
    return int(holes > 0)


if __name__ == "__main__":
    sys.exit(main())
