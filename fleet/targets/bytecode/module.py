"""The bytecode module: what the converter makes and the VM runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["ArgumentSlot", "ByteCodeModule", "OutputSlot"]


@dataclass(frozen=True)
class ArgumentSlot:
    """An argument of the model's function: argument i is in slot i when the code starts.

    shape has -1 for what each run decides; dims has the names of such dimensions ("" for one without, or known), or is ().
    """

    name: str
    kind: str
    shape: tuple[int, ...]
    dtype: str
    dims: tuple[str, ...] = ()


@dataclass(frozen=True)
class OutputSlot:
    """A returned value: where it is when the code ends, and its type as hints spell it ("8x10xf32"; scalar: no array)."""

    name: str
    slot: int
    type: str
    scalar: bool = False


@dataclass
class ByteCodeModule:
    """The seeds' four fields, and what a run of a whole model needs besides (not in the printed form).

    Attributes:
        consts: numbers, dispatch hints, arrays (for `ldc` of tensors).
        code: opcodes, type codes and plain numbers, in a row.
        target: where it runs: "python" is the NumPy VM.
        variable_size: number of slots. Slots 0 to n - 1 hold the n arguments; then every value of the program, in order, has one.
        invokes: id of the IR operation behind every `invokestatic`, in order of the code.
        arguments, outputs: see their classes.
        weights: argument name -> array.
        program_hash: hash of the program that it was made from.
    """

    consts: list[Any]
    code: list[int]
    target: str
    variable_size: int
    invokes: tuple[str, ...] = field(default=(), repr=False)
    arguments: tuple[ArgumentSlot, ...] = field(default=(), repr=False)
    outputs: tuple[OutputSlot, ...] = field(default=(), repr=False)
    weights: Mapping[str, np.ndarray] = field(default_factory=dict, repr=False, compare=False)
    program_hash: str = field(default="", repr=False)

    def __str__(self) -> str:
        """The form that seed 001 shows."""
        return (
            f"ByteCodeModule(\nconsts={self.consts!r},\ncode={self.code!r},\n"
            f"target={self.target!r},\nvariable_size={self.variable_size!r})"
        )

    def save(self, path: Path) -> None:
        """Writes a bytecode file (see `container`)."""
        from fleet.targets.bytecode.container import save

        save(self, path)

    @classmethod
    def load(cls, path: Path) -> ByteCodeModule:
        """Reads a bytecode file; weights are mapped, not read. Raises ModelError."""
        from fleet.targets.bytecode.container import load

        return load(path)
