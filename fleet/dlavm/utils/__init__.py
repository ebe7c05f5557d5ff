"""Ways through graphs and their printing (see `fleet.ir.graph`); a log, and what a script tells while it runs."""

from fleet.dlavm.utils.log import GET_LOG, LOG_CLEAR, LOG_EXPORT, LOG_WITH_PREFIX
from fleet.dlavm.utils.std_cout import StdCout
from fleet.ir.graph.printing import describe, print_graph
from fleet.ir.graph.walk import caches, constants, inputs, labels, post_order, rewrite

__all__ = [
    "GET_LOG", "LOG_CLEAR", "LOG_EXPORT", "LOG_WITH_PREFIX", "StdCout", "caches", "constants", "describe", "inputs", "labels",
    "post_order", "print_graph", "rewrite",
]  # fmt: skip
