"""`python -m fleet.llm.files.listing [--check]`: writes families and tokenizers into docs/language-model-weights.md."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from fleet.ir.tables import write_page
from fleet.llm.files import families, gguf_families
from fleet.llm.pre_tokenizers import PRE_TOKENIZERS


def table() -> str:
    """Return the table in Markdown."""
    folders = ", ".join(f"`{name}`" for name in sorted(families.FAMILIES))
    files = ", ".join(f"`{name}`" for name in sorted(gguf_families.FAMILIES))
    return (
        "| read from | families | formats |\n|---|---|---|\n"
        f"| a folder with config.json and safetensors, with or without index, by `model_type` | {folders} | F64, F32, F16, BF16 |\n"
        f"| a GGUF file, version 2 or 3, by `general.architecture` | {files} | F32, F16, BF16, F64 and the quantised forms that "
        "package `gguf` unpacks |\n"
    )


def pre_tokenizers() -> str:
    """Return the names of ways to split texts, in Markdown."""
    names = ", ".join(f"`{name}`" for name in sorted(PRE_TOKENIZERS))
    what = "Of GGUF files, these ways to split texts into words are known (`tokenizer.ggml.pre`)"
    return f"{what}: {names}. Others, such as `deepseek-llm`, are refused.\n"


def main(arguments: Sequence[str]) -> int:
    """Entry point; run it in the repository's root."""
    parts = {"families": table(), "pre-tokenizers": pre_tokenizers()}
    return write_page(Path("docs/language-model-weights.md"), parts, "--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
