"""Survivors that a person has judged: a TOML file of ids, each with its kind and the reason.

```toml
[[survivor]]
id = "d3c168a0d2"
place = "rtl/mine_fetch.sv (mine_fetch) reset"
kind = "equivalent"
reason = "written at every start, before it is read"
```

kind: "equivalent" (no test can tell it from the program), "performance" (results stay, cycles may change), "cost" (the cost model's
estimate changes within its gate). `test` is optional and names the test that confirms the reason (`tests/.../test_x.py::test_y`).
Every survivor that is not listed is a hole.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fleet.core.toml_file import read_toml

KINDS = ("equivalent", "performance", "cost")
_KEYS = ("id", "place", "kind", "reason")
_TEST = "test"


@dataclass(frozen=True)
class JudgedSurvivor:
    """place: for people; the id alone decides. test: confirms the reason; empty if the reason is an argument only."""

    id: str
    place: str
    kind: str
    reason: str
    test: str = ""


def load_survivors(path: Path) -> Mapping[str, JudgedSurvivor]:
    """Return survivors by id; empty if there is no file. Raises ModelError naming file, line and key."""
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
