"""Processor time of `fleet isa adopt` and of the smoke test on a generated design of many lines, each in a fresh cache.

python benchmarks/large_adoption.py --lines 250000
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "adopt"))

from large_design import write_large_design

from fleet.core.scratch import Scratch


def _spent(folder: Path, *words: str) -> float:
    """Processor seconds of a command, its children among them. Raises ClickException if it fails."""
    before = os.times()
    environment = os.environ | {"FLEET_CACHE": str(folder / "cache")}
    command = [sys.executable, "-m", "fleet", "isa", *words]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise click.ClickException(f"{' '.join(words)} ends with {done.returncode}: {done.stdout[-400:]}{done.stderr[-400:]}")
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


@click.command()
@click.option("--lines", default=250_000, show_default=True, help="Lines of the design.")
def main(lines: int) -> None:
    """Print a line: lines, modules, and both times."""
    with Scratch("large") as folder:
        source = write_large_design(folder, lines)
        text = source.read_text(encoding="utf-8")
        adopt = _spent(folder, "adopt", str(source), "--top", "LargeTop", "-o", "w")
        smoke = _spent(folder, "replay", "w")
    count, modules = text.count("\n"), text.count("\nendmodule")
    click.echo(f"{count:,} lines, {modules} modules: adopt {adopt:.1f} s, build and smoke test {smoke:.1f} s of processor time")


if __name__ == "__main__":
    main()
