"""`python -m fleet.llm.models.counts [--check]`: writes the instructions per model into docs/language-models.md."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from fleet.ir.tables import write_page
from fleet.llm.config import preset
from fleet.llm.models.build import build_model
from fleet.llm.models.options import CLASSIC, SHORT

PUBLISHED: Mapping[str, int | None] = {
    "smollm2-135m": None, "llama2-7b": 546, "qwen2-7b": 478, "chatglm2-6b": 478, "gpt2": None,
}  # fmt: skip
"""Operations of the public compiler's graphs; None if it does not have the model."""


def table() -> str:
    """Return the table in Markdown."""
    lines = [
        "| model | blocks | public compiler | classic | of them a block | short | of them a block | kinds of the classic block |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, published in PUBLISHED.items():
        config = preset(name)
        one, two = config.shortened(1), config.shortened(2)
        cells: list[str] = []
        for options in (CLASSIC, SHORT):
            a_block = build_model(two, None, options).counts().total() - build_model(one, None, options).counts().total()
            cells += [str(build_model(config, None, options).counts().total()), str(a_block)]
        kinds = build_model(two, None, CLASSIC).counts()
        kinds.subtract(build_model(one, None, CLASSIC).counts())
        words = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items(), key=lambda k: (-k[1], k[0])) if count)
        lines.append(f"| {name} | {config.blocks} | {published or '-'} | {' | '.join(cells)} | {words} |")
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str]) -> int:
    """Entry point; run it in the repository's root."""
    return write_page(Path("docs/language-models.md"), {"counts": table()}, "--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
