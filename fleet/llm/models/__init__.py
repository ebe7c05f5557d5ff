"""Language models as graphs of accelerator operators: one set of blocks for all architectures (`blocks`, `build`)."""

from fleet.llm.models.build import ModelGraph as ModelGraph
from fleet.llm.models.build import build_model as build_model
from fleet.llm.models.options import CLASSIC as CLASSIC
from fleet.llm.models.options import SHORT as SHORT
from fleet.llm.models.options import ModelOptions as ModelOptions
