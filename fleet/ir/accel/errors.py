"""The error of a user's graph."""

from __future__ import annotations

from fleet.errors import FleetError


class GraphError(FleetError):
    """A graph cannot be built, inferred or evaluated; `where` is the node, as it is printed."""
