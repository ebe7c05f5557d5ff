"""Loads the device's HBM with its own instructions: one copy (`wt2hbm`) per port."""

from __future__ import annotations

from collections.abc import Sequence

from fleet.sdk import Call, Device
from fleet.sets.hbm0923.units.wt2hbm import Wt2HbmOperands


def load_calls(_device: Device, source: int, port: int, target: int, size: int) -> Sequence[Call]:
    """Return the calls that copy `size` bytes from DDR into a port's bank (`fleet.sdk.Loader`)."""
    return [Call("wt2hbm", Wt2HbmOperands.copy(source, target, size, port).encode())]
