"""The functional model in parallel with the simulation: the same instructions on a copy of memory, compared at every commit."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from pathlib import Path

from fleet.engines.execute import execute_calls
from fleet.engines.trace import Commit
from fleet.errors import ComparisonFailure
from fleet.isa.description import parameter_values
from fleet.isa.memory import MappedMemory
from fleet.isa.reading.cache import load
from fleet.sdk import Call, Device, InstructionSet


class LockstepModel:
    """Receives the host's actions in order; `compare` then finds the first commit that differs.

    Calls are executed later, by `catch_up`, so that the simulation can continue meanwhile.
    """

    def __init__(self, instruction_set: InstructionSet, device: Device, memory: MappedMemory, folder: Path) -> None:
        """Args:
        instruction_set, device: what runs.
        memory: written by the host and used by the simulation; read only where the host has written.
        folder: for the second copy.
        """
        self._set, self._device, self._theirs = instruction_set, device, memory
        for image in folder.glob("*.bin"):  # of an earlier run in the same folder
            image.unlink()
        self._ours = MappedMemory(device, folder)
        self._ours.set_registers(parameter_values(load(instruction_set.description)))
        self._calls: deque[Call] = deque()
        self._expected: deque[Commit] = deque()
        self._executed = 0
        self.compared = 0
        """Number of equal commits."""

    def parameter(self, address: int, value: int) -> None:
        """Record a write of a parameter register (byte address)."""
        self.catch_up()
        self._ours.set_registers({address: value})

    def wrote(self, space: str, bank: int, offset: int, size: int) -> None:
        """Record bytes of memory that the host wrote."""
        self.catch_up()
        self._ours.view(space, offset, size, bank)[:] = self._theirs.view(space, offset, size, bank)

    def start(self, calls: Sequence[Call]) -> None:
        """Record started calls."""
        self._calls.extend(calls)

    def catch_up(self) -> None:
        """Execute the started calls."""
        calls = list(self._calls)
        self._calls.clear()
        self._expected.extend(execute_calls(self._set, self._device, self._ours, calls, self._executed))
        self._executed += len(calls)

    def compare(self, found: Sequence[Commit]) -> None:
        """Compare the simulation's next commits. Raises ComparisonFailure for the first that differs from the model's."""
        self.catch_up()
        for commit in found:
            expected = self._expected.popleft()
            for name in ("instruction", "digest", "bytes_written", "result"):
                want, have = getattr(expected, name), getattr(commit, name)
                if want != have:
                    raise ComparisonFailure(
                        f"rtl and iss differ first here: {name} expected {_shown(name, want)}, found {_shown(name, have)}",
                        where=f"commit {commit.seq} ({expected.instruction})",
                        hint=f"{self.compared} commits before it agree",
                    )
            self.compared += 1

    def close(self) -> None:
        """Drop the second copy's mappings."""
        self._ours.close()


def _shown(name: str, value: object) -> str:
    return f"{value:016x}" if name == "digest" and isinstance(value, int) else str(value)
