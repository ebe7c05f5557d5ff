"""Pages by PeakRDL-html: both address maps with fleet's properties, a calculator for fields, and a search.

They fetch nothing from elsewhere. A browser refuses pages from `file:` their own data, so they are read through a web server:
`python -m http.server -d FOLDER`.
"""

from __future__ import annotations

import importlib.metadata
import re
import zlib
from collections.abc import Mapping
from pathlib import Path

from markdown import Markdown
from peakrdl_html import HTMLExporter
from peakrdl_html.stringify import stringify_rdl_value
from systemrdl.node import AddrmapNode, Node
from systemrdl.rdltypes import NoValue

from fleet.core.scratch import Scratch
from fleet.errors import SetupError
from fleet.isa.description import Description
from fleet.isa.reading.rdl import UDP_FILE

_PROPERTY = re.compile(r"^property (\w+)", re.M)
_MATHJAX = re.compile(r'<script async src="https://[^"]*/MathJax.js"></script>')
_MATHJAX_SETTINGS = re.compile(r'<script type="text/x-mathjax-config">.*?</script>\s*', re.S)
_NO_MATHJAX = "<script>var MathJax = {Hub: {Queue: function () {}}};</script>"
_ELSEWHERE = re.compile(r'\b(?:src|href)="(?:https?:)?//')


def files(description: Description, maps: Mapping[str, AddrmapNode]) -> Mapping[str, bytes]:
    """`index.html` and what it loads. The same description gives the same bytes."""
    stamp = zlib.crc32(b"\0".join(p.read_bytes() for p in description.files))  # what browsers know a version of the data by
    exporter = HTMLExporter(
        markdown_inst=Markdown(extensions=["extra", "admonition"]),  # without formulas: MathJax would come from elsewhere
        extra_doc_properties=[*_PROPERTY.findall(UDP_FILE.read_text(encoding="utf-8")), "is_signed"],
        generate_source_links=False,
        user_context={"build_ts": stamp, "stringify_rdl_value": _shown},
    )
    with Scratch("html") as folder:
        out = Path(folder, "out")
        tops: list[Node] = [maps["registers"], maps["instructions"]]
        exporter.export(tops, str(out), title=description.title)  # pyright: ignore[reportArgumentType]  (its **kwargs are mistyped)
        index = out / "index.html"
        index.write_text(_without_mathjax(index.read_text(encoding="utf-8")), encoding="utf-8")
        return {p.relative_to(out).as_posix(): p.read_bytes() for p in sorted(out.rglob("*")) if p.is_file()}


def _without_mathjax(page: str) -> str:
    """The page without what it would load from elsewhere; its scripts find an object that does nothing."""
    page = _MATHJAX_SETTINGS.sub("", _MATHJAX.sub(_NO_MATHJAX, page))
    if _ELSEWHERE.search(page):
        version = importlib.metadata.version("peakrdl-html")
        raise SetupError(f"pages of peakrdl-html {version} load files from elsewhere", hint="pip install 'fleet-cosim[exports]'")
    return page


def _shown(value: object, node: Node) -> str:
    """Return a property's value as text: "true" for a property written without one (`fleet_fetch;`)."""
    return "true" if value is NoValue else stringify_rdl_value(value, node)
