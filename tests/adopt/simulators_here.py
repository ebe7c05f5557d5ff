"""Tests of other simulators are skipped where these are missing, but not where CI has installed them: there they must not be."""

from __future__ import annotations

import os
import shutil

import pytest

HAS_ICARUS = shutil.which("iverilog") is not None or os.environ.get("FLEET_REQUIRE_ICARUS") == "1"
HAS_YOSYS = shutil.which("yosys") is not None or os.environ.get("FLEET_REQUIRE_YOSYS") == "1"

icarus = pytest.mark.skipif(not HAS_ICARUS, reason="iverilog is not installed")
cxxrtl = pytest.mark.skipif(not HAS_YOSYS, reason="yosys is not installed")
