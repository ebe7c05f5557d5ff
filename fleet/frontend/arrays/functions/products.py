"""NumPy's products: matmul, dot, inner, outer, einsum and the Euclidean norm."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping

import numpy as np

from fleet.frontend.arrays.arguments import Arguments, Handler, axes_of, keeps
from fleet.frontend.arrays.emitting import cast, emit
from fleet.frontend.arrays.functions.layout import copied
from fleet.frontend.arrays.functions.shifts import must_fit
from fleet.frontend.arrays.operands import array, elementwise, numeric, select
from fleet.frontend.arrays.sizes import dims_of, flat, reshaped
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import NumberValue, TracedArray, Value, ValueOperand
from fleet.frontend.reading.wording import words
from fleet.ir.dialect import ReshapeOp, SliceOp, TransposeOp
from fleet.ir.memory_order import dot_copies
from fleet.ir.operations.einsum import canonical
from fleet.ir.shapes import InferenceError

_BY_BLAS = frozenset({"float32", "float64", "complex64", "complex128"})
"""Dtypes of which NumPy hands products to BLAS."""


def matmul(ev: Evaluator, node: ast.AST, lhs: ValueOperand, rhs: ValueOperand) -> Value:
    """`lhs @ rhs`; a vector takes part as a row or a column that vanishes from the result."""
    for number, other in ((lhs, rhs), (rhs, lhs)):
        if isinstance(number, NumberValue) and not isinstance(other, NumberValue):
            must_fit(ev, node, number, other.dtype)
    if isinstance(lhs, NumberValue) or isinstance(rhs, NumberValue) or not lhs.shape or not rhs.shape:
        ev.fail("F302", node, f"matmul of {words(lhs)} and {words(rhs)}", "both must be arrays of rank 1 or more")
    if len(lhs.shape) > 1 and len(rhs.shape) > 1:
        return emit(ev, node, "matmul", [lhs, rhs])
    inner, outer = lhs.shape[len(lhs.shape) - 1], rhs.shape[max(len(rhs.shape) - 2, 0)]
    if inner != outer and inner >= 0 and outer >= 0:
        ev.fail("F302", node, f"matmul of shapes {lhs.shape} and {rhs.shape}: the inner dimensions must be equal")
    a = lhs if len(lhs.shape) > 1 else reshaped(ev, node, lhs, [1, *lhs.shape])
    b = rhs if len(rhs.shape) > 1 else reshaped(ev, node, rhs, [*rhs.shape, 1])
    product = emit(ev, node, "matmul", [a, b])
    dims = dims_of(product)
    rows = dims[-2:-1] if len(lhs.shape) > 1 else []
    columns = dims[-1:] if len(rhs.shape) > 1 else []
    return TracedArray(reshaped(ev, node, product, [*dims[:-2], *rows, *columns]).ssa)


def _matmul(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    return matmul(ev, node, numeric(ev, node, args["x1"]), numeric(ev, node, args["x2"]))


def _dot(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    lhs, rhs = numeric(ev, node, args["a"]), numeric(ev, node, args["b"])
    if isinstance(lhs, NumberValue) or isinstance(rhs, NumberValue) or not lhs.shape or not rhs.shape:
        return _scaled(ev, node, array(ev, node, lhs), array(ev, node, rhs))
    if not 1 <= len(lhs.shape) <= 2 or not 1 <= len(rhs.shape) <= 2:
        ev.fail("F302", node, f"dot of {words(lhs)} and {words(rhs)}", "dot takes arrays of rank 1 or 2; use @ or *")
    return dot_product(ev, node, lhs, rhs)


def dot_product(ev: Evaluator, node: ast.expr, lhs: TracedArray, rhs: TracedArray) -> Value:
    """Emit the product of vectors or matrices as np.dot computes it.

    np.dot copies an operand that repeats elements or is walked backwards, and calls BLAS; `@` multiplies such an operand without
    BLAS. The sums then differ in their last bits. An operand of one element counts as a scalar: no sum, and so no 0.0 to which
    -0.0 is added.
    """
    inner = lhs.shape[-1], rhs.shape[0]
    single = next((v for v in (rhs, lhs) if set(v.shape) == {1}), None)
    if single is not None and inner == (1, 1) and np.result_type(lhs.dtype, rhs.dtype).name in _BY_BLAS:
        other = lhs if single is rhs else rhs
        scalar = TracedArray(reshaped(ev, node, single, []).ssa)
        product = _scaled(ev, node, *((other, scalar) if single is rhs else (scalar, other)))
        assert isinstance(product, TracedArray)
        return TracedArray(reshaped(ev, node, product, [*dims_of(lhs)[:-1], *dims_of(rhs)[1:]]).ssa)
    return matmul(ev, node, *(copied(ev, node, v, "C") if dot_copies(v.ssa) else v for v in (lhs, rhs)))


def _scaled(ev: Evaluator, node: ast.AST, lhs: TracedArray, rhs: TracedArray) -> Value:
    """np.dot with a scalar. A number there is an array, and so not weak.

    BLAS adds to 0.0, so that no -0.0 stays, and adds nothing if the scalar is 0, also for an infinity; NumPy calls it for all
    arrays but those of one element.
    """
    product = elementwise(ev, node, "mul", lhs, rhs)
    if product.dtype.name not in _BY_BLAS:
        return product
    if not 1 <= len(product.shape) <= 2 or set(product.shape) == {1}:
        return product
    added = elementwise(ev, node, "add", product, NumberValue(0.0))
    scalar = rhs if lhs.shape else lhs
    return select(ev, node, elementwise(ev, node, "equal", scalar, NumberValue(0)), NumberValue(0.0), added)


def _inner(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    lhs, rhs = array(ev, node, args["a"]), array(ev, node, args["b"])
    if len(lhs.shape) != 1 or len(rhs.shape) != 1:
        ev.fail("F302", node, f"inner of {words(lhs)} and {words(rhs)}", "it takes vectors; use @ or np.einsum")
    return dot_product(ev, node, lhs, rhs)


def _outer(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    a, b = array(ev, node, args["a"]), array(ev, node, args["b"])
    column, row = ([-1 if any(d < 0 for d in v.shape) else math.prod(v.shape)] for v in (a, b))
    column, row = reshaped(ev, node, a, [*column, 1]), reshaped(ev, node, b, [1, *row])
    return elementwise(ev, node, "mul", column, row)


def _einsum(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    text, given = args["subscripts"], args.get("operands", ())
    if not isinstance(text, str) or not isinstance(given, tuple) or not given:
        ev.fail("F506", node, "einsum takes subscripts as a string, then arrays", 'write np.einsum("ij,jk->ik", a, b)')
    operands = [array(ev, node, v) for v in given]
    try:
        explicit = canonical(text, [len(o.shape) for o in operands])
    except InferenceError as error:
        ev.fail("F311", node, str(error))
    return emit(ev, node, "einsum", operands, subscripts=explicit)


def _norm(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x = array(ev, node, args["a"])
    order = args.get("ord")
    if order is not None and ev.static(order) != 2:
        ev.fail("F506", node, f"norm with ord={words(order)}", "only the Euclidean norm is supported")
    if order is not None and args.get("axis") is None and len(x.shape) != 1:
        ev.fail("F506", node, "norm with ord=2 of a matrix is its largest singular value, which is not supported")
    x = x if x.dtype.kind == "f" else cast(ev, node, x, np.dtype(float))
    axes = axes_of(ev, node, len(x.shape), args.get("axis"))
    if args.get("axis") is None:
        row = _in_a_row(ev, node, x)
        total = matmul(ev, node, row, row)
        assert isinstance(total, TracedArray)
        root = elementwise(ev, node, "sqrt", total)
        return reshaped(ev, node, root, [1] * len(x.shape)) if keeps(ev, node, args) else root
    squares = elementwise(ev, node, "mul", x, x)
    return elementwise(ev, node, "sqrt", emit(ev, node, "reduce_sum", [squares], axes=axes, keepdims=keeps(ev, node, args)))


def _vdot(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    """A product of vectors as `@` adds it: nothing is copied, and an array of one element is not taken for a scalar."""
    vectors = [array(ev, node, args[name]) for name in ("a", "b")]
    if any(len(v.shape) != 1 for v in vectors):
        return _inner(ev, node, args)
    return matmul(ev, node, *vectors)


def _in_a_row(ev: Evaluator, node: ast.AST, x: TracedArray) -> TracedArray:
    """The elements in the order of memory and without gaps, as `ravel("K")` has them: BLAS adds strided ones differently."""
    value, gaps = x.ssa, False
    while isinstance(op := value.owner, TransposeOp | ReshapeOp | SliceOp):
        if isinstance(op, TransposeOp) and value is x.ssa:
            x = TracedArray(op.operands[0])
            value = x.ssa
            continue
        gaps = gaps or isinstance(op, SliceOp)
        value = op.operands[0]
    row = flat(ev, node, x)
    return elementwise(ev, node, "maximum", row, row) if gaps else row  # a copy that no pass folds away


HANDLERS: Mapping[str, Handler] = {
    "matmul": _matmul, "dot": _dot, "inner": _inner, "vdot": _vdot, "outer": _outer, "einsum": _einsum, "norm": _norm,
}  # fmt: skip
