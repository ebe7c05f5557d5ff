"""Compile options that this set reads."""

from __future__ import annotations

from fleet.sdk import Device, ModelError
from fleet.sdk.lowering import Options
from fleet.sets.hbm0923.legality import TBLKS


def group_of(device: Device, options: Options) -> int:
    """Return the inputs that share a scale ("group"; default: the device's Tblk). Raises ModelError for an unsupported number."""
    group = options.get("group", device.parameters["Tblk"])
    if not isinstance(group, int) or group not in TBLKS:
        raise ModelError(f"group is {group!r}, expected 32, 64 or 128", where="quantisation")
    return group
