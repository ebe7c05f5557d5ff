"""The functional model beside the simulation: the same instructions on a second copy of memory, compared at every commit."""

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
    """Takes what the host does, in order; `compare` then tells the first commit that differs.

    Calls are executed late, by `catch_up`, so that the simulation can go on meanwhile.
    """

    def __init__(self, instruction_set: InstructionSet, device: Device, memory: MappedMemory, folder: Path) -> None:
        """Args:
        instruction_set, device: what runs.
        memory: what the host writes and the simulation works on; read only where the host has written.
        folder: for the second copy.
        """
        self._set, self._device, self._theirs = instruction_set, device, memory
        for image in folder.glob("*.bin"):  # of a run before in the same folder
            image.unlink()
        self._ours = MappedMemory(device, folder)
        self._ours.set_registers(parameter_values(load(instruction_set.description)))
        self._calls: deque[Call] = deque()
        self._expected: deque[Commit] = deque()
        self._executed = 0
        self.compared = 0
        """Commits that were equal."""

    def parameter(self, address: int, value: int) -> None:
        """A parameter register (byte address) was written."""
        self.catch_up()
        self._ours.set_registers({address: value})

    def wrote(self, space: str, bank: int, offset: int, size: int) -> None:
        """The host wrote these bytes of memory."""
        self.catch_up()
        self._ours.view(space, offset, size, bank)[:] = self._theirs.view(space, offset, size, bank)

    def start(self, calls: Sequence[Call]) -> None:
        """These were started."""
        self._calls.extend(calls)

    def catch_up(self) -> None:
        """Executes what was started."""
        calls = list(self._calls)
        self._calls.clear()
        self._expected.extend(execute_calls(self._set, self._device, self._ours, calls, self._executed))
        self._executed += len(calls)

    def compare(self, found: Sequence[Commit]) -> None:
        """The simulation's next commits. Raises ComparisonFailure for the first that is not the model's."""
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
        """Drops the second copy's mappings."""
        self._ours.close()


def _shown(name: str, value: object) -> str:
    return f"{value:016x}" if name == "digest" and isinstance(value, int) else str(value)
