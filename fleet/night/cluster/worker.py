"""What a Dask worker does: it keeps a warm process (`fleet.night.cluster.runner`), hands tests to it, and judges its death.

The worker itself stays small. The process dies with it, and with the process all that it started (`fleet.core.processes`).
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
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
from fleet.regress.night_records import RecordLocation, Writer, now, read_line, without_result

__all__ = ["END_S", "PLUGIN", "RunnerPlugin", "TaskAnswer", "WorkerCall", "WorkerOrder", "perform"]

PLUGIN = "fleet-runner"
_LOOK_S = 0.5
"""Time between two looks at the memory of a run."""
END_S = 30.0
"""In which the fixtures of a session must be torn down."""
_CLOSE_S = 20.0
"""After which a worker that closes is gone, whatever it does."""


@dataclass(frozen=True)
class WorkerOrder:
    """What a worker is told once.

    arguments, cwd, environment: of the command's pytest; folder: of the night; memory: limit of a run in bytes, or None.
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
    """A task. node, kind: as planned; build: build its simulations; judge: if its process dies, that is its verdict.

    end: no test, but the end of the process: fixtures of the session are torn down.
    """

    node: str = ""
    kind: str = ""
    build: bool = False
    judge: bool = False
    end: bool = False


@dataclass(frozen=True)
class TaskAnswer:
    """What a task returns. line: where its record is; failed: the run failed in a way that a bad machine can cause.

    error: of a build, or why no record could be made; died: how the process ended, if it did.
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
        """Says that the worker is there. The process starts with the first task."""
        self._worker = worker
        self._name = re.sub(r"[^A-Za-z0-9._-]+", "-", str(worker.name))  # without a name it is an address
        self._child: Child | None = None
        self._replies = -1
        self._writer: Writer | None = None
        self._closing = False
        age = time.time() - psutil.Process().create_time()
        worker.log_event(self._order.topic, {"worker": worker.address, "name": str(worker.name), "host": _host(), "age": age})
        threading.Thread(target=self._watch, name="fleet-watch", daemon=True).start()

    def teardown(self, worker: Worker) -> None:
        """Ends the process."""
        del worker
        self._closing = True
        if self._child is not None:
            self._child.end()

    def _watch(self) -> None:
        """Ends this process if the worker closes and does not come to its end: a task may hold it."""
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
        """Runs a test, builds its simulations, or ends the process."""
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
        """The process ends as a session of pytest does."""
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
        name = f"{_host()}-{self._name}"
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
        """What the run holds, if that is above the limit."""
        limit = self._order.memory
        if limit is None:
            return None
        held = _memory(child.pid, limit)
        return None if held <= limit else f"held {held / 1e9:.2f} GB, the worker's limit is {limit / 1e9:.2f} GB"

    def _dead(self, call: WorkerCall, child: Child, over: str | None, before: int) -> TaskAnswer:
        """The process has ended in the middle of a task. A memory limit and the kernel's kill are verdicts at once."""
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
            without_result(call.node, call.kind, what, int(ExitCode.INCOMPLETE)), outcome="failed", signature=signature,
            host=_host(), at=now(),
        )  # fmt: skip
        if self._writer is None:
            self._writer = Writer(Path(self._order.folder), f"{_host()}-{self._name}-watch")
        return TaskAnswer(self._writer.write(record), failed=not evident)


def perform(call: WorkerCall) -> TaskAnswer:
    """The task: runs on a worker that has a `RunnerPlugin`."""
    plugin: Any = get_worker().plugins[PLUGIN]
    return plugin.perform(call)


def _host() -> str:
    """The machine; a batch system that runs several nodes on one machine tells them apart."""
    return os.environ.get("SLURMD_NODENAME") or platform.node()


def _memory(pid: int, limit: int) -> int:
    """Memory of a process and all below it in bytes. Above the limit, pages that several of them share count once."""
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
    """How often the kernel has killed a process of this machine, or of this control group, for want of memory."""
    found = 0
    with contextlib.suppress(OSError):
        group = Path("/proc/self/cgroup").read_text(encoding="utf-8").rpartition("::")[2].strip().lstrip("/")
        for path in (Path("/sys/fs/cgroup") / group / "memory.events", Path("/proc/vmstat")):
            with contextlib.suppress(OSError):
                words = path.read_text(encoding="utf-8").split()
                found += sum(int(words[i + 1]) for i, word in enumerate(words) if word == "oom_kill")
    return found
