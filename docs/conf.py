"""Sphinx's settings. `make site` builds these pages into build/site (site.md says how, and why with Sphinx).

The pages are Markdown that any reader shows. Two marks in them are filled while the site is built, see `_filled`.
"""

from __future__ import annotations

import importlib
import inspect
import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from pygments.lexer import RegexLexer, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text, Whitespace
from sphinx.application import Sphinx

import fleet
from fleet.cli import listing

project = "fleet"
version = release = fleet.core.version.__version__
copyright = "The fleet authors"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["pictures"]
smartquotes = False  # "--" is an option, not a dash
nitpicky = True
nitpick_ignore_regex = [("py:.*", ".*")]  # types of NumPy, xDSL and of rooms that have no page here
suppress_warnings = ["ref.python"]  # attributes of one name in several classes

myst_heading_anchors = 6  # as forges make them: links work in a checkout too

default_role = "literal"
add_module_names = False
autodoc_default_options = {"members": True, "member-order": "bysource"}
napoleon_use_ivar = True  # not once as a field and once as an attribute
autodoc_typehints = "signature"
autodoc_class_signature = "mixed"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88

html_theme = "furo"
html_title = f"fleet {release}"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_show_search_summary = False  # the texts would be fetched, which a browser refuses on file://
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"top_of_page_buttons": []}

_DOCS = Path(__file__).parent
_OUTSIDE = {"../rtl_models/README.md": "reference/hardware.md", "../sim/README.md": "reference/regression.md"}
"""Files beside docs/ that have a page of their own -> that page."""


class _SystemRdl(RegexLexer):
    """Colours of descriptions."""

    name = "SystemRDL"
    aliases: ClassVar = ["systemrdl"]
    tokens: ClassVar = {
        "root": [
            (r"\s+", Whitespace),
            (r"//.*?$|(?s:/\*.*?\*/)", Comment),
            (words(("addrmap", "enum", "external", "field", "mem", "property", "reg", "regfile", "signal"), suffix=r"\b"), Keyword),
            (r'"[^"]*"', String),
            (r"\d+'h[0-9A-Fa-f_]+|0x[0-9A-Fa-f]+|\d+", Number),
            (r"[A-Za-z_]\w*", Name),
            (r"[@=+\-*/%|&<>!?~^]", Operator),
            (r"[{}()\[\];:,.#'`$]", Punctuation),
            (r".", Text),
        ],
    }


def _documentation(module: str) -> str:
    """A module's documentation: what is indented in it or looks like it is TOML, what is in columns stays so."""
    text = importlib.import_module(module).__doc__ or ""
    text = re.sub(r"(?:^(?:\w+ = |\[[\w.]+\]).*\n){2,}", lambda m: f"```toml\n{m[0]}```\n", text, flags=re.M)
    text = re.sub(r"(?<=\n\n)(?:^    .*\n\n?)+", lambda m: f"```toml\n{textwrap.dedent(m[0]).strip()}\n```\n\n", text, flags=re.M)
    return re.sub(r"(?:^\w[\w, ]*\S {4,}\S.*\n(?:^ +\S.*\n)*)+", lambda m: f"```text\n{m[0]}```\n", text, flags=re.M)


def _file(argument: str) -> str:
    """A file beside docs/; its title is the page's, its links are those of docs/reference/."""
    text = (_DOCS.parent / argument).read_text(encoding="utf-8").partition("\n")[2]
    return text.replace("](../docs/", "](../")


_GENERATED: dict[str, Callable[[str], str]] = {
    "commands": lambda _: listing.page(),
    "documentation": _documentation,
    "file": _file,
}


def _filled(_: Sphinx, name: str, source: list[str]) -> None:
    """`<!-- site: KIND ARGUMENT -->` becomes what is generated (`_GENERATED`), `<!-- site: pages -->` the contents of a section.

    A section's pages are those that its list names, in the order of the list; Sphinx wants them a second time.
    """
    text = re.sub(r"^<!-- site: (?!pages)(\w+) ?(\S*) -->$", lambda m: _GENERATED[m[1]](m[2]), source[0], flags=re.M)
    listed = re.findall(r"^- \[[^\]]*\]\(([\w/.-]+)\.md\)", text, re.M)
    text = text.replace("<!-- site: pages -->", "\n".join(("```{toctree}", ":hidden:", "", *listed, "```")))
    text = re.sub(r"^(- \*\*.* )docs/([\w-]+)\.md", r"\1[\2](\2.md)", text, flags=re.M)  # docstrings, in a manual
    for outside, page in _OUTSIDE.items():
        text = text.replace(f"]({outside}", f"]({'../' * name.count('/')}{page}")
    source[0] = re.sub(r"\]\((\.\./[\w/]+\.md)\)", r"](path:\1)", text) if "/" not in name else text


def _signature(_: Sphinx, *about: Any) -> tuple[str | None, str | None]:
    """A default that Python shows as an address is "..."; autodoc could not wrap the signature else."""
    signature, result = about[-2:]
    return signature and re.sub(r"<(?:[^<>]|<[^<>]*>)*>", "...", signature), result


def _one_name_an_entry(_: Sphinx, *about: Any) -> None:
    """`rows, channels: of the tensor` of a docstring becomes an entry for each name."""
    lines: list[str] = about[-1]
    made: list[str] = []
    for i, line in enumerate(lines):
        found = re.fullmatch(r"( +)(\w+(?:, \w+)+)(: .*)", line)
        if found is None:
            made.append(line)
            continue
        indented = " " * (len(found[1]) + 1)
        end = next((n for n, below in enumerate(lines[i + 1 :], i + 1) if not below.startswith(indented)), len(lines))
        *names, last = found[2].split(", ")
        for name in names:
            made += [f"{found[1]}{name}{found[3]}", *lines[i + 1 : end]]
        made.append(f"{found[1]}{last}{found[3]}")
    lines[:] = made


def _left_out(_: Sphinx, what: str, name: str, found: Any, *_more: Any) -> bool | None:
    """Skip what autodoc takes for a method: a field whose default is a function, or an entry of a named tuple."""
    default = what == "class" and inspect.isfunction(found) and found.__name__ != name
    return True if default or (inspect.getdoc(found) or "").startswith("Alias for field number") else None


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    for name in fleet.__all__:
        setattr(fleet, name, getattr(fleet, name))  # loaded when they are used; autodoc shows what is there
    app.connect("source-read", _filled)
    app.connect("autodoc-process-signature", _signature)
    app.connect("autodoc-process-docstring", _one_name_an_entry, priority=100)  # before napoleon reads the sections
    app.connect("autodoc-skip-member", _left_out)
    app.add_lexer("systemrdl", _SystemRdl)
