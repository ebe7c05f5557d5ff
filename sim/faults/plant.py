"""Plants faults by name and shows what the harness says: python sim/faults/plant.py NAME... (parts of names; --output: all)."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from catalogue import FAULTS
from planted import Bases, run_fault


def main(arguments: list[str]) -> int:
    """1 when one was not found or not localised."""
    wanted = [a for a in arguments if not a.startswith("-")]
    with tempfile.TemporaryDirectory(prefix="fleet-faults-") as folder:
        bases, bad = Bases(Path(folder)), 0
        for fault in FAULTS:
            if any(w in fault.name for w in wanted):
                outcome, verdict = run_fault(fault, bases, Path(folder))
                bad += not (verdict.found and verdict.localised)
                print(
                    f"{fault.name}: found {verdict.found}, localised {verdict.localised}, {outcome.seconds:.1f} s: {verdict.named}"
                )
                print(f"    {verdict.why}" if verdict.why else "    " + verdict.excerpt.replace("\n", "\n    "))
                if "--output" in arguments:
                    print(outcome.text)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
