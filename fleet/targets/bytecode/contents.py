"""The contents of a bytecode module: code, constants, arguments, results, weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class ArgumentSlot:
    """An argument of the model's function: argument i is in slot i when the code starts.

    shape: -1 for a size that each run decides. dims: names of such dimensions ("" for known or unnamed ones), or ().
    """

    name: str
    kind: str
    shape: tuple[int, ...]
    dtype: str
    dims: tuple[str, ...] = ()


@dataclass(frozen=True)
class OutputSlot:
    """A returned value: its slot when the code ends, and its type as hints spell it ("8x10xf32"; scalar: no array)."""

    name: str
    slot: int
    type: str
    scalar: bool = False


@dataclass
class Contents:
    """The seeds' four fields, and further data for running a whole model (not in the printed form).

    Attributes:
        consts: numbers, dispatch hints, arrays (for `ldc` of tensors).
        code: opcodes, type codes and plain numbers, in sequence.
        target: where it runs: "python" is the NumPy VM.
        variable_size: number of slots. Slots 0 to n - 1 hold the n arguments; then every value of the program, in order, has one.
        invokes: id of the IR operation of every `invokestatic`, in code order.
        arguments, outputs: see their classes.
        weights: argument name -> array.
        program_hash: hash of the source program.
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
