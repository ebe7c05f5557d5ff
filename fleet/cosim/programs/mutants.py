"""Mutants of the front end: change one place of its sources, and see whether random programs notice.

`python -m fleet.cosim.programs.mutants --count 100 --seed 1` draws among all places. Mutants in lines that no program runs are
counted as unreached. For every other mutant a process of its own (`judging.py`) runs the programs that reach its line. A program
finds the mutant if its outcome changes: the results, whether it is refused, the refusal's code, line or text, or an internal error.
`sim/fuzz/survivors.toml` lists the survivors that nothing can find, each with a reason.
"""

from __future__ import annotations

import argparse
import importlib
import json
import multiprocessing
import random
import re
import resource
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from fleet.core.cache import cache_root
from fleet.cosim.files import write_atomically
from fleet.cosim.mutation.mutant import Mutant, identified
from fleet.cosim.mutation.python_sites import Change, changes
from fleet.cosim.mutation.survivors import load_survivors
from fleet.cosim.programs.drawing import Drawn, Shares, draw_program
from fleet.cosim.programs.fuzz import sources_hash
from fleet.cosim.programs.judging import Ready, Told, Verdict, find, forget_fleet, told
from fleet.cosim.programs.oracle import by_cpython

__all__ = ["FILES", "HOW", "SURVIVORS", "Known", "Programs", "Sites", "known", "look", "main", "sites"]

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
PROGRAMS, LOOKING, SEED = 3000, 500, 77
"""Programs that were run once without a mutant; those that look for one mutant, at most; their seed."""
SHARES = Shares(wrong=0.3, unknown=0.3, weights=0.1)
"""More of what is rare: a night runs thirty times as many programs."""
HOW = ("results", "refusal", "place", "names", "text")
"""How a mutant is found, see `judging.Verdict`."""
_FORM = 3
_AT_IMPORT = -1


@dataclass(frozen=True)
class Known:
    """What programs do without a mutant.

    outcomes, sources: of each; lines: "file:line" -> numbers of the programs that run it, -1 where it runs at import.
    """

    outcomes: list[Told] = field(default_factory=list[Told])
    sources: list[str] = field(default_factory=list[str])
    lines: dict[str, list[int]] = field(default_factory=dict[str, list[int]])

    def looking(self, mutant: Mutant) -> list[int]:
        """The programs for a mutant: those that run its line, half of them refused; of a table, those with a word of the row."""
        if mutant.unit != "module":
            there = [n for n in self.lines.get(mutant.place, []) if n >= 0]
        else:
            words = set(_WORD.findall(mutant.context)) - {"for", "not", "Signature", "axis"}
            there = [n for n, s in enumerate(self.sources) if words & set(_WORD.findall(s))]
            there = there[:LOOKING] + [n for n in range(0, len(self.sources), 8) if n not in there]
        refused = [n for n in there if self.outcomes[n][0] == "refused"]
        taken = set(_spread(refused, LOOKING // 2))
        found = sorted(taken | set(_spread([n for n in there if n not in taken], LOOKING - len(taken))))
        random.Random(mutant.id).shuffle(found)
        return found

    def reaches(self, mutant: Mutant) -> bool:
        """Whether a program runs the mutant's line. Every program runs the lines of a table."""
        return mutant.unit == "module" or any(n >= 0 for n in self.lines.get(mutant.place, ()))

    def imported(self, file: str) -> set[int]:
        """Lines of the file that run when fleet is imported."""
        name = file + ":"
        return {int(p[len(name) :]) for p, numbers in self.lines.items() if p.startswith(name) and numbers[0] == _AT_IMPORT}


def _spread(numbers: list[int], most: int) -> list[int]:
    return numbers[:: max(1, len(numbers) // most)][:most]


_WORD = re.compile(r"[A-Za-z_]\w{2,}")


@dataclass(frozen=True)
class Sites:
    """All mutants of `FILES`, and their changes by id."""

    mutants: tuple[Mutant, ...]
    changes: dict[str, Change]


def sites() -> Sites:
    """Reads the files."""
    found = [(f, c, (ROOT / f).read_text(encoding="utf-8").splitlines()[c.line - 1].strip()) for f, c in _all()]
    mutants = identified(("passes", f, c.line, c.unit, c.operator, c.before, c.after, line) for f, c, line in found)
    return Sites(tuple(mutants), {m.id: c for m, (_, c, _) in zip(mutants, found, strict=True)})


def _all() -> Iterator[tuple[str, Change]]:
    for f in FILES:
        yield from ((f, c) for c in changes((ROOT / f).read_text(encoding="utf-8")))


class Programs:
    """Draws the programs of `SEED`, each once."""

    def __init__(self) -> None:
        self._drawn: dict[int, Ready] = {}

    def ready(self, numbers: Sequence[int], before: Sequence[Told]) -> list[Ready]:
        """Programs of these numbers; before: outcomes of all."""
        for n in numbers:
            if n not in self._drawn:
                d = _drawn(n)
                self._drawn[n] = Ready(n, d.source, d.inputs, d.weights, by_cpython(d.source, d.inputs), before[n])
        return [self._drawn[n] for n in numbers]


def _drawn(number: int) -> Drawn:
    return draw_program((SEED, number), (), shares=SHARES)


def known(programs: int = PROGRAMS) -> Known:
    """Runs the programs and sees which lines they run; for sources that have not changed, what was kept of it."""
    path = cache_root() / "program-mutants" / f"{sources_hash()}-{programs}.json"
    for _ in range(2):
        if path.exists():
            table = json.loads(path.read_text(encoding="utf-8"))
            if table["form"] == _FORM:
                return Known(table["outcomes"], table["sources"], table["lines"])
        process = multiprocessing.get_context("fork").Process(target=_record, args=(programs, path))
        process.start()
        process.join()
    raise RuntimeError("the programs were not recorded")


def _record(programs: int, path: Path) -> None:
    """Main of a process that imports fleet again, so that it is seen which lines run then."""
    names = {str(ROOT / f): f for f in FILES}
    seen: set[tuple[str, int]] = set()

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        name = names.get(frame.f_code.co_filename)
        if name is None:
            return None
        if event == "line":
            seen.add((name, frame.f_lineno))
        return trace

    found = Known()

    def note(number: int) -> None:
        for file, line in seen:
            found.lines.setdefault(f"{file}:{line}", []).append(number)
        seen.clear()

    forget_fleet()
    sys.settrace(trace)
    oracle = importlib.import_module(by_cpython.__module__)
    note(_AT_IMPORT)
    with oracle.Oracle() as runs:
        for number in range(programs):
            drawn = _drawn(number)
            outcome = runs.compare(oracle.Model(drawn.source, drawn.inputs, drawn.weights))
            found.sources.append(drawn.source)
            found.outcomes.append(told(outcome))
            note(number)
    sys.settrace(None)
    table = {"form": _FORM, "outcomes": found.outcomes, "sources": found.sources, "lines": found.lines}
    write_atomically(path, json.dumps(table).encode())


def look(mutant: Mutant | None, change: Change | None, before: Known, programs: Programs) -> Verdict:
    """What the programs for a mutant say; None: some of all, of the unchanged front end."""
    if mutant is None:
        numbers = range(0, len(before.sources), max(1, len(before.sources) // 100))
        return find(None, ROOT, set(), programs.ready(numbers, before.outcomes))
    return find(change, ROOT / mutant.file, before.imported(mutant.file), programs.ready(before.looking(mutant), before.outcomes))


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints a line a mutant, and the shares. Ends with 1 where a survivor is not explained."""
    parser = argparse.ArgumentParser(description="Mutants of the front end, and whether random programs find them.")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="ids, separated by commas")
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    before, there, programs = known(), sites(), Programs()
    chosen = random.Random(given.seed).sample(there.mutants, min(given.count, len(there.mutants)))
    if given.only:
        chosen = [m for m in there.mutants if m.id in given.only.split(",")]
    explained = load_survivors(SURVIVORS)
    reached = sum(before.reaches(m) for m in there.mutants)
    print(f"{len(there.mutants):,} mutants in {len(FILES)} files, {reached:,} in lines that programs run", flush=True)
    if (verdict := look(None, None, before, programs)).by:
        print(f"the unchanged front end is found: {verdict.said}")
        return 3
    found: Counter[str] = Counter()
    for m in chosen:
        began = time.process_time() + _children()
        verdict = (
            look(m, there.changes[m.id], before, programs) if before.reaches(m) else Verdict("", "no program runs the line", 0)
        )
        judged = explained.get(m.id)
        word = verdict.by or (judged.kind if judged is not None else "SURVIVED" if before.reaches(m) else "UNREACHED")
        found[word] += 1
        seconds = time.process_time() + _children() - began
        print(f"{word:10} {m.id} {m.describe()} ({verdict.programs} programs, {seconds:.1f} s): {verdict.said[:240]}", flush=True)
    print(_summary(found, given.seed))
    return int(found["SURVIVED"] + found["UNREACHED"] > 0)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _summary(found: Counter[str], seed: int) -> str:
    """Shares of what is not equivalent: in lines that programs run, and of all."""
    by = {w: found[w] for w in HOW}
    dead, unreached, same = sum(by.values()), found["UNREACHED"], found["equivalent"]
    rest = max(1, found.total() - same)
    reached = max(1, rest - unreached)
    return (
        f"{dead} of {found.total()} found ({', '.join(f'{w} {n}' for w, n in by.items())}), {same} equivalent, "
        f"{unreached} in lines that no program runs: {100 * dead / reached:.1f} % of the others in lines that programs run, "
        f"{100 * dead / rest:.1f} % of all others; {found['SURVIVED']} unexplained; seed {seed}"
    )


if __name__ == "__main__":
    sys.exit(main())
