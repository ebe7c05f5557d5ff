"""Commands in processes of their own that fork from one in which fleet is imported already: a start costs no imports.

Arguments, environment, folder, standard streams, signals and exit code are those of a process that `subprocess.run` starts. It is
not for tests of a start itself: what is imported, what the interpreter's own variables do, what a prelude hides from imports.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from child_signals import usual_signals

ROOT = Path(__file__).parents[1]
MODULES = ("fleet.cli.main", "pytest")
_NOT_BEFORE = ("fleet.cli.main", "fleet.regress.pytest_")
"""Modules that commands import themselves: runpy warns of one that is there, and pytest rewrites its plugin's assertions."""


def run(command: Sequence[str], *, cwd: Path, env: Mapping[str, str], timeout: float = 900) -> subprocess.CompletedProcess[bytes]:
    """As `subprocess.run(command, capture_output=True, stdin=DEVNULL)`, for `python -m` of a module of `MODULES` and `python -c`.

    Another command is started anew.
    """
    python, *rest = command
    if python != sys.executable or (rest[0] != "-c" and (rest[0] != "-m" or rest[1] not in MODULES)):
        return subprocess.run(
            command, cwd=cwd, env=env, timeout=timeout, capture_output=True, check=False, stdin=subprocess.DEVNULL
        )
    request = json.dumps({"command": rest, "cwd": str(cwd), "env": dict(env)}).encode()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        code = _Parent.of_this_process().start(request, out, err, command, timeout)
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(command, code, out.read(), err.read())


class _Parent:
    """The process that commands fork from."""

    _ours: _Parent | None = None

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._ask, theirs = socket.socketpair()
        self._process = subprocess.Popen(
            [sys.executable, __file__, str(theirs.fileno())],
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])}, pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=usual_signals,  # noqa: PLW1509  # it only sets signals
        )  # fmt: skip
        theirs.close()
        atexit.register(self._end)

    @classmethod
    def of_this_process(cls) -> _Parent:
        if cls._ours is None or cls._ours.pid != os.getpid() or cls._ours._process.poll() is not None:
            cls._ours = cls()
        return cls._ours

    def _end(self) -> None:
        if self.pid == os.getpid():
            self._ask.close()
            self._process.wait(60)

    def start(self, request: bytes, out: IO[bytes], err: IO[bytes], command: Sequence[str], timeout: float) -> int:
        self._ask.settimeout(timeout)
        socket.send_fds(self._ask, [len(request).to_bytes(8)], [out.fileno(), err.fileno()])
        self._ask.sendall(request)
        pid = int.from_bytes(self._ask.recv(8))
        try:
            status = int.from_bytes(self._ask.recv(8))
        except TimeoutError as error:
            os.kill(pid, signal.SIGKILL)
            self._ask.settimeout(None)
            self._ask.recv(8)
            raise subprocess.TimeoutExpired(command, timeout) from error
        return os.waitstatus_to_exitcode(status)


def _import() -> None:
    """What commands import."""
    import fleet.cli
    import fleet.sets

    for package in (fleet.cli, fleet.sets):
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    for name in ("fleet.regress.case_runs", "fleet.report.regression.campaign", "fleet.isa.reading.rdl", "jinja2", "pytest"):
        importlib.import_module(name)
    for name in [n for n in sys.modules if n.startswith(_NOT_BEFORE)]:
        del sys.modules[name]
    fleet.__doc__ = "PYTEST_DONT_REWRITE"  # its assertions: pytest warns of a plugin's package that is there before it
    gc.freeze()


def _serve(asked: socket.socket) -> tuple[list[str], str, dict[str, str]]:
    """Answers requests; returns, in a process of its own, what a request wants run."""
    while True:
        head, fds, _, _ = socket.recv_fds(asked, 8, 2)
        if not head:
            os._exit(0)
        request = b""
        while len(request) < int.from_bytes(head):
            request += asked.recv(1 << 20)
        pid = os.fork()
        if pid == 0:
            os.dup2(fds[0], 1)
            os.dup2(fds[1], 2)
            for fd in (*fds, asked.detach()):
                os.close(fd)
            wanted = json.loads(request)
            return wanted["command"], wanted["cwd"], wanted["env"]
        for fd in fds:
            os.close(fd)
        asked.sendall(pid.to_bytes(8))
        asked.sendall(os.waitpid(pid, 0)[1].to_bytes(8))


def _main() -> None:
    base = [p for p in sys.path[1:] if p not in (str(ROOT), str(ROOT / "tests"))]
    _import()
    (how, what, *arguments), folder, environment = _serve(socket.socket(fileno=int(sys.argv[1])))
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.dont_write_bytecode = bool(environment.get("PYTHONDONTWRITEBYTECODE"))
    sys.path[:] = [folder, *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep)), *base]
    importlib.invalidate_caches()
    sys.argv = [how, *arguments]
    if how == "-m":
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    else:
        exec(what, {"__name__": "__main__"})


if __name__ == "__main__":
    _main()
