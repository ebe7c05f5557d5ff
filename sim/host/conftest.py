"""The programs and models are shared with the quick tests."""

from __future__ import annotations

import sys
from pathlib import Path

TESTS = Path(__file__).parents[2] / "tests"
sys.path[:0] = [str(TESTS / "engines"), str(TESTS / "frontend" / "onnx")]
