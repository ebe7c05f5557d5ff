"""The compiler as a Python API: `fleet.compile` reads a model's file (docs/api.md), `fleet.jit` takes a function (docs/jit.md)."""

from __future__ import annotations

from fleet.compiler.model import BACKENDS as BACKENDS
from fleet.compiler.model import STAGES as STAGES
from fleet.compiler.model import Compiled as Compiled
from fleet.compiler.model import compile_model as compile_model
from fleet.compiler.model import engine_of as engine_of
from fleet.compiler.model import optimised as optimised
from fleet.compiler.model import source_stage as source_stage
from fleet.ir.schedule import LoopSchedule as LoopSchedule
from fleet.ir.schedule import Schedule as Schedule
