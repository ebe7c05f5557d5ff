"""Machine code is kept between processes: the second one optimises and emits nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import fleet
from fleet.targets.host import ready
from fleet.targets.host.ready import ready_host

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
    (code,) = (cache / "host").glob("*.o")
    code.write_bytes(code.read_bytes()[:-40])
    assert ran(tmp_path, cache) == "0 40.0 llvm-cpu 1"  # damaged: made again
    assert ran(tmp_path, cache) == "0 40.0 llvm-cpu 0"
    for entry in (cache / "host").glob("*.program"):
        entry.write_bytes(entry.read_bytes()[:100] + b"x" + entry.read_bytes()[101:])
    code.unlink()
    assert ran(tmp_path, cache) == "0 40.0 llvm-cpu 1"


WHOLE = """
import sys
import numpy as np
from fleet import jit
from fleet.compiler import Schedule
from fleet.errors import FleetError

rng = np.random.default_rng(0)
W = rng.standard_normal((48, 32)).astype(np.float32)
SCALES = np.arange(1, 33, dtype=np.float32)

@jit
def network(x, i):
    h = x @ (W * SCALES).T[:32] + np.float64(1)
    h = h[i]
    assert h.max() < 1e6, "too large"
    print("h", h.sum(), x[0, :2])
    return {"h": h.astype(np.float16), "sorted": np.sort(h, axis=-1)[::-1, ::3]}, len(x), h.mean()

def threads(x):
    return np.tanh(x * 2 + 1)

x = rng.standard_normal((5, 48)).astype(np.float32)[:, :32].copy()
i = np.array([4, 0, -1])
scheduled = jit(schedule=Schedule().every(parallel=2))(threads)
for got, plain in ((network(x, i), network.python(x, i)), (scheduled(x), threads(x))):
    parts = zip(*([*r[0].values(), *r[1:]] if isinstance(r, tuple) else [r] for r in (got, plain)))
    print(all(np.allclose(a, b, rtol=2e-3) and np.asarray(a).dtype == np.asarray(b).dtype for a, b in parts))
    print([np.asarray(a).tobytes().hex()[:60] for a in (got[0].values() if isinstance(got, tuple) else [got])])
for bad in ((x, np.array([9, 0, 0])), (x * 1e9, i)):
    try:
        network(*bad)
    except FleetError as error:
        print(error)
print([name for name in ("fleet.targets.riscv.codegen", "fleet.transforms.pipeline") if name in sys.modules], file=sys.stderr)
"""


def test_a_second_process_needs_neither_passes_nor_code_generation(tmp_path: Path) -> None:
    environment = {**os.environ, "FLEET_CACHE": str(tmp_path / "cache")}
    (tmp_path / "script.py").write_text(WHOLE)
    runs = [
        subprocess.run([sys.executable, str(tmp_path / "script.py")], env=environment, capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert runs[0].stdout == runs[1].stdout
    assert runs[0].stdout.count("True\n") == 2
    assert "index 9 is out of bounds" in runs[0].stdout
    assert "too large" in runs[0].stdout
    assert runs[0].stderr == "['fleet.targets.riscv.codegen', 'fleet.transforms.pipeline']\n"
    assert runs[1].stderr == "[]\n"


def test_a_source_of_fleet_that_has_been_written_makes_code_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEET_CACHE", str(tmp_path))
    (tmp_path / "m.py").write_text("def forward(x):\n    return x + x\n")
    program = fleet.compile(f"{tmp_path / 'm.py'}:forward", inputs={"x": np.ones(3, np.float32)}).program
    made = ready_host(program)
    (entry,) = (tmp_path / "host").glob("*.program")
    assert type(ready_host(program).code) is not type(made.code), "the second is read"
    before = (ready._sources(), ready._sources.cache_clear(), ready._sources())  # pyright: ignore[reportPrivateUsage]
    assert before[0] == before[2]
    ready._sources.cache_clear()  # pyright: ignore[reportPrivateUsage]
    written = ready._written  # pyright: ignore[reportPrivateUsage]

    def edited(*folder: Path, deep: bool) -> Iterator[tuple[str, int, int, int]]:
        for name, size, modified, changed in written(*folder, deep=deep):
            yield name, size + name.endswith("fuse_loops.py"), modified, changed

    monkeypatch.setattr(ready, "_written", edited)
    assert type(ready_host(program).code) is type(made.code)
    assert len([*(tmp_path / "host").glob("*.program")]) == 2
    ready._sources.cache_clear()  # pyright: ignore[reportPrivateUsage]
    assert entry.exists()


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
