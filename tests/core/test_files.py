"""Files are written whole; what is no file is never replaced; of several processes one writes at a time, and no lock is left."""

from __future__ import annotations

import json
import multiprocessing
import os
import threading
from multiprocessing.synchronize import Barrier
from pathlib import Path

import numpy as np
import pytest

from fleet.core.files import _locked, load_pair, save_pair, write_atomically
from fleet.errors import FleetError

WRITERS, ROUNDS = 4, 25


def write(folder: Path, number: int, start: Barrier) -> None:
    """Every pair says in both of its files who wrote it; what stands in the folder is of one writer."""
    start.wait()
    for n in range(ROUNDS):
        save_pair(folder, "pair.json", {}, {"by": [number, n]}, {"by": np.array([number, n])})


def count(folder: Path, start: Barrier) -> None:
    """Reads a number and writes the next one: a writer beside it would lose some."""
    start.wait()
    for _ in range(ROUNDS):
        with _locked(folder):
            path = folder / "count"
            path.write_text(str(int(path.read_text()) + 1 if path.exists() else 1))


def together(target: object, folder: Path, *, numbered: bool) -> None:
    context = multiprocessing.get_context("fork")
    start = context.Barrier(WRITERS)
    running = [context.Process(target=target, args=(folder, *([n] if numbered else []), start)) for n in range(WRITERS)]
    for process in running:
        process.start()
    for process in running:
        process.join()
    assert [p.exitcode for p in running] == [0] * WRITERS


def test_the_lock_is_gone_after_saving(tmp_path: Path) -> None:
    path = save_pair(tmp_path / "new", "pair.json", {}, {}, {"a": np.zeros(3)})
    assert {p.suffix for p in path.parent.iterdir()} == {".json", ".npz"}


def test_the_lock_is_gone_after_an_error(tmp_path: Path) -> None:
    def fails() -> None:
        with _locked(tmp_path):
            assert [p.name for p in tmp_path.iterdir()] == [".lock"]
            raise KeyError

    with pytest.raises(KeyError):
        fails()
    assert not list(tmp_path.iterdir())
    (tmp_path / "file").write_text("")
    with pytest.raises(FleetError, match="cannot be written"), _locked(tmp_path / "file"):
        pass


def test_writers_exclude_each_other(tmp_path: Path) -> None:
    """The lock's file comes and goes all the time: who waited for one that is gone must not write."""
    together(count, tmp_path, numbered=False)
    assert (tmp_path / "count").read_text() == str(WRITERS * ROUNDS)
    assert [p.name for p in tmp_path.iterdir()] == ["count"]


def test_a_pair_is_of_one_writer(tmp_path: Path) -> None:
    together(write, tmp_path, numbered=True)
    table, arrays = load_pair(tmp_path / "pair.json")
    assert table["by"] == arrays["by"].tolist()
    assert len(list(tmp_path.iterdir())) == 2
    assert json.loads((tmp_path / "pair.json").read_text())["by"] == table["by"]


def test_a_pipe_gets_the_bytes_and_stays_one(tmp_path: Path) -> None:
    """Like /dev/null and /dev/stdout: a file in its place would be everybody's fault to find."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()), daemon=True)
    reader.start()
    write_atomically(pipe, b"whole")
    assert pipe.is_fifo()
    reader.join(10)
    assert got == [b"whole"]
    assert [p.name for p in tmp_path.iterdir()] == ["pipe"]


def test_a_device_without_room_says_so(tmp_path: Path) -> None:
    link = tmp_path / "full"
    link.symlink_to("/dev/full")
    with pytest.raises(FleetError, match="No space left on device"):
        write_atomically(link, b"whole")
    assert link.is_char_device()


def test_what_a_link_leads_to_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    link, file = tmp_path / "link", tmp_path / "below" / "file"
    link.symlink_to(file)
    for text in (b"made", b"replaced"):
        write_atomically(link, text)
        assert (link.is_symlink(), file.read_bytes()) == (True, text)
    assert [p.name for p in file.parent.iterdir()] == ["file"]
