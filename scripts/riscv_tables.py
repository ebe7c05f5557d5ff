"""The table of functions' errors in docs/riscv.md, from what the RISC-V target states.

    python scripts/riscv_tables.py            # writes it
    python scripts/riscv_tables.py --check    # fails when it is not current
"""

from __future__ import annotations

import sys
from pathlib import Path

from fleet.targets.riscv.arithmetic import MAX_ULP

PAGE = Path(__file__).parents[1] / "docs" / "riscv.md"
BEGIN, END = "<!-- ulp table -->\n", "<!-- end -->"


def table() -> str:
    """Rows of all functions in the order in which float32 has them."""
    names = dict.fromkeys(name for stated in MAX_ULP.values() for name in stated)
    lines = [f"| function | {' | '.join(MAX_ULP)} |", f"|---|{'---|' * len(MAX_ULP)}"]
    lines += [f"| {n} | {' | '.join(str(stated.get(n, '')) for stated in MAX_ULP.values())} |" for n in names]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Writes or checks."""
    text = PAGE.read_text()
    before, _, rest = text.partition(BEGIN)
    made = before + BEGIN + table() + END + rest.partition(END)[2]
    if "--check" in sys.argv:
        if made != text:
            print("docs/riscv.md is not current: run python scripts/riscv_tables.py", file=sys.stderr)
            return 1
        return 0
    PAGE.write_text(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
