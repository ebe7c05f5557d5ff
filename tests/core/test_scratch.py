"""What a killed process left behind is removed by the next one, and nothing else is."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import fleet
from fleet.core.scratch import Scratch

_HOLD = """
import sys, time
from pathlib import Path
from fleet.core.scratch import Scratch
scratch = Scratch("streams", Path(sys.argv[1]))
print(scratch.path, flush=True)
time.sleep(100)
"""


def test_every_temporary_folder_of_fleet_is_one() -> None:
    """Others stay where a process is killed."""
    package = Path(fleet.__file__).parent
    others = [
        f"{path.relative_to(package)}:{number}"
        for path in sorted(package.rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(r"\b(TemporaryDirectory|mkdtemp)\b", line) and path.name != "scratch.py"
    ]
    assert others == []


def test_it_is_removed_at_the_end(tmp_path: Path) -> None:
    scratch = Scratch("streams", tmp_path)
    (scratch.path / "iss").mkdir()
    scratch.close()
    scratch.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("killed", [True, False])
def test_only_what_a_killed_process_left_is_removed(killed: bool, tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", _HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            left = Path(process.stdout.readline().strip())
            (left / "image").write_bytes(b"x")
            other = tmp_path / "fleet-streams-of-an-older-kind"
            other.mkdir()
            long_ago = time.time() - 100
            for folder in (left, other):
                os.utime(folder, (long_ago, long_ago))
            if killed:
                process.send_signal(signal.SIGKILL)
                process.wait()
            Scratch("streams", tmp_path).close()
            assert left.exists() is not killed
            assert other.exists()
        finally:
            process.kill()


def test_one_that_was_just_made_is_left_alone(tmp_path: Path) -> None:
    young = tmp_path / "fleet-streams-young"
    young.mkdir()
    (young / ".in-use").touch()
    Scratch("streams", tmp_path).close()
    assert young.exists()
