"""What a user's graph can have wrong."""

from __future__ import annotations

from fleet.errors import FleetError

__all__ = ["GraphError"]


class GraphError(FleetError):
    """A graph cannot be built, inferred or evaluated; `where` is the node, as it is printed."""
