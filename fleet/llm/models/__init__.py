"""Language models as graphs of accelerator operators: one set of blocks for all architectures (`blocks`, `build`)."""

from fleet.llm.models.build import ModelGraph, build_model
from fleet.llm.models.options import CLASSIC, SHORT, ModelOptions

__all__ = ["CLASSIC", "SHORT", "ModelGraph", "ModelOptions", "build_model"]
