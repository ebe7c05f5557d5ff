"""The folder of fleet's cache."""

from __future__ import annotations

import os
from pathlib import Path


def cache_root() -> Path:
    """$FLEET_CACHE, else $XDG_CACHE_HOME/fleet, else ~/.cache/fleet, absolute; it may not exist yet.

    Raises RuntimeError if the path begins with `~` and there is no home folder.
    """
    named, xdg = os.environ.get("FLEET_CACHE"), os.environ.get("XDG_CACHE_HOME")
    root = Path(named) if named else (Path(xdg) if xdg else Path.home() / ".cache") / "fleet"
    return root.expanduser().absolute()
