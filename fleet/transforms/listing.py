"""Passes and pipelines as text: for `fleet-opt --list`, and as the tables of docs/passes.md.

`python -m fleet.transforms.listing docs/passes.md` writes the tables into the page, between its markers.
"""

from __future__ import annotations

import sys
from pathlib import Path

from fleet.transforms.passes import find_pass, pass_names
from fleet.transforms.pipeline import PIPELINES

__all__ = ["BEGIN", "END", "listing", "tables", "updated"]

BEGIN, END = "<!-- generated: passes -->", "<!-- end of generated -->"


def listing() -> str:
    """Passes with their summaries, then pipelines."""
    passes = [find_pass(name) for name in pass_names()]
    width = max(len(p.name) for p in passes)
    lines = ["passes:", *(f"  {p.name:<{width}}  {p.exact:<8}  {p.summary}" for p in passes), "pipelines:"]
    lines += [f"  {name}: {','.join(members)}" for name, members in PIPELINES.items()]
    return "\n".join(lines) + "\n"


def tables() -> str:
    """The same as Markdown."""
    lines = ["| pass | results | what it does |", "|---|---|---|"]
    own = [find_pass(name) for name in pass_names()]
    lines += [f"| `{p.name}` | {'every bit' if p.exact == 'bits' else 'within rounding'} | {p.summary} |" for p in own]
    lines += ["", "| pipeline | passes |", "|---|---|"]
    lines += [f"| `{name}` | {', '.join(members)} |" for name, members in PIPELINES.items()]
    return "\n".join(lines) + "\n"


def updated(page: str) -> str:
    """A page with the tables between its markers brought up to date. Raises ValueError for a page without them."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page lacks {BEGIN} or {END}")
    return f"{before}{BEGIN}\n{tables()}{END}{after}"


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(updated(path.read_text()))
