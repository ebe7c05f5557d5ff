"""A Slurm of two nodes on this machine, without systemd, for as long as a test runs."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scancel", "sinfo", "squeue")
_CONFIGURATION = """
ClusterName=one
SlurmctldHost={host}(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket={munge}/run/munge.socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
SlurmctldPort={port}
StateSaveLocation={slurm}/state
SlurmdSpoolDir={slurm}/spool/%n
SlurmctldPidFile={slurm}/slurmctld.pid
SlurmdPidFile={slurm}/slurmd-%n.pid
SlurmctldLogFile={slurm}/log/slurmctld.log
SlurmdLogFile={slurm}/log/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=2,bf_interval=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
KillWait=5
NodeName=n[1-2] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{first}-{second}] CPUs=1 RealMemory=4000 State=UNKNOWN
PartitionName=night Nodes=n[1-2] Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
SlurmdParameters=config_overrides
SlurmdTimeout=15
"""


def missing() -> str | None:
    """Why there can be no Slurm here, or None."""
    if os.geteuid() != 0:
        return "Slurm's daemons are started as root"
    gone = [name for name in PROGRAMS if shutil.which(name, path=_PATH) is None]
    return f"{', '.join(gone)} not installed (apt-get install slurm-wlm munge)" if gone else None


_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"


@dataclass
class TwoNodes:
    """A running Slurm. environment: of commands that talk to it."""

    folder: Path
    environment: dict[str, str]

    def call(self, *command: str) -> str:
        """What a command says. Raises CalledProcessError."""
        return subprocess.run(command, env=self.environment, check=True, capture_output=True, text=True, timeout=60).stdout

    def daemon(self, name: str) -> int:
        """The process id of "slurmctld", "slurmd-n1" or "slurmd-n2"."""
        return int((self.folder / "slurm" / f"{name}.pid").read_text())

    def kill(self, name: str) -> None:
        """kill -9 of a daemon, not of the jobs below it."""
        os.kill(self.daemon(name), signal.SIGKILL)

    def restart(self, name: str) -> None:
        """Ends a daemon, which saves its state (killed, slurmctld forgets its latest jobs, and Slurm ends them), and starts it."""
        pid = self.daemon(name)
        os.kill(pid, signal.SIGTERM)
        end = time.monotonic() + 30
        while Path(f"/proc/{pid}").exists() and "Z" not in Path(f"/proc/{pid}/stat").read_text().split()[2]:
            assert time.monotonic() < end, f"{name} does not end"
            time.sleep(0.1)
        self.start(name)

    def start(self, name: str) -> None:
        """Starts a daemon, which goes to the background."""
        program, _, node = name.partition("-")
        self.call(program, *(["-N", node] if node else []))

    def wait(self, what: str, number: int, seconds: float = 60.0) -> None:
        """Until so many nodes are in a state, "idle" or "down"."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with suppress(subprocess.CalledProcessError):
                states = self.call("sinfo", "-h", "-N", "-o", "%T").split()
                if sum(state.rstrip("*").startswith(what) for state in states) >= number:
                    return
            time.sleep(0.2)
        raise AssertionError(f"no {number} nodes are {what}: {self.call('sinfo')}")

    def jobs(self) -> list[str]:
        """Ids of jobs that run or wait."""
        return self.call("squeue", "-h", "-o", "%i").split()


@contextmanager
def two_nodes() -> Generator[TwoNodes]:
    """Starts Slurm, and ends it with everything that it runs."""
    folder = Path(tempfile.mkdtemp(prefix="two-nodes-"))
    folder.chmod(0o755)
    munge, slurm = folder / "munge", folder / "slurm"
    for name in ("etc", "log", "run", "lib"):
        (munge / name).mkdir(0o700, parents=True)
    key = munge / "etc" / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    for name in ("state", "spool/n1", "spool/n2", "log"):
        (slurm / name).mkdir(parents=True)
    ports = _free_ports(3)
    text = _CONFIGURATION.format(
        host=socket.gethostname(), munge=munge, slurm=slurm, port=ports[0], first=ports[1], second=ports[1] + 1
    )
    (slurm / "slurm.conf").write_text(text)
    environment = {**os.environ, "SLURM_CONF": str(slurm / "slurm.conf"), "PATH": _PATH}
    nodes = TwoNodes(folder, environment)
    options = [
        f"--{name}={munge / path}"
        for name, path in (
            ("key-file", "etc/munge.key"), ("socket", "run/munge.socket"), ("pid-file", "run/munged.pid"),
            ("log-file", "log/munged.log"), ("seed-file", "lib/munge.seed"),
        )
    ]  # fmt: skip
    try:
        # As root, like the rest; it warns of that, and asks for --force.
        munged = shutil.which("munged", path=_PATH)
        assert munged is not None
        subprocess.run([munged, "--force", *options], check=True, timeout=60)
        for name in ("slurmctld", "slurmd-n1", "slurmd-n2"):
            nodes.start(name)
        nodes.wait("idle", 2)
        yield nodes
    finally:
        with suppress(Exception):
            nodes.call("scancel", "-u", "root")
            time.sleep(1)
        for path in (*slurm.glob("*.pid"), munge / "run" / "munged.pid"):
            with suppress(OSError, ValueError):
                os.kill(int(path.read_text()), signal.SIGKILL)
        shutil.rmtree(folder, ignore_errors=True)


def _free_ports(number: int) -> list[int]:
    """Ports in a row that nobody listens to."""
    for first in range(16817, 60000, 17):
        held = []
        try:
            for port in range(first, first + number):
                held.append(s := socket.socket())
                s.bind(("127.0.0.1", port))
            return list(range(first, first + number))
        except OSError:
            continue
        finally:
            for s in held:
                s.close()
    raise AssertionError("no free ports")
