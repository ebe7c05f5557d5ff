"""Every operator that fleet brings, and those that a user adds: importing this fills the registry."""

from __future__ import annotations

from fleet.ir.accel import attention, pointwise, products, views
from fleet.ir.accel.registry import GraphOperator, find_operator, operators, register

__all__ = ["FUNCTIONS", "GraphOperator", "find_operator", "operators", "register"]

FUNCTIONS = (products, attention, pointwise, views)
"""The modules whose functions build nodes."""
