"""Lowering of IR operations to instructions: patterns, layouts, and the compiler's services for a pattern."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from xdsl.ir import SSAValue

from fleet.ir.dialect import FleetOp
from fleet.ir.program import Program
from fleet.sdk.hardware.device import Device
from fleet.sdk.instructions.instruction import Call

Data = TypeVar("Data")

Options = Mapping[str, object]
"""Options of a compile, as the command line or a case gives them ("group", "calibration"); a pattern checks those that it reads."""


@dataclass(frozen=True)
class Match(Generic[Data]):
    """A group of operations that one pattern turns into instructions.

    ops: the covered operations in program order; the last one is what the group computes.
    activations: values that must stand in device memory (outputs of other groups, model inputs).
    weights: names of weights that the pattern packs.
    results: the values that the group leaves in device memory, the last one that of the last operation; no other
        value of the group may be used outside it (a matched argmax leaves its logits and its indices).
        data: what the pattern carries from match to emit.
    scratch: bytes of DDR that the group's instructions write before they read them, and that nothing needs behind it.
    view: no instruction runs: the result is a part of its one activation where that stands in device memory. Where that
        comes from the host, the host makes the part, too.
    """

    pattern: Pattern[Data]
    ops: tuple[FleetOp, ...]
    activations: tuple[SSAValue, ...]
    weights: tuple[str, ...]
    results: tuple[SSAValue, ...]
    data: Data
    view: bool = False
    scratch: int = 0


@dataclass(frozen=True)
class Missed:
    """The reason why a pattern made for an operation does not take it; reports show it if the operation runs on the host.

    reason: one clause, naming what the device can do and what the operation wants ("a head has 48 channels, expected 64 or 128").
    """

    reason: str


class EmitContext(Protocol):
    """The compiler's services for a pattern that emits (fleet.targets.accel)."""

    device: Device
    program: Program

    def address(self, value: SSAValue) -> int:
        """DDR offset of a tensor, one of the match's activations and results. Before and behind, another one may stand there."""
        ...

    def scratch(self) -> int:
        """DDR offset of the match's `scratch` bytes."""
        ...

    def view(self, value: SSAValue, source: SSAValue, skip: int) -> int:
        """Makes `value` the bytes of `source` from `skip` on: nothing is copied. Returns its DDR offset.

        For a part of a tensor that stands in memory as the layout would have it. `source` comes from the device.
        """
        ...

    def reserve(self, key: str, space: str, size: int, *, align: int = 64) -> int:
        """Room that instructions write before they read it and that lasts (KV cache), once per `key`; the offset.

        size: bytes, for space "hbm" in every bank, at the same offset.
        """
        ...

    def weight(self, name: str) -> np.ndarray:
        """The weight's values as the model has them."""
        ...

    def quantised(self, name: str, *, group: int, levels: int, kept: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Weight [inputs, outputs] as the compile's options quantise it, one FP16 scale for `group` inputs.

        kept: codes of each block of 8 inputs that are other than 0, at most; 0: all.
        Returns (codes int8 [inputs, outputs] in -levels ... levels, scales float16 [ceil(inputs / group), outputs]).
        Raises ModelError for NaN or infinity. Taken from a cache by content.
        """
        ...

    def store(self, key: str, space: str, data: np.ndarray | Sequence[np.ndarray], *, align: int = 64) -> int:
        """Puts constant bytes into device memory once per `key`; returns the offset.

        data: uint8; for space "hbm" one array a port, placed at the same offset in every bank.
        """
        ...

    def parameter(self, register: str, value: int) -> None:
        """Sets a parameter register for the whole run. Raises DeviceError when it is set already to something else."""
        ...

    def rounded(self, name: str, values: np.ndarray) -> None:
        """Records weight `name` as the device stores it (the model's dtype and shape): makes the rounded golden."""
        ...

    def emit(self, call: Call) -> None:
        """Appends one instruction; refused (DeviceError) when its class says that it is not legal."""
        ...


class Pattern(Protocol[Data]):
    """One way of turning operations into instructions. `options` of the compile (quantisation) come through the match."""

    name: str

    def match(self, op: FleetOp, program: Program, device: Device, options: Options) -> Match[Data] | Missed | None:
        """The largest group that ends with `op`; `Missed` where the pattern is for such operations but cannot take this one."""
        ...

    def emit(self, match: Match[Data], context: EmitContext) -> None:
        """Packs weights and emits the instructions."""
        ...


AnyMatch = Match[Any]
"""A match of any pattern: the type of its data is that pattern's."""

AnyPattern = Pattern[Any]
"""One of several patterns: each gets back the data of its own matches, of a type that only it knows."""
