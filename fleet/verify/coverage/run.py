"""Runs streams on `iss` and `rtl` for a given time and keeps the account: one worker per job, with its own seed and simulation."""

from __future__ import annotations

import contextlib
import os
import resource
import time
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from fleet.core.processes import ends_with_parent, stopping
from fleet.engines.rtl_sim.build import Flavour, build, design_of
from fleet.isa.registry import description_hash, find_device
from fleet.streams.bundle import save_bundle
from fleet.streams.case import Setting
from fleet.streams.run import StreamRunner
from fleet.verify.conformance.drawn import run_drawn
from fleet.verify.conformance.settings import memories, settings
from fleet.verify.coverage.account import CoverageAccount, Point, load_account
from fleet.verify.coverage.bins import BinSpace, space_of
from fleet.verify.coverage.steer import Steering

_SAVED_EVERY = 5.0
_STOP_AFTER = 10
_NAME = 100
"""Characters of a name in a failure."""
_REACHED = "reached"
"""File that tells the workers that enough bins are met."""


@dataclass(frozen=True)
class CoveragePlan:
    """One run. seconds: per worker, without builds; steer: aim at holes; rtl: count lines, toggles and assertions too.

    folder: for the workers' accounts, failing streams and, with rtl, the simulator's counts. until: share of the bins (0 to 1) at
    which the run ends before its time, or None.
    """

    device: str
    seconds: float
    seed: int
    jobs: int
    steer: bool
    rtl: bool
    folder: Path
    until: float | None = None


def new_account(space: BinSpace) -> CoverageAccount:
    """Return an empty account of a space."""
    found = description_hash(space.instruction_set, space.device)
    return CoverageAccount(space.device.name, space.instruction_set.name, found)


def run_coverage(
    plan: CoveragePlan, known: CoverageAccount | None = None, told: Callable[[CoverageAccount, float], None] | None = None
) -> CoverageAccount:
    """Return the account of this run alone.

    known: bins that need no aim. told: called from time to time with the account and the seconds so far.

    Raises SetupError, BuildError, DeviceError, or what a worker raised.
    """
    instruction_set, device = find_device(plan.device)
    build(design_of(instruction_set, device), _flavour(plan))
    plan.folder.mkdir(parents=True, exist_ok=True)
    # Counts of an earlier run may belong to other sources with other lines.
    for stale in [*plan.folder.glob("worker-*.json"), *plan.folder.glob("rtl-*/simulation/coverage-*.dat")]:
        stale.unlink()
    reached = plan.folder / _REACHED
    reached.unlink(missing_ok=True)
    space = space_of(instruction_set, device)
    start = plan.folder / "known.json"
    before = known or new_account(space)
    before.save(start)
    began = time.monotonic()
    curve: list[Point] = []
    with ProcessPoolExecutor(plan.jobs, get_context("spawn"), ends_with_parent) as pool, stopping():
        pending: set[Future[None]] = {pool.submit(_work, plan, i) for i in range(plan.jobs)}
        while pending:
            done, pending = wait(pending, timeout=_SAVED_EVERY)
            for future in done:
                future.result()
            merged = _merged(plan, instruction_set.name)
            spent = time.monotonic() - began
            curve.append(Point(spent, merged.cpu, len(merged.met), merged.instructions))
            if told is not None:
                told(merged, spent)
            if plan.until is not None and space.share(merged.met.keys() | before.met.keys()) >= plan.until:
                reached.touch()
    merged = _merged(plan, instruction_set.name)
    merged.curve = curve
    for part in plan.folder.glob("worker-*.json"):
        part.unlink()
    start.unlink()
    reached.unlink(missing_ok=True)
    return merged


def _flavour(plan: CoveragePlan) -> Flavour:
    return "coverage" if plan.rtl else "burst"


def _merged(plan: CoveragePlan, set_name: str) -> CoverageAccount:
    instruction_set, device = find_device(plan.device)
    merged = CoverageAccount(device.name, set_name, description_hash(instruction_set, device))
    for path in sorted(plan.folder.glob("worker-*.json")):
        merged.merge(load_account(path))
    return merged


def _work(plan: CoveragePlan, job: int) -> None:
    """Main function of a worker: runs until the time is over."""
    instruction_set, device = find_device(plan.device)
    space = space_of(instruction_set, device)
    account = new_account(space)
    seed = plan.seed + job
    account.seeds, account.steered = [seed], plan.steer
    steering = Steering(space, account, seed, steer=plan.steer)
    steering.seen(load_account(plan.folder / "known.json").met)
    mine = plan.folder / f"worker-{job}.json"
    ways = settings(plan.device, 0, every=True)
    simulation = plan.folder / f"rtl-{job}" if plan.rtl else None
    runner = StreamRunner(plan.device, simulation, power_on=seed, flavour=_flavour(plan))
    cpu = _cpu(None)
    began = before = time.monotonic()
    try:
        runner.watch = steering.wrote
        number = 0
        reached = plan.folder / _REACHED
        while time.monotonic() - began < plan.seconds and len(account.failures) < _STOP_AFTER and not reached.exists():
            name = steering.choose(number)
            way = ways[number % len(ways)]
            model = next(m for m in memories(device, number) if m.partition(":")[0] == way.memory.partition(":")[0])
            drawn = run_drawn(runner, name, [Setting(model, way.issue)])
            if drawn.case is not None:
                steering.met(drawn.case, drawn.outcomes)
            account.failures += [drawn.failure] if drawn.failure else []
            if drawn.left_out:
                account.left_out[name.split("/")[1]] = account.left_out.get(name.split("/")[1], 0) + 1
            number += 1
            for o in drawn.outcomes:
                if not o.passed:
                    stored = save_bundle(o, plan.folder, power_on=seed)
                    account.failures.append(f"{_shown(name)} {o.setting.name}: {o.reasons[0]}; fleet stream run {stored}")
            now = time.monotonic()
            if now - before > _SAVED_EVERY:
                before, account.seconds, account.cpu = now, now - began, _cpu(runner.simulation_pid) - cpu
                account.save(mine)
                for other in plan.folder.glob("worker-*.json"):
                    if other != mine:
                        steering.seen(load_account(other).met)
    finally:
        account.seconds = time.monotonic() - began
        runner.close()
    account.cpu = _cpu(None) - cpu
    account.failures += [f"{k}: met, but the set or the description calls it impossible" for k in sorted(steering.unknown)]
    account.save(mine)


def _shown(name: str) -> str:
    """Return a case's name, cut where it lists the bins that it is aimed at: the stored stream has all of it."""
    return name if len(name) <= _NAME else f"{name[:_NAME]}..."


def _cpu(simulation: int | None) -> float:
    """Return the processor seconds of this process, of its finished simulations and of the running one."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    running = 0.0
    if simulation is not None:
        with contextlib.suppress(OSError, ValueError, IndexError):  # it may just have ended
            fields = Path(f"/proc/{simulation}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            running = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return sum(u.ru_utime + u.ru_stime for u in used) + running
