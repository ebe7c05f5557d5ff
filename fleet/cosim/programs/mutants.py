"""Mutants of the front end: small changes of its sources, one at a time, and whether random programs tell them from the original.

`python -m fleet.cosim.programs.mutants --count 100 --seed 1` draws among the places that the programs reach, line by line, and says
how many there are that none of them reaches. Every mutant runs in a fresh process (`fleet.cosim.mutation.python_hook`) on the
programs of one seed. The first program whose outcome is another finds it: other results, a refusal or its code, an internal error.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from fleet.core.processes import run
from fleet.core.scratch import Scratch
from fleet.cosim.mutation.mutant import Mutant, identified
from fleet.cosim.mutation.python_hook import environment
from fleet.cosim.mutation.python_sites import Change, changes
from fleet.cosim.programs.batches import Order, outcomes

__all__ = ["FILES", "Sites", "look", "main", "sites"]

ROOT = Path(__file__).parents[3]
FILES = (
    *(f"fleet/frontend/_{n}.py" for n in ("arguments", "builder", "composed", "create", "evaluator", "expressions", "indexing")),
    *(f"fleet/frontend/_{n}.py" for n in ("known", "numpy", "order", "shapes", "shifts", "signatures", "sizes", "statements")),
    *(f"fleet/frontend/_{n}.py" for n in ("static", "tracing", "values")),
    *(f"fleet/ir/{n}.py" for n in ("promotion", "infer", "infer_movement", "infer_reductions", "shapes", "einsum", "types")),
)
"""What the programs are about: statements, expressions, NumPy's functions, shapes and dtypes. Left out: classes, text, random
generators, `@jit`, the interpreter, sizes that only the run knows."""
PROGRAMS, SEED = 400, 77
_PATIENCE_S = 900.0


@dataclass(frozen=True)
class Sites:
    """All mutants of `FILES` with their changes; reached: ids of those in a line that a program runs."""

    mutants: tuple[Mutant, ...]
    changes: dict[str, Change]
    reached: frozenset[str]


def sites(programs: int = 150) -> Sites:
    """Reads the files, and runs so many programs to see which lines they reach."""
    found = [(f, c, (ROOT / f).read_text(encoding="utf-8").splitlines()[c.line - 1].strip()) for f, c in _all()]
    mutants = identified(("passes", f, c.line, c.unit, c.operator, c.before, c.after, line) for f, c, line in found)
    lines = _lines(programs)
    reached = frozenset(m.id for m in mutants if m.unit == "module" or (m.file, m.line) in lines)
    return Sites(tuple(mutants), {m.id: c for m, (_, c, _) in zip(mutants, found, strict=True)}, reached)


def _all() -> Iterator[tuple[str, Change]]:
    for f in FILES:
        yield from ((f, c) for c in changes((ROOT / f).read_text(encoding="utf-8")))


def _lines(programs: int) -> frozenset[tuple[str, int]]:
    """(file, line) that the programs run; module level is run too, at import."""
    names = {str(ROOT / f): f for f in FILES}
    seen: set[tuple[str, int]] = set()

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        name = names.get(frame.f_code.co_filename)
        if name is None:
            return None
        if event == "line":
            seen.add((name, frame.f_lineno))
        return trace

    sys.settrace(trace)
    try:
        outcomes(Order(SEED, 0, programs, (), ()))
    finally:
        sys.settrace(None)
    return frozenset(seen)


def look(change: Change | None, file: str, expected: Path, programs: int = PROGRAMS) -> str:
    """How the mutant is found, empty where it survives; None: the unchanged front end."""
    variables = (
        dict(os.environ) if change is None else environment(ROOT / file, change.start, change.end, change.before, change.after)
    )
    command = [sys.executable, "-W", "ignore", "-m", "fleet.cosim.programs.mutants", "--child", str(expected), str(programs)]
    try:
        done = run(command, env=variables, cwd=ROOT, timeout=_PATIENCE_S)
    except subprocess.TimeoutExpired:
        return f"does not end in {_PATIENCE_S:g} s"
    if done.returncode == 0:
        return ""
    lines = (done.stdout.strip() or done.stderr.strip() or "no word").splitlines()
    return lines[-1]


def _child(expected: Path, programs: int) -> int:
    """Ends with 1 at the first outcome that is another."""
    known: list[list[str]] = json.loads(expected.read_text(encoding="utf-8"))
    for first in range(0, programs, 10):
        for i, outcome in enumerate(outcomes(Order(SEED, first, 10, (), ()))):
            now = [outcome.kind, outcome.cause]
            if now != known[first + i]:
                print(
                    f"{' '.join(now)} instead of {' '.join(known[first + i])}: program {first + i}: {outcome.said.splitlines()[:1]}"
                )
                return 1
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints a line a mutant, and the shares."""
    parser = argparse.ArgumentParser(description="Mutants of the front end, and whether random programs find them.")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--programs", type=int, default=PROGRAMS)
    parser.add_argument("--only", default="", help="ids, separated by commas")
    parser.add_argument("--child", nargs=2, metavar=("EXPECTED", "PROGRAMS"), help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.child:
        return _child(Path(given.child[0]), int(given.child[1]))
    there = sites()
    reached = [m for m in there.mutants if m.id in there.reached]
    chosen = random.Random(given.seed).sample(reached, min(given.count, len(reached)))
    if given.only:
        chosen = [m for m in there.mutants if m.id in given.only.split(",")]
    print(f"{len(there.mutants):,} mutants in {len(FILES)} files, {len(reached):,} in lines that programs reach", flush=True)
    found = 0
    with Scratch("mutants") as folder:
        expected = folder / "expected.json"
        outcome_list = [o for n in range(0, given.programs, 10) for o in outcomes(Order(SEED, n, 10, (), ()))]
        expected.write_text(json.dumps([[o.kind, o.cause] for o in outcome_list]), encoding="utf-8")
        if how := look(None, "", expected, given.programs):
            print(f"the unchanged front end is found: {how}")
            return 1
        for m in chosen:
            began = time.monotonic()
            how = look(there.changes[m.id], m.file, expected, given.programs)
            found += bool(how)
            word = "found   " if how else "SURVIVED"
            print(f"{word} {m.id} {m.describe()} ({time.monotonic() - began:.0f} s): {how[:150]}", flush=True)
    print(
        f"{found} of {len(chosen)} found, {100 * found / max(1, len(chosen)):.1f} %; seed {given.seed}, {given.programs} programs"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
