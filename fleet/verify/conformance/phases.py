"""Cycles over the refresh phases of the memories: which calls of the suite are sampled, and the cycles of one call.

The cost model's estimate for timed memory is a mean, so it is compared with a mean: a call runs in 16 phases spread over the
refresh period (`fleet.sdk.dram_phases`), different ones for every call. The choice of calls is fixed: they are drawn with a seed
from an instruction's directed and random cases, first the cases that add a new mode.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

from fleet.errors import DeviceError
from fleet.isa.codec import description_of
from fleet.isa.registry import find_device
from fleet.sdk import NoRoomError
from fleet.sdk.dram_phases import spread_seeds
from fleet.streams.case import Setting, StreamCase
from fleet.streams.run import StreamRunner
from fleet.verify.conformance.coverage import MeanPoint, refresh_slacks
from fleet.verify.conformance.suite import make_case, names

PHASES = 16
SEED = 2023
RANDOM = 15
"""Random cases of an instruction to draw from: those that the quick suite runs."""
_MODES = ("mode", "flags", "on chip")
"""Classes of a case that tell how an instruction works, besides the value of its start register."""


def sampled_instructions(device: str) -> list[str]:
    """Return the instructions to sample: those with an estimate for timed memory; none if the device has no timing tables."""
    instruction_set, chip = find_device(device)
    if not chip.timing:
        return []
    cases = [_made(name) for name in names(device, random=range(1), directed=False) if "/random/" in name]
    drawn = [case.calls[-1] for case in cases if case is not None]
    return [c.instruction for c in drawn if instruction_set.instructions[c.instruction].expected_cycles(chip, c.fields, "timed")]


def sampled_calls(device: str, instruction: str, count: int, *, seed: int = SEED) -> list[str]:
    """Return the names of `count` cases, or all if there are fewer. The choice is fixed, and a larger count extends it."""
    known = [n for n in names(device, random=range(RANDOM)) if n.split("/")[1] == instruction]
    rng = np.random.default_rng([seed, zlib.crc32(f"{device}/{instruction}".encode())])
    order: list[str] = []
    modes: dict[tuple[str, str], str] = {}
    for name in (known[i] for i in rng.permutation(len(known))):
        case = _made(name)
        if case is None:
            continue
        order.append(name)
        for mode in _modes(case):
            modes.setdefault(mode, name)
    return list(dict.fromkeys([*modes.values(), *order]))[:count]


def _made(name: str) -> StreamCase | None:
    """Make the case; None if the device's memory is too small for it."""
    try:
        return make_case(name)
    except NoRoomError:
        return None


def _modes(case: StreamCase) -> Sequence[tuple[str, str]]:
    d = description_of(find_device(case.device)[0])
    call = case.calls[-1]
    start = d.units[d.instructions[call.instruction].unit].start
    return [(start.name, str(call.fields[start.name])), *((k, v) for k, v in case.classes.items() if k in _MODES)]


def mean_point(runner: StreamRunner, name: str) -> MeanPoint:
    """Run the last call of a case in all phases. Raises DeviceError, or SimulationError (also if the call is refused)."""
    case = make_case(name)
    seeds = spread_seeds(runner.device, PHASES, first=zlib.crc32(name.encode()))
    call = case.calls[-1]
    cost = runner.set.instructions[call.instruction].expected_cycles(runner.device, call.fields, "timed")
    if cost is None:
        raise DeviceError(f"{call.instruction} has no estimate for timed memory", where=name)
    cycles = runner.cycles(case, [Setting(f"timed:{seed}") for seed in seeds])
    memory, port = refresh_slacks(runner.device, "timed", cost)
    return MeanPoint(runner.device.name, call.instruction, name, int(cost), tuple(cycles), memory, port)
