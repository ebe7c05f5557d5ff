"""Expressions that CPython mostly refuses: faults in a call, its arguments, shapes, axes, indices or dtypes."""

from __future__ import annotations

from fleet.verify.programs.parts.calls import misspelled
from fleet.verify.programs.parts.hand import Hand, KnownExpression
from fleet.verify.programs.parts.operations import EXPRESSIONS

_KINDS = {
    "F101": "SyntaxError", "F201": "NameError", "F202": "NameError",
    "F301": "ValueError IndexError", "F302": "ValueError TypeError", "F303": "ValueError", "F304": "ValueError TypeError AxisError",
    "F305": "AxisError IndexError ValueError TypeError ZeroDivisionError", "F306": "IndexError ValueError TypeError",
    "F307": "ValueError AxisError", "F308": "ValueError", "F309": "ValueError", "F310": "ValueError TypeError",
    "F311": "ValueError", "F312": "IndexError", "F401": "TypeError", "F402": "OverflowError ValueError TypeError",
    "F702": "AssertionError",
    "F703": "ZeroDivisionError ValueError OverflowError", "F704": "KeyError IndexError ValueError",
}  # fmt: skip
"""Code -> Python's error types in that case. Other codes mean that fleet lacks a feature, so Python's error does not matter."""
_BASES = {"UFuncTypeError": "TypeError", "UnboundLocalError": "NameError", "LinAlgError": "ValueError"}

_TEXTS = (
    *("np.ones()", "np.zeros(3, dtype='int7')", "np.ones((2, -3))", "np.full((2,), 300, dtype=np.int8)", "np.arange(1, 5, 0)"),
    *("np.array([[1, 2], [3]])", "np.arange()", "np.linspace(0, 1, -2)", "np.eye(2.5)", "undefined", "(1, 2)[5]", "helper()"),
    *("np.concatenate([{x}, {y}], axis={a})", "np.concatenate([{x}, {x}, {y}], axis={a})", "np.stack([{x}, {y}], axis={a})"),
    *("np.concatenate([])", "np.hstack([{x}, {y}])", "np.vstack([{x}, {y}])", "np.append({x}, {y}, axis={a})", "({x} + {y})"),
    *("({x} @ {y})", "np.matmul({x}, 2)", "np.dot({x}, {y})", "np.maximum({x}, {y})", "np.where({x} > 0, {x}, {y})"),
    *("np.einsum('ij,jk->iz', {x}, {y})", "np.einsum('ij,jk->ik', {x}, {y})", "np.einsum('ii', {x})", "np.inner({x}, {y})"),
    *("{x}.reshape(7, -1)", "{x}.reshape(-1, -1)", "np.reshape({x}, (3, 5))", "np.broadcast_to({x}, (7, 7))", "{x}.reshape(0, -1)"),
    *("np.transpose({x}, (0, 0))", "np.transpose({x}, (0,))", "{x}.swapaxes(0, 7)", "np.moveaxis({x}, 9, 0)", "{x}.transpose(5)"),
    *("np.sum({x}, axis={o})", "np.max({x}, axis={o})", "np.sum({x}, axis=(0, 0))", "np.argmax({x}, axis={o})", "{x}.mean({o})"),
    *("np.cumsum({x}, axis={o})", "np.sort({x}, axis={o})", "np.median({x}, axis={o})", "np.flip({x}, axis={o})"),
    *("np.squeeze({x}, axis={a})", "np.squeeze({x}, axis={o})", "np.expand_dims({x}, {o})", "np.roll({x}, 1, axis={o})"),
    *("np.repeat({x}, 2, axis={o})", "np.take({x}, [0], axis={o})", "np.take({x}, [99])", "np.take({x}, [-99], axis={a})"),
    *("np.split({x}, 5)", "np.split({x}, 2, axis={o})", "np.array_split({x}, 0)", "np.diff({x}, axis={o})", "np.diff({x}, n=-1)"),
    *("{x}[99]", "{x}[-99]", "{x}[..., ..., 0]", "{x}[:, :, :, :, :, 0]", "{x}[[0, 99]]", "{x}[::0]", "{x}[1.5]", "{x}['a']"),
    *("{x}[0, 0, 0, 0, 0, 0]", "{x}[[0, 1], [0, 1, 0]]", "np.max({x}[:0])", "np.argmin({x}[:0])", "np.min({x}[..., :0], axis=-1)"),
    *("np.repeat({x}, -1)", "np.tile({x}, -1)", "np.pad({x}, -1)", "np.pad({x}, ((1, 1),) * 5)", "np.linalg.norm({x}, axis={o})"),
    *("np.foo({x})", "{x}.foo()", "{x}.foo", "np.sum()", "np.sum({x}, bar=1)", "np.sqrt({x}, {x}, {x}, {x})", "np.clip({x})"),
    *("helper({x}, 1, 2)", "helper({x}, j=1)", "{x}()", "{x}.sum(axis={o})", "{x}.astype('int7')", "({x} << 1.5)", "(~({x} / 2))"),
    *("({x} + None)", "({x} + 'a')", "({x} + [1, 2, 3, 4, 5, 6, 7])", "({x} < 'a')", "(-({x} > 0))", "(({x} > 0) - ({x} > 1))"),
    *("({x} & 1.5)", "np.bitwise_and({x}, 0.5)", "(np.uint8(3) + 300 + {x})", "({x} if {x} > 0 else 1)", "(not {x} + {y})"),
    *("np.hsplit({x}, 7)", "np.take_along_axis({x}, np.array([99]), axis=0)", "np.meshgrid({x})[3]", "np.tril({x}[0, ..., 0, 0])"),
    *("len({x}.sum())", "[v for v in {x}.sum()]", "int([{x}])", "range(1.5)", "(1 // 0 + {x})", "(1 % 0 + {x})", "({x} ** -1)"),
    *("np.average({x}[:0], axis=-1)", "np.concatenate([{x}, {x}[..., None]])", "np.stack([])", "np.column_stack([{x}, {y}])"),
)


def wrong_text(h: Hand, x: KnownExpression) -> str:
    """Draw one of these expressions. CPython may accept it."""
    if h.chance(0.1):
        return f"{h.one([n for n in EXPRESSIONS if n.startswith('np.')])}()"
    kind = h.rng.random()
    if kind < 0.35:
        return misspelled(h, EXPRESSIONS[h.one(tuple(EXPRESSIONS))](h, x))
    if kind < 0.42:
        return _einsum(h, EXPRESSIONS["np.einsum"](h, x))
    axis = h.integer(-x.ndim, x.ndim) if x.ndim else 0
    beyond = h.one((x.ndim, -x.ndim - 1, 9))
    return h.one(_TEXTS).format(x=x.text, y=h.one(h.pool).text, a=axis, o=beyond)


def same_kind(code: str, raised: str, said: str = "") -> bool:
    """Return whether a refusal matches CPython's error ("TypeError: ...").

    Its code matches the type, or its text, `said`, quotes CPython's: F703 says what Python raised, of whatever type.
    """
    name, _, text = raised.partition(": ")
    matches = code not in _KINDS or _BASES.get(name, name) in _KINDS[code].split()
    return matches or (code == "F703" and bool(text) and text in said)


def _einsum(h: Hand, text: str) -> str:
    """Change one character of the subscripts, insert one or delete some."""
    first, last = text.index("'") + 1, text.rindex("'")
    at = h.integer(first, last + 1)
    return text[:at] + h.one(("i", "j", "z", ".", "...", ",", "->", "", "1")) + text[min(at + h.integer(0, 3), last) :]
