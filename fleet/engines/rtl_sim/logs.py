"""Logs that outlive the folder in which a build or a simulation wrote them: an error names one, and is read later."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import time
from pathlib import Path

from fleet.engines.rtl_sim.cache import cache_folder

__all__ = ["keep_log"]

_DAYS = 30


def keep_log(key: str, content: bytes) -> Path:
    """Store a log as `logs/<key>-<hash of content>.log` in the cache of simulations; remove those older than 30 days.

    key: of the simulation. Raises OSError, and SetupError if the cache cannot be written.
    """
    logs = cache_folder() / "logs"
    logs.mkdir(exist_ok=True)
    for path in logs.iterdir():
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > _DAYS * 86400:
                path.unlink()
    log = logs / f"{key}-{hashlib.sha256(content).hexdigest()[:8]}.log"
    with tempfile.NamedTemporaryFile(dir=logs, delete=False) as f:
        f.write(content)
    os.replace(f.name, log)
    return log
