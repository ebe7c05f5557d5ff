"""The work of `fleet isa fuzz`."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fleet.cli.progress import ProgressLine
from fleet.cli.sets.target import find_target
from fleet.errors import ComparisonFailure, DeviceError, ModelError
from fleet.isa.registry import find_device

if TYPE_CHECKING:
    from fleet.verify.coverage.account import CoverageAccount
    from fleet.verify.coverage.steer import Steering

_SECONDS = 60.0


def run_fuzz(
    name: str, device: str | None, seed: int, seconds: float | None, count: int | None, instructions: int | None, jobs: int | None,
    folder: Path, *, steer: bool = False, undefined: bool = False,
) -> int:  # fmt: skip
    """Return 0 if all programs of this run agreed, 1 if one did not.

    seconds: None for a minute, or without limit if `count` or `instructions` is given. jobs: None for the number of processors, at
    most 8. undefined: programs may read undefined data; their state and streams go to a separate folder.
    """
    from fleet.verify.conformance.fuzz import STOP_AFTER, StreamFuzzState, UndefinedPrograms, fuzz, state_file
    from fleet.verify.conformance.fuzz_state import RanProgram, load_state, set_aside

    if steer and undefined:
        raise ModelError("--steer and --undefined are two ways to choose programs: give one")
    if seconds is None:  # no time limit if something is counted
        seconds = _SECONDS if count is None and instructions is None else math.inf
    instruction_set, chip = find_target(name, device)
    jobs = jobs or min(8, os.cpu_count() or 1)
    folder = folder / "undefined" if undefined else folder
    path = state_file(folder, chip.name, seed)
    if (kept := set_aside(path, chip.name)) is not None:
        click.echo(f"{path} is of another description of {chip.name}: it is kept as {kept.name}, and this run begins again")
    state = load_state(path, chip.name, seed)
    first, programs, known, spent = state.next, state.programs, set(state.failures), state.seconds
    executed, refused, left_out = state.executed, state.refused, state.left_out
    no_room: list[str] = []
    dependent = [0]
    click.echo(f"{instruction_set.name} on {chip.name}, seed {seed}: from program {first} on, {jobs} at a time")

    def ran(program: RanProgram) -> None:
        if program.left_out and not no_room:
            no_room.append(program.left_out)
        dependent[0] += program.undefined
        parts = [(state.seconds - spent) / seconds]
        parts += [(state.programs - programs) / count] if count else []
        parts += [(state.instructions - executed - refused) / instructions] if instructions else []
        bar(max(parts), f"{state.instructions - executed - refused:,} instructions")

    def told(now: StreamFuzzState) -> None:
        click.echo(f"  {now.programs:,} programs, {now.executed:,} executed, {now.refused:,} refused, {len(now.failures)} failed")

    steering, account = _steering(chip.name, seed, folder) if steer else (None, None)
    chooser = UndefinedPrograms(chip.name, seed) if undefined else steering
    with ProgressLine("fuzz") as bar:
        fuzz(state, folder, seconds=seconds, count=count, instructions=instructions, jobs=jobs, told=told, ran=ran, chooser=chooser)
    if steering is not None and account is not None:
        account.save(folder / f"{chip.name}-{seed}-coverage.json")
        click.echo(f"coverage: {steering.holes:,} of {len(steering.space.open):,} bins not met")
    new = [f for f in state.failures if f not in known]
    for line in new:
        click.echo(line)
    ran_now = state.programs - programs
    if not ran_now and no_room:
        raise DeviceError(
            f"no program was run; the first of {state.left_out - left_out:,}: {no_room[0]}",
            hint=None if undefined else "give it more memory",
        )
    if not ran_now:
        raise ComparisonFailure("no program was run", where=chip.name, hint="give a larger --budget")
    if no_room:
        why = "their first instructions depend on what nothing defined" if undefined else f"{chip.name} is too small for them"
        click.echo(f"{state.left_out - left_out:,} left out, {why}; the first: {no_room[0]}")
    if undefined:
        click.echo(f"{dependent[0]:,} instructions left out: they depend on what nothing defined, or stand behind one that does")
    if known:
        click.echo(f"{len(known)} failed in earlier runs: {path} has their lines, each with the command that plays it again")
    took = max(state.seconds - spent, 1e-9)
    executed, refused = state.executed - executed, state.refused - refused
    early = _ended_early(
        seconds, len(new) >= STOP_AFTER, (ran_now, count, "programs"), (executed + refused, instructions, "instructions")
    )
    word = click.style("FAIL", fg="red", bold=True) if new else click.style("PASS", fg="green", bold=True)
    click.echo(
        f"{word} {ran_now:,} programs from {first} on, seed {seed}: {executed:,} instructions executed, "
        f"{refused:,} refused, {(executed + refused) / took:,.0f} a second; {len(new)} failed; state {path}" + early
    )
    return 1 if new else 0


def _ended_early(seconds: float, failures: bool, *asked: tuple[int, int | None, str]) -> str:
    """Say what ended a run early: (reached, requested, unit) for each request; empty if all were reached."""
    if any(wanted is not None and had >= wanted for had, wanted, _ in asked):
        return ""
    short = ", ".join(f"{had:,} of {wanted:,} {what}" for had, wanted, what in asked if wanted is not None)
    if not short and not failures:
        return ""
    limit = f"--budget {seconds:g}s" if seconds < math.inf else "the seed's last program"
    return f"; ENDED EARLY, by {'its failures' if failures else limit}" + (f", after {short}" if short else "")


def _steering(device: str, seed: int, folder: Path) -> tuple[Steering, CoverageAccount]:
    """Return a chooser that continues with the bins that earlier runs of the seed met, and its account."""
    from fleet.verify.coverage.account import load_account
    from fleet.verify.coverage.bins import space_of
    from fleet.verify.coverage.run import new_account
    from fleet.verify.coverage.steer import Steering

    space = space_of(*find_device(device))
    account = new_account(space)
    known = folder / f"{device}-{seed}-coverage.json"
    if known.exists():
        account.merge(load_account(known))
    account.seeds, account.steered = [seed], True
    return Steering(space, account, seed, steer=True), account
