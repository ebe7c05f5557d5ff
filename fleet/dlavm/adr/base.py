"""Nodes of graphs and the registration of operators; see `fleet.ir.accel`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fleet.errors import FleetError
from fleet.ir.accel.dialect import GraphOperator, find_operator, register
from fleet.ir.accel.errors import GraphError
from fleet.ir.accel.nodes import HBM, Accelerator, Call, Constant, DataType, Node, Tensor, Tuple, TupleItem, Type, Var
from fleet.ir.accel.registry import Inference

__all__ = [
    "HBM", "Accelerator", "Call", "Constant", "DataEnum", "DataType", "GraphError", "GraphOperator", "Node", "Op", "Tensor",
    "Tuple", "TupleItem", "Var",
]  # fmt: skip


class DataEnum:
    """Names of dtypes and of memories."""

    hbm, ddr = "hbm", "ddr"
    fp16, int8, int4 = "float16", "int8", "int4"


class Op:
    """Registration in dlavm's form."""

    @staticmethod
    def Register(name: str, relation: Callable[[Sequence[Tensor], dict[str, Any]], tuple[bool, Any]]) -> GraphOperator:
        """Adds an operator. relation: (types of the arguments, attributes) -> (True, result's type) or (False, reason).

        `fleet.ir.accel.dialect.register` says more of an operator: what its arguments are, and what it computes.
        """

        def infer(call: Inference) -> Type:
            try:
                fits, found = relation(call.types, dict(call.attrs))
            except FleetError:
                raise
            except Exception as error:
                call.fail(f"its relation fails with {type(error).__name__}: {error}")
            if not fits:
                call.fail(str(found or "its arguments do not fit"))
            if not isinstance(found, Tensor) and not (isinstance(found, tuple) and found):
                call.fail(f"its relation gives {found!r}, expected a Tensor, or a tuple of them")
            return found

        return register(GraphOperator(name, ("data",), infer, many=True, doc="registered by its relation"))

    @staticmethod
    def Get(name: str) -> str:
        """The name, where there is such an operator: what a `Call` takes. Raises GraphError."""
        return find_operator(name).name
