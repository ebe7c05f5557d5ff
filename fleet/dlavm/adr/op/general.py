"""Views: no instruction; see `fleet.ir.accel.views`."""

from fleet.ir.accel.views import concat, gather, realloc, reshape, split, tuple

__all__ = ["concat", "gather", "realloc", "reshape", "split", "tuple"]
