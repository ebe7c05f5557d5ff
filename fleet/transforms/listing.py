"""Lists passes and pipelines as text: for `fleet-opt --list`, and as the tables of docs/passes.md.

`python -m fleet.transforms.listing [--check]` writes the tables into the page, between its markers.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from fleet.ir.tables import write_page
from fleet.transforms.passes import find_pass, pass_names
from fleet.transforms.pipeline import PIPELINES


def listing() -> str:
    """Return passes with their summaries, then pipelines, as text."""
    passes = [find_pass(name) for name in pass_names()]
    width = max(len(p.name) for p in passes)
    lines = ["passes:", *(f"  {p.name:<{width}}  {p.exact:<8}  {p.summary}" for p in passes), "pipelines:"]
    lines += [f"  {name}: {','.join(members)}" for name, members in PIPELINES.items()]
    return "\n".join(lines) + "\n"


def tables() -> str:
    """Return the same as Markdown."""
    lines = ["| pass | results | what it does |", "|---|---|---|"]
    own = [find_pass(name) for name in pass_names()]
    lines += [f"| `{p.name}` | {'every bit' if p.exact == 'bits' else 'within rounding'} | {p.summary} |" for p in own]
    lines += ["", "| pipeline | passes |", "|---|---|"]
    lines += [f"| `{name}` | {', '.join(members)} |" for name, members in PIPELINES.items()]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str]) -> int:
    """Entry point; run it in the repository's root."""
    return write_page(Path("docs/passes.md"), {"passes": tables()}, "--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
