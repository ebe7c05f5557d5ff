"""Machine code is kept between processes: the second one optimises and emits nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import sys
import numpy as np
from fleet import jit
import fleet.targets.host.compile as target

optimise, times = target._optimise, []
target._optimise = lambda *a: (times.append(1), optimise(*a))
w = np.eye(8, dtype=np.float32) * {factor}

@jit
def layer(x):
    return np.maximum(x @ w + 0.5, 0)

print(len(times), layer(np.ones((2, 8), np.float32)).sum(), layer.lower(np.ones((2, 8), np.float32)).engine, len(times))
"""


def ran(folder: Path, cache: Path, factor: int = 2) -> str:
    (folder / "script.py").write_text(SCRIPT.format(factor=factor))
    environment = {**os.environ, "FLEET_CACHE": str(cache)}
    done = subprocess.run([sys.executable, str(folder / "script.py")], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


def test_a_second_process_takes_the_code_of_the_first(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert ran(tmp_path, cache) == "0 40.0 llvm-cpu 1"
    assert ran(tmp_path, cache) == "0 40.0 llvm-cpu 0"
    assert ran(tmp_path, cache, factor=3) == "0 56.0 llvm-cpu 0"  # other weights, the same code
    (entry,) = (cache / "host").iterdir()
    entry.write_bytes(entry.read_bytes()[:-40])
    assert ran(tmp_path, cache) == "0 40.0 llvm-cpu 1"  # damaged: made again
    assert ran(tmp_path, cache) == "0 40.0 llvm-cpu 0"


def test_a_cache_that_cannot_be_written_costs_time_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for _ in range(2):
        assert ran(tmp_path, tmp_path / "file" / "cache") == "0 40.0 llvm-cpu 1"


LOADED = """
import sys
import numpy as np
from fleet import jit

@jit
def layer(x):
    return np.exp(x) + 1

layer(np.zeros((2, 8), np.float32))
heavy = ("numpy.f2py", "fleet.targets.printed")
print(layer.lower(np.zeros((2, 8), np.float32)).engine, [name for name in heavy if name in sys.modules])
"""


def test_a_first_call_loads_neither_numpys_tools_nor_the_numpy_vm(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(LOADED)
    done = subprocess.run([sys.executable, str(tmp_path / "script.py")], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("llvm-cpu []\n", "")
