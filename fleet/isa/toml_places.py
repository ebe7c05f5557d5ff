"""Where a key stands in a TOML file: what reads the file does not keep it, and an error should name the line."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["place"]

_TABLE = re.compile(r"\s*\[\s*([\w.\s-]+?)\s*\]")
_KEY = re.compile(r"""\s*["']?([\w-]+)["']?\s*=""")


def place(path: Path, key: str) -> str:
    """file:line of a dotted key ("memory.ddr"); of its table where the key is missing, else of the first line."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return f"{path}:1"
    table, best, length = "", 1, 0
    for number, line in enumerate(lines, 1):
        if header := _TABLE.match(line):
            table = header[1].replace(" ", "")
            here = table
        elif found := _KEY.match(line):
            here = f"{table}.{found[1]}" if table else found[1]
        else:
            continue
        if here == key:
            return f"{path}:{number}"
        if key.startswith(f"{here}.") and len(here) > length:
            best, length = number, len(here)
    return f"{path}:{best}"
