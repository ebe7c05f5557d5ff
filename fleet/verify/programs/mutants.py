"""Mutants of the front end: change one place of its sources, and see whether random programs notice.

`python -m fleet.verify.programs.mutants --count 100 --seed 1` draws among all places. Mutants in places that no program runs
(`reach.py`) are counted as unreached. For every other mutant a process of its own (`judging.py`) runs the programs that reach its
place. A program finds the mutant if its outcome changes: the results, whether it is refused, the refusal's code, line or text, or
an internal error. `sim/fuzz/survivors.toml` lists the survivors that nothing can find, each with a reason.
"""

from __future__ import annotations

import argparse
import importlib
import io
import json
import multiprocessing
import random
import re
import resource
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fleet.core.cache import cache_root
from fleet.core.files import write_atomically
from fleet.verify.mutation.mutant import Mutant, identified
from fleet.verify.mutation.python_sites import TextEdit, changes
from fleet.verify.mutation.survivors import load_survivors
from fleet.verify.programs.drawing import DrawnProgram, Shares, draw_program
from fleet.verify.programs.fuzz import sources_hash
from fleet.verify.programs.judging import ChangeVerdict, Ready, Told, find, forget_fleet, told
from fleet.verify.programs.oracle import by_cpython
from fleet.verify.programs.reach import SourcePlace, innermost, marked, watch

ROOT = Path(__file__).parents[3]
SURVIVORS = ROOT / "sim" / "fuzz" / "survivors.toml"
FILES = (
    *(f"fleet/frontend/live/{n}.py" for n in ("arguments",)),
    *(f"fleet/frontend/reading/{n}.py" for n in ("evaluator", "findings", "static", "tensor", "values")),
    *(
        f"fleet/frontend/python/{n}.py"
        for n in ("assignment", "attributes", "comprehensions", "expressions", "operators", "statements", "subscripts")
    ),
    *(
        f"fleet/frontend/arrays/{n}.py"
        for n in (
            *("arguments", "builder", "emitting", "handlers", "known_values", "making", "operands", "parts"),
            *("signatures", "sizes", "tracing"),
            *(f"indices/{n}" for n in ("items", "loading", "storing")),
        )
    ),
    *(
        f"fleet/frontend/arrays/functions/{n}.py"
        for n in ("composed", "create", "elementwise", "order", "products", "reductions", "shapes", "shifts")
    ),
    *(f"fleet/ir/operations/{n}.py" for n in ("operation", "promotion", "elementwise", "movement", "reductions", "einsum")),
    *(f"fleet/ir/{n}.py" for n in ("shapes", "types")),
)
"""The files that programs exercise: statements, expressions, NumPy's functions, shapes and dtypes. Not included: classes, text,
random generators, `@jit`, the interpreter, sizes known only at run time.
"""
PROGRAMS, LOOKING, SEED = 6000, 600, 77
"""Number of programs run once without a mutant; maximum number run for one mutant; their seed."""
SHARES = Shares(wrong=0.3, planted=0.5, unknown=0.3, weights=0.1, surrounded=0.2, declared=0.15, language=0.3)
"""Raised shares of rare kinds, because a night runs thirty times as many programs."""
HOW = ("results", "refusal", "place", "names", "text")
"""Kinds of evidence against a mutant; see `judging.ChangeVerdict`."""
_FORM = 4


@dataclass(frozen=True)
class BaselineRuns:
    """Programs' behaviour without a mutant.

    outcomes, sources: by program. places: file -> its places. firsts: file -> number of its first place. ran: bool [programs,
    places], whether the program runs the place. imported: bool [places], whether the place runs when fleet is imported.
    """

    outcomes: list[Told]
    sources: list[str]
    places: Mapping[str, tuple[SourcePlace, ...]]
    firsts: Mapping[str, int]
    ran: NDArray[np.bool_]
    imported: NDArray[np.bool_]

    def _running(self, mutant: Mutant, change: TextEdit) -> list[int]:
        """Return the programs that run the changed place. If it runs at import, those that run any place of its function."""
        places, first = self.places[mutant.file], self.firsts[mutant.file]
        number = innermost(places, change.start, change.end)
        columns = [first + number]
        if self.imported[first + number]:
            around = places[number]
            columns += [first + n for n, p in enumerate(places) if around.whole and around.start < p.start and p.end <= around.end]
            if len(columns) == 1:
                return list(range(len(self.sources)))
        return [int(n) for n in np.flatnonzero(self.ran[:, columns].any(axis=1))]

    def _reading(self, mutant: Mutant) -> list[int]:
        """Return the programs that run a use of the module-level name that the mutant's line assigns; empty if it assigns none."""
        named = _GIVEN.match(mutant.context)
        if named is None:
            return []
        source = (ROOT / mutant.file).read_text(encoding="utf-8")
        places, first = self.places[mutant.file], self.firsts[mutant.file]
        spans = [m.span() for m in re.finditer(rf"\b{named[1]}\b", source)]
        read = {first + innermost(places, *s) for s in spans if any(p.start <= s[0] < p.end for p in places)}  # not in a docstring
        columns = [n for n in read if not self.imported[n]]
        return [int(n) for n in np.flatnonzero(self.ran[:, columns].any(axis=1))]

    def looking(self, mutant: Mutant, change: TextEdit) -> list[int]:
        """Return the programs to run for a mutant, half of them refused ones: those that run its place; for a module-level name,
        those that run its uses; for a row of a table, those that contain a word of the row.
        """
        there = self._running(mutant, change) if mutant.unit != "module" else self._reading(mutant)
        if not there:
            words = set(_WORD.findall(mutant.context)) - {"for", "not", "Signature", "axis"}
            there = [n for n, s in enumerate(self.sources) if words & set(_WORD.findall(s))]
            if len(there) < LOOKING:
                there += [n for n in range(0, len(self.sources), 8) if n not in there]
        refused = [n for n in there if self.outcomes[n][0] == "refused"]
        taken = set(_spread(refused, LOOKING // 2))
        found = sorted(taken | set(_spread([n for n in there if n not in taken], LOOKING - len(taken))))
        random.Random(mutant.id).shuffle(found)
        return found

    def reaches(self, mutant: Mutant, change: TextEdit) -> bool:
        """Return whether a program runs the mutant's place. Every program counts for code at module level."""
        return mutant.unit == "module" or bool(self._running(mutant, change))

    def lines_at_import(self, file: str) -> set[int]:
        """Lines of the file that run when fleet is imported."""
        first = self.firsts[file]
        return {p.line for n, p in enumerate(self.places[file]) if self.imported[first + n]}


def _spread(numbers: list[int], most: int) -> list[int]:
    return numbers[:: max(1, len(numbers) // most)][:most]


_WORD = re.compile(r"[A-Za-z_]\w{2,}")
_GIVEN = re.compile(r"(_?[A-Z][A-Z_]+)(?:, |\s*[:=])")


@dataclass(frozen=True)
class Sites:
    """All mutants of `FILES`, and their changes by id."""

    mutants: tuple[Mutant, ...]
    changes: dict[str, TextEdit]


def sites() -> Sites:
    """Read the files and return their mutants."""
    found = [(f, c, (ROOT / f).read_text(encoding="utf-8").splitlines()[c.line - 1].strip()) for f, c in _all()]
    mutants = identified(("passes", f, c.line, c.unit, c.operator, c.before, c.after, line) for f, c, line in found)
    return Sites(tuple(mutants), {m.id: c for m, (_, c, _) in zip(mutants, found, strict=True)})


def _all() -> Iterator[tuple[str, TextEdit]]:
    for f in FILES:
        yield from ((f, c) for c in changes((ROOT / f).read_text(encoding="utf-8")))


class Programs:
    """Draws the programs of `SEED`, each once."""

    def __init__(self) -> None:
        self._drawn: dict[int, Ready] = {}

    def ready(self, numbers: Sequence[int], before: Sequence[Told]) -> list[Ready]:
        """Return the programs with these numbers. before: outcomes of all programs."""
        for n in numbers:
            if n not in self._drawn:
                d = _drawn(n)
                self._drawn[n] = Ready(n, d.source, d.arrays, d.weights, by_cpython(d.source, d.arrays), before[n])
        return [self._drawn[n] for n in numbers]


def _drawn(number: int) -> DrawnProgram:
    return draw_program((SEED, number), (), shares=SHARES)


def known(programs: int = PROGRAMS) -> BaselineRuns:
    """Run the programs and record which places they run. Results for unchanged sources come from the cache."""
    path = cache_root() / "program-mutants" / f"{sources_hash()}-{programs}-{_FORM}.npz"
    if not path.exists():
        process = multiprocessing.get_context("fork").Process(target=_record, args=(programs, path))
        process.start()
        process.join()
    if not path.exists():
        raise RuntimeError("the programs were not recorded")
    with np.load(path) as kept:
        outcomes, sources = json.loads(str(kept["outcomes"])), json.loads(str(kept["sources"]))
        places, firsts = _places()
        imported = np.asarray(kept["imported"], dtype=np.bool_)
        ran = np.unpackbits(kept["ran"], axis=1, count=imported.size).astype(np.bool_)
    return BaselineRuns(outcomes, sources, places, firsts, ran, imported)


def _places() -> tuple[dict[str, tuple[SourcePlace, ...]], dict[str, int]]:
    """Return the places of each file, and the number of its first place."""
    places = {f: marked((ROOT / f).read_text(encoding="utf-8"))[1] for f in FILES}
    return places, dict(zip(FILES, accumulate((len(places[f]) for f in FILES), initial=0), strict=False))


def _record(programs: int, path: Path) -> None:
    """Main function of a process that imports fleet again with marks, to record the places that run."""
    places, firsts = _places()
    count = sum(map(len, places.values()))
    seen: set[int] = set()
    forget_fleet()
    watch({ROOT / f: first for f, first in firsts.items()}, seen.add)
    oracle = importlib.import_module(by_cpython.__module__)
    imported = _row(seen, count)
    ran: list[NDArray[np.uint8]] = []
    outcomes: list[Told] = []
    sources: list[str] = []
    with oracle.ProgramOracle() as runs:
        for number in range(programs):
            drawn = _drawn(number)
            seen.clear()
            outcome = runs.compare(oracle.ComparedProgram(drawn.source, drawn.arrays, drawn.weights))
            ran.append(np.packbits(_row(seen, count)))
            sources.append(drawn.source)
            outcomes.append(told(outcome))
    data = io.BytesIO()
    texts = np.array(json.dumps(outcomes)), np.array(json.dumps(sources))
    np.savez_compressed(data, ran=np.array(ran), imported=imported, outcomes=texts[0], sources=texts[1])
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, data.getvalue())


def _row(seen: set[int], count: int) -> NDArray[np.bool_]:
    row = np.zeros(count, np.bool_)
    row[list(seen)] = True
    return row


def look(mutant: Mutant | None, change: TextEdit | None, before: BaselineRuns, programs: Programs) -> ChangeVerdict:
    """Run a mutant's programs. mutant None: run a sample of all programs on the unchanged front end."""
    if mutant is None:
        numbers = range(0, len(before.sources), max(1, len(before.sources) // 100))
        return find(None, ROOT, set(), programs.ready(numbers, before.outcomes))
    assert change is not None
    looking = programs.ready(before.looking(mutant, change), before.outcomes)
    return find(change, ROOT / mutant.file, before.lines_at_import(mutant.file), looking)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print one line per mutant, and the shares. Returns 1 if a survivor is not explained."""
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
    reached = sum(before.reaches(m, there.changes[m.id]) for m in there.mutants)
    print(f"{len(there.mutants):,} mutants in {len(FILES)} files, {reached:,} in places that programs run", flush=True)
    if (verdict := look(None, None, before, programs)).by:
        print(f"the unchanged front end is found: {verdict.said}")
        return 3
    found: Counter[str] = Counter()
    for m in chosen:
        began = time.process_time() + _children()
        change = there.changes[m.id]
        reaches = before.reaches(m, change)
        verdict = look(m, change, before, programs) if reaches else ChangeVerdict("", "no program runs the place", 0)
        judged = explained.get(m.id)
        word = verdict.by or (judged.kind if judged is not None else "SURVIVED" if reaches else "UNREACHED")
        found[word] += 1
        seconds = time.process_time() + _children() - began
        print(f"{word:10} {m.id} {m.describe()} ({verdict.programs} programs, {seconds:.1f} s): {verdict.said[:240]}", flush=True)
    print(_summary(found, given.seed))
    return int(found["SURVIVED"] + found["UNREACHED"] > 0)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _summary(found: Counter[str], seed: int) -> str:
    """Return the shares of mutants that are not equivalent: in places that programs run, and of all."""
    by = {w: found[w] for w in HOW}
    dead, unreached, same = sum(by.values()), found["UNREACHED"], found["equivalent"]
    rest = max(1, found.total() - same)
    reached = max(1, rest - unreached)
    return (
        f"{dead} of {found.total()} found ({', '.join(f'{w} {n}' for w, n in by.items())}), {same} equivalent, "
        f"{unreached} in places that no program runs: {100 * dead / reached:.1f} % of the others in places that programs run, "
        f"{100 * dead / rest:.1f} % of all others; {found['SURVIVED']} unexplained; seed {seed}"
    )


if __name__ == "__main__":
    sys.exit(main())
