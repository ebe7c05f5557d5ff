"""The bytecode module: the converter makes it, the VM runs it."""

from __future__ import annotations

from pathlib import Path

from fleet.targets.bytecode import container
from fleet.targets.bytecode.contents import Contents


class ByteCodeModule(Contents):
    """A program as bytecode."""

    def __str__(self) -> str:
        """Return the printed form of the seeds."""
        return (
            f"ByteCodeModule(\nconsts={self.consts!r},\ncode={self.code!r},\n"
            f"target={self.target!r},\nvariable_size={self.variable_size!r})"
        )

    def save(self, path: Path) -> None:
        """Write a bytecode file. Raises ModelError."""
        container.save(self, path)

    @classmethod
    def load(cls, path: Path) -> ByteCodeModule:
        """Read a bytecode file; weights are mapped, not read. Raises ModelError if the file is not whole."""
        return container.load(path, cls)
