"""Composites that ONNX has as one operator; the docs' table is made of the docstrings.

A rule returns None if the operation does not match the operator's definition: then its textbook sequence is exported.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fleet.ir.dialect import FleetOp
from fleet.ir.operations.operation import attributes_of
from fleet.targets.onnx._emitter import EmittedValue, OnnxEmitter, result_of


def softmax(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue | None:
    """`Softmax`."""
    return e.node("Softmax", values, *result_of(op), axis=int(attributes_of(op)["axis"]))


def sigmoid(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue | None:
    """`Sigmoid`."""
    return e.node("Sigmoid", values, *result_of(op))


def gelu(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue | None:
    """`Gelu`."""
    kind = "tanh" if attributes_of(op)["approximate"] == "tanh" else "none"
    return e.node("Gelu", values, *result_of(op), approximate=kind)


def _fits(op: FleetOp, values: Sequence[EmittedValue], axis: int) -> bool:
    """Return whether it has one dtype, a float32 epsilon, the last axis, and one gamma (and beta) for each element of that axis."""
    dtype, shape = result_of(op)
    last = axis in (-1, len(shape) - 1)
    rows = all(v.shape == shape[-1:] for v in values[1:])
    return last and rows and dtype != np.float64 and all(v.dtype == dtype for v in values) and values[0].shape == shape


def layer_norm(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue | None:
    """`LayerNormalization` of float16 and float32 over the last axis."""
    a = attributes_of(op)
    if not _fits(op, values, a["axis"]):
        return None
    return e.node("LayerNormalization", values, *result_of(op), axis=-1, epsilon=float(a["eps"]))


def rms_norm(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue | None:
    """`RMSNormalization` of float16 and float32."""
    if not _fits(op, values, -1):
        return None
    return e.node("RMSNormalization", values, *result_of(op), axis=-1, epsilon=float(attributes_of(op)["eps"]))
