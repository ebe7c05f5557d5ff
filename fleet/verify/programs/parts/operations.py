"""The typed table of operations. Each draws the text of a call on an operand with known shape and dtype.

Drawing raises Redraw if a call makes no sense for an operand (an axis of an array without dimensions). CPython finds out what NumPy
refuses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from fleet.verify.programs.parts.calls import respelled
from fleet.verify.programs.parts.hand import Hand, KnownExpression, Redraw
from fleet.verify.programs.parts.values import DTYPES

__all__ = ["EXPRESSIONS", "Draw", "stable"]

Draw = Callable[[Hand, KnownExpression], str]

_UNARY = (
    *("abs", "absolute", "negative", "positive", "sqrt", "square", "reciprocal", "exp", "expm1", "log", "log1p", "sin", "cos"),
    *("tanh", "floor", "ceil", "trunc", "rint", "fix", "sign", "isnan", "isinf", "isfinite", "logical_not", "invert", "fabs"),
    *("deg2rad", "rad2deg", "exp2", "log2", "log10", "sinh", "cosh", "tan", "nan_to_num", "bitwise_not", "degrees", "radians"),
)
_BINARY = (
    *(
        "add",
        "subtract",
        "multiply",
        "divide",
        "true_divide",
        "floor_divide",
        "remainder",
        "mod",
        "power",
        "pow",
        "maximum",
        "minimum",
    ),
    *("fmax", "fmin", "heaviside", "hypot", "logaddexp", "logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or"),
    *("bitwise_xor", "less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "isclose"),
)
_OPERATORS = ("+", "-", "*", "/", "//", "%", "&", "|", "^", "<", "<=", ">", ">=", "==", "!=")
_REDUCTIONS = (
    *("sum", "prod", "max", "min", "mean", "std", "var", "any", "all", "count_nonzero", "ptp", "nansum", "nanmax", "nanmin"),
    *("nanmean", "average", "amax", "amin"),
)
_ONE_AXIS = ("argmax", "argmin")
_METHODS = ("sum", "prod", "max", "min", "mean", "std", "var", "any", "all")
_PLAIN = (
    *("ravel", "transpose", "flip", "atleast_1d", "atleast_2d", "copy", "ascontiguousarray", "fliplr", "flipud", "zeros_like"),
    *("ones_like", "squeeze"),
)


_SHORT = (
    "flatten()",
    "ravel()",
    "round()",
    "argmax()",
    "argmin()",
    "squeeze()",
    "transpose()",
    "transpose(None)",
    "sum(None)",
    "copy()",
    "swapaxes(0, -1)",
    "trace()",
)
_WITH_ARGUMENTS = (
    "np.nan_to_num({x}, nan=1.0, posinf=7.0, neginf=-7.0)",
    "np.isclose({x}, {y}, rtol=0.1, atol=0.5, equal_nan=True)",
    "np.flip({x}, axis={a})",
    "np.squeeze({x}, axis={a})",
    "np.moveaxis({x}, 0, {a})",
    "np.roll({x}, (1, -2), axis=(0, {a}))",
    "{x}.take([0, -1], axis={a})",
    "{x}.repeat(2, axis={a})",
    "np.argsort({x}, axis={a}, kind='stable')[..., ::-1]",
    "{x}.argsort(axis={a}, kind='stable')",
    "np.concatenate([{x}, {x}, {y}], axis={a})",
    "np.take({x}, [[0, 1], [-1, 0]], axis={a})",
    "np.stack([{x}, {y}], axis={a})[0]",
    "np.average({x}, axis={a})",
    "np.size({x}) * {x}",
    "np.cumsum({x}, axis={a})[..., -1]",
    "np.take({x}, -1, axis={a})",
    "np.take({x}, [0, -1])",
    "np.take({x}, 0)",
    "{x}.take(0, {a})",
    "np.sort({x}, axis=None, kind='stable')",
    "np.argsort({x}, axis=None, kind='stable')",
    "np.take_along_axis({x}, np.argsort({x}, axis=None, kind='stable'), axis=None)",
    "np.concatenate([{x}, {y}], axis=None)",
    "np.median({x}, axis={a}, keepdims=True)",
    "np.var({x}, axis={a}, ddof=1, keepdims=True)",
    "np.moveaxis({x}, [0, {a}], [{a}, 0])",
    "np.expand_dims({x}, (0, {a}))",
    "np.full({x}.shape, {y})",
    "np.full(3, {x}.sum())",
    "np.array({x}, copy=True)",
    "np.ones_like({x}, shape=(2, 2))",
    "{x}.reshape(-1, order='C')",
    "np.sum({x}, axis={a}, dtype=np.float64)",
    "{x}.astype({y}.dtype)",
    "np.arange(3, dtype={x}.dtype)",
    "np.round({x}, -1)",
    "np.argmax({x}, axis={a}, keepdims=True)",
    "np.argmax({x}, keepdims=True)",
    "np.cumsum({x}, dtype=np.float32)",
    "np.clip({x}, {y}, None)",
    "np.linalg.norm({x}, axis={a}, keepdims=True)",
    "np.linalg.norm({x}, keepdims=True)",
    "np.squeeze({x}[None, ..., None])",
    "np.broadcast_to({x}, {x}.shape)",
    "np.diff({x}, n=0, axis={a})",
    "np.diff({x}, n=3)",
    "np.flip({x}, axis=(0, {a}))",
    "np.ptp({x}, axis={a})",
    "np.where({x}, {x}, {y})",
    "np.around({x}, 1)",
    "np.diag({x}, {a})",
    "np.kron({x}, {y})",
    "np.tensordot({x}, {x}, ({a}, {a}))",
    "{x} << {y}",
    "{x} >> {x}",
    "np.right_shift({x}, np.uint8(1))",
    "1 << {x}",
)


_TAME = "np.clip(np.nan_to_num({x}), -100, 100)"
"""Operand for LAPACK's decompositions, which may not terminate on infinite values."""
_CALLED = (
    *(f"np.{n}({{x}})" for n in ("arctan", "arcsinh", "cbrt", "sinc", "signbit", "spacing", "isposinf", "unwrap", "conj", "i0")),
    *(f"np.{n}({{x}}, {{y}})" for n in ("arctan2", "copysign", "fmod", "logaddexp2", "nextafter", "float_power", "gcd", "vdot")),
    *(f"np.{n}({{x}}, axis={{a}})" for n in ("cumprod", "nancumsum", "nanstd", "nanmedian", "nanprod", "trapezoid")),
    *(f"np.{n}({{x}}, axis={{a}}, dtype=np.float32)" for n in ("sum", "mean", "prod", "std", "cumsum")),
    *(f"np.{n}({{x}}, axis={{a}}, where={{x}} > 0)" for n in ("sum", "prod", "mean", "any", "all")),
    *(f"np.{n}({{x}}, axis={{a}}, initial=2)" for n in ("max", "min", "sum", "prod")),
    *(f"np.pad({{x}}, 2, mode={m!r})" for m in ("edge", "reflect", "symmetric", "wrap", "mean", "maximum")),
    *(f"np.linalg.{n}" for n in ("norm({x}, 1, axis={a})", "norm({x}, np.inf)")),
    *(f"np.linalg.{n}" for n in (f"svd({_TAME})[1]", f"pinv({_TAME})", f"qr({_TAME})[1]")),
    *(f"np.{u}.{m}({{x}}, axis={{a}})" for u in ("maximum", "multiply", "bitwise_xor") for m in ("reduce", "accumulate")),
    "np.percentile({x}, [25, 50], axis={a})",
    "np.quantile({x}, 0.3, axis={a}, keepdims=True)",
    "np.nanpercentile({x}, 40)",
    "np.average({x}, axis={a}, weights=np.abs({x}) + 1)",
    "np.add({x}, {y}, out=np.zeros({x}.shape))",
    "np.divide({x}, {y}, out=np.ones({x}.shape), where={x} > 0)",
    "np.sum({x}, axis={a}, out=np.zeros({x}.sum(axis={a}).shape))",
    "np.gradient({x}, axis={a})",
    "np.diff({x}, prepend=0, axis={a})",
    "np.ediff1d({x})",
    "np.interp({x}, np.arange(4.0), np.arange(4.0) ** 2)",
    "np.searchsorted(np.arange(-3, 4), {x})",
    "np.digitize({x}, [-1, 0, 2])",
    "np.histogram({x}.astype(np.int8), bins=4)[0]",
    "np.histogram({x}.astype(np.int8), bins=3, range=(-4, 4))[1]",
    "np.convolve({x}.reshape(-1), [1, 2, 1], 'same')",
    "np.correlate({x}.reshape(-1), {x}.reshape(-1), 'full')",
    "np.isin({x}, [0, 1, 2])",
    "np.unique({x}.astype(np.int8))",
    "np.unique({x}.astype(np.int8), return_counts=True)[1]",
    "np.nonzero({x})[0]",
    "np.argwhere({x} > 0)",
    "np.extract({x} > 0, {x})",
    "np.bincount(np.abs({x}).astype(np.int8).reshape(-1) % 5)",
    "np.partition({x}, 0, axis={a})",
    "np.insert({x}, 1, 3, axis={a})",
    "np.delete({x}, 0, axis={a})",
    "np.rot90({x}, 1, (0, {a}))",
    "np.block([[{x}, {x}]])",
    "np.resize({x}, (3, 5))",
    "np.cov({x})",
    "np.cross({x}, {x})",
    "np.vander({x}.reshape(-1), 3)",
    "np.polyval([1, -2, 3], {x})",
    "np.divmod({x}, {y})[1]",
    "np.modf({x})[0]",
    "np.frexp({x})[1]",
    "np.packbits({x} > 0)",
    "np.einsum('i...,i...->...', {x}, {x}, optimize=True)",
    "{x}.copy(order='F').sum()",
    "{x}.T.copy().sum()",
    "np.ascontiguousarray({x}.T).sum()",
    "{x}.reshape(-1, order='F')",
    "{x}.ravel('F')",
    "{x}.astype(np.float64, order='F').sum()",
    "np.sort({x}.T, axis=0, kind='stable').sum()",
    "np.r_[{x}.reshape(-1), 1, 2:4]",
    "np.select([{x} > 1, {x} < 0], [{x}, {y}], 7)",
    "np.take({x}, [5, -9], axis={a}, mode='wrap')",
    "np.tensordot({x}, {x}, axes=({a}, {a}))",
    "np.lib.stride_tricks.sliding_window_view({x}, 1, axis={a})",
)
"""NumPy functions called without further choices."""


def _called(h: Hand, x: KnownExpression) -> str:
    return h.one(_CALLED).format(x=x.text, y=h.like(x), a=h.axis(x))


def _argued(h: Hand, x: KnownExpression) -> str:
    """Draw arguments and methods that the other entries omit."""
    if h.chance(0.4):
        return f"{x.text}.{h.one(_SHORT)}"
    return h.one(_WITH_ARGUMENTS).format(x=x.text, y=h.like(x), a=h.axis(x))


def _unary(name: str) -> Draw:
    return lambda _h, x: f"np.{name}({x.text})"


def _binary(name: str) -> Draw:
    def draw(h: Hand, x: KnownExpression) -> str:
        other = h.beside(x)
        return f"np.{name}({other}, {x.text})" if h.chance(0.3) else f"np.{name}({x.text}, {other})"

    return draw


def _operator(symbol: str) -> Draw:
    def draw(h: Hand, x: KnownExpression) -> str:
        other = h.beside(x)
        return f"({other} {symbol} {x.text})" if h.chance(0.3) else f"({x.text} {symbol} {other})"

    return draw


def _power(h: Hand, x: KnownExpression) -> str:
    return f"({x.text} ** {h.one(('2', '3', '0', '1', '0.5', '0.5', '-0.5', '-1', '2.0', h.beside(x)))})"


def _shift(symbol: str) -> Draw:
    def draw(h: Hand, x: KnownExpression) -> str:
        if x.dtype.kind == "f":
            raise Redraw
        by = (
            h.integer(0, 8 * x.dtype.itemsize)
            if h.chance(0.9)
            else h.one((64, 100, 127, 128, 255, 256, 300, 32767, -1, 0, "True", "False", "np.int8(1)", "np.uint16(3)"))
        )
        name = "left_shift" if symbol == "<<" else "right_shift"
        return f"np.{name}({x.text}, {by})" if h.chance(0.3) else f"({x.text} {symbol} {by})"

    return draw


def _reduction(name: str) -> Draw:
    def draw(h: Hand, x: KnownExpression) -> str:
        more = ", ddof=1" if name in ("std", "var") and h.chance(0.2) else ""
        axes = h.axes(x)
        return f"np.{name}({x.text}{axes}{more})"

    return draw


def _one_axis(name: str) -> Draw:
    return lambda h, x: f"np.{name}({x.text}{h.axes(x, several=False)})"


def _method(name: str) -> Draw:
    return lambda h, x: f"{x.text}.{name}({h.axes(x)[2:]})"


def _median(h: Hand, x: KnownExpression) -> str:
    if stable(x):
        raise Redraw
    return f"np.median({x.text}{', axis=' + str(h.axis(x)) if x.ndim and h.chance(0.7) else ''})"


def _cumsum(h: Hand, x: KnownExpression) -> str:
    axis = f"axis={h.axis(x)}" if x.ndim and h.chance(0.8) else ""
    return f"{x.text}.cumsum({axis})" if h.chance(0.2) else f"np.cumsum({x.text}{', ' + axis if axis else ''})"


def _norm(h: Hand, x: KnownExpression) -> str:
    if x.ndim not in (1, 2):
        raise Redraw
    axes = h.axes(x, several=False)
    return f"np.linalg.norm({x.text}{axes}{h.one(('', '', ', ord=2', ', ord=1')) if 'axis=' in axes or x.ndim == 1 else ''})"


def _sort(h: Hand, x: KnownExpression) -> str:
    axis = h.one(("", f", axis={h.axis(x)}"))
    return f"np.sort({x.text}{axis}{stable(x, ', ')})"


def stable(x: KnownExpression, before: str = "") -> str:
    """Return the kind= argument for a sort, if the operand needs one.

    It needs one if it holds zeros of both signs, whose order is otherwise undefined, or NaN in float16: NumPy's vector sort turns
    such a NaN into a signalling one, which `np.fmin` may prefer to a number.
    """
    flat = x.value.reshape(-1)
    zeros = flat[flat == 0] if x.dtype.kind == "f" else flat[:0]
    open_zeros = 0 < np.count_nonzero(np.signbit(zeros)) < zeros.size
    return f"{before}kind='stable'" if open_zeros or (x.dtype == np.float16 and np.isnan(flat).any()) else ""


def _argsort(h: Hand, x: KnownExpression) -> str:
    axis = h.one(("", f", axis={h.axis(x)}"))
    return f"np.argsort({x.text}{axis}, kind='stable')"


def _reshape(h: Hand, x: KnownExpression) -> str:
    n = x.value.size
    shapes = {(n,), (-1,), (1, -1), (-1, 1), *((a, n // a) for a in (2, 3, 4) if n % a == 0)} if n else {(n,), (0, 2)}
    shape = h.one(sorted(shapes))
    return f"{x.text}.reshape({', '.join(map(str, shape))})" if h.chance(0.5) else f"np.reshape({x.text}, {shape})"


def _permute(h: Hand, x: KnownExpression) -> str:
    axes = [int(a) - x.ndim * h.chance(0.4) for a in h.rng.permutation(x.ndim)]
    kind = h.one(("np.transpose({x}, {a})", "{x}.transpose({a})", "np.permute_dims({x}, {a})"))
    return kind.format(x=x.text, a=tuple(axes))


def _swap(h: Hand, x: KnownExpression) -> str:
    return f"np.{h.one(('swapaxes', 'moveaxis'))}({x.text}, {h.axis(x)}, {h.axis(x)})"


def _roll(h: Hand, x: KnownExpression) -> str:
    return f"np.roll({x.text}, {h.integer(-5, 6)}{f', axis={h.axis(x)}' if x.ndim and h.chance(0.7) else ''})"


def _repeat(h: Hand, x: KnownExpression) -> str:
    return f"np.repeat({x.text}, {h.integer(1, 4)}{f', axis={h.axis(x)}' if x.ndim and h.chance(0.7) else ''})"


def _tile(h: Hand, x: KnownExpression) -> str:
    return f"np.tile({x.text}, {h.one(('2', '(2, 1)', '(1, 3)', '(2, 2)', '1', '0', '(2, 0)', '(1, 1, 2)'))})"


def _pad(h: Hand, x: KnownExpression) -> str:
    if x.ndim == 0:
        raise Redraw
    width = h.one(("1", "(1, 2)", str(tuple((h.integer(0, 3), h.integer(0, 3)) for _ in x.shape))))
    mode = h.one(("", ", mode='constant'", f", constant_values={h.number(x)}"))
    return f"np.pad({x.text}, {width}{mode})"


def _join(h: Hand, x: KnownExpression) -> str:
    name = h.one(("concatenate", "stack", "hstack", "vstack", "dstack", "column_stack", "concat"))
    axis = f", axis={h.axis(x)}" if name in ("concatenate", "stack", "concat") and h.chance(0.6) else ""
    return f"np.{name}([{x.text}, {h.like(x)}]{axis})"


def _append(h: Hand, x: KnownExpression) -> str:
    return f"np.append({x.text}, {h.like(x)}{f', axis={h.axis(x)}' if x.ndim and h.chance(0.5) else ''})"


def _split(h: Hand, x: KnownExpression) -> str:
    parts, axis = h.integer(2, 4), h.axis(x)
    at = h.integer(0, parts)
    places = sorted(h.integer(0, max(x.shape) + 1) for _ in range(parts - 1))
    texts = (
        *(f"np.array_split({x.text}, {parts}, axis={axis})[{at}]" for _ in range(2)),
        f"np.split({x.text}, {places}, axis={axis})[{at}]",
        f"np.split({x.text}, 2, {axis})[1]",
        f"np.hsplit({x.text}, {places})[{at}]",
        f"np.vsplit({x.text}, {places})[{at}]",
        f"np.hsplit({x.text}, 2)[0]",
        f"np.vsplit({x.text}, 2)[0]",
    )
    return h.one(texts)


def _broadcast(h: Hand, x: KnownExpression) -> str:
    lead = h.one(((2,), (3,), (1,), (2, 2)))
    return f"np.broadcast_to({x.text}, {(*lead, *(h.integer(2, 4) if n == 1 else n for n in x.shape))})"


def _triangle(h: Hand, x: KnownExpression) -> str:
    if x.ndim < 2:
        raise Redraw
    return f"np.{h.one(('tril', 'triu'))}({x.text}{h.one(('', f', k={h.integer(-2, 3)}'))})"


def _diagonal(h: Hand, x: KnownExpression) -> str:
    return f"np.{h.one(('diagonal', 'trace'))}({x.text})"


def _diff(h: Hand, x: KnownExpression) -> str:
    return f"np.diff({x.text}{h.one(('', ', n=2', f', axis={h.axis(x)}'))})"


def _expand(h: Hand, x: KnownExpression) -> str:
    return f"np.expand_dims({x.text}, {h.integer(-x.ndim - 1, x.ndim + 1)})"


def _matmul(h: Hand, x: KnownExpression) -> str:
    """Draw a product with the operand's own transpose, or with any value that fits."""
    if x.ndim == 0:
        raise Redraw
    fitting = [k.text for k in h.pool if k.ndim in (1, 2) and k.shape and k.shape[max(0, k.ndim - 2)] == x.shape[-1]]
    other = h.one([*fitting, f"{x.text}.T" if x.ndim < 3 else f"{x.text}.swapaxes(-1, -2)"])
    return h.one((f"({x.text} @ {other})", f"np.matmul({x.text}, {other})"))


def _dot(h: Hand, x: KnownExpression) -> str:
    if x.ndim > 2:
        raise Redraw
    finite = x.dtype.kind != "f" or bool(np.isfinite(x.value).all())  # BLAS takes 0 times anything for 0
    other = h.one((f"{x.text}.T", h.number(x) if finite else h.like(x), h.like(x)))
    return h.one((f"np.dot({x.text}, {other})", f"{x.text}.dot({other})"))


def _products(h: Hand, x: KnownExpression) -> str:
    if x.ndim > 2:
        raise Redraw
    return f"np.{h.one(('inner', 'outer', 'vdot'))}({x.text}, {h.like(x)})"


_EINSUMS: Mapping[int, tuple[str, ...]] = {
    1: ("i,i->i", "i,j->ij", "i,i->", "i->", "i->i"),
    2: ("ij,ij->ij", "ij->ji", "ij->", "ij->i", "ij,kj->ik", "ij,ij->", "ij->j", "...j->...", "ii->i", "ij,ij", "ji"),
    3: ("ijk->kij", "ijk,ijk->ij", "ijk->k", "bij,bkj->bik"),
}


def _einsum(h: Hand, x: KnownExpression) -> str:
    text = h.one(_EINSUMS.get(x.ndim, ())) if h.chance(0.5) else _subscripts(h, x.ndim)
    return f"np.einsum('{text}', {x.text}{(', ' + h.like(x)) * text.count(',')})"


def _subscripts(h: Hand, ndim: int) -> str:
    """Draw subscripts of one to three arrays with so many dimensions; leading ones may be dots."""
    terms: list[str] = []
    dots = h.integer(0, ndim + 1) if h.chance(0.4) else None
    for _ in range(h.one((1, 1, 2, 2, 2, 3))):
        letters = "".join(h.rng.permutation(list("ijklmn"[:ndim]))) if h.chance(0.3) else "ijklmn"[:ndim]
        terms.append(letters if dots is None else "..." + letters[dots:] if h.chance(0.8) else letters)
    there = sorted(set("".join(terms)) - {"."})
    kept = [str(c) for c in h.rng.permutation(there) if h.chance(0.6)] if there else []
    if h.chance(0.2):
        return ",".join(terms)
    return f"{', '.join(terms) if h.chance(0.1) else ','.join(terms)}->{'...' * any('.' in t for t in terms)}{''.join(kept)}"


def _where(h: Hand, x: KnownExpression) -> str:
    condition = h.one((f"{x.text} > {h.number(x)}", f"{x.text} == {h.part_of(x)}", x.text, f"np.isnan({x.text})"))
    first, second = (x.text, h.beside(x)) if h.chance(0.6) else (h.beside(x), x.text)
    return f"np.where({condition}, {first}, {second})"


def _clip(h: Hand, x: KnownExpression) -> str:
    low, high = h.number(x), h.number(x)
    return h.one(
        (
            f"np.clip({x.text}, {low}, {high})",
            f"{x.text}.clip({low}, {high})",
            f"np.clip({x.text}, None, {high})",
            f"np.clip({x.text}, {h.beside(x)}, {high})",
            f"np.clip({x.text}, min={low})",
        )
    )


def _round(h: Hand, x: KnownExpression) -> str:
    return f"np.round({x.text}{h.one(('', ', 1', ', 2', ', decimals=0'))})"


def _cast(h: Hand, x: KnownExpression) -> str:
    """Draw a cast to a dtype that holds the values, because C leaves other casts undefined."""
    name = h.one(DTYPES)
    if not _held(x, np.dtype(name)):
        raise Redraw
    kind = h.one(("{x}.astype(np.{d})", "{x}.astype('{d}')", "np.array({x}, dtype='{d}')", "np.asarray({x}, np.{d})"))
    return kind.format(x=x.text, d=name)


def _held(x: KnownExpression, dtype: np.dtype) -> bool:
    if x.dtype.kind != "f" or dtype.kind not in "iu":
        return True
    info = np.iinfo(dtype)
    with np.errstate(all="ignore"):
        wide = x.value.astype(np.float64)
    return bool(np.all(np.isfinite(wide)) and np.all(wide > float(info.min) - 1) and np.all(wide < float(info.max)))


def _index(h: Hand, x: KnownExpression) -> str:
    return f"{x.text}[{h.index(x)}]"


def _fancy(h: Hand, x: KnownExpression) -> str:
    if x.ndim == 0 or x.shape[0] == 0:
        raise Redraw
    n = x.shape[0]
    if h.chance(0.4):
        return f"{x.text}[{_advanced(h, x)}]"
    whole = [k.text for k in h.pool if k.dtype.kind in "iu" and k.value.size and k.value.min() >= 0 and k.value.max() < n]
    kind = h.rng.random()
    if kind < 0.1 and x.ndim > 1:
        one = h.integer(-x.shape[1], x.shape[1])
        first = h.numbers(n)
        return h.one(
            (
                f"{x.text}[{first}, {one}]",
                f"{x.text}[{h.integer(-n, n)}, {h.numbers(x.shape[1])}]",
                f"{x.text}[{first}][..., {one}]",
            )
        )
    if kind < 0.3:
        return f"{x.text}[{h.numbers(n)}]"
    if kind < 0.5:
        mask = h.known_mask(n)
        places = h.one(("{m}", "np.nonzero({m})[0]", "np.flatnonzero({m})", "np.where({m})[0]"))
        return f"{x.text}[{places.format(m=mask)}]"
    index = h.one([*whole, f"np.array({h.numbers(n)})", f"np.argsort({x.text}, axis=0, kind='stable')"])
    if kind < 0.75 or x.ndim < 2:
        return f"{x.text}[{index}]"
    if x.ndim == 2 and h.chance(0.3):
        return f"{x.text}[np.argmax({x.text}, axis=1)[:, None] % {n}, np.arange({x.shape[1]})]"
    return f"{x.text}[np.arange({n}), np.argmax({x.text}, axis=-1)]" if x.ndim == 2 else f"{x.text}[:, {h.numbers(x.shape[1])}]"


def _advanced(h: Hand, x: KnownExpression) -> str:
    """Draw an index of slices, numbers, lists, None, dots and arrays known only at run time, in any order."""
    parts: list[str] = []
    length = h.integer(1, 4)
    whole = [k for k in h.pool if k.dtype.kind in "iu" and k.ndim in (0, 1, 2) and k.value.size]
    for n in x.shape:
        if n == 0:
            raise Redraw
        kind = h.rng.random()
        if kind < 0.1 and "..." not in parts:
            parts.append("...")
            break
        if kind < 0.2:
            parts.append("None")
        if kind < 0.35:
            parts.append(str(h.integer(-n, n)))
        elif kind < 0.55:
            parts.append(h.slice(n))
        elif kind < 0.75 or not whole:
            parts.append(str([h.integer(-n, n) for _ in range(length)]))
        elif kind < 0.9:
            parts.append(f"{h.one(whole).text} % {n}")
        else:
            parts.append(f"np.array({[h.integer(0, n) for _ in range(length)]}, np.{h.one(DTYPES[1:9])})")
    if h.chance(0.2):
        parts.insert(0, "...") if "..." not in parts and len(parts) < x.ndim else None
    return ", ".join(parts)


def _take(h: Hand, x: KnownExpression) -> str:
    if x.ndim == 0:
        raise Redraw
    axis = h.axis(x)
    n = x.shape[axis]
    if h.chance(0.4):
        return f"np.take_along_axis({x.text}, np.argsort({x.text}, axis={axis}, kind='stable'), axis={axis})"
    return f"np.take({x.text}, {h.numbers(n)}, axis={axis})"


def _full_like(h: Hand, x: KnownExpression) -> str:
    kind = h.one(
        ("np.full_like({x}, {n})", "np.zeros_like({x}, dtype='{d}')", "np.ones_like({x}, '{d}')", "np.full_like({x}, 1, '{d}')")
    )
    return kind.format(x=x.text, n=h.number(x), d=h.dtype())


def _array(h: Hand, x: KnownExpression) -> str:
    y, n = h.like(x), h.number(x)
    return h.one(
        (
            f"np.array([{x.text}, {y}])",
            f"np.array([[{x.text}, {y}], [{y}, {x.text}]])",
            f"np.array(({x.text}, {y}), dtype='{h.dtype()}')" if x.dtype.kind != "f" else f"np.asarray([{x.text}])",
            f"np.array([{n}, {h.number(x)}, {x.text}.sum()])",
            f"np.array([*{x.text}])" if x.ndim else f"np.array([{x.text}, {n}])",
            f"np.array([[{n}, {h.number(x)}], [{x.text}.max(), 1]])",
        )
    )


_SIZES = (
    *(
        "{x}.reshape({x}.shape[0], -1)",
        "{x}.reshape(-1, {x}.shape[-1])",
        "np.reshape({x}, {x}.shape[::-1])",
        "np.zeros({x}.shape) + {x}",
    ),
    *(
        "np.ones({x}.shape[:1], np.{d})",
        "np.full({x}.shape, {n})",
        "np.broadcast_to({n}, {x}.shape) + {x}",
        "np.arange({x}.shape[0])",
    ),
    *("{x}[: {x}.shape[0] // 2]", "{x}[len({x}) - 1]", "{x}[-len({x}) :]", "{x}.reshape({x}.size)", "{x}.reshape((1, *{x}.shape))"),
    *("{x}[None].reshape({x}.shape)", "np.tile({x}, ({x}.ndim, 1))", "{x}.sum() / {x}.size", "{x}.reshape({x}.shape + (1,))"),
    *("np.expand_dims({x}, {x}.ndim)", "np.eye({x}.shape[0], dtype=np.{d})", "np.arange({x}.size).reshape({x}.shape) * {x}"),
    *(
        "{x}[{x}.shape[0] - 1 :: -1]",
        "{x}[..., : {x}.shape[-1] - 1]",
        "({x} + {x}.shape[0] * {x}.shape[-1])",
        "{x}[{x}.shape[0] // 2 :]",
    ),
    *("{x}.reshape({x}.shape[0] * 2, -1)", "{x}.reshape(2, {x}.shape[0] // 2, -1)", "np.broadcast_to({x}, ({n}, *{x}.shape))"),
    *("np.concatenate([{x}, np.zeros({x}.shape, {x}.dtype)])", "np.pad({x}, {x}.ndim)", "np.roll({x}, {x}.shape[0] - 1, axis=0)"),
    *(
        "np.full((2, {x}.shape[-1]), {n}) * {x}.shape[0]",
        "{x}.reshape({x}.shape)",
        "{x}.reshape({s})",
        "{x}.reshape(-1, *{x}.shape[1:])",
    ),
    *("np.repeat({x}, {x}.ndim, axis=0)", "np.linspace(0, {x}.shape[0], {x}.shape[0])", "np.zeros(({x}.shape[0], {x}.shape[0]))"),
    *("np.squeeze({x}.reshape({x}.shape[0], 1, -1), axis=1)", "({x}.sum() % ({x}.shape[0] + 1))", "np.ones({x}.size // 2)"),
    *("{x}[{x}.shape[0] - 1]", "{x}[-{x}.shape[0]]", "{x}[1 : {x}.shape[0] : 2]", "np.expand_dims({x}, ({x}.ndim, 0))"),
    *("np.split({x}, [{x}.shape[0] // 2])[1]", "np.array_split({x}, {x}.ndim)[0]", "np.split({x}, {x}.shape[0])[0]"),
)


def _sizes(h: Hand, x: KnownExpression) -> str:
    """Draw shapes, slice ends and numbers computed from the array's own shape."""
    if x.ndim == 0:
        raise Redraw
    return h.one(_SIZES).format(x=x.text, n=h.number(x), d=h.dtype().replace("bool", "bool_"), s=x.shape)


def _respelled(h: Hand, x: KnownExpression) -> str:
    name = h.one([n for n in EXPRESSIONS if not n.startswith(".")])
    return respelled(h, EXPRESSIONS[name](h, x))


def _same(h: Hand, x: KnownExpression) -> str:
    """Draw a comparison with a Python truth value as result, used beside the array."""
    other = h.one((h.like(x), h.like(x), h.beside(x)))
    more = h.one(("", "", ", rtol=0.5", ", 0.1, 2", ", equal_nan=True"))
    same = h.one((f"np.array_equal({x.text}, {other})", f"np.allclose({x.text}, {other}{more})"))
    return h.one((f"({x.text} + {same})", f"np.where({same}, {x.text}, {h.beside(x)})"))


def _meshgrid(h: Hand, x: KnownExpression) -> str:
    if x.ndim != 1:
        raise Redraw
    return f"np.meshgrid({x.text}, {h.like(x)}{h.one(('', ', indexing=' + repr('ij')))})[{h.integer(0, 2)}]"


def _beside_made(h: Hand, x: KnownExpression) -> str:
    """Draw an operation with an array that the source makes."""
    if x.ndim == 0:
        raise Redraw
    n, dtype = x.shape[-1], h.dtype()
    bound = f"np.{dtype if dtype != 'bool' else 'bool_'}"
    made = h.one(
        (
            f"np.arange({n}, dtype={bound})" if dtype != "bool" else f"np.arange({n})",
            f"np.ones({n}, dtype={bound})",
            f"np.full({x.shape}, {h.number(x)})",
            f"np.linspace(-1, 2, {n})",
            f"np.zeros({x.shape}, {bound})",
            f"np.eye({n})",
            f"np.eye({n + 1}, {n}, k={h.integer(-2, 3)})",
            f"np.tri({n + 1}, {n}, {h.integer(-2, 3)}, dtype='{dtype}')",
            f"np.identity({n}, dtype='{dtype}')",
            f"np.arange({2 * n + 1}, 1, -2)",
            f"np.linspace(0, {n}, {n}, endpoint=False)",
        )
    )
    symbol = h.one(("+", "*", "-", "<", "=="))
    return f"({x.text} {symbol} {made})"


def _python(h: Hand, x: KnownExpression) -> str:
    """Draw Python's own constructs: unpacking, comprehensions, len, sum, conditions on shapes."""
    if x.ndim == 0:
        raise Redraw
    n = h.integer(1, 4)
    return h.one(
        (
            f"sum([{x.text} * i for i in range({n})])",
            f"np.stack([row for row in {x.text}])",
            f"({x.text} * len({x.text}))",
            f"({x.text} + {x.text}.shape[0] if {x.text}.ndim > 1 else {x.text} - {x.text}.size)",
            f"helper({x.text}, k={h.integer(0, 4)})",
            f"max({x.text}.shape) * {x.text}",
            f"sum({x.text})",
            f"({x.text} if 1 < {x.text}.ndim < {n} else {x.text} * 2)",
            f"({x.text} if {x.text}.ndim == {n} else {x.text} + 1)",
            f"abs({x.text})",
            f"np.array([v for v in {x.text}][::-1])",
        )
    )


def _table() -> Iterator[tuple[str, Draw]]:
    for name in (*_UNARY, *_PLAIN):
        yield f"np.{name}", _unary(name)
    for name in _BINARY:
        yield f"np.{name}", _binary(name)
    for symbol in _OPERATORS:
        yield symbol, _operator(symbol)
    yield "**", _power
    yield "-x", lambda _h, x: f"(-{x.text})"
    yield "~x", lambda _h, x: f"(~{x.text})"
    for symbol in ("<<", ">>"):
        yield symbol, _shift(symbol)
    for name in _REDUCTIONS:
        yield f"np.{name}", _reduction(name)
    for name in _ONE_AXIS:
        yield f"np.{name}", _one_axis(name)
    for name in _METHODS:
        yield f".{name}()", _method(name)
    yield "np.median", _median
    yield "np.cumsum", _cumsum
    yield "np.linalg.norm", _norm
    yield "np.sort", _sort
    yield "np.argsort", _argsort
    yield "reshape", _reshape
    yield "transpose(axes)", _permute
    yield "swapaxes, moveaxis", _swap
    yield "np.roll", _roll
    yield "np.repeat", _repeat
    yield "np.tile", _tile
    yield "np.pad", _pad
    yield "concatenate, stack", _join
    yield "np.append", _append
    yield "np.array_split", _split
    yield "np.broadcast_to", _broadcast
    yield "tril, triu", _triangle
    yield "diagonal, trace", _diagonal
    yield "np.diff", _diff
    yield "np.expand_dims", _expand
    yield "matmul", _matmul
    yield "dot", _dot
    yield "inner, outer, vdot", _products
    yield "np.einsum", _einsum
    yield "np.where", _where
    yield "clip", _clip
    yield "np.round", _round
    yield "astype", _cast
    yield "x[slices]", _index
    yield "x[indices]", _fancy
    yield "take", _take
    yield "np.full_like", _full_like
    yield "np.array([...])", _array
    yield "array_equal, allclose", _same
    yield "np.meshgrid", _meshgrid
    yield "made arrays", _beside_made
    yield "Python", _python
    yield "arguments", _argued
    yield "NumPy's own functions", _called
    yield "sizes", _sizes
    yield "respelled calls", _respelled


EXPRESSIONS: Mapping[str, Draw] = dict(_table())
"""Name -> function that draws a call. Expressions do not change arrays."""
