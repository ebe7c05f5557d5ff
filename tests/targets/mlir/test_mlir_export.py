"""The exported function as a whole: what it returns, what it must not touch, unknown sizes, and mlir-opt's judgement."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from mlir_models import draw, model, needs_tools, results, same
from xdsl.dialects.builtin import f64, i64

from fleet.cosim.model import load_model
from fleet.cosim.tolerance import tolerance_for
