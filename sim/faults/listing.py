"""`python sim/faults/listing.py [--check]`: the catalogue in docs/faults.md, out of the faults."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator

from catalogue import FAULTS
from planting import PROJECT, Fault

from fleet.ir.tables import write_page


def counts() -> str:
    """How many faults there are, in all and of each class."""
    of_class = ", ".join(f"{n} {kind}" for kind, n in Counter(f.kind for f in FAULTS).most_common())
    return f"The catalogue has {len(FAULTS)}: {of_class}."


def tables() -> str:
    """A Markdown table of the faults of each class, in the catalogue's order."""
    return "\n\n".join("\n".join(_table(kind)) for kind in dict.fromkeys(f.kind for f in FAULTS))


def _table(kind: str) -> Iterator[str]:
    yield f"### {kind[0].upper()}{kind[1:]}\n"
    yield "| fault | planted | found by | at |"
    yield "|---|---|---|---|"
    for fault in FAULTS:
        if fault.kind == kind:
            yield "| " + " | ".join(cell.replace("|", "\\|") for cell in _cells(fault)) + " |"


def _cells(fault: Fault) -> tuple[str, ...]:
    tier = " *n*" if fault.nightly else ""
    return fault.name + tier, fault.what, f"`{' '.join(fault.found_by.split())}`", fault.at


if __name__ == "__main__":
    page = PROJECT / "docs" / "faults.md"
    sys.exit(write_page(page, {"counts": counts(), "catalogue": tables()}, "--check" in sys.argv[1:]))
