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

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fleet.core.toml_file import read_toml

__all__ = ["KINDS", "JudgedSurvivor", "load_survivors"]

KINDS = ("equivalent", "performance", "cost")
_KEYS = ("id", "place", "kind", "reason")
_TEST = "test"


@dataclass(frozen=True)
class JudgedSurvivor:
    """place: for people; the id alone decides. test: that holds the reason, empty for an argument alone."""

    id: str
    place: str
    kind: str
    reason: str
    test: str = ""


def load_survivors(path: Path) -> Mapping[str, JudgedSurvivor]:
    """By id; nothing where there is no file. Raises ModelError naming file, line and key."""
    if not path.exists():
        return {}
    file = read_toml(path)
    file.only("survivor")
    found: dict[str, JudgedSurvivor] = {}
    for entry in file.tables("survivor"):
        entry.need(*_KEYS)
        entry.only(*_KEYS, _TEST)
        judged = JudgedSurvivor(*map(entry.text, _KEYS), test=entry.optional_text(_TEST) or "")
        if judged.kind not in KINDS:
            raise entry.wrong("kind", f"kind '{judged.kind}' is unknown", hint=f"known are {', '.join(KINDS)}")
        if judged.id in found:
            raise entry.wrong("id", f"id '{judged.id}' stands there twice")
        found[judged.id] = judged
    return found
