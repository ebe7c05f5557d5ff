"""`python scripts/build_site.py [FOLDER]` builds docs/ into FOLDER (default build/site), strictly, and checks what was built.

`--check FOLDER` checks alone: every link inside the site must lead to a file and an anchor that are there, and nothing that a page
loads may come from another host. Links to other hosts are not fetched. Exit code: 0, 1 for findings, 2 where Sphinx is missing.
"""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[1]
_LOADED = {"link": "href", "script": "src", "img": "src", "iframe": "src", "source": "src", "object": "data"}
_STYLES = re.compile(r"""(?:@import\s+|url\()\s*["']?((?:https?:)?//[^"')\s]+)""")


@dataclass
class _Page(HTMLParser):
    """What a page is called by and what it refers to. links: (line, address); loads: of these what a browser fetches by itself."""

    ids: set[str] = field(default_factory=set[str])
    links: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    loads: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.ids |= {found[key] or "" for key in ("id", "name") if key in found}
        line = self.getpos()[0]
        if tag == "a" and found.get("href"):
            self.links.append((line, found["href"] or ""))
        loaded = found.get(_LOADED.get(tag, ""))
        if loaded:
            self.links.append((line, loaded))
            self.loads.append((line, loaded))


def check(site: Path) -> list[str]:
    """The findings, each "page:line: what is wrong"."""
    pages: dict[Path, _Page] = {}
    for path in sorted(site.rglob("*.html")):
        pages[path.resolve()] = page = _Page()
        page.feed(path.read_text(encoding="utf-8"))
    if not pages:
        return [f"{site}: no pages"]
    found: list[str] = []
    for path, page in pages.items():
        name = path.relative_to(site.resolve())
        for line, address in page.links:
            said = _broken(path, address, pages)
            if said:
                found.append(f"{name}:{line}: {address}: {said}")
        found += [f"{name}:{line}: {to}: is fetched from another host" for line, to in page.loads if urlsplit(to).netloc]
    for path in sorted(site.rglob("*.css")):
        text = path.read_text(encoding="utf-8")
        found += [f"{path.relative_to(site)}: {to}: is fetched from another host" for to in _STYLES.findall(text)]
    return found


def _broken(page: Path, address: str, pages: dict[Path, _Page]) -> str:
    """Why a link leads nowhere; empty where it leads somewhere, or to another host."""
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return ""
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if not target.is_file():
        return "no such file"
    if parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids:
        return "no such anchor"
    return ""


def build(site: Path) -> int:
    """Builds the site; Sphinx's exit code. Warnings are errors, all of them are printed."""
    if missing := [name for name in ("sphinx", "myst_parser", "furo") if find_spec(name) is None]:
        print(f"site: {', '.join(missing)} missing; pip install -e '.[docs]'", file=sys.stderr)
        return 2
    sphinx = (sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going", "--fresh-env")
    aside = ("--doctree-dir", str(site.parent / f"{site.name}.doctrees"))
    return subprocess.run([*sphinx, *aside, str(ROOT / "docs"), str(site)], check=False).returncode


def main(arguments: list[str]) -> int:
    """Returns the exit code."""
    only = arguments[:1] == ["--check"]
    site = Path(next(iter(arguments[only:]), ROOT / "build" / "site"))
    code = 0 if only else build(site)
    if code:
        return code
    found = check(site)
    print("\n".join(found) if found else f"{site / 'index.html'}: all links lead somewhere")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
