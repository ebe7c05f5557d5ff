"""Survivors that a person has judged: a TOML file of ids, each with its kind and the reason.

```toml
[[survivor]]
id = "d3c168a0d2"
place = "rtl/mine_fetch.sv (mine_fetch) reset"
kind = "equivalent"
reason = "written at every start, before it is read"
```

kind: "equivalent" (nobody can tell it from the program), "performance" (results stay, cycles change or may), "cost" (what the cost
model expects changes within its gate). `test`, where there is one, names the test that goes through all that the reason speaks of
(`tests/.../test_x.py::test_y`). Whatever is not listed is a hole.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from fleet.errors import ModelError

__all__ = ["KINDS", "Judged", "load_survivors"]

KINDS = ("equivalent", "performance", "cost")
_KEYS = {"id", "place", "kind", "reason"}
_MORE = {"test"}


@dataclass(frozen=True)
class Judged:
    """place: for people; the id alone decides. test: that holds the reason, empty for an argument alone."""

    id: str
    place: str
    kind: str
    reason: str
    test: str = ""


def load_survivors(path: Path) -> Mapping[str, Judged]:
    """By id; nothing where there is no file. Raises ModelError for a file that is none, with what is wrong."""
    if not path.exists():
        return {}
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ModelError(f"no list of survivors ({error})", where=str(path), hint="expected [[survivor]] tables") from error
    found: dict[str, Judged] = {}
    entries: Any = table.get("survivor", [])
    if set(table) - {"survivor"} or not isinstance(entries, list):
        raise ModelError("expected [[survivor]] tables and nothing else", where=str(path))
    for number, entry in enumerate(cast("list[Any]", entries), 1):
        where = f"{path}, survivor {number}"
        if not isinstance(entry, dict):
            raise ModelError("expected a table", where=where)
        texts = {str(k): v for k, v in cast("dict[Any, Any]", entry).items()}
        if set(texts) - _MORE != _KEYS or not all(isinstance(v, str) and v.strip() for v in texts.values()):
            raise ModelError(f"expected the texts {', '.join(sorted(_KEYS))}", where=where)
        judged = Judged(**texts)
        if judged.kind not in KINDS:
            raise ModelError(f"kind '{judged.kind}' is none", where=where, hint=f"one of {', '.join(KINDS)}")
        if judged.id in found:
            raise ModelError(f"'{judged.id}' stands there twice", where=where)
        found[judged.id] = judged
    return found
