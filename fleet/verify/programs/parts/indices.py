"""Draws what takes elements of an array by place: slices, lists, masks, arrays of numbers, `np.take`."""

from __future__ import annotations

from fleet.verify.programs.parts.hand import Hand, KnownExpression, Redraw
from fleet.verify.programs.parts.values import DTYPES


def index(h: Hand, x: KnownExpression) -> str:
    """Draw slices and numbers."""
    return f"{x.text}[{h.index(x)}]"


def fancy(h: Hand, x: KnownExpression) -> str:
    """Draw an index with lists, masks or arrays of numbers."""
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


def take(h: Hand, x: KnownExpression) -> str:
    """Draw `np.take` or `np.take_along_axis`."""
    if x.ndim == 0:
        raise Redraw
    axis = h.axis(x)
    n = x.shape[axis]
    if h.chance(0.4):
        return f"np.take_along_axis({x.text}, np.argsort({x.text}, axis={axis}, kind='stable'), axis={axis})"
    return f"np.take({x.text}, {h.numbers(n)}, axis={axis})"
