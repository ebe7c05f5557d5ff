"""Walks through graphs and prints them (see `fleet.ir.accel`); a log, and the progress output of a script."""

from fleet.dlavm.utils.log import GET_LOG, LOG_CLEAR, LOG_EXPORT, LOG_WITH_PREFIX
from fleet.dlavm.utils.std_cout import StdCout
from fleet.ir.accel.nodes import describe, labels, post_order, print_graph
from fleet.ir.accel.walk import caches, constants, inputs, rewrite

__all__ = [
    "GET_LOG", "LOG_CLEAR", "LOG_EXPORT", "LOG_WITH_PREFIX", "StdCout", "caches", "constants", "describe", "inputs", "labels",
    "post_order", "print_graph", "rewrite",
]  # fmt: skip
