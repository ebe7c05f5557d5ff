"""Logs that outlive the folder in which a build or a simulation wrote them: an error names one, and is read later."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

from fleet.core.sealed import remove_unused
from fleet.engines.rtl_sim.cache import cache_folder

__all__ = ["keep_log"]


def keep_log(key: str, content: bytes) -> Path:
    """Store a log as `logs/<key>-<hash of content>.log` in the cache of simulations; remove those older than a month.

    key: of the simulation. Raises OSError, and SetupError if the cache cannot be written.
    """
    logs = cache_folder() / "logs"
    logs.mkdir(exist_ok=True)
    remove_unused(logs)
    log = logs / f"{key}-{hashlib.sha256(content).hexdigest()[:8]}.log"
    with tempfile.NamedTemporaryFile(dir=logs, delete=False) as f:
        f.write(content)
    os.replace(f.name, log)
    return log
