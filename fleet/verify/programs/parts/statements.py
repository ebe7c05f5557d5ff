"""Statements that change arrays in place, and loops. Each draws its lines for a fresh array `v` with the operand's values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from fleet.verify.programs.parts.hand import Hand, KnownExpression, Redraw
from fleet.verify.programs.parts.language import copies, functions, language, numbers
from fleet.verify.programs.parts.late import late
from fleet.verify.programs.parts.syntax import made, syntax

Change = Callable[[Hand, str, KnownExpression], list[str]]
"""(hand, name of the array, the changed part of it) -> lines after `name = ....copy()`."""

_AUGMENTED = ("+=", "-=", "*=", "/=", "//=", "%=", "&=", "|=", "^=")


def _augmented(symbol: str) -> Change:
    return lambda h, _v, part: [f"{part.text} {symbol} {h.beside(part) if h.chance(0.6) else h.number(part)}"]


def _assigned(h: Hand, _v: str, part: KnownExpression) -> list[str]:
    text = part.text if part.text.endswith("]") else f"{part.text}[{h.index(part)}]"
    return [f"{text} = {h.one((h.number(part), h.number(part), h.beside(part)))}"]


def _masked(h: Hand, v: str, part: KnownExpression) -> list[str]:
    masks = [f"{v} > {h.number(part)}", f"{v} == {v}", f"{v} < {h.number(part)}", f"np.isnan({v})"]
    values = [h.number(part)]
    if part.ndim:
        masks += [f"{v}[..., 0] > {h.number(part)}", f"{v}[:, 0] < {h.number(part)}", f"np.arange({part.shape[0]}) > 0"]
        values += [h.number(part), f"{v}[0]", f"{v}[:1]", f"{v}[..., :1]", f"{v}[0] * 2", h.beside(part)]
    return [f"{v}[{h.one(masks)}] {h.one(('=', '=', '=', '+='))} {h.one(values)}"]


def _indexed(h: Hand, v: str, part: KnownExpression) -> list[str]:
    if part.ndim == 0:
        raise Redraw
    n = part.shape[0]
    if h.chance(0.5):
        first, count = h.integer(0, n), h.integer(1, 4)
        block = list(range(first, min(n, first + count))) if h.chance(0.5) else [h.integer(-n, n) for _ in range(count)]
        values = (f"{v}[{block}][::-1]", f"{v}[{block}] * 2", f"{v}[0]", h.number(part), f"{v}[:1]")
        return [f"{v}[{h.one((str(block), f'np.array({block})', f'{block}, ...'))}] {h.one(('=', '=', '+='))} {h.one(values)}"]
    if part.ndim > 1 and h.chance(0.4):
        rows = [h.integer(0, n) for _ in range(2)]
        columns = [h.integer(0, part.shape[1]) for _ in range(2)]
        return [f"{v}[{rows}, {columns}] = {h.number(part)}"]
    return [f"{v}[{h.numbers(n)}] = {h.number(part)}"]


def _filled(h: Hand, v: str, part: KnownExpression) -> list[str]:
    return [f"{v}.fill({h.number(part)})"]


def _sorted(h: Hand, v: str, part: KnownExpression) -> list[str]:
    # All of v is sorted: outside of the part there may be zeros of both signs, whose order is undefined by default.
    arguments = (f"axis={h.axis(part)}" if h.chance(0.5) else "", "kind='stable'" if part.dtype.kind == "f" else "")
    return [f"{v}.sort({', '.join(a for a in arguments if a)})"]


def _put(h: Hand, v: str, part: KnownExpression) -> list[str]:
    axis = h.axis(part)
    return [f"np.put_along_axis({v}, np.argsort({v}, axis={axis}, kind='stable'), {h.number(part)}, axis={axis})"]


def _for(h: Hand, v: str, part: KnownExpression) -> list[str]:
    if part.ndim == 0:
        raise Redraw
    n = part.shape[0]
    rounds = h.integer(1, 4)
    body = h.one(
        (
            [f"for i in range({rounds}):", f"    {v} = {v} {h.one('+-*')} {h.number(part)}"],
            [f"for i in range({n}):", f"    {v}[i] {h.one(('+=', '-=', '*='))} {h.one(('i', h.number(part)))}"],
            [f"for i in range({n - 1}):", f"    {v}[i + 1] += {v}[i]"],
            [f"for i, row in enumerate({part.text}):", f"    {v}[i] = row[::-1]" if part.ndim > 1 else f"    {v}[i] = row"],
            [f"for i in range({rounds}):", f"    for j in range({h.integer(1, 3)}):", f"        {v}[i:, ...] += j - i"],
            ["k = 0", f"while k < {rounds}:", f"    {v} = np.roll({v}, k)", "    k += 1"],
            [
                f"for i in range(0, {n}, 2):",
                f"    if i % {rounds + 1} == 0:",
                "        continue",
                f"    {v}[i:] = {h.number(part)}",
            ],
            [f"for i in range({n}, 0, -1):", f"    {v}[i - 1 : i] *= {h.number(part)}", f"    if i < {rounds}:", "        break"],
        )
    )
    return list(body)


def _if(h: Hand, v: str, part: KnownExpression) -> list[str]:
    n = h.integer(0, 5)
    return [
        f"if {v}.ndim > {h.integer(0, 3)} and {v}.size > {n}:",
        f"    {v} = {v}.sum(axis=0)",
        "else:",
        f"    {v} {h.one(('+=', '*='))} {h.number(part)}",
    ]


def _view(h: Hand, v: str, part: KnownExpression) -> list[str]:
    """Draw named views that are read beside their bases."""
    if part.ndim == 0:
        raise Redraw
    cut = h.one(("[1:]", "[::-1]", ".T", "[::2]", ".ravel()"))
    return [f"w{v} = {v}{cut}", f"{v} = {v} + w{v}.sum(axis=0)" if h.chance(0.5) else f"{v} = w{v} {h.one('+*-')} {h.number(part)}"]


def _through(h: Hand, v: str, part: KnownExpression) -> list[str]:
    """Draw writes through a view, or to an array with a view: mostly refused, with F504."""
    if part.ndim == 0:
        raise Redraw
    cut = h.one(("[1:]", "[::-1]", ".T", "[::2]", ".ravel()", ".reshape(-1)"))
    return [f"w{v} = {v}{cut}", h.one((f"w{v} += {h.number(part)}", f"{v}[0] = {h.number(part)}")), f"u{v} = w{v} + 1"]


def _table() -> Iterator[tuple[str, Change]]:
    for symbol in _AUGMENTED:
        yield symbol, _augmented(symbol)
    yield "x[...] = y", _assigned
    yield "x[mask] = y", _masked
    yield "x[indices] = y", _indexed
    yield ".fill()", _filled
    yield ".sort()", _sorted
    yield "put_along_axis", _put
    yield "for", _for
    yield "if", _if
    yield "views", _view
    yield "writes through views", _through
    yield "language", language
    yield "functions", functions
    yield "syntax", syntax
    yield "made arrays in statements", made
    yield "Python numbers", numbers
    yield "copies", copies
    yield "sizes in statements", late


STATEMENTS: Mapping[str, Change] = dict(_table())
"""Name -> function that draws its lines."""
LANGUAGE = (
    *("language", "functions", "syntax", "made arrays in statements", "Python numbers", "copies"),
    *("x[mask] = y", "x[indices] = y", "sizes in statements"),
)
"""Names that stand for many kinds of statements."""
