"""Views: no instruction; see `fleet.ir.graph.views`."""

from fleet.ir.graph.views import concat, gather, realloc, reshape, split, tuple

__all__ = ["concat", "gather", "realloc", "reshape", "split", "tuple"]
