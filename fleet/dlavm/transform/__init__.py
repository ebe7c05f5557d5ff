"""Passes over graphs; see `fleet.transforms`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from fleet.dlavm._lazy import handing_on
from fleet.dlavm.device.base_accel import Accel
from fleet.ir.accel.nodes import Node
from fleet.sdk import Device
from fleet.transforms.products import fuse_epilogues
from fleet.transforms.simplify import infer_types

__all__ = ["FusedOps", "Sequential", "infer_type"]

__getattr__ = handing_on(
    __name__, {"fuse": "fleet.transforms.products.fuse_epilogues", "to_program": "fleet.transforms.conversion.to_program"}
)


def infer_type(expr: Node, device: Accel | Device | str, attrs: Mapping[str, Any] | None = None) -> Node:
    """Infer the types of a graph; see `fleet.transforms.simplify.infer_types.infer_type`."""
    return infer_types.infer_type(expr, device.device if isinstance(device, Accel) else device, attrs)


class FusedOps:
    """Fuses biases, residuals, ReLU and argmax into the products before them; see `fleet.transforms.products.fuse_epilogues`."""

    def __init__(self, opt_level: int = 1) -> None:
        """opt_level: 0 fuses nothing."""
        self.opt_level = opt_level

    def visit(self, expr: Node) -> Node:
        """Return the fused graph, with its types."""
        return fuse_epilogues.fuse(expr).graph if self.opt_level else expr


class Sequential:
    """Passes in sequence; each has `visit`, from a typed graph to a typed graph."""

    def __init__(self, passes: Sequence[GraphPass]) -> None:
        self.passes = tuple(passes)

    def __call__(self, expr: Node) -> Node:
        """Return the graph after the last pass. expr: a graph after `infer_type`."""
        for one in self.passes:
            expr = one.visit(expr)
        return expr


class GraphPass(Protocol):
    """A pass for `Sequential`."""

    def visit(self, expr: Node) -> Node:
        """Return the new graph."""
        ...
