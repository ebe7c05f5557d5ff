"""Write `reports/index.html`, the list of all reports of a working folder, and the documentation pages that they refer to.

The list is made from what each page states of itself in its head.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from markupsafe import Markup

import fleet
from fleet.core.codec import is_table
from fleet.core.files import write_atomically
from fleet.report.frame.place import HELP, INDEX, TEMPLATES, About, frame_of, root_of
from fleet.report.frame.render import render

TOPICS = (
    "reading-a-report", "accuracy", "nights", "language-models", "coverage", "mutants", "faults", "first-divergence",
    "instruction-sets", "performance", "sweep", "glossary", "running",
)  # fmt: skip
"""The documentation pages that reports refer to."""

_DEEPEST = 3
_HEAD = 4096
_ABOUT = re.compile(r'<meta name="fleet-page" content="([^"]*)">')
_NAMES = {f.name for f in fields(About)}


@dataclass(frozen=True)
class _Listed:
    about: About
    address: str


@dataclass(frozen=True)
class _IndexPage:
    pages: Sequence[_Listed]


@dataclass(frozen=True)
class _HelpPage:
    """A page of the documentation. body: as HTML. sections: title and anchor."""

    topic: str
    body: Markup
    sections: Sequence[tuple[str, str]]


def published(page: Path) -> None:
    """List a page that has been written. Does nothing outside of a folder `reports`.

    Raises FleetError if the list cannot be written.
    """
    root = root_of(page)
    if root is None or "runs" in page.absolute().relative_to(root).parts:
        return
    _write_help(root)
    listed = sorted(_listed(root), key=lambda p: p.about.date, reverse=True)
    listed.sort(key=lambda p: p.about.verdict in ("pass", ""))
    index = root / INDEX
    text = render("index.html.j2", _IndexPage(listed), frame_of(index, About("index", "Reports")))
    write_atomically(index, text.encode())


def _listed(root: Path) -> list[_Listed]:
    """Return the pages below a folder that state what they are, except campaigns' runs and pages far below."""
    found: list[_Listed] = []
    folders = [root]
    for depth in range(_DEEPEST):
        folders = [
            f
            for above in folders
            for f in sorted(above.iterdir())
            if f.is_dir() and not (f.name == "runs" or (depth == 0 and f.name == HELP))
        ]
        for path in (p for f in folders for p in sorted(f.glob("*.html")) if p.name != "previous.html"):
            if (about := _about(path)) is not None:
                found.append(_Listed(about, path.relative_to(root).as_posix()))
    return found


def _about(path: Path) -> About | None:
    """Return what a page states of itself in its head; None if it is not one of fleet's pages."""
    try:
        with path.open(encoding="utf-8") as file:
            found = _ABOUT.search(file.read(_HEAD))
        table: object = json.loads(html.unescape(found[1])) if found else None
    except (OSError, ValueError):
        return None
    if not is_table(table) or table.keys() != _NAMES:
        return None
    return About(**{key: str(value) for key, value in table.items()})


def _write_help(root: Path) -> None:
    """Write the documentation pages, unless those of this version exist."""
    package = Path(fleet.__file__).parent
    docs = next((f for f in (package / "_docs", package.parent / "docs") if f.is_dir()), None)
    if docs is None:
        return
    frame = b"".join(f.read_bytes() for f in sorted(TEMPLATES.iterdir()) if f.is_file())
    for topic in TOPICS:
        source = (docs / f"{topic}.md").read_text(encoding="utf-8")
        page = root / HELP / f"{topic}.html"
        made_of = f"<!-- {hashlib.sha256(frame + source.encode()).hexdigest()} -->\n"
        if page.is_file() and page.read_text(encoding="utf-8").endswith(made_of):
            continue
        about = About("documentation", source.partition("\n")[0].removeprefix("# "))
        text = render("help.html.j2", _help(topic, source), frame_of(page, about))
        write_atomically(page, f"{text.rstrip()}\n{made_of}".encode())


def _help(topic: str, source: str) -> _HelpPage:
    """Return a page of Markdown as HTML, and its sections by title and anchor."""
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = reader.parse(re.sub(r"^<!--.*?-->$", "", source, flags=re.M | re.S))
    sections: list[tuple[str, str]] = []
    for i, token in enumerate(tokens):
        if token.type == "heading_open":
            title = re.sub(r"[`*_]", "", tokens[i + 1].content)
            anchor = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
            token.attrSet("id", anchor)
            if token.tag == "h2":
                sections.append((title, anchor))
        for child in token.children or ():
            if child.type == "link_open":
                child.attrSet("href", _address(str(child.attrGet("href"))))
            elif child.type == "image":
                child.type, child.tag, child.content = "text", "", child.content
    body = reader.renderer.render(tokens, reader.options, {})
    body = body.replace("<table>", '<div class="scroll"><table>').replace("</table>", "</table></div>")
    return _HelpPage(topic, Markup(body), sections)


def _address(to: str) -> str:
    """Return the target of a Markdown link for a page in `HELP`: another page there, else an anchor of the page itself."""
    if re.match(r"https?://|#", to):
        return to
    path, _, anchor = to.partition("#")
    name = path.rpartition("/")[2].removesuffix(".md")
    return f"{name}.html" + (f"#{anchor}" if anchor else "") if name in TOPICS else f"#{name}"
