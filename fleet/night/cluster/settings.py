"""The file that states where a night's workers run."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

from fleet.core.toml_file import TomlTable, TomlValue, is_number, read_toml

KINDS = ("local", "slurm", "lsf", "pbs", "sge", "htcondor", "scheduler")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]i?)?B?", re.I)
_FACTORS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}


@dataclass(frozen=True)
class ClusterSettings:
    """Place of the workers.

    Attributes:
        kind: a batch system of `KINDS`, "local" for processes of this machine, or "scheduler" for a running Dask scheduler.
        workers: number; each has its own job.
        cores, memory: of a job; memory in bytes, also the limit of a worker's run; None for no limit (kind "local" alone).
        walltime: of a job in seconds; None for no limit. margin: seconds before its end in which a worker takes no more runs.
        queue, account, directives, directives_skip: of the job script. prologue: its shell lines before the worker.
        interface: network interface between scheduler and workers; None: the host's own.
        folder: for the jobs' logs and certificates, shared by all hosts; None: in the folder of the night.
        start_timeout: seconds after which a job without a worker is cancelled and submitted again.
        address: of a running scheduler. ca, certificate, key: files for TLS with it.
        tls: encrypt and authenticate; without it, anyone who reaches the scheduler's port can run code.
    """

    kind: str = "local"
    workers: int = 1
    cores: int = 1
    memory: int | None = None
    walltime: float | None = None
    margin: float = 60.0
    queue: str | None = None
    account: str | None = None
    directives: tuple[str, ...] = ()
    directives_skip: tuple[str, ...] = ()
    prologue: tuple[str, ...] = ()
    interface: str | None = None
    folder: Path | None = None
    start_timeout: float = 3600.0
    address: str | None = None
    ca: Path | None = None
    certificate: Path | None = None
    key: Path | None = None
    tls: bool = True

    @property
    def lifetime(self) -> float | None:
        """Time for which a fresh worker takes runs, in seconds; None for no limit."""
        return None if self.walltime is None else self.walltime - self.margin


def local_settings(workers: int | None = None) -> ClusterSettings:
    """Return settings for workers of this machine, by default as many as it has processors."""
    return ClusterSettings(workers=workers or os.cpu_count() or 1)


def read_cluster(path: Path) -> ClusterSettings:
    """Read the file. Raises ModelError with file, line and key."""
    file = read_toml(path)
    file.only(*ClusterSettings.__dataclass_fields__)
    kind = file.chosen("kind", KINDS, "")
    file.need("kind")
    if kind == "scheduler":
        file.need("address")
        for key in ("cores", "walltime", "queue", "account", "directives", "prologue"):
            if key in file:
                raise file.wrong(key, f"{key} belongs to jobs, and with kind = 'scheduler' fleet submits none")
    elif "address" in file:
        raise file.wrong("address", f"address belongs to kind = 'scheduler', not to '{kind}'")
    if kind not in ("local", "scheduler"):
        file.need("workers", "memory", "walltime")
    walltime = _seconds(file, "walltime") if "walltime" in file else None
    margin = file.number("margin", zero=True) if "margin" in file else 60.0
    if walltime is not None and walltime <= margin:
        raise file.wrong("walltime", f"a job of {walltime:g} s has no time for runs: the last {margin:g} s are kept free (margin)")
    given = file.optional_text
    return ClusterSettings(
        kind,
        file.integer("workers", 1) if "workers" in file else local_settings().workers,
        file.integer("cores", 1) if "cores" in file else 1,
        _bytes(file, "memory") if "memory" in file else None,
        walltime,
        margin,
        given("queue"),
        given("account"),
        file.texts("directives"),
        file.texts("directives_skip"),
        file.texts("prologue"),
        given("interface"),
        _path(file, "folder"),
        file.number("start_timeout") if "start_timeout" in file else 3600.0,
        given("address"),
        _path(file, "ca"),
        _path(file, "certificate"),
        _path(file, "key"),
        file.boolean("tls", True),
    )


def _path(file: TomlTable, key: str) -> Path | None:
    """Return an absolute path; relative ones are relative to the file."""
    value = file.optional_text(key)
    return None if value is None else (file.path.parent / Path(value).expanduser()).absolute()


def _seconds(file: TomlTable, key: str) -> float:
    """Return the seconds of "HH:MM:SS", "HH:MM" or a number of seconds."""
    value = file.get(key, '"HH:MM:SS", "HH:MM" or a number of seconds', _is_time)
    if isinstance(value, str):
        parts = [int(part) for part in value.split(":")]
        return float(sum(part * 60 ** (2 - at) for at, part in enumerate(parts)))
    return float(value)


def _is_time(value: TomlValue) -> TypeGuard[str | int | float]:
    if isinstance(value, str):
        return re.fullmatch(r"\d+:[0-5]\d(:[0-5]\d)?", value) is not None
    return is_number(value) and 0 < value < float("inf")


def _bytes(file: TomlTable, key: str) -> int:
    """Return the bytes of "8GB" or "500 MiB"."""
    value = str(file.get(key, 'a size such as "8GB"', lambda v: isinstance(v, str) and _SIZE.fullmatch(v.strip()) is not None))
    found = _SIZE.fullmatch(value.strip())
    assert found is not None
    return int(float(found[1]) * _FACTORS[(found[2] or "").lower()])
