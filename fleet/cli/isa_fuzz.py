"""What `fleet isa fuzz` prints."""

from __future__ import annotations

from pathlib import Path

import click

from fleet.cli.isa_check import chosen_device
from fleet.errors import ComparisonFailure
from fleet.isa.registry import find_instruction_set

__all__ = ["run_fuzz"]


def run_fuzz(name: str, device: str | None, seed: int, seconds: float, count: int | None, folder: Path) -> int:
    """0 where all programs of this run agreed, 1 where one did not."""
    from fleet.cosim.streams.fuzz import FuzzState, fuzz, load_state, state_file

    chip = chosen_device(find_instruction_set(name), device)
    path = state_file(folder, chip.name, seed)
    state = load_state(path, chip.name, seed)
    first, known, instructions, spent = state.next, len(state.failures), state.executed + state.refused, state.seconds
    click.echo(f"{name} on {chip.name}, seed {seed}: from program {first} on")

    def told(now: FuzzState) -> None:
        click.echo(f"  {now.programs:,} programs, {now.executed:,} executed, {now.refused:,} refused, {len(now.failures)} failed")

    state = fuzz(state, folder, seconds=seconds, count=count, told=told)
    new = state.failures[known:]
    for line in new:
        click.echo(line)
    if state.next == first:
        raise ComparisonFailure("no program was run", where=chip.name, hint="give more --seconds")
    rate = (state.executed + state.refused - instructions) / max(state.seconds - spent, 1e-9)
    word = click.style("FAIL", fg="red", bold=True) if new else click.style("PASS", fg="green", bold=True)
    click.echo(
        f"{word} programs {first} to {state.next - 1}: {state.executed + state.refused - instructions:,} instructions, "
        f"{rate:,.0f} a second; {len(new)} failed; state {path}"
    )
    return 1 if new else 0
