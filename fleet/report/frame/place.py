"""The place of a page among the others: links up, to files and to the documentation, and its entry in a list of pages."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from markupsafe import Markup

ROOT = "reports"
"""Name of the folder that holds all reports of a working folder; a page in it lists them (`fleet.report.frame.index`)."""
INDEX = "index.html"
HELP = "help"
"""Folder below `ROOT` with the documentation pages that reports refer to."""
TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class About:
    """The entry of a page in a list of pages.

    kind: "run", "campaign", "night", ... verdict: "pass", "fail", ...; empty without one.
    figure: the one that a reader looks for first, in words. date: ISO 8601 or empty.
    """

    kind: str
    title: str
    verdict: str = ""
    figure: str = ""
    date: str = ""


@dataclass(frozen=True)
class PageFrame:
    """Data of a page's frame.

    up: (text, address) of the pages above, the uppermost first. scripts: their texts. policy: hashes of all scripts that may run.
    folder: the page's folder; None for a page without a path. documentation: address of `HELP`; None outside of `ROOT`.
    """

    name: str
    about: str
    up: tuple[tuple[str, str], ...]
    scripts: tuple[Markup, ...]
    policy: Markup
    folder: Path | None
    documentation: str | None

    def file(self, name: str | None) -> str | None:
        """Return the address of a file that a run names, relative to the page; None if it does not exist."""
        if not name or self.folder is None or not Path(name).is_file():
            return None
        return os.path.relpath(Path(name).absolute(), self.folder.absolute())

    def help(self, topic: str, anchor: str = "") -> str | None:
        """Return the address of a documentation page; None if the reports have none."""
        return f"{self.documentation}/{topic}.html{'#' + anchor if anchor else ''}" if self.documentation else None


def root_of(page: Path) -> Path | None:
    """Return the nearest folder above a page that is called `ROOT`, or None."""
    return next((p for p in page.absolute().parents if p.name == ROOT), None)


def frame_of(page: Path | None, about: About, *scripts: str) -> PageFrame:
    """Return the frame of a page at a path. scripts: names of templates that run in addition to the frame's own."""
    texts = [(TEMPLATES / name).read_text(encoding="utf-8") for name in ("frame.js", *scripts)]
    digests = [base64.b64encode(hashlib.sha256(t.encode()).digest()).decode() for t in texts]
    made = PageFrame(
        about.title, json.dumps(asdict(about)), (), tuple(Markup(t) for t in texts),
        Markup(" ".join(f"'sha256-{d}'" for d in digests)), None, None,
    )  # fmt: skip
    if page is None:
        return made
    root = root_of(page)
    folder = page.absolute().parent
    return replace(
        made,
        folder=folder,
        up=tuple((name, os.path.relpath(place, folder)) for name, place in _above(page.absolute(), root)),
        documentation=os.path.relpath(root / HELP, folder) if root else None,
    )


def _above(page: Path, root: Path | None) -> list[tuple[str, Path]]:
    """Return names and pages above a page: the list of all reports, the campaign whose `runs` it is in, folders with pages."""
    places = list(page.parents)
    if root is None:
        return [(places[2].name, places[2] / INDEX)] if len(places) > 2 and places[1].name == "runs" else []
    found: list[tuple[str, Path]] = [] if page == root / INDEX else [(ROOT, root / INDEX)]
    between = places[: places.index(root)]
    for place, below in reversed(list(zip(between, [page, *between], strict=False))):
        index = place / INDEX
        if index != page and (below.name == "runs" or index.is_file()):
            found.append((place.name, index))
    return found
