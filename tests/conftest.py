"""Tests find the environment's own tools also when it was not activated."""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ["PATH"] = f"{os.environ.get('PATH', '')}{os.pathsep}{Path(sys.executable).parent}"
