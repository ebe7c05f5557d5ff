"""Reading arrays for commands: see `fleet.cosim.data`."""

from __future__ import annotations

from fleet.cosim.data import MAX_BYTES, load_arrays, load_labels, random_array, random_like

__all__ = ["MAX_BYTES", "load_arrays", "load_labels", "random_array", "random_like"]
