"""Composites, operations that stand for several: found by raising in a program, or a single node of an ONNX file (Softmax).

A composite carries the `id` of the last operation that it replaces, so that traces still align there, and `covers`: the
ids of all operations that it replaces. What each computes is defined by `fleet.ir.expand`: its textbook sequence in
primitive operations.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, ClassVar

from xdsl.dialects.builtin import ArrayAttr, BoolAttr, DenseArrayBase, FloatAttr, IntegerAttr, StringAttr, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import AttrSizedOperandSegments, irdl_op_definition, operand_def, opt_operand_def, opt_prop_def, prop_def

from fleet.ir.operations.operation import FleetOp, ValueOp, kind_of, op_id
from fleet.ir.operations.promotion import common_dtype
from fleet.ir.operations.reductions import MatmulOp
from fleet.ir.shapes import UNKNOWN, InferenceError, broadcast, normal_axis, shape_words, tensor_of, unify
from fleet.ir.types import Attributes, numpy_dtype, shape_of, tensor_type

__all__ = [
    "AttentionOp",
    "CompositeOp",
    "GeluOp",
    "LayerNormOp",
    "LinearOp",
    "RmsNormOp",
    "RopeOp",
    "SigmoidOp",
    "SiluOp",
    "SoftmaxOp",
    "covered_ids",
    "entering",
]


class CompositeOp(ValueOp, ABC):
    """Base of the composites."""

    covers = opt_prop_def(ArrayAttr)

    def cover(self, ids: Sequence[str]) -> None:
        """Record which operations this one replaces, in program order; it carries the `id` of the last."""
        self.properties["covers"] = ArrayAttr([StringAttr(i) for i in ids])


def covered_ids(op: FleetOp) -> tuple[str, ...]:
    """The ids of the operations that a composite replaces; () for a primitive, and for a composite that replaces none."""
    found = op.properties.get("covers")
    if not isinstance(found, ArrayAttr):
        return ()
    return tuple(a.data for a in found.data if isinstance(a, StringAttr))


def entering(operations: Iterable[FleetOp], of: Iterable[FleetOp]) -> dict[str, tuple[str, ...]]:
    """Return id of every composite -> ids of the operations of the program before raising (`of`) whose results enter it.

    Operations that raising inserted (a reshape of all heads) count as part of the composite. Arguments are omitted.
    """
    known = {op_id(op) for op in of}
    return {op_id(op): tuple(dict.fromkeys(_entering(op, known))) for op in operations if isinstance(op, CompositeOp)}


def _entering(op: FleetOp, known: Collection[str]) -> Iterator[str]:
    for value in op.operands:
        if isinstance(owner := value.owner, FleetOp):
            yield from [op_id(owner)] if op_id(owner) in known else _entering(owner, known)


def _floats(name: str, operands: Sequence[Attribute]) -> list[tuple[int, ...]]:
    shapes = [tensor_of(t, name)[0] for t in operands]
    for type_ in operands:
        if numpy_dtype(type_).kind != "f":
            raise InferenceError(f"{name} of {numpy_dtype(type_)}, which must be floating point")
    return shapes


def _inside(name: str, shape: tuple[int, ...], into: tuple[int, ...], what: str) -> None:
    """`shape` broadcasts to `into` without making it larger."""
    if len(shape) > len(into) or broadcast(shape, into, f"{name} with {what}") != into:
        raise InferenceError(f"{name}: {what} of shape {shape_words(shape)} for {shape_words(into)}")


@irdl_op_definition
class SoftmaxOp(CompositeOp):
    """`e / e.sum(axis)` with `e = exp(x - x.max(axis))`."""

    name = "fleet.softmax"
    operand = operand_def()
    axis = prop_def(IntegerAttr)
    RESULT: ClassVar = "operand's"

    @classmethod
    def _infer(cls, operands: Sequence[Attribute], attributes: Attributes) -> Attribute:
        (shape,) = _floats("softmax", operands)
        if shape[normal_axis(attributes["axis"], len(shape))] == 0:
            raise InferenceError(f"softmax over no elements (shape {shape_words(shape)})")
        return operands[0]


class _NormOp(CompositeOp, ABC):
    """A normalisation of one operand, with parameters that broadcast to it."""

    RESULT: ClassVar = "operand's shape; common dtype"

    @classmethod
    def _infer(cls, operands: Sequence[Attribute], attributes: Attributes) -> Attribute:
        shape, *parameters = _floats(kind_of(cls), operands)
        normal_axis(attributes.get("axis", -1), len(shape))
        for parameter in parameters:
            _inside(kind_of(cls), parameter, shape, "a parameter")
        return tensor_type(shape, common_dtype(operands))


@irdl_op_definition
class LayerNormOp(_NormOp):
    """`(x - mean) / sqrt(var + eps) * gamma + beta` over `axis`, population variance."""

    name = "fleet.layer_norm"
    operand = operand_def()
    gamma = operand_def()
    beta = operand_def()
    axis = prop_def(IntegerAttr)
    eps = prop_def(FloatAttr)
    DEFAULTS: ClassVar = {"axis": -1}


@irdl_op_definition
class RmsNormOp(_NormOp):
    """`x / sqrt(mean(x * x) + eps) * gamma` over the last axis."""

    name = "fleet.rms_norm"
    operand = operand_def()
    gamma = operand_def()
    eps = prop_def(FloatAttr)


class ActivationOp(CompositeOp, ABC):
    """An elementwise function of one operand."""

    operand = operand_def()
    RESULT: ClassVar = "operand's"

    @classmethod
    def _infer(cls, operands: Sequence[Attribute], attributes: Attributes) -> Attribute:
        _floats(kind_of(cls), operands)
        return operands[0]


@irdl_op_definition
class GeluOp(ActivationOp):
    """`approximate` "tanh": `0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))`; "erf": `0.5 x (1 + erf(x / sqrt(2)))`."""

    name = "fleet.gelu"
    approximate = prop_def(StringAttr)

    @classmethod
    def _infer(cls, operands: Sequence[Attribute], attributes: Attributes) -> Attribute:
        result = super()._infer(operands, attributes)
        if attributes["approximate"] not in ("tanh", "erf"):
            raise InferenceError(f'gelu approximate "{attributes["approximate"]}", expected tanh or erf')
        return result


@irdl_op_definition
class SiluOp(ActivationOp):
    """`x / (1 + exp(-x))`."""

    name = "fleet.silu"


@irdl_op_definition
class SigmoidOp(ActivationOp):
    """`1 / (1 + exp(-x))`."""

    name = "fleet.sigmoid"


@irdl_op_definition
class RopeOp(CompositeOp):
    """Rotary embedding of the last dimension (d, even); `cos` and `sin` broadcast to the leading dimensions and d / 2.

    With (a, b) the pairs of x, elements (2i, 2i + 1) when `interleaved`, else (i, i + d / 2): a' = a cos - b sin,
    b' = a sin + b cos, in the places of a and b.
    """

    name = "fleet.rope"
    operand = operand_def()
    cos = operand_def()
    sin = operand_def()
    interleaved = prop_def(BoolAttr)
    RESULT: ClassVar = "operand's shape; common dtype"
    DEFAULTS: ClassVar = {"interleaved": False}

    @classmethod
    def _infer(cls, operands: Sequence[Attribute], attributes: Attributes) -> Attribute:
        shape, cos, sin = _floats("rope", operands)
        if not shape or shape[-1] == UNKNOWN or shape[-1] % 2:
            raise InferenceError(f"rope of shape {shape_words(shape)}: the last dimension must be even")
        half = (*shape[:-1], shape[-1] // 2)
        _inside("rope", cos, half, "a cosine")
        _inside("rope", sin, half, "a sine")
        return tensor_type(shape, common_dtype(operands))


_ACTIVATIONS = ("none", "gelu_tanh", "silu", "relu")


@irdl_op_definition
class LinearOp(CompositeOp):
    """`activation(x @ w + bias) + residual`; activation is "none", "gelu_tanh", "silu" or "relu"."""

    name = "fleet.linear"
    operand = operand_def()
    weight = operand_def()
    bias = opt_operand_def()
    residual = opt_operand_def()
    activation = prop_def(StringAttr)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    RESULT: ClassVar = "of the matmul; common dtype"
    DEFAULTS: ClassVar = {"activation": "none", "residual": False}

    def __init__(self, operands: Sequence[SSAValue | Operation], result: Attribute, **attributes: Any) -> None:
        """bias, residual: which of the optional operands are given."""
        super().__init__(operands, result, **attributes)
        sizes = [1, 1, int(attributes["bias"]), int(attributes["residual"])]
        self.properties["operandSegmentSizes"] = DenseArrayBase.from_list(i32, sizes)

    @classmethod
    def completed(cls, attributes: Attributes, operands: int) -> Attributes:
        """A third operand is a bias by default."""
        found = {**cls.DEFAULTS, **attributes}
        return {"bias": operands == 3 + found["residual"], **found}

    def implied(self) -> Attributes:
        """Return for each optional operand whether the operation has it."""
        return {"bias": self.bias is not None, "residual": self.residual is not None}

    @classmethod
    def _infer(cls, operands: Sequence[Attribute], attributes: Attributes) -> Attribute:
        shapes = _floats("linear", operands)
        activation, extra = attributes["activation"], [k for k in ("bias", "residual") if attributes.get(k, False)]
        if activation not in _ACTIVATIONS:
            raise InferenceError(f'linear with activation "{activation}", expected {", ".join(_ACTIVATIONS)}')
        if len(shapes) != 2 + len(extra):
            raise InferenceError(f"linear with {' and '.join(extra) or 'neither bias nor residual'}, found {len(shapes)} operands")
        product = shape_of(MatmulOp.infer(operands[:2], {}))
        for shape, what in zip(shapes[2:], extra, strict=True):
            _inside("linear", shape, product, f"a {what}")
        return tensor_type(product, common_dtype(operands))


@irdl_op_definition
class AttentionOp(CompositeOp):
    """Multi-head attention: `softmax(q_h @ k_h.T * scale + mask) @ v_h` for every head h of a sequence, heads side by side.

    q is [n, heads * d], k and v [m, kv_heads * d]; heads is a multiple of kv_heads, consecutive heads share one of k and v.
    Several sequences, each attending to itself, are one more axis in front of all three. mask is additive and broadcasts to
    [n, m], or [sequences, n, m]. `causal`: query i sees keys up to i + m - n.
    """

    name = "fleet.attention"
    q = operand_def()
    k = operand_def()
    v = operand_def()
    mask = opt_operand_def()
    heads = prop_def(IntegerAttr)
    kv_heads = prop_def(IntegerAttr)
    scale = prop_def(FloatAttr)
    causal = prop_def(BoolAttr)
    RESULT: ClassVar = "[n, heads * d] or [sequences, n, heads * d]; common dtype"

    @classmethod
    def _infer(cls, operands: Sequence[Attribute], attributes: Attributes) -> Attribute:
        q, k, v, *mask = _floats("attention", operands)
        heads, kv_heads = attributes["heads"], attributes["kv_heads"]
        words = (
            f"attention of q {shape_words(q)}, k {shape_words(k)}, v {shape_words(v)} with {heads} heads and {kv_heads} of k and v"
        )
        if not len(q) == len(k) == len(v) or len(q) not in {2, 3}:
            raise InferenceError(f"{words}: all need rank 2, or rank 3 for several sequences")
        *sequences, n, columns = q
        if heads < 1 or kv_heads < 1 or heads % kv_heads or UNKNOWN in (columns, k[-1], v[-1]) or columns % heads:
            raise InferenceError(f"{words}: the heads do not divide the columns")
        d = columns // heads
        if k[-1] != kv_heads * d or v[-1] != kv_heads * d:
            raise InferenceError(f"{words}: k and v need {kv_heads * d} columns")
        if (m := unify(k[-2], v[-2])) is None or m == 0:
            raise InferenceError(f"{words}: k and v need the same rows, at least one")
        if sequences:
            of_keys = unify(k[0], v[0])
            number = None if of_keys is None else unify(sequences[0], of_keys)
            if number is None:
                raise InferenceError(f"{words}: all need the same number of sequences")
            sequences = [number]
        if attributes["causal"] and UNKNOWN not in (m, n) and m < n:
            raise InferenceError(f"{words}: causal needs at least as many keys as queries")
        for shape in mask:
            _inside("attention", shape, (*sequences, n, m), "a mask")
        return tensor_type((*sequences, n, columns), common_dtype(operands))
