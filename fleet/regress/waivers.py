"""Waivers: exemptions from a derived bound.

    [[waiver]]
    case = "digits"
    comparison = "iss-vs-vm-rounded"
    op = "logits"
    owner = "name or address"
    reason = "why this may be beyond its bound for now"
    expires = 2026-01-31

The regression fails if a waiver has expired, ends more than a year ahead, or names a case, an operation or a comparison with a
bound
that does not exist: such a waiver would hide later failures.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fleet.core.exemption import Exemption, read_exemption
from fleet.core.toml_file import read_toml
from fleet.errors import ComparisonFailure

_NAMES = ("case", "comparison", "op")


@dataclass(frozen=True)
class Waiver:
    """An exemption of one operation from the bound of one comparison. places: key -> file:line, for messages."""

    case: str
    comparison: str
    op: str
    exemption: Exemption
    places: Mapping[str, str] = field(compare=False, repr=False)


def load_waivers(path: Path) -> tuple[Waiver, ...]:
    """Read the file; a missing file holds no waiver. Raises ModelError with file, line and key."""
    if not path.exists():
        return ()
    file = read_toml(path)
    file.only("waiver")
    found: list[Waiver] = []
    for entry in file.tables("waiver"):
        entry.need(*_NAMES, "owner", "reason", "expires")
        entry.only(*_NAMES, "owner", "reason", "expires")
        places = {key: entry.at(key) for key in _NAMES}
        found.append(Waiver(*map(entry.text, _NAMES), exemption=read_exemption(entry), places=places))
    return tuple(found)


def check_waivers(
    waivers: Sequence[Waiver], today: datetime.date, comparisons: Mapping[str, Collection[str]] | None = None
) -> None:  # fmt: skip
    """Raise ComparisonFailure if a waiver has expired, ends too late, or names something that does not exist.

    comparisons: case -> names of the comparisons with a bound that its runs make; None: not checked.
    """
    for w in waivers:
        w.exemption.check(f"the waiver of {w.op} in {w.case} by {w.exemption.owner}", today)
        if comparisons is None:
            continue
        if w.case not in comparisons:
            what = f"the waiver names case '{w.case}', which does not exist"
            raise ComparisonFailure(what, where=w.places["case"], hint="remove it")
        if w.comparison not in comparisons[w.case]:
            what = f"the waiver names comparison '{w.comparison}', which {w.case} does not hold to a bound"
            known = ", ".join(sorted(comparisons[w.case])) or "none"
            raise ComparisonFailure(what, where=w.places["comparison"], hint=f"those are {known}; correct it or remove it")


def waivers_of(
    waivers: Sequence[Waiver], case: str, comparisons: Collection[str], operations: Collection[str], today: datetime.date
) -> Mapping[str, Mapping[str, str]]:
    """Return comparison -> operation id -> text, for one case.

    comparisons: names of the case's comparisons that have a bound in any run. Raises ComparisonFailure as `check_waivers`, and if
    an operation is not among `operations`.
    """
    table: dict[str, dict[str, str]] = {}
    mine = [w for w in waivers if w.case == case]
    check_waivers(mine, today, {case: comparisons})
    for w in mine:
        if w.op not in operations:
            what = f"the waiver names operation '{w.op}', which {case} does not have"
            raise ComparisonFailure(what, where=w.places["op"], hint="remove it")
        table.setdefault(w.comparison, {})[w.op] = str(w.exemption)
    return table
