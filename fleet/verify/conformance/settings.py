"""What a stream of the suite runs under: memory models and ways of issue."""

from __future__ import annotations

from fleet.isa.codec import description_of
from fleet.isa.registry import find_device
from fleet.sdk import Device, InstructionSet
from fleet.streams.case import ISSUES, Issue, Setting

__all__ = ["memories", "settings", "ways_of_issue"]


def memories(device: Device, seed: int) -> list[str]:
    """The memory models of a device in the bench's spelling, ideal first."""
    found = ["ideal", f"fixed:{(37, 5, 90)[seed % 3]}", f"stall:{seed}"]
    return [*found, f"timed:{seed}"] if device.timing else found


def ways_of_issue(instruction_set: InstructionSet) -> list[Issue]:
    """ "regs"; "aux" where the hardware fetches binaries itself; "ahead" where the set says what may be under way together."""
    fetches = description_of(instruction_set).fetch is not None
    there = {"regs": True, "aux": fetches, "ahead": instruction_set.issue.ahead is not None}
    return [i for i in ISSUES if there[i]]


def settings(device: str, seed: int, *, every: bool) -> list[Setting]:
    """What a case runs under: every memory model with every way of issue, or ideal memory and one pair that the seed names."""
    instruction_set, chip = find_device(device)
    pairs = [Setting(m, i) for i in ways_of_issue(instruction_set) for m in memories(chip, seed)]
    return pairs if every else [pairs[0], pairs[1 + seed % (len(pairs) - 1)]]
