"""The table of planted faults: printed, and stored as faults.json."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

_COLUMNS = {"name": 26, "planted_in": 48, "found_by": 28, "seconds": 7, "place": 110}


def write_faults(rows: Sequence[Mapping[str, Any]], folder: Path, say: Callable[[str], None]) -> None:
    """Prints one line a fault and writes `folder/faults.json`, whole or not at all."""
    say("")
    say(_line({"name": "fault", "planted_in": "planted in", "found_by": "found by", "seconds": "seconds", "place": "localised to"}))
    for row in rows:
        say(_line({**row, "place": row["place"] if row["found"] else "NOT FOUND"}))
    found = sum(bool(row["found"]) for row in rows)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "faults.json"
    temporary = path.with_name("faults.json.tmp")
    temporary.write_text(json.dumps(list(rows), indent=1) + "\n", encoding="utf-8")
    os.replace(temporary, path)
    say(f"{found} of {len(rows)} planted faults found; {path}")


def _line(row: Mapping[str, Any]) -> str:
    def cell(key: str, width: int) -> str:
        text = " ".join(str(row[key]).split())
        text = text if len(text) <= width else text[: width - 3] + "..."
        return text.rjust(width) if key == "seconds" else text.ljust(width)

    return "  ".join(cell(key, width) for key, width in _COLUMNS.items()).rstrip()
