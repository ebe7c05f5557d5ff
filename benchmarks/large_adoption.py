"""Processor time from `fleet isa adopt` to the smoke test of generated designs of many lines, by stage, each in a fresh cache.

python benchmarks/large_adoption.py --lines 25000,250000
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import click
from large_design import TOP, write_large_design

from fleet.core.scratch import Scratch


@dataclass(frozen=True)
class Spent:
    """Processor seconds of a way of building the bench, by stage; rest: fleet itself and the simulation."""

    adopt: float
    verilator: float
    compiler: float
    rest: float

    @property
    def whole(self) -> float:
        """All stages."""
        return self.adopt + self.verilator + self.compiler + self.rest


def _command(folder: Path, *words: str) -> float:
    """Processor seconds of a command, its children among them. Raises ClickException if it fails."""
    before = os.times()
    environment = os.environ | {"FLEET_CACHE": str(folder / "cache")}
    command = [sys.executable, "-m", "fleet", "isa", *words]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise click.ClickException(f"{' '.join(words)} ends with {done.returncode}: {done.stdout[-400:]}{done.stderr[-400:]}")
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def _measured(folder: Path, listed: Path, *how: str) -> Spent:
    adopt = _command(folder, "adopt", str(listed), "--top", TOP, "-o", "w")
    smoke = _command(folder, "replay", "w", *how)
    [info] = (folder / "cache").glob("rtl/*/info.json")
    steps: dict[str, float] = json.loads(info.read_text(encoding="utf-8"))["processor_seconds"]
    return Spent(adopt, steps["verilator"], steps["compiler"], smoke - sum(steps.values()))


@click.command()
@click.option("--lines", default="2000,25000,250000", show_default=True, help="Lines of the designs.")
@click.option("--wave", default="", metavar="WAYS", help="Ways besides the default one: --wave, --no-wave.")
def main(lines: str, wave: str) -> None:
    """Print a row for each design and way."""
    click.echo("| lines | modules | options of replay | adopt, s | verilator, s | compiler, s | rest, s | in all, s |")
    click.echo("|---|---|---|---|---|---|---|---|")
    for count in map(int, lines.split(",")):
        for how in ([], *([word] for word in wave.split())):
            with Scratch("large") as folder:
                listed, written, modules = write_large_design(folder, count)
                found = _measured(folder, listed, *how)
            stages = (found.adopt, found.verilator, found.compiler, found.rest, found.whole)
            times = " | ".join(f"{seconds:.1f}" for seconds in stages)
            click.echo(f"| {written:,} | {modules:,} | {' '.join(how) or '-'} | {times} |")


if __name__ == "__main__":
    main()
