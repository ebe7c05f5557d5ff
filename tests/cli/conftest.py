"""The real command line in subprocesses, and a model with its data."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import warm
from child_signals import preexec
from command_line import DENSE, ENTRY, Fleet, Ran, environment


@pytest.fixture
def fleet(tmp_path: Path) -> Fleet:
    """`fleet("run", "model.py:f", env={...})` in `tmp_path`; no output may ever hold a traceback or name a bug of fleet."""

    def run(
        *arguments: object, env: Mapping[str, str | None] | None = None, prelude: str = "", plugin_fails: bool = False,
        **keywords: Any,
    ) -> Ran:  # fmt: skip
        command = [sys.executable, "-m", "fleet.cli.main", *map(str, arguments)]
        cwd = keywords.pop("cwd", tmp_path)
        if prelude or keywords:  # of a start itself
            if prelude:
                command[1:3] = ["-c", f"{prelude}\n{ENTRY}"]
            done = subprocess.run(
                command, capture_output=True, cwd=cwd, env=environment(env), timeout=600, check=False,
                stdin=keywords.pop("stdin", subprocess.DEVNULL), preexec_fn=keywords.pop("preexec_fn", preexec()), **keywords,
            )  # fmt: skip
        else:
            done = warm.run(command, cwd=cwd, env=environment(env))
        ran = Ran(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))
        assert "Traceback" not in ran.out + ran.err, ran.err
        if not plugin_fails:
            assert "internal error, a bug" not in ran.out + ran.err, ran.out + ran.err
        return ran

    return run


@pytest.fixture
def refused(fleet: Fleet) -> Callable[..., Ran]:
    """As `fleet`; it must end with exit code 2 and one line that holds `words` (and `detail` lines of a source below it)."""

    def run(*arguments: object, words: tuple[str, ...] = (), detail: int = 0, **keywords: Any) -> Ran:
        ran = fleet(*arguments, **keywords)
        assert ran.code == 2, (ran.out, ran.err)
        assert len(ran.err.splitlines()) == 1 + detail, ran.err
        assert ran.line.startswith("fleet: ")
        for word in words:
            assert word in ran.line, (word, ran.line)
        return ran

    return run


def _dense(folder: Path) -> None:
    rng = np.random.default_rng(1)
    (folder / "model.py").write_text(DENSE)
    weights = {"w": rng.standard_normal((64, 32), np.float32) / 8, "b": rng.standard_normal(32, np.float32)}
    np.savez(folder / "w.npz", **weights)
    np.savez(folder / "x.npz", x=rng.standard_normal((8, 64), np.float32))
    np.savez(folder / "y.npz", y=np.arange(8))


@pytest.fixture
def dense(tmp_path: Path) -> Path:
    """A folder with model.py (64 -> 32, argmax), w.npz, x.npz (8 rows), y.npz."""
    _dense(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A good report of `dense` by vm and riscv, made once."""
    folder = tmp_path_factory.mktemp("stored")
    _dense(folder)
    command = ["cosim", "model.py:forward", "--weights", "w.npz", "--input", "x.npz", "--engines", "vm,riscv", "--report", "r"]
    subprocess.run(
        [sys.executable, "-m", "fleet.cli.main", *command], cwd=folder, env=environment(), check=True, capture_output=True
    )
    return folder / "r"
