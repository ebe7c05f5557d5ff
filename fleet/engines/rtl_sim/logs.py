"""Logs that outlive the folder in which a build or a simulation wrote them: an error names one, and is read later."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from pathlib import Path

from fleet.core.sealed import remove_unused
from fleet.engines.rtl_sim.cache import cache_folder

_ERROR_LINE = re.compile(r"^%Error|(^|\s)(fatal )?error:|undefined reference|No space left|No such file")
_SHOWN = 5


def error_lines(output: str) -> list[str]:
    """The first errors in what Verilator, make and the compiler print; where they name none, the last lines."""
    lines = [line for line in output.splitlines() if _ERROR_LINE.search(line)] or output.splitlines()[-3:]
    return [re.sub(r"^%Error(-[A-Z]+)?: ", "", line.strip()) for line in lines[:_SHOWN]]


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
