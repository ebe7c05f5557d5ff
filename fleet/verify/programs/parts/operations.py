"""The typed table of operations. Each draws the text of a call on an operand with known shape and dtype.

Drawing raises Redraw if a call makes no sense for an operand (an axis of an array without dimensions). CPython finds out what NumPy
refuses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from fleet.verify.programs.parts.calls import respelled
from fleet.verify.programs.parts.hand import Hand, KnownExpression, Redraw
from fleet.verify.programs.parts.indices import fancy, index, take
from fleet.verify.programs.parts.values import DTYPES
from fleet.verify.programs.parts.written import CALLED, SHORT, SIZES, WITH_ARGUMENTS

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


def _called(h: Hand, x: KnownExpression) -> str:
    text = h.one(CALLED).format(x=x.text, y=h.like(x), a=h.axis(x))
    if "mode='wrap'" in text and not x.value.size:
        raise Redraw  # NumPy's own `take` never returns
    return text


def _argued(h: Hand, x: KnownExpression) -> str:
    """Draw arguments and methods that the other entries omit."""
    if h.chance(0.4):
        return f"{x.text}.{h.one(SHORT)}"
    return h.one(WITH_ARGUMENTS).format(x=x.text, y=h.like(x), a=h.axis(x))


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


def _sizes(h: Hand, x: KnownExpression) -> str:
    """Draw shapes, slice ends and numbers computed from the array's own shape."""
    if x.ndim == 0:
        raise Redraw
    return h.one(SIZES).format(x=x.text, n=h.number(x), d=h.dtype().replace("bool", "bool_"), s=x.shape)


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
    yield "x[slices]", index
    yield "x[indices]", fancy
    yield "take", take
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
