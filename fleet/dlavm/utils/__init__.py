"""Ways through graphs and their printing; see `fleet.ir.graph`."""

from fleet.ir.graph.printing import describe, print_graph
from fleet.ir.graph.walk import caches, constants, inputs, labels, post_order, rewrite

__all__ = ["caches", "constants", "describe", "inputs", "labels", "post_order", "print_graph", "rewrite"]
