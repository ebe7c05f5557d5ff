"""Child processes that cannot outlive their owner, whatever ends it: kill -9 too.

Each child has a process group of its own, and beside it in that group a supervisor: a shell that reads from a pipe whose other end
this process holds. When this process is gone the kernel closes that end, and the supervisor kills the group: the child, what the
child started, and itself. Nobody can hold the pipe open by accident: it is closed on exec, and after a fork.

Only what leaves the group by itself (`setsid`, a daemon) escapes. PR_SET_PDEATHSIG would not do: it fires when the *thread* that
started the child ends, and the child's own children live on.

Example:
    with start(["make", "-j2"], cwd=folder, stdout=log) as child:
        code = child.wait(timeout=60)
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from multiprocessing import active_children, connection, parent_process
from pathlib import Path
from types import FrameType, TracebackType
from typing import IO, Any

_GROUP = "trap '' INT TERM HUP QUIT; read -r end; kill -9 0"
_PROCESS = 'trap \'\' INT TERM HUP QUIT; read -r pid; read -r end; [ -n "$pid" ] && kill -9 "$pid"'
_RESET = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_RESETTING = f"""
import os, signal, sys
for number in ({", ".join(f"signal.{s.name}" for s in (*_RESET, signal.SIGPIPE, signal.SIGXFSZ))}):  # Python ignores the last two
    signal.signal(number, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_SETMASK, ())
telling = int(sys.argv[1])
os.set_inheritable(telling, False)
try:
    os.execvp(sys.argv[2], sys.argv[2:])
except OSError as error:
    os.write(telling, str(error.errno).encode())
"""

_held: weakref.WeakSet[IO[bytes]] = weakref.WeakSet()
"""This process's ends of the pipes."""
_children: weakref.WeakSet[Child] = weakref.WeakSet()


def _forget() -> None:
    for end in list(_held):
        with contextlib.suppress(OSError):
            end.close()


os.register_at_fork(after_in_child=_forget)


class Child(subprocess.Popen[Any]):
    """A process and its supervisor. Use it as a context manager: at the block's end whatever runs in its group is killed.

    `returncode`, `wait`, `poll` and `communicate` are those of the process itself.
    """

    def __init__(self, command: Sequence[str | Path], *, foreground: bool = False, **options: Any) -> None:
        """Args:
        command: program and arguments.
        foreground: it stays in this process's group, may read the terminal, and Ctrl-C reaches it; then it alone dies with
            this process, and what it started does not.
        options: of `subprocess.Popen`.

        Raises OSError.
        """
        read, write = os.pipe()
        self._end: IO[bytes] = os.fdopen(write, "wb", 0)
        _held.add(self._end)
        self._foreground = foreground
        self._supervisor: subprocess.Popen[bytes] | None = None
        try:
            self._supervisor = subprocess.Popen(
                ["/bin/sh", "-c", _PROCESS if foreground else _GROUP, "fleet-supervisor"],
                stdin=read, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/", process_group=0,
            )  # fmt: skip
            # Between fork and exec the child holds the pipe's end too: the supervisor cannot kill the group before it is in it.
            if not foreground:
                options["process_group"] = self._supervisor.pid
            if _unusual():
                self._start_as_usual(command, options)
            else:
                super().__init__(command, **options)
            if foreground:
                self._end.write(f"{self.pid}\n".encode())
            _children.add(self)
        except BaseException:
            self._dismiss()
            raise
        finally:
            os.close(read)

    def _start_as_usual(self, command: Sequence[str | Path], options: Mapping[str, Any]) -> None:
        """Start an interpreter that resets its signals and becomes the command.

        A `preexec_fn` would do the same in the child, but for that `subprocess` forks, and before a fork OpenBLAS ends its threads:
        a product of another thread then waits for them for ever. Without one the kernel is asked for a new process (vfork).

        Raises OSError for what is no program: the child tells its number through a pipe, which a program that begins closes.
        """
        told, telling = os.pipe()
        with os.fdopen(told, "rb") as said:
            try:
                given: dict[str, Any] = {**options, "pass_fds": (*options.get("pass_fds", ()), telling)}
                super().__init__((sys.executable, "-I", "-S", "-c", _RESETTING, str(telling), *command), **given)
            finally:
                os.close(telling)
            number = said.read()
        if number:
            super().wait()
            raise OSError(int(number), os.strerror(int(number)), os.fspath(command[0]))

    @property
    def group(self) -> int | None:
        """The child's process group; None if it is that of this process."""
        return None if self._foreground or self._supervisor is None else self._supervisor.pid

    def wait(self, timeout: float | None = None) -> int:
        """Wait as `subprocess.Popen.wait` does, without its looks every 50 ms where the system tells of the end (Linux)."""
        if timeout is not None and self.returncode is None:
            with contextlib.suppress(OSError, AttributeError):
                process = os.pidfd_open(self.pid)
                try:
                    over = select.poll()
                    over.register(process, select.POLLIN)
                    if not over.poll(max(0.0, timeout) * 1000):
                        raise subprocess.TimeoutExpired(self.args, timeout)
                finally:
                    os.close(process)
                return super().wait()
        return super().wait(timeout)

    def stop(self) -> None:
        """Kill the group, from any thread; whoever waits for the process goes on."""
        with contextlib.suppress(OSError):
            if self.group is not None and not self._end.closed:
                os.killpg(self.group, signal.SIGKILL)
            else:
                self.kill()

    def end(self) -> None:
        """Kill what is left of the group and wait for it; may be called twice."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                self.kill()
        self._dismiss()
        self.wait()
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def _dismiss(self) -> None:
        """End the supervisor; without a foreground process it takes the group with it."""
        if self._supervisor is None:
            self._end.close()
            return
        with contextlib.suppress(ProcessLookupError):
            if self._foreground:
                self._supervisor.kill()
            else:
                os.killpg(self._supervisor.pid, signal.SIGKILL)
        self._end.close()
        self._supervisor.wait()

    def __del__(self, *arguments: object, **keywords: object) -> None:
        """Whoever forgets it ends it: the pipe is closed, also where `subprocess` keeps the rest until it is reaped."""
        if hasattr(self, "_end"):
            self._end.close()
        super().__del__(*arguments, **keywords)  # pyright: ignore[reportUnknownMemberType,reportAttributeAccessIssue]

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None) -> None:
        self.end()


def start(
    command: Sequence[str | Path],
    *,
    cwd: Path | str | None = None,
    env: Mapping[str, str] | None = None,
    stdin: int | IO[Any] | None = subprocess.DEVNULL,
    stdout: int | IO[Any] | None = None,
    stderr: int | IO[Any] | None = None,
    pass_fds: Sequence[int] = (),
    text: bool = False,
    foreground: bool = False,
) -> Child:
    """Start a process that ends with this one. Signals have their default meaning in it, and none is blocked.

    Arguments are those of `subprocess.Popen`, `foreground` that of `Child`. Raises OSError.
    """
    return Child(
        command, foreground=foreground, cwd=cwd, env=env, stdin=stdin, stdout=stdout, stderr=stderr, pass_fds=tuple(pass_fds),
        text=text,
    )  # fmt: skip


def run(
    command: Sequence[str | Path],
    *,
    cwd: Path | str | None = None,
    env: Mapping[str, str] | None = None,
    input: str | bytes | None = None,
    capture: bool = True,
    timeout: float | None = None,
    text: bool = True,
) -> subprocess.CompletedProcess[Any]:
    """`subprocess.run` of a process that ends with this one.

    Raises OSError, and subprocess.TimeoutExpired after the group was killed.
    """
    pipe = subprocess.PIPE if capture else None
    given = subprocess.DEVNULL if input is None else subprocess.PIPE
    with start(command, cwd=cwd, env=env, stdin=given, stdout=pipe, stderr=pipe, text=text) as child:
        out, error = child.communicate(input, timeout)
        return subprocess.CompletedProcess(list(command), child.returncode, out, error)


def ends_with_parent() -> None:
    """In a worker that `multiprocessing` spawned: end when the parent has gone, also where that was killed.

    Ctrl-C is the parent's to handle, which ends its workers with SIGTERM: that raises SystemExit here, so that they clean up. The
    worker's own children end with it. Elsewhere than in a worker nothing is done.
    """
    parent = parent_process()
    if parent is None:
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)

    def wait() -> None:
        connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=wait, name="ends-with-parent", daemon=True).start()


def _stop_all() -> None:
    for worker in active_children():
        worker.terminate()
    for child in list(_children):
        child.stop()


@contextmanager
def stopping() -> Generator[None]:
    """End every child and every spawned worker of this process where the block does not come to its end.

    Otherwise an interruption would wait for what threads and workers have begun.
    """
    try:
        yield
    except BaseException:
        _stop_all()
        raise


def _leave(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def _unusual() -> bool:
    """True if a child would inherit an ignored or blocked signal: this process was started so (nohup, `&` in a script, cron)."""
    return any(signal.getsignal(s) is signal.SIG_IGN for s in _RESET) or bool(signal.pthread_sigmask(signal.SIG_BLOCK, ()))
