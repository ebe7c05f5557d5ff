from __future__ import annotations

import sys
from pathlib import Path

# The graphs are shared with the engines' tests.
sys.path.insert(0, str(Path(__file__).parent.parent / "targets" / "accel"))
