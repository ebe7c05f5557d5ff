"""The settings of a suite's streams: memory models and ways of issue."""

from __future__ import annotations

from fleet.isa.codec import description_of
from fleet.isa.registry import find_device
from fleet.sdk import Device, InstructionSet
from fleet.streams.case import ISSUES, Issue, Setting


def memories(device: Device, seed: int) -> list[str]:
    """Return the memory models of a device in the bench's spelling, ideal first."""
    found = ["ideal", f"fixed:{(37, 5, 90)[seed % 3]}", f"stall:{seed}"]
    return [*found, f"timed:{seed}"] if device.timing else found


def ways_of_issue(instruction_set: InstructionSet) -> list[Issue]:
    """Return the ways of issue.

    "regs"; "aux" if the hardware fetches binaries itself; "ahead" if the set declares which instructions may overlap.
    """
    fetches = description_of(instruction_set).fetch is not None
    there = {"regs": True, "aux": fetches, "ahead": instruction_set.issue.ahead is not None}
    return [i for i in ISSUES if there[i]]


def settings(device: str, seed: int, *, every: bool) -> list[Setting]:
    """Return the settings of a case: all combinations, or ideal memory plus one combination chosen by the seed."""
    instruction_set, chip = find_device(device)
    pairs = [Setting(m, i) for i in ways_of_issue(instruction_set) for m in memories(chip, seed)]
    return pairs if every else [pairs[0], pairs[1 + seed % (len(pairs) - 1)]]
