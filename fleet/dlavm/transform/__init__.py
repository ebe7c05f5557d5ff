"""Passes over graphs; see `fleet.transforms.graph`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fleet.dlavm._lazy import handing_on
from fleet.dlavm.device.base_accel import Accel
from fleet.ir.graph.nodes import Node
from fleet.sdk import Device
from fleet.transforms.graph import infer

__all__ = ["infer_type"]

__getattr__ = handing_on(__name__, {"fuse": "fleet.transforms.graph.fuse", "to_program": "fleet.transforms.graph.to_program"})


def infer_type(expr: Node, device: Accel | Device | str, attrs: Mapping[str, Any] | None = None) -> Node:
    """See `fleet.transforms.graph.infer.infer_type`."""
    return infer.infer_type(expr, device.device if isinstance(device, Accel) else device, attrs)
