"""Graphs: nodes, operators (`adr.hbm`) and views (`adr.reshape`, ...)."""

from fleet.dlavm.adr.base import (
    HBM,
    Accelerator,
    Call,
    Constant,
    DataEnum,
    DataType,
    GraphError,
    Node,
    Op,
    Tensor,
    Tuple,
    TupleItem,
    Var,
)
from fleet.dlavm.adr.op import general, hbm
from fleet.dlavm.adr.op.general import concat, gather, realloc, reshape, split, tuple

__all__ = [
    "HBM", "Accelerator", "Call", "Constant", "DataEnum", "DataType", "GraphError", "Node", "Op", "Tensor",
    "Tuple", "TupleItem", "Var", "concat", "gather", "general", "hbm", "realloc", "reshape", "split", "tuple",
]  # fmt: skip
