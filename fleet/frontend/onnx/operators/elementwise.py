"""Elementwise operators: arithmetic, comparisons, functions, activations."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import onnx

from fleet.frontend.onnx.array import OnnxArray, binary, maximum, minimum, unary, where
from fleet.frontend.onnx.call import NodeCall
from fleet.frontend.onnx.casting import cast
from fleet.frontend.onnx.limits import OLDEST_OPSET
from fleet.frontend.onnx.narrow import narrow_of
from fleet.frontend.onnx.older import BROADCAST, OLDER
from fleet.frontend.onnx.registry import LEARNING, operator, translation
from fleet.frontend.onnx.tensors import dtype_of

_BINARY = {
    "Add": "add", "Sub": "sub", "Mul": "mul", "Less": "less", "LessOrEqual": "less_equal", "Greater": "greater",
    "GreaterOrEqual": "greater_equal", "Equal": "equal", "BitwiseAnd": "bitwise_and", "BitwiseOr": "bitwise_or",
    "BitwiseXor": "bitwise_xor", "And": "logical_and", "Or": "logical_or", "Xor": "not_equal",
}  # fmt: skip
_UNARY = {
    "Neg": "neg", "Abs": "abs", "Sqrt": "sqrt", "Exp": "exp", "Log": "log", "Tanh": "tanh", "Erf": "erf", "Sin": "sin",
    "Cos": "cos", "Floor": "floor", "Ceil": "ceil", "Round": "rint", "Sign": "sign", "Not": "logical_not",
    "IsNaN": "isnan", "Sigmoid": "sigmoid",
}  # fmt: skip


@operator(*_BINARY)
def _binary(n: NodeCall) -> OnnxArray:
    return binary(_BINARY[n.node.op], n.array(0), n.array(1))


@operator(*BROADCAST, domain=OLDER)
def _placed(n: NodeCall) -> OnnxArray:
    """Before opset 7 the second operand's dimensions are the first one's from `axis` on, the last ones without it."""
    a, b = n.array(0), n.array(1)
    axis = n.attribute("axis", -1)
    if n.attribute("broadcast", 0) and axis != -1 and b.size != 1:
        axis = n.axis(axis, a.rank)
        behind = a.rank - axis - b.rank
        if behind < 0 or any(y not in (1, x) for x, y in zip(a.shape[axis:], b.shape, strict=False)):
            n.refuse(f"the shape {list(b.shape)} does not fit {list(a.shape)} from axis {axis} on")
        b = b.reshape(*b.shape, *[1] * behind)
    today = translation("", n.node.op, OLDEST_OPSET)
    assert today is not None, "the front end has each of them"
    found = today(n.given([a, b]))
    assert isinstance(found, OnnxArray)
    return found


@operator(*_UNARY)
def _unary(n: NodeCall) -> OnnxArray:
    if n.node.op == "Abs" and n.x.dtype.kind == "u":
        return n.x
    return unary(_UNARY[n.node.op], n.x)


@operator("Identity", "Dropout", "StopGradient")
def _identity(n: NodeCall) -> Sequence[OnnxArray | None]:
    if n.node.op == "Dropout" and n.optional(2) is not None and bool(n.known(2, "training_mode").reshape(-1)[0]):
        ratio = float(n.known(1, "ratio").reshape(-1)[0]) if n.optional(1) is not None else 0.5
        if ratio != 0.0:
            n.refuse("Dropout that trains draws random numbers", "export the model for inference")
    return [n.x, n.constant(True).broadcast_to(*n.x.shape) if n.wants(1) else None]


@operator("Div")
def _div(n: NodeCall) -> OnnxArray:
    a, b = n.array(0), n.array(1)
    if a.dtype.kind == "f":
        return a / b
    if a.dtype.kind == "u":
        return a // b
    quotient = a // b  # ONNX cuts off, NumPy rounds down
    inexact = where((quotient * b).equal(a), a.like(0), a.like(1))
    negative = where(unary("sign", a).equal(unary("sign", b)), a.like(0), a.like(1))
    return quotient + inexact * negative


@operator("Mod")
def _mod(n: NodeCall) -> OnnxArray:
    a, b = n.array(0), n.array(1)
    if not n.attribute("fmod", 0) or a.dtype.kind == "u":
        return a % b
    rest = unary("abs", a) % unary("abs", b)  # of the dividend's sign, as C has it
    return where(a < 0, -rest, rest)


@operator("Pow")
def _pow(n: NodeCall) -> OnnxArray:
    a, b = n.array(0), n.array(1)
    if a.dtype.kind == "f":
        cube = b.known is not None and b.size == 1 and b.known.item() == 3 and b.rank <= a.rank
        if cube and a.dtype.itemsize >= 4 and a.narrow is None:
            return a * a * a  # as onnxruntime has it; NumPy's power is libm's, one element at a time
        return a ** b.astype(a.dtype)
    if b.dtype.kind == "f":
        return (a.astype(np.float64) ** b.astype(np.float64)).astype(a.dtype)
    return a ** b.astype(a.dtype)


def _all(n: NodeCall, combine: Callable[[OnnxArray, OnnxArray], OnnxArray]) -> OnnxArray:
    result, *rest = n.arrays()
    for other in rest:
        result = combine(result, other)
    return result


@operator("Sum", "Mean", "Max", "Min")
def _several(n: NodeCall) -> OnnxArray:
    match n.node.op:
        case "Max":
            return _all(n, maximum)
        case "Min":
            return _all(n, minimum)
        case "Sum":
            return _all(n, OnnxArray.__add__)
        case _:
            return _all(n, OnnxArray.__add__) / len(n.values)


@operator("Where")
def _where(n: NodeCall) -> OnnxArray:
    return where(n.array(0), n.array(1), n.array(2))


@operator("Clip")
def _clip(n: NodeCall) -> OnnxArray:
    x, low, high = n.x, n.optional(1), n.optional(2)
    x = x if low is None else maximum(x, low.reshape())
    return x if high is None else minimum(x, high.reshape())


@operator("Reciprocal")
def _reciprocal(n: NodeCall) -> OnnxArray:
    return 1 / n.x


@operator("IsInf")
def _is_inf(n: NodeCall) -> OnnxArray:
    high = n.x.equal(math.inf) if n.attribute("detect_positive", 1) else None
    low = n.x.equal(-math.inf) if n.attribute("detect_negative", 1) else None
    if high is None or low is None:
        found = high or low
        return n.constant(False).broadcast_to(*n.x.shape) if found is None else found
    return binary("logical_or", high, low)


@operator("Tan")
def _tan(n: NodeCall) -> OnnxArray:
    return unary("sin", n.x) / unary("cos", n.x)


@operator("Asin", "Acos", "Atan")
def _angle(n: NodeCall) -> OnnxArray:
    return n.build.emit("numpy", [n.x], call=f"arc{n.node.op[1:].lower()}(x0)")


@operator("Sinh")
def _sinh(n: NodeCall) -> OnnxArray:
    e = unary("expm1", n.x)  # exact near 0, where exp(x) - exp(-x) cancels
    return (e + e / (e + 1)) * 0.5


@operator("Cosh")
def _cosh(n: NodeCall) -> OnnxArray:
    return (unary("exp", n.x) + unary("exp", -n.x)) * 0.5


@operator("Asinh")
def _asinh(n: NodeCall) -> OnnxArray:
    x = unary("abs", n.x)
    square = x * x
    return unary("sign", n.x) * unary("log1p", x + square / (unary("sqrt", square + 1) + 1))


@operator("Acosh")
def _acosh(n: NodeCall) -> OnnxArray:
    above = n.x - 1
    return unary("log1p", above + unary("sqrt", above * (n.x + 1)))


@operator("Atanh")
def _atanh(n: NodeCall) -> OnnxArray:
    return (unary("log1p", n.x) - unary("log1p", -n.x)) * 0.5


# ---- activations


@operator("Relu")
def _relu(n: NodeCall) -> OnnxArray:
    return maximum(n.x, 0)


@operator("LeakyRelu")
def _leaky_relu(n: NodeCall) -> OnnxArray:
    return where(n.x < 0, n.x * n.attribute("alpha", 0.01), n.x)


@operator("PRelu")
@operator("PRelu", domain=OLDER)
def _prelu(n: NodeCall) -> OnnxArray:
    """A slope [C] is one a channel where an old opset says so, and where it fits no last dimension: exporters write it still."""
    x, slope = n.x, n.array(1)
    if (
        slope.rank == 1
        and x.rank > 1
        and slope.size == x.shape[1]
        and (n.node.domain == OLDER or slope.size not in (1, x.shape[-1]))
    ):
        slope = slope.reshape(slope.size, *[1] * (x.rank - 2))
    return where(x < 0, x * slope, x)


def _elu(x: OnnxArray, alpha: float) -> OnnxArray:
    return unary("expm1", minimum(x, 0)) * alpha


@operator("Elu")
def _elu_node(n: NodeCall) -> OnnxArray:
    return where(n.x < 0, _elu(n.x, n.attribute("alpha", 1.0)), n.x)


@operator("Selu")
def _selu(n: NodeCall) -> OnnxArray:
    alpha, gamma = n.attribute("alpha", 1.67326319217681884765625), n.attribute("gamma", 1.05070102214813232421875)
    return where(n.x > 0, n.x, _elu(n.x, alpha)) * gamma


@operator("Celu")
def _celu(n: NodeCall) -> OnnxArray:
    alpha = n.attribute("alpha", 1.0)
    return maximum(n.x, 0) + _elu(n.x / alpha, alpha)


@operator("ThresholdedRelu")
def _thresholded_relu(n: NodeCall) -> OnnxArray:
    return where(n.x > n.attribute("alpha", 1.0), n.x, n.x.like(0))


@operator("HardSigmoid")
def _hard_sigmoid(n: NodeCall) -> OnnxArray:
    return maximum(minimum(n.x * n.attribute("alpha", 0.2) + n.attribute("beta", 0.5), 1), 0)


@operator("HardSwish")
def _hard_swish(n: NodeCall) -> OnnxArray:
    return n.x * maximum(minimum(n.x / 6 + 0.5, 1), 0)


def softplus(x: OnnxArray) -> OnnxArray:
    """`log(1 + exp(x))` without overflow."""
    return maximum(x, 0) + unary("log1p", unary("exp", -unary("abs", x)))


@operator("Softplus")
def _softplus(n: NodeCall) -> OnnxArray:
    return softplus(n.x)


@operator("Softsign")
def _softsign(n: NodeCall) -> OnnxArray:
    return n.x / (unary("abs", n.x) + 1)


@operator("Mish")
def _mish(n: NodeCall) -> OnnxArray:
    return n.x * unary("tanh", softplus(n.x))


@operator("Swish")
def _swish(n: NodeCall) -> OnnxArray:
    alpha = n.attribute("alpha", 1.0)
    return unary("silu", n.x) if alpha == 1 else n.x * unary("sigmoid", n.x * alpha)


@operator("Gelu")
def _gelu(n: NodeCall) -> OnnxArray:
    return unary("gelu", n.x, approximate="tanh" if n.attribute("approximate", "none") == "tanh" else "erf")


@operator("Shrink")
def _shrink(n: NodeCall) -> OnnxArray:
    bias, limit = n.attribute("bias", 0.0), n.attribute("lambd", 0.5)
    zero = n.x.like(0)
    return where(n.x < -limit, n.x + bias, where(n.x > limit, n.x - bias, zero))


# ---- types


@operator("Cast", domain=OLDER)
def _cast_to_a_name(n: NodeCall) -> OnnxArray:
    """Before opset 6 the type is a name, such as "FLOAT"."""
    name = n.attribute("to", "")
    types: dict[str, int] = dict(onnx.TensorProto.DataType.items())
    if name.upper() not in types:
        n.refuse(f"a cast to {name!r:.40}, which is no type")
    return _converted(n, dtype_of(types[name.upper()], n.node.where))


@operator("Cast")
def _cast(n: NodeCall) -> OnnxArray:
    return _converted(n, dtype_of(n.attribute("to", 0), n.node.where))


def _converted(n: NodeCall, to: np.dtype) -> OnnxArray:
    mode = n.attribute("round_mode", "up")
    if mode not in ("up", "down", "nearest"):
        n.refuse(f"the round_mode {mode!r}")
    return cast(n.x, to, saturate=bool(n.attribute("saturate", 1)), mode=mode)


@operator("CastLike")
def _cast_like(n: NodeCall) -> OnnxArray:
    like = n.array(1)
    return _converted(n, like.dtype if like.narrow is None else like.narrow.dtype)


@operator("BitShift")
def _bit_shift(n: NodeCall) -> OnnxArray:
    """A shift by n is a product with, or a quotient by, 2**n; a shift by more than there are bits leaves none."""
    x, by = n.array(0), n.array(1)
    bits = x.dtype.itemsize * 8
    signed = x.dtype.kind == "i"
    inside = by < bits
    if signed:
        inside = binary("logical_and", inside, by >= 0)
        by = maximum(by, 0)
    power = x.like(2) ** minimum(by, bits - 1)  # of a signed type -2**(bits - 1) for the last, which the product wants
    if n.attribute("direction", "LEFT") == "LEFT":
        return where(inside, x * power, x.like(0))
    if not signed:
        return where(inside, x // power, x.like(0))
    moved = where(by < bits - 1, x // power, where(x < 0, x.like(-1), x.like(0)))
    return where(inside, moved, where(x < 0, x.like(-1), x.like(0)))


@operator("BitwiseNot")
def _bitwise_not(n: NodeCall) -> OnnxArray:
    ones = np.asarray(-1).astype(n.x.dtype) if n.x.dtype.kind == "i" else np.iinfo(n.x.dtype).max
    return binary("bitwise_xor", n.x, n.constant(ones, n.x.dtype))


@operator("Binarizer", domain=LEARNING)
def _binarizer(n: NodeCall) -> OnnxArray:
    return where(n.x > n.attribute("threshold", 0.0), n.x.like(1), n.x.like(0))


@operator("BitCast")
def _bit_cast(n: NodeCall) -> OnnxArray:
    """Reinterpret the bits as another type of the same width."""
    x, to = n.x, dtype_of(n.attribute("to", 0), n.node.where)
    if x.narrow is not None or narrow_of(to) is not None or to.itemsize != x.dtype.itemsize:
        n.refuse(
            f"the bits of {x.narrow.name if x.narrow else x.dtype} as {to}", "types that a program carries as they are, of one size"
        )
    return x if to == x.dtype else n.build.emit("numpy", [x], call=f"ndarray.view(x0, '{to.name}')")
