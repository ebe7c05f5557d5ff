"""Compile options that this set reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from fleet.sdk import Device, DeviceError, ModelError
from fleet.sdk.lowering import Options
from fleet.sets.hbm0923.legality import TBLKS
from fleet.sets.hbm0923.mvm_operands import SPARSE, SPARSE_TBLK

LEVELS = 7
"""Largest magnitude of a weight's code: INT4, symmetric."""


def group_of(device: Device, options: Options) -> int:
    """Return the inputs that share a scale ("group"; default: the device's Tblk). Raises ModelError for an unsupported number."""
    group = options.get("group", device.parameters["Tblk"])
    if not isinstance(group, int) or group not in TBLKS:
        raise ModelError(f"group is {group!r}, expected 32, 64 or 128", where="quantisation")
    return group


def kept_of(device: Device, options: Options, name: str) -> int:
    """Return the stored weights of each block of 8 inputs of a matrix; 0 for dense weights.

    options: "sparse", a number for all matrices, or a table of numbers by their names; what it does not name is dense.

    Raises:
        ModelError: an unsupported number.
        DeviceError: the device has no sparse weights, or none in such groups.
    """
    given = options.get("sparse") or 0
    kept = cast("Mapping[str, object]", given).get(name, 0) if isinstance(given, Mapping) else given
    if not isinstance(kept, int) or kept not in (0, *SPARSE):
        raise ModelError(f"sparse is {kept!r}, expected 4, 2 or 1 of each 8 weights", where="quantisation")
    if kept and not device.parameters["Sparse"]:
        hint = "devices whose parameter Sparse is 1 do, such as hbm0923_sparse"
        raise DeviceError("it has no sparse weights", where=device.name, hint=hint)
    if kept and group_of(device, options) != SPARSE_TBLK:
        hint = f"choose group {SPARSE_TBLK}"
        raise DeviceError(
            f"sparse weights in groups of {group_of(device, options)}, it has groups of 128", where=device.name, hint=hint
        )
    return kept
