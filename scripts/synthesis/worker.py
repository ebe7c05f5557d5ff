"""In a process of its own, which Yosys ends at its first error: `worker.py SITE COMMAND...`."""

from __future__ import annotations

import sys

if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    from pyosys import libyosys  # pyright: ignore

    design = libyosys.Design()  # pyright: ignore
    for command in sys.argv[2:]:
        libyosys.run_pass(command, design)  # pyright: ignore
