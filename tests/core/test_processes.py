"""No child outlives its owner: not after kill -9, not when another thread started it, not its own children."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fleet.core import processes
from fleet.core.processes import run, start

ROOT = Path(__file__).resolve().parents[2]
DEADLINE_S = 20.0

OWNER = """
import sys, threading, time
from fleet.core.processes import start

def begin():
    held.append(start(["sh", "-c", "sleep 600 & echo $! > grandchild; echo $$ > child; setsid sleep 0; wait"]))

held = []
thread = threading.Thread(target=begin)
thread.start()
thread.join()
print("ready", flush=True)
time.sleep(600)
"""
"""Starts a child from a thread that has ended since; the child has a child of its own."""


def alive(pid: int) -> bool:
    """Whether the process runs; one that waits to be reaped does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return False
    return state not in "ZX"


def until(holds: Callable[[], bool]) -> bool:
    """Whether it holds before the deadline."""
    end = time.monotonic() + DEADLINE_S
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.02)
    return holds()


_seen: list[int] = []


@pytest.fixture(autouse=True)
def no_orphans() -> Iterator[None]:
    """What a failing test leaves would hold its output open."""
    yield
    while _seen:
        pid = _seen.pop()
        if alive(pid) and b"sleep" in Path(f"/proc/{pid}/cmdline").read_bytes():
            os.kill(pid, signal.SIGKILL)


def pids(folder: Path) -> list[int]:
    """Of the child and the grandchild, once both have written theirs."""
    files = [folder / "child", folder / "grandchild"]
    assert until(lambda: all(f.is_file() and f.read_text().strip() for f in files))
    found = [int(f.read_text()) for f in files]
    _seen.extend(found)
    return found


def owner(folder: Path, script: str = OWNER) -> subprocess.Popen[str]:
    """Runs a script, or a file with one, up to its first line of output."""
    command = [sys.executable, script] if script.endswith(".py") else [sys.executable, "-c", script]
    process = subprocess.Popen(command, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_children_of_children_die_with_the_owner(tmp_path: Path) -> None:
    process = owner(tmp_path)
    both = pids(tmp_path)
    assert all(map(alive, both)), "the thread that started them has ended: that is no reason to die"
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert until(lambda: not any(map(alive, both)))


IN_A_FORK = OWNER.replace(
    'print("ready", flush=True)',
    """
import os
if os.fork() == 0:
    time.sleep(600)
print("ready", flush=True)
""",
)


def test_a_fork_of_the_owner_does_not_keep_them(tmp_path: Path) -> None:
    process = owner(tmp_path, IN_A_FORK)
    both = pids(tmp_path)
    forks = [int(p) for p in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]
    try:
        process.send_signal(signal.SIGKILL)
        assert until(lambda: not any(map(alive, both)))
    finally:
        for pid in forks:
            if alive(pid):
                os.kill(pid, signal.SIGKILL)
        process.communicate()


WORKER = """
import multiprocessing, sys, time
from pathlib import Path
from fleet.core.processes import ends_with_parent, start

def work():
    ends_with_parent()
    held = start(["sh", "-c", "sleep 600 & echo $! > grandchild; echo $$ > child; wait"])
    time.sleep(600)

if __name__ == "__main__":
    worker = multiprocessing.get_context("spawn").Process(target=work)
    worker.start()
    Path("worker").write_text(str(worker.pid))
    print("ready", flush=True)
    time.sleep(600)
"""


def test_a_spawned_worker_and_its_children_die_with_the_owner(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(WORKER)
    process = owner(tmp_path, "main.py")
    everyone = [*pids(tmp_path), int((tmp_path / "worker").read_text())]
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert until(lambda: not any(map(alive, everyone)))


@pytest.mark.parametrize("ending", ["leave", "raise", "forget"])
def test_nothing_of_the_group_is_left_at_the_end(tmp_path: Path, ending: str) -> None:
    def begun() -> list[int]:
        child = start(["sh", "-c", "sleep 600 & echo $! > grandchild; echo $$ > child; wait"], cwd=tmp_path)
        if ending == "forget":
            return pids(tmp_path)
        try:
            with child:
                found = pids(tmp_path)
                if ending == "raise":
                    raise KeyboardInterrupt
        except KeyboardInterrupt:
            pass
        return found

    both = begun()
    assert until(lambda: not any(map(alive, both)))


def test_what_a_child_leaves_behind_ends_with_it(tmp_path: Path) -> None:
    with start(["sh", "-c", "sleep 600 & echo $! > grandchild; echo $$ > child"], cwd=tmp_path) as child:
        assert child.wait(timeout=DEADLINE_S) == 0
        _, grandchild = pids(tmp_path)
    assert until(lambda: not alive(grandchild))


def test_exit_codes_and_output_are_the_childs_own() -> None:
    assert run(["sh", "-c", "echo out; echo err >&2; exit 7"]).returncode == 7
    done = run(["sh", "-c", "cat; kill -SEGV $$"], input="in")
    assert (done.returncode, done.stdout) == (-signal.SIGSEGV, "in")
    with pytest.raises(FileNotFoundError):
        run(["no-such-program-at-all"])
    with pytest.raises(subprocess.TimeoutExpired):
        run(["sleep", "600"], timeout=0.05)


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="the system does not tell of a process's end")
def test_a_limit_of_the_wait_costs_no_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    def asleep(_seconds: float) -> None:
        raise AssertionError("it sleeps between two looks")

    monkeypatch.setattr(time, "sleep", asleep)
    with start(["sh", "-c", "sleep 0.2; exit 3"]) as child:
        assert child.wait(timeout=600) == 3
    with start(["sleep", "600"]) as child, pytest.raises(subprocess.TimeoutExpired, match=r"after 0\.01 seconds"):
        child.wait(timeout=0.01)


def test_no_supervisor_and_no_pipe_is_left(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    known = set(children.read_text().split())
    for _ in range(3):
        run(["true"])
        with pytest.raises(FileNotFoundError):
            run(["no-such-program-at-all"])
    assert len(os.listdir("/proc/self/fd")) == before
    assert set(children.read_text().split()) <= known


DISPOSITIONS = """
import signal, sys
from fleet.core.processes import run
import threading
show = ["sh", "-c", "grep -E '^Sig(Blk|Ign):' /proc/self/status"]
found = []
thread = threading.Thread(target=lambda: found.append(run(show).stdout.split()))
thread.start()
thread.join()
print(signal.getsignal(signal.SIGINT) is signal.SIG_IGN, *found[0])
"""


def test_children_do_not_inherit_ignored_or_blocked_signals() -> None:
    """As cron, nohup and `&` in a script start a program; and with SIGTERM blocked."""
    blocking = (
        "import os, signal, sys; signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM]); os.execv(sys.argv[1], sys.argv[1:])"
    )
    command = [sys.executable, "-c", blocking, sys.executable, "-c", DISPOSITIONS]
    done = subprocess.run(
        ["sh", "-c", 'trap "" INT HUP; exec "$@"', "sh", *command],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    mine, _, blocked, _, ignored = done.stdout.split()
    assert mine == "True", "this process keeps what it was started with"
    assert int(blocked, 16) == 0
    assert not int(ignored, 16) & (1 << signal.SIGINT - 1 | 1 << signal.SIGHUP - 1 | 1 << signal.SIGTERM - 1)


BESIDE_PRODUCTS = """
import threading
import numpy as np
from fleet.core.processes import run

def begin():
    for _ in range(60):
        run(["true"])

thread = threading.Thread(target=begin)
thread.start()
x = np.ones((600, 600), np.float32)
while thread.is_alive():
    x.T @ x
print("done")
"""


def as_under_cron(script: str) -> str:
    """Run Python with a signal ignored; return what it prints."""
    done = subprocess.run(
        ["sh", "-c", 'trap "" INT; exec "$@"', "sh", sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_start_beside_products_does_not_hold_them_up() -> None:
    """A fork in another thread would end OpenBLAS's threads in the middle of a product."""
    assert as_under_cron(BESIDE_PRODUCTS) == "done\n"


def test_what_is_no_program_is_told_where_signals_are_reset_too(tmp_path: Path) -> None:
    for name, text in (("here", "#!/bin/sh\necho ran\n"), ("text", "no program")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    script = f"""
from fleet.core.processes import run
path = {f"{tmp_path}:/bin:/usr/bin"!r}
print(run(["./here"], cwd={str(tmp_path)!r}).stdout.strip(), run(["here"], env={{"PATH": path}}).stdout.strip())
for program, folder in (("./here", "/"), ("./text", {str(tmp_path)!r})):
    try:
        run([program], cwd=folder)
    except OSError as error:
        print(type(error).__name__, error.filename, error.strerror)
"""
    assert (
        as_under_cron(script) == "ran ran\nFileNotFoundError ./here No such file or directory\nOSError ./text Exec format error\n"
    )


def test_a_foreground_child_stays_in_the_group(tmp_path: Path) -> None:
    script = OWNER.replace('wait"]))', 'wait"], foreground=True))')
    process = owner(tmp_path, script)
    child, grandchild = pids(tmp_path)
    try:
        assert os.getpgid(child) == os.getpgid(process.pid)
        process.send_signal(signal.SIGKILL)
        assert until(lambda: not alive(child))
    finally:
        process.kill()
        if alive(grandchild):
            os.kill(grandchild, signal.SIGKILL)
        process.communicate()


def test_it_costs_no_third_process() -> None:
    """The supervisor is one shell, started beside the child; its pipe is closed with it."""
    others = {e for e in processes._held if not e.closed}  # of simulations that other tests keep
    with start(["sleep", "600"]) as child:
        assert child.group is not None
        members = [p for p in Path("/proc").glob("[0-9]*") if _group(p) == child.group]
        assert len(members) == 2
    assert {e for e in processes._held if not e.closed} <= others


def _group(folder: Path) -> int | None:
    try:
        return int((folder / "stat").read_text().rpartition(")")[2].split()[2])
    except (OSError, IndexError, ValueError):
        return None
