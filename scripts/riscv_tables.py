"""The table of functions' errors in docs/riscv.md, from what the RISC-V target states.

python scripts/riscv_tables.py            # writes it
python scripts/riscv_tables.py --check    # fails when it is not current
"""

from __future__ import annotations

import sys
from pathlib import Path

from fleet.ir.tables import write_page
from fleet.targets.riscv.arithmetic import MAX_ULP

PAGE = Path(__file__).parents[1] / "docs" / "riscv.md"


def table() -> str:
    """Rows of all functions in the order in which float32 has them."""
    names = dict.fromkeys(name for stated in MAX_ULP.values() for name in stated)
    lines = [f"| function | {' | '.join(MAX_ULP)} |", f"|---|{'---|' * len(MAX_ULP)}"]
    lines += [f"| {n} | {' | '.join(str(stated.get(n, '')) for stated in MAX_ULP.values())} |" for n in names]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(write_page(PAGE, {"ulp": table()}, "--check" in sys.argv))
