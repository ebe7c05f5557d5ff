"""`fleet fuzz`: random NumPy programs, compared between CPython and the engines."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fleet.cli.grammar import Duration
from fleet.cli.progress import ProgressLine
from fleet.errors import ComparisonFailure, ExitCode, FleetError, SetupError

if TYPE_CHECKING:
    from fleet.verify.programs.batches import Batch
    from fleet.verify.programs.fuzz import ProgramFuzzState

_SECONDS = 60.0


@click.command(
    name="fuzz",
    epilog="\b\nExamples:\n  fleet fuzz --budget 10m --jobs 2\n  fleet fuzz --seed 7 --programs 100000\n"
    "  fleet fuzz reports/fuzz/programs/failing",
)
@click.argument("stored", required=False, type=click.Path(path_type=Path))
@click.option("--programs", type=click.IntRange(1), help="Minimum number of accepted programs in this run.")
@click.option(
    "--budget", "seconds", type=Duration(),
    help="Time limit (90s, 5m, 1h); default: 60s, no limit with --programs.",
)  # fmt: skip
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0, 10**9), help="Seed of all programs.")
@click.option("--jobs", type=click.IntRange(1, 64), help="Processes; default: one per processor, at most 8.")
@click.option(
    "--engines", default="interp,riscv,iss", show_default=True,
    help="Engines beside CPython and vm, for a share of the programs: interp, riscv, iss, aarch64, llvm-cpu, cvm, "
    "cvm-riscv, cvm-aarch64, opencl, cuda; none: only those two.",
)  # fmt: skip
@click.option(
    "--report", "folder", type=click.Path(path_type=Path, file_okay=False), default="reports/fuzz/programs", show_default=True,
    help="Folder for state and failing programs; a run with the same seed continues where the last one ended.",
)  # fmt: skip
def command(
    stored: Path | None, programs: int | None, seconds: float | None, seed: int, jobs: int | None, engines: str, folder: Path
) -> int:
    """Draw programs of NumPy, run them by CPython and by the engines, compare every bit; shrink and keep what differs.

    STORED: a kept program (or a folder of them) to run again instead.

    Exit code 0: all agreed. 1: one differs. 2: bad input. 4: fewer programs ran than --programs asked for.
    """
    if stored is not None:
        return _again(stored)
    from fleet.engines.registry import find_engine
    from fleet.verify.programs.batches import ENGINES
    from fleet.verify.programs.fuzz import fuzz

    seconds = seconds or (_SECONDS if programs is None else math.inf)
    names = () if engines == "none" else tuple(dict.fromkeys(engines.split(",")))
    if unknown := [n for n in names if n not in ENGINES]:
        raise FleetError(f"no engine '{unknown[0]}'", where="--engines", hint=f"choose among {', '.join(ENGINES)}, or none")
    for name in names:
        if (missing := find_engine(name).engine.available()) is not None:
            raise SetupError(missing, where=f"engine {name}")
    jobs = jobs or min(8, os.cpu_count() or 1)
    path = folder / f"{seed}.json"
    click.echo(f"seed {seed}, {jobs} at a time, engines vm, cpython{', ' if names else ''}{', '.join(names)}; state {path}")
    with ProgressLine("fuzz") as bar:

        def told(state: ProgramFuzzState, here: Batch) -> None:
            parts = [here.accepted / programs] if programs else []
            bar(max([*parts, 0.0]), f"{here.accepted:,} programs, {len(state.failures)} different failures")

        state, here = fuzz(path, folder / "failing", seed, programs=programs, seconds=seconds, jobs=jobs, engines=names, told=told)
    for line in _table(state):
        click.echo(line)
    if not here.accepted:
        raise ComparisonFailure("no program was run", where="fleet fuzz", hint="give a larger --budget")
    failed = bool(state.failures)
    word = click.style("FAIL", fg="red", bold=True) if failed else click.style("PASS", fg="green", bold=True)
    early = programs is not None and here.accepted < programs
    click.echo(
        f"{word} {here.accepted:,} programs accepted in this run, {state.sums.accepted:,} of seed {seed}: {state.failed:,} differ"
        + (f"; ENDED EARLY, {programs:,} were asked for" if early else "")
    )
    return ExitCode.DIFFERS if failed else ExitCode.INCOMPLETE if early else ExitCode.AGREED


def _table(state: ProgramFuzzState) -> Iterator[str]:
    """Yield lines about what was run, refused and met, and what differs."""
    sums = state.sums
    drawn = max(1, sums.drawn)
    refused = sum(sums.refused.values())
    met, of = sums.account.share
    pace = sums.accepted / max(state.seconds, 1e-9)
    yield f"  accepted {sums.accepted:,}, of {sums.statements:,} statements; {pace:.1f} a second"
    causes = ", ".join(f"{code} {100 * n / drawn:.2f} %" for code, n in sums.refused.most_common())
    yield f"  refused {refused:,}, {100 * refused / drawn:.1f} % of {drawn:,}" + (f": {causes}" if causes else "")
    yield f"  wrong programs, refused as CPython does: {sums.wrong:,}; planted ones that fleet refuses by design: {sums.planted:,}"
    yield f"  agreed with operands in C order alone: {sums.reordered:,}"
    yield f"  bins met {met:,} of {of:,} ({100 * met / max(1, of):.1f} %)"
    yield "  also on " + (", ".join(f"{name} {count:,}" for name, count in sums.engines.items()) or "no other engine")
    for key, (number, count, said, path) in state.failures.items():
        yield f"  {count:,} differ, first program {number} ({key}): {said}; fleet fuzz {path}"


def _again(stored: Path) -> int:
    """Run stored programs again, one line each."""
    from fleet.verify.programs.oracle import ProgramOracle
    from fleet.verify.programs.stored import find_programs, load_program

    paths = list(find_programs(stored)) if stored.is_dir() else [stored]
    if not paths:
        raise FleetError("no stored program", where=str(stored))
    failed = 0
    with ProgramOracle() as oracle:
        for path in paths:
            outcome = oracle.compare(load_program(path)[0])
            failed += outcome.kind == "differs"
            click.echo(f"{outcome.kind:8} {path}" + (f": {outcome.said.splitlines()[0]}" if outcome.said else ""))
    return ExitCode.DIFFERS if failed else ExitCode.AGREED
