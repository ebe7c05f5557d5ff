"""The jobs that bring workers: submitted, replaced when their worker has left, cancelled at the end.

dask-jobqueue writes and submits the job scripts. Its clusters are not used: they forget jobs that end before their worker has
connected, and they stop scaling if the batch system is unavailable for a minute.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from distributed.security import Security

from fleet.core.processes import Child, start
from fleet.errors import SetupError
from fleet.night.cluster.settings import ClusterSettings

_DEATH_TIMEOUT_S = 30
"""Seconds after which a worker ends that does not find its scheduler."""
_MOST_REFUSALS = 10
"""Number of refused submissions in a row, without any worker, after which the night gives up."""


class WorkerJob(Protocol):
    """A job with one worker, as in dask-jobqueue."""

    async def start(self) -> None:
        """Submit the job."""
        ...

    async def close(self) -> None:
        """Cancel the job."""
        ...


@dataclass
class _Held:
    job: WorkerJob
    since: float
    submitted: Future[None]
    worker: bool = False


class Pool:
    """Keeps a number of jobs alive. Called from one thread; submissions run on an event loop."""

    def __init__(
        self, make: Callable[[str], WorkerJob], loop: asyncio.AbstractEventLoop, prefix: str, start_timeout: float,
        say: Callable[[str], None],
    ) -> None:  # fmt: skip
        """make: creates the job for a worker's name. prefix: of the workers' names. say: called with a line about a failed job."""
        self._make, self._loop, self._prefix, self._timeout, self._say = make, loop, prefix, start_timeout, say
        self._jobs: dict[str, _Held] = {}
        self._count = self._refused = 0
        self._not_before = 0.0
        self._closing: list[Future[None]] = []

    def joined(self, name: str) -> None:
        """Note that a worker has connected."""
        self._refused = 0
        if name in self._jobs:
            self._jobs[name].worker = True

    def left(self, name: str) -> None:
        """Forget a worker that has left and cancel its job, in case it still runs."""
        if (held := self._jobs.pop(name, None)) is not None:
            self._cancel(held)

    def keep(self, number: int, now: float) -> None:
        """Submit or cancel jobs until there are `number`. Raises SetupError if the batch system refuses all."""
        for name, held in list(self._jobs.items()):
            if held.submitted.done() and not held.worker:
                error = None if held.submitted.cancelled() else held.submitted.exception()
                if error is not None:
                    del self._jobs[name]
                    self._refuse(error, now)
                elif now - held.since > self._timeout:
                    self._say(f"job of {name} brought no worker within {self._timeout:g} s: submitted again")
                    self.left(name)
        for name in [name for name, held in self._jobs.items() if not held.worker][: max(0, len(self._jobs) - number)]:
            self.left(name)
        while len(self._jobs) < number and now >= self._not_before:
            self._count += 1
            name = f"{self._prefix}-{self._count}"
            job = self._make(name)
            self._jobs[name] = _Held(job, now, asyncio.run_coroutine_threadsafe(job.start(), self._loop))

    def _refuse(self, error: BaseException, now: float) -> None:
        self._refused += 1
        lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
        told = lines[lines.index("stderr:") + 1] if "stderr:" in lines[:-1] else lines[0]
        if self._refused == 1:
            self._say(f"a job was refused: {told}")
        if self._refused >= _MOST_REFUSALS and not any(held.worker for held in self._jobs.values()):
            raise SetupError(f"the batch system refused {self._refused} jobs: {told}", hint="look at the file of the cluster")
        self._not_before = now + min(60.0, 2.0**self._refused)

    def _cancel(self, held: _Held) -> None:
        async def ended() -> None:
            with contextlib.suppress(Exception):  # if the batch system is unavailable, the worker ends by itself
                await asyncio.wrap_future(held.submitted)
            with contextlib.suppress(Exception):
                await held.job.close()

        self._closing = [f for f in self._closing if not f.done()]
        self._closing.append(asyncio.run_coroutine_threadsafe(ended(), self._loop))

    def close(self, seconds: float = 30.0) -> None:
        """Cancel all jobs; wait at most `seconds` for each."""
        for name in list(self._jobs):
            self.left(name)
        for future in self._closing:
            with contextlib.suppress(Exception):
                future.result(seconds)


class _LocalJob:
    """A worker as a process of this machine, which ends with this process."""

    def __init__(self, command: list[str], log: Path, environment: Mapping[str, str]) -> None:
        self._command, self._log, self._environment = command, log, environment
        self._child: Child | None = None

    async def start(self) -> None:
        with self._log.open("ab") as log:
            self._child = start(self._command, env={**os.environ, **self._environment}, stdout=log, stderr=log)

    async def close(self) -> None:
        if self._child is not None:
            self._child.end()


def job_maker(
    settings: ClusterSettings, scheduler: str, security: Security | None, folder: Path, environment: Mapping[str, str], cwd: str,
) -> Callable[[str], WorkerJob]:  # fmt: skip
    """Return a function that makes the job of a worker, by the worker's name.

    Args:
        scheduler: address. security: with paths of files that all hosts see. folder: for logs, seen by all hosts.
        environment: of the worker's process. cwd: its working directory.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if settings.kind == "local":
        tls = {} if security is None else security.get_tls_config_for_role("worker")
        options = [
            word for key, value in tls.items() if key != "ciphers" for word in (f"--tls-{key.replace('_', '-')}", str(value))
        ]

        def local(name: str) -> WorkerJob:
            command = [
                sys.executable, "-m", "distributed.cli.dask_worker", scheduler, "--name", name, "--nthreads", "1", "--memory-limit",
                "0", "--no-nanny", "--death-timeout", str(_DEATH_TIMEOUT_S), "--no-dashboard", "--local-directory",
                str(folder / "scratch"), *options,
            ]  # fmt: skip
            return _LocalJob(command, folder / f"{name}.log", environment)

        return local
    exports = [f"export {key}={shlex.quote(value)}" for key, value in environment.items()]
    given: dict[str, Any] = {
        "scheduler": scheduler, "cores": settings.cores, "memory": f"{settings.memory}B", "processes": 1, "nanny": False,
        "protocol": "tls://" if security is not None else None, "security": security, "interface": settings.interface,
        "death_timeout": _DEATH_TIMEOUT_S, "python": sys.executable, "job_directives_skip": settings.directives_skip,
        "job_script_prologue": [*exports, f"cd {shlex.quote(cwd)}", *settings.prologue], "log_directory": str(folder),
        "worker_extra_args": ["--no-dashboard"],
    }  # fmt: skip
    kind, extra = _batch(settings)

    def submitted(name: str) -> WorkerJob:
        return kind(name=name, job_name=name, **given, **extra)

    return submitted


def _batch(settings: ClusterSettings) -> tuple[Any, dict[str, Any]]:
    """Return (class of the batch system's jobs, arguments specific to it)."""
    from dask_jobqueue.htcondor import HTCondorJob
    from dask_jobqueue.lsf import LSFJob
    from dask_jobqueue.pbs import PBSJob
    from dask_jobqueue.sge import SGEJob
    from dask_jobqueue.slurm import SLURMJob

    seconds = int(settings.walltime or 0)
    time = f"{seconds // 3600:02}:{seconds // 60 % 60:02}"
    directives = list(settings.directives)
    match settings.kind:
        case "slurm":  # a job that Slurm requeues would bring an unexpected worker
            extra = {"queue": settings.queue, "account": settings.account, "walltime": f"{time}:{seconds % 60:02}"}
            return SLURMJob, {**extra, "job_extra_directives": ["--no-requeue", *directives]}
        case "lsf":
            extra = {"queue": settings.queue, "project": settings.account, "walltime": time}
            return LSFJob, {**extra, "job_extra_directives": directives}
        case "pbs":
            extra = {"queue": settings.queue, "account": settings.account, "walltime": f"{time}:{seconds % 60:02}"}
            return PBSJob, {**extra, "job_extra_directives": directives}
        case "sge":
            extra = {"queue": settings.queue, "project": settings.account, "walltime": f"{time}:{seconds % 60:02}"}
            return SGEJob, {**extra, "job_extra_directives": directives}
        case _:
            lines = {name.strip(): value.strip() for name, _, value in (line.partition("=") for line in directives)}
            return HTCondorJob, {"disk": "1GB", "job_extra_directives": {"+MaxRuntime": str(seconds), **lines}}
