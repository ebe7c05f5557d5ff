"""A Dask worker's side: keep a warm process (`fleet.night.cluster.runner`), pass tests to it, and judge its death.

The worker itself stays small. The process dies with it, and with the process everything that it started (`fleet.core.processes`).
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil
from distributed import Worker, get_worker
from distributed.diagnostics.plugin import WorkerPlugin

from fleet.core.codec import decode
from fleet.core.processes import Child, start
from fleet.errors import ExitCode
from fleet.night.cluster.runner import Ask, Reply, Told, told_line
from fleet.regress.night_records import RecordLocation, Writer, host_name, now, read_line, without_result
from fleet.regress.requests import tiers_in

PLUGIN = "fleet-runner"
_LOOK_S = 0.5
"""Seconds between two checks of a run's memory."""
END_S = 30.0
"""Seconds in which the fixtures of a session must be torn down."""
_CLOSE_S = 20.0
"""Seconds after which a closing worker exits, whatever it does."""


@dataclass(frozen=True)
class WorkerOrder:
    """Orders of a worker for a session.

    arguments, cwd, environment: of the command's pytest. folder: of the night. memory: limit of a run in bytes, or None.
    topic: of Dask's events that workers log; unique to the session.
    """

    arguments: tuple[str, ...]
    cwd: str
    environment: Mapping[str, str]
    folder: str
    memory: int | None
    topic: str = "fleet"


@dataclass(frozen=True)
class WorkerCall:
    """A task.

    node, kind: as planned. build: build the test's simulations instead of running it.
    judge: whether the death of its process is the test's verdict.
    end: run no test, but end the process, with its fixtures torn down.
    """

    node: str = ""
    kind: str = ""
    build: bool = False
    judge: bool = False
    end: bool = False


@dataclass(frozen=True)
class TaskAnswer:
    """Answer of a task.

    line: place of its record. failed: whether the run failed in a way that a bad machine can cause.
    error: of a build, or why no record could be made. died: how the process ended, if it did.
    """

    line: RecordLocation | None = None
    failed: bool = False
    error: str | None = None
    died: str | None = None


class RunnerPlugin(WorkerPlugin):
    """Keeps the warm process of a worker."""

    name = PLUGIN

    def __init__(self, order: WorkerOrder) -> None:
        self._order = order

    def setup(self, worker: Worker) -> None:
        """Report that the worker is ready. The process starts with the first task."""
        self._worker = worker
        self._name = re.sub(r"[^A-Za-z0-9._-]+", "-", str(worker.name))  # without a name it is an address
        self._child: Child | None = None
        self._replies = -1
        self._writer: Writer | None = None
        self._closing = False
        worker.log_event(self._order.topic, _introduction(worker))
        threading.Thread(target=self._watch, name="fleet-watch", daemon=True).start()

    def teardown(self, worker: Worker) -> None:
        """End the process."""
        del worker
        self._closing = True
        if self._child is not None:
            self._child.end()

    def _watch(self) -> None:
        """End this process if the worker closes but does not finish, because a task may hold it."""
        while self._worker.status.name in ("init", "running", "paused", "undefined"):
            if self._closing:  # the worker lives on without this plug-in
                return
            time.sleep(1)
        self._stop()
        time.sleep(_CLOSE_S)
        os._exit(1)

    def _stop(self) -> None:
        if self._child is not None:
            self._child.stop()

    # -- in the thread of the task

    def perform(self, call: WorkerCall) -> TaskAnswer:
        """Run a test, build its simulations, or end the process."""
        if call.end:
            return self._end()
        if (child := self._child) is None:
            try:
                child = self._start()
            except OSError as error:
                return TaskAnswer(error=f"the worker cannot start a process: {error}")
        before = _out_of_memory_kills()
        assert child.stdin is not None
        try:
            child.stdin.write(told_line(Ask(call.node, call.build)))
            child.stdin.flush()
        except OSError:
            return self._dead(call, child, None, before)
        over: str | None = None
        found = b""
        while not found.endswith(b"\n"):
            if select.select([self._replies], [], [], _LOOK_S)[0]:
                more = os.read(self._replies, 65536)
                if not more:
                    return self._dead(call, child, over, before)
                found += more
                if b'"ready"' in found:
                    found = found.partition(b"\n")[2]
            elif over is None and (over := self._over(child)) is not None:
                child.stop()
        reply = decode(Reply, json.loads(found), "<reply>")
        if reply.line is None:
            return TaskAnswer(error=reply.error)
        return TaskAnswer(reply.line, reply.failed and read_line(reply.line).code != ExitCode.DIFFERS)

    def _end(self) -> TaskAnswer:
        """End the process like a pytest session."""
        if (child := self._child) is not None:
            assert child.stdin is not None
            with contextlib.suppress(OSError):
                child.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(END_S)
            child.end()
            os.close(self._replies)
            self._child = None
        return TaskAnswer()

    def _start(self) -> Child:
        order = self._order
        logs = Path(order.folder) / "logs"
        logs.mkdir(parents=True, exist_ok=True)
        read, write = os.pipe()
        name = f"{host_name()}-{self._name}"
        command = f"from fleet.night.cluster.runner import main; raise SystemExit(main({write}))"
        try:
            with open(logs / f"{name}-{os.getpid()}.log", "ab") as log:
                self._child = child = start(
                    [sys.executable, "-c", command], cwd=order.cwd, env={**os.environ, **order.environment}, stdin=-1, stdout=log,
                    stderr=log, pass_fds=[write],
                )  # fmt: skip
        finally:
            os.close(write)
        self._replies = read
        assert child.stdin is not None
        with contextlib.suppress(OSError):
            child.stdin.write(told_line(Told(order.arguments, order.folder, self._name)))
            child.stdin.flush()
        return child

    def _over(self, child: Child) -> str | None:
        """Return how much memory the run holds, as text, if that is above the limit; else None."""
        limit = self._order.memory
        if limit is None:
            return None
        held = _memory(child.pid, limit)
        return None if held <= limit else f"held {held / 1e9:.2f} GB, the worker's limit is {limit / 1e9:.2f} GB"

    def _dead(self, call: WorkerCall, child: Child, over: str | None, before: int) -> TaskAnswer:
        """Handle the end of the process during a task. A memory limit and a kill by the kernel are verdicts at once."""
        child.end()
        os.close(self._replies)
        self._child = None
        code = child.returncode
        if over is not None:
            what, signature, evident = over, "memory limit of the worker", True
        elif code == -signal.SIGKILL and _out_of_memory_kills() > before:
            what, signature, evident = (
                "killed by the kernel: the machine has no memory left",
                "killed by the kernel: out of memory",
                True,
            )
        else:
            name = signal.Signals(-code).name if code < 0 else ""
            what = f"its process was killed by {name}" if code < 0 else f"its process ended with code {code}"
            signature, evident = f"process of the test died ({name or f'code {code}'})", False
        if self._closing or call.build or not (evident or call.judge):
            return TaskAnswer(died=what, error=what if call.build else None)
        record = replace(
            without_result(call.node, call.kind, what, int(ExitCode.INCOMPLETE), tiers_in(self._order.arguments)),
            outcome="failed", signature=signature, host=host_name(), at=now(),
        )  # fmt: skip
        if self._writer is None:
            self._writer = Writer(Path(self._order.folder), f"{host_name()}-{self._name}-watch")
        return TaskAnswer(self._writer.write(record), failed=not evident)


def perform(call: WorkerCall) -> TaskAnswer:
    """Run the task, on a worker that has a `RunnerPlugin`."""
    plugin: Any = get_worker().plugins[PLUGIN]
    return plugin.perform(call)


def introduce(dask_worker: Worker) -> dict[str, str | float] | None:
    """Return the event of a worker that is ready, or None if it is not. Dask passes the worker by the parameter's name."""
    return _introduction(dask_worker) if PLUGIN in dask_worker.plugins else None


def _introduction(worker: Worker) -> dict[str, str | float]:
    age = time.time() - psutil.Process().create_time()
    return {"worker": worker.address, "name": str(worker.name), "host": host_name(), "age": age}


def _memory(pid: int, limit: int) -> int:
    """Return the bytes held by a process and its descendants. Above the limit, pages that several share count once."""
    processes: list[psutil.Process] = []
    with contextlib.suppress(psutil.Error):
        top = psutil.Process(pid)
        processes = [top, *top.children(recursive=True)]
    simple = shared = 0
    for process in processes:
        with contextlib.suppress(psutil.Error):
            simple += process.memory_info().rss
    if simple <= limit:
        return simple
    for process in processes:
        with contextlib.suppress(psutil.Error):
            shared += process.memory_full_info().pss
    return shared


def _out_of_memory_kills() -> int:
    """Return how often the kernel has killed a process of this machine, or of this control group, for lack of memory."""
    found = 0
    with contextlib.suppress(OSError):
        group = Path("/proc/self/cgroup").read_text(encoding="utf-8").rpartition("::")[2].strip().lstrip("/")
        for path in (Path("/sys/fs/cgroup") / group / "memory.events", Path("/proc/vmstat")):
            with contextlib.suppress(OSError):
                words = path.read_text(encoding="utf-8").split()
                found += sum(int(words[i + 1]) for i, word in enumerate(words) if word == "oom_kill")
    return found
