"""Graphs of published language models, as in dlavm: their shapes, and the names of their weight files."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from fleet.dlavm.device.base_accel import Accel
from fleet.ir.accel.nodes import Node, TupleNode
from fleet.ir.accel.walk import constants
from fleet.llm.config import preset
from fleet.llm.models import CLASSIC, build_model

__all__ = ["Published", "published"]


class Published(Protocol):
    """Returns the graph of a published model."""

    def __call__(self, device: Accel, path_prefix: str = "", debug: bool = False, ir: bool = False) -> Node:
        """Return the graph; its result is the index of the last token's largest logit.

        Args:
            device: its `MAX_TOKEN` bounds a step and the caches.
            path_prefix: folder of the weight files, `<path_prefix>/<constant>.bin`, packed as `Module.write_params` does.
            debug: one block instead of all.
            ir: accepted as in dlavm, without effect: there is one form of the graph.
        """
        ...


def published(name: str) -> Published:
    """Return the function that builds the graph of a model of `fleet.llm.config`."""
    config = preset(name)

    def expression(device: Accel, path_prefix: str = "", debug: bool = False, ir: bool = False) -> Node:
        del ir
        most = device.MAX_TOKEN
        options = replace(CLASSIC, tokens=most, positions=most)
        root = build_model(replace(config, blocks=1) if debug else config, None, options).root
        for constant in constants(root):
            if constant.data is None and not str(constant.label).startswith("table."):  # tables are the same for all models
                constant.data = f"{path_prefix or '.'}/{constant.label}.bin"
        assert isinstance(root, TupleNode)
        return root.fields[1]

    return expression
