"""Nodes of graphs and the registration of operators; see `fleet.ir.accel`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.irdl import var_operand_def

from fleet.errors import FleetError
from fleet.ir.accel.errors import GraphError
from fleet.ir.accel.inference import Inference
from fleet.ir.accel.nodes import ConstantNode as Constant
from fleet.ir.accel.nodes import Node, find_operator, register
from fleet.ir.accel.nodes import OperatorCall as Call
from fleet.ir.accel.nodes import TupleItemNode as TupleItem
from fleet.ir.accel.nodes import TupleNode as Tuple
from fleet.ir.accel.nodes import VarNode as Var
from fleet.ir.accel.types import HBM, Accelerator, DataType, Type
from fleet.ir.accel.types import AccelTensor as Tensor

__all__ = [
    "HBM", "Accelerator", "Call", "Constant", "DataEnum", "DataType", "GraphError", "Node", "Op", "Tensor",
    "Tuple", "TupleItem", "Var",
]  # fmt: skip


class DataEnum:
    """Names of dtypes and of memories."""

    hbm, ddr = "hbm", "ddr"
    fp16, int8, int4 = "float16", "int8", "int4"


class Op:
    """Registration in dlavm's form."""

    @staticmethod
    def Register(name: str, relation: Callable[[Sequence[Tensor], dict[str, Any]], tuple[bool, Any]]) -> type[Call]:
        """Add an operator. relation: (types of the arguments, attributes) -> (True, result's type) or (False, reason).

        `fleet.ir.accel.nodes.register` also takes the operator's arguments and computation.
        """

        def infer(_cls: type[Call], call: Inference) -> Type:
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

        record = {"name": name, "data": var_operand_def(), "infer": classmethod(infer), "__doc__": "registered by its relation."}
        return register(type("Registered", (Call,), {**record, "__annotations__": {}, "__module__": __name__}))

    @staticmethod
    def Get(name: str) -> str:
        """Return the name of an existing operator, for a `Call`. Raises GraphError if it does not exist."""
        return find_operator(name).name
