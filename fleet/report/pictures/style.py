"""The style of all pictures: one palette, one font size, one conversion to text inside a page.

Pictures are SVG inside the page: no request, sharp in print, selectable text, and ink in `currentColor`, so that they follow a dark
or a light page. The colours are those of Okabe and Ito (2008, "Color Universal Design"), ordered so that neighbours differ in
luminance. Bars also carry a hatch, and lines a marker, so that they read without colour. Matplotlib is imported at the first
picture.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.ticker import Formatter

INK = "#5a5b5c"
"""Colour of text, axes and outlines while drawing; becomes `currentColor` in the page."""

PALETTE: tuple[str, ...] = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999")
HATCHES: tuple[str, ...] = ("", "///", "---", "\\\\\\", "xxx", "|||", "+++", "//")
MARKERS: tuple[str, ...] = ("o", "s", "^", "D", "v", "P", "X", "*")
LABEL_LENGTH = 26
"""Longest name in a picture, in characters; longer ones lose their middle."""

_RC: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "fleet",
    "text.parse_math": False,  # an operation called "$x^$" is a name, not a formula
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.0,
    "axes.titlesize": 9.0,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.unicode_minus": False,
    "figure.facecolor": "none",
    "grid.color": INK,
    "grid.alpha": 0.22,
    "grid.linewidth": 0.6,
    "hatch.linewidth": 0.6,
    "legend.frameon": False,
    "legend.labelcolor": INK,
    "savefig.facecolor": "none",
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


_GEOMETRY = re.compile(r'(\b(?:d|x|y|width|height|transform)=)("[^"]*")')
_STYLE_SPACE = re.compile(r"([:;]) ")
_RUN = re.compile(
    r'<(path|use) (?:d|href)="[^"]*"(?: x="[^"]*" y="[^"]*")?((?: (?:clip-path|style)="[^"]*")+)/>'
    r'(?:<\1 (?:d|href)="[^"]*"(?: x="[^"]*" y="[^"]*")?\2/>)+'
)
"""Consecutive elements with the same attributes; `_smaller` moves these to a group around them."""
_N = r"(-?[\d.]+)"
_BOX = re.compile(rf"M {_N} {_N} L {_N} \2 L \3 {_N} L \1 \4(?: L \1 \2)? z")
_UPRIGHT_BOX = re.compile(rf"M {_N} {_N} L \1 {_N} L {_N} \3 L \4 \2(?: L \1 \2)? z")
_WRAPPED = re.compile(r"<g>((?:<(?!g\b|/g>|title)[^>]*>[^<]*)*)</g>")
_DECIMALS = re.compile(r"(\.\d{2})\d+")
"""A hundredth of a point is precise enough and halves the size of a picture."""


@contextmanager
def canvas(width: float, height: float) -> Generator[tuple[Figure, Axes]]:
    """Yield a figure of `width` x `height` inches with one set of axes, in the project's style (without pyplot's global state)."""
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as MplFigure

    with mpl.rc_context(_RC):  # pyright: ignore[reportArgumentType]  # its keys are a Literal of all names
        figure = MplFigure(figsize=(width, height), layout="constrained")
        FigureCanvasSVG(figure)
        yield figure, figure.add_subplot()


def to_svg(figure: Figure, name: str, description: str, titles: Mapping[str, str] | None = None) -> str:
    """Return the figure as an `<svg>` element for a page. Call it inside `canvas`.

    name: unique in the page, letters and dashes; prefix of all ids, so that pictures do not share them.
    description: text for readers who cannot see the picture.
    titles: id of an artist -> text that a pointer over it shows.
    """
    stream = io.StringIO()
    figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", text, count=1, flags=re.DOTALL)  # its "*" would match the page
    head, body = text.split(">", 1)
    viewbox = re.search(r'viewBox="([^"]*)"', head)
    assert viewbox is not None
    body = re.sub(r'\bid="', f'id="{name}-', body)
    body = re.sub(r"url\(#", f"url(#{name}-", body)
    body = re.sub(r'xlink:href="#', f'href="#{name}-', body)
    body = body.replace(INK, "currentColor")
    body = _GEOMETRY.sub(lambda m: m.group(1) + _DECIMALS.sub(r"\1", m.group(2)), body)
    for key, said in (titles or {}).items():
        group = f'<g id="{name}-{key}">'
        body = body.replace(group, f"{group}<title>{_attribute(said)}</title>", 1)
    body = _smaller(body)
    width = figure.get_figwidth() * 96
    return (
        f'<svg role="img" aria-label="{_attribute(description)}" viewBox="{viewbox.group(1)}" '
        f'style="width:{width:.0f}px" preserveAspectRatio="xMinYMin meet">{body.strip()}'
    )


def _smaller(body: str) -> str:
    """Return the same picture in half the text: matplotlib indents, and names every group."""
    used = set(re.findall(r'(?:url\(|href=")#([^)"]+)', body))
    body = re.sub(r' id="([^"]*)"', lambda m: m[0] if m[1] in used else "", body)
    body = re.sub(r' transform="rotate\(-?0(?:\.0*)? [^)]*\)"', "", body)
    body = re.sub(r'( style="|\bd=")([^"]*)"', lambda m: m[1] + re.sub(r"\s*\n\s*", " ", m[2]).strip() + '"', body)
    body = re.sub(r' style="([^"]*)"', lambda m: f' style="{_STYLE_SPACE.sub(_no_space, m[1])}"', body)
    body = re.sub(r">\s+<", "><", body)
    while (fewer := _WRAPPED.sub(r"\1", body)) != body:
        body = fewer
    body = re.sub(r'\bd="([^"]*)"', lambda m: f'd="{_shorter(m[1])}"', body)
    return _RUN.sub(lambda m: f"<g{m[2]}>{m[0].replace(m[2] + '/>', '/>')}</g>", body)


def _shorter(path: str) -> str:
    """Return the same path: sides of boxes as H and V, no trailing zeros."""
    path = re.sub(r"(\.\d*?)0+(?!\d)", r"\1", path)
    path = re.sub(r"\.(?!\d)", "", path)
    path = _BOX.sub(lambda m: f"M{m[1]} {m[2]}H{m[3]}V{m[4]}H{m[1]}z", path)
    path = _UPRIGHT_BOX.sub(lambda m: f"M{m[1]} {m[2]}V{m[3]}H{m[4]}V{m[2]}z", path)
    return re.sub(r" ?([A-Za-z]) ?", r"\1", path)


def _no_space(found: re.Match[str]) -> str:
    return found[1]


def standalone(svg: str) -> str:
    """Return the text of a file that holds only this picture of `to_svg`, for browsers and editors: in black on white."""
    named = svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    return named.replace(">", '><rect width="100%" height="100%" fill="#fff"/>', 1) + "\n"


def label(name: str, length: int = LABEL_LENGTH) -> str:
    """Return `name` for a picture: printable characters only, without its middle if it is too long."""
    clean = "".join(c if c.isprintable() else "?" for c in name)
    if len(clean) <= length:
        return clean
    head = (length - 1) // 2
    return clean[:head] + "…" + clean[len(clean) - (length - 1 - head) :]


def thousands(value: float) -> str:
    """Return a number for an axis or a bar: 1,234, 1.2 M; three significant digits from 10,000 on."""
    if not math.isfinite(value):
        return str(value)
    if abs(value) >= 1e4:
        rounded = float(f"{value:.3g}")
        limit, suffix = next((x for x in ((1e12, " T"), (1e9, " G"), (1e6, " M")) if abs(rounded) >= x[0]), (1e3, " k"))
        return f"{rounded / limit:,g}{suffix}"
    return f"{value:,.0f}" if float(value).is_integer() or abs(value) >= 1000 else f"{value:,.3g}"


def thousands_formatter() -> Formatter:
    """Return a formatter of ticks as `thousands`."""
    from matplotlib.ticker import FuncFormatter

    return FuncFormatter(lambda value, _: thousands(value))


def plain_formatter() -> Formatter:
    """Return a formatter of ticks of a logarithmic axis as plain numbers."""
    from matplotlib.ticker import FuncFormatter

    return FuncFormatter(lambda value, _: f"{value:g}" if value < 10000 else thousands(value))


def _attribute(text: str) -> str:
    clean = "".join(c if c.isprintable() else "?" for c in text)
    return clean.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")
