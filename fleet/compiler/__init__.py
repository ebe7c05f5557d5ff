"""The compiler as a Python API: `fleet.compile` reads a model's file (docs/api.md), `fleet.jit` takes a function (docs/jit.md)."""

from __future__ import annotations

from fleet.compiler.model import BACKENDS, STAGES, Compiled, compile_model, engine_of, optimised, source_stage

__all__ = ["BACKENDS", "STAGES", "Compiled", "compile_model", "engine_of", "optimised", "source_stage"]
