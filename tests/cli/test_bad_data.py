"""Weights, inputs and labels that do not fit: exit code 2, one line that names file, argument and what was expected."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest
from command_line import Fleet, Refused

from fleet.cli.main import main

RUN = ("run", "model.py:forward")


def raw(dense: Path) -> dict[str, np.ndarray]:
    with np.load(dense / "w.npz") as z:
        return dict(z)


def test_missing_file_and_folder(dense: Path, refused: Refused) -> None:
    refused(*RUN, "--weights", "no.npz", words=("no.npz: no such weights file",))
    refused(*RUN, "--weights", ".", words=(".: is a folder", ".npz"))


@pytest.mark.parametrize("cut", [0, 3, 40, 0.5, -30, -1])
def test_truncated(dense: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], cut: float) -> None:
    data = (dense / "w.npz").read_bytes()
    (dense / "cut.npz").write_bytes(data[: int(len(data) * cut) if isinstance(cut, float) else cut])
    monkeypatch.chdir(dense)
    assert main([*RUN, "--weights", "cut.npz"]) == 2
    err = capsys.readouterr().err
    assert len(err.splitlines()) == 1
    assert err.startswith("fleet: cut.npz: ")
    assert "numpy.savez" in err


def test_damaged_in_the_middle(dense: Path, refused: Refused) -> None:
    data = bytearray((dense / "w.npz").read_bytes())
    data[len(data) // 3] ^= 0xFF
    (dense / "flip.npz").write_bytes(data)
    refused(*RUN, "--weights", "flip.npz", words=("flip.npz: cannot read the weights", "CRC", "damaged"))


class Bomb:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return exec, ("import pathlib; pathlib.Path('pwned').touch()",)


def test_pickles_are_not_opened(dense: Path, refused: Refused) -> None:
    bomb = np.empty(1, dtype=object)
    bomb[0] = Bomb()
    np.savez(dense / "bomb.npz", w=bomb)
    refused(*RUN, "--weights", "bomb.npz", words=("bomb.npz: cannot read the weights", "numpy.savez"))
    np.save(dense / "bomb.npy", bomb, allow_pickle=True)
    refused(*RUN, "--weights", "bomb.npy", words=("bomb.npy: cannot read the weights",))
    assert not (dense / "pwned").exists()


def test_archives_of_something_else(dense: Path, refused: Refused) -> None:
    with zipfile.ZipFile(dense / "z.npz", "w") as z:
        z.writestr("hello.txt", "hi")
    refused(*RUN, "--weights", "z.npz", words=("z.npz: holds hello.txt", "arguments are x, w, b"))
    (dense / "text.npz").write_text("hello")
    refused(*RUN, "--input", "text.npz", words=("text.npz: is not a .npz",))


def test_an_archive_that_claims_too_much(dense: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("FLEET_MEMORY", "1000")
    monkeypatch.chdir(dense)
    assert main([*RUN, "--weights", "w.npz"]) == 2
    assert "w.npz: what the archive unpacks to needs" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"w": np.zeros((64, 16), np.float32)}, ('"w"', "float32[64, 32]", "(64, 16)")),
        ({"w": np.zeros(64, np.float32)}, ('"w"', "float32[64, 32]", "(64,)")),
        ({"w": np.zeros((64, 32))}, ('"w"', "float32[64, 32]", "float64", "convert it to float32")),
        ({"w": np.zeros((64, 32), ">f4")}, ('"w"', ">f4")),
        ({"w": np.zeros((64, 32), complex)}, ('"w"', "float32[64, 32]", "complex128")),
        ({"w": np.zeros((64, 32), "M8[s]")}, ('"w"', "<M8[s]")),
        ({"w": np.full((64, 32), np.nan, np.float32)}, ('"w"', "NaN or infinite", "(0, 0)")),
        ({"b": np.array([0] * 31 + [np.inf], np.float32)}, ('"b"', "NaN or infinite", "(31,)")),
        ({"b": None}, ("no weight", " for b (float32[32])", "given are w")),
    ],
)
def test_weights_that_do_not_fit(
    dense: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], change: dict[str, np.ndarray | None],
    words: tuple[str, ...],
) -> None:  # fmt: skip
    arrays = {k: v for k, v in {**raw(dense), **change}.items() if v is not None}
    np.savez(dense / "bad.npz", **arrays)
    monkeypatch.chdir(dense)
    for inputs in ([], ["--input", "x.npz"]):
        assert main(["cosim", "model.py:forward", "--weights", "bad.npz", *inputs]) == 2
        err = capsys.readouterr().err
        assert len(err.splitlines()) == 1
        assert err.startswith("fleet: model.py:forward and bad.npz")
        for word in words:
            assert word in err


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.zeros((0, 64), np.float32), ('input "x" is empty', "[0, 64]", "at least one row")),
        (np.zeros(64, np.float32), ('"x"', "float32[N, 64]", "(64,)")),
        (np.zeros((2, 63), np.float32), ('"x"', "must be 64, found 63")),
        (np.zeros((2, 64)), ('"x"', "float64", "convert it to float32")),
    ],
)
def test_inputs_that_do_not_fit(
    dense: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], array: np.ndarray, words: tuple[str, ...]
) -> None:
    np.savez(dense / "bad.npz", x=array)
    monkeypatch.chdir(dense)
    for command in ("cosim", "run", "compile"):
        assert main([command, "model.py:forward", "--weights", "w.npz", "--input", "bad.npz"]) == 2
        err = capsys.readouterr().err
        assert len(err.splitlines()) == 1
        for word in ("bad.npz", *words):
            assert word in err


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ({"y": np.arange(7)}, ("bad.npz", "int64 [7]", "[8]")),
        ({"y": np.arange(8.0)}, ("bad.npz", "float64[8]", "1-D integer")),
        ({"y": np.zeros((8, 1), int)}, ("bad.npz", "[8, 1]", "1-D integer")),
        ({"y": np.arange(8), "z": np.arange(8)}, ("bad.npz", "holds 2 arrays (y, z)")),
        ({"y": np.arange(8) + 30}, ("bad.npz", "from 30 to 37", "from 0 to 31")),
        ({"y": -np.arange(8)}, ("bad.npz", "from -7 to 0")),
    ],
)
def test_labels_that_do_not_fit(
    dense: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], labels: dict[str, np.ndarray],
    words: tuple[str, ...],
) -> None:  # fmt: skip
    np.savez(dense / "bad.npz", **labels)
    monkeypatch.chdir(dense)
    assert main(["cosim", "model.py:forward", "--weights", "w.npz", "--input", "x.npz", "--labels", "bad.npz"]) == 2
    out = capsys.readouterr()
    assert out.out == ""
    assert len(out.err.splitlines()) == 1
    for word in words:
        assert word in out.err


def test_labels_and_metric_need_each_other(dense: Path, refused: Refused) -> None:
    refused("cosim", "model.py:forward", "--labels", "y.npz", words=("y.npz: labels were given", "give --input too"))
    refused("cosim", "model.py:forward", "--input", "x.npz", "--metric", "accuracy", words=("--metric", "needs labels"))


def test_a_bytecode_file_that_is_none(dense: Path, refused: Refused, fleet: Fleet) -> None:
    refused("run", "no.fbc", words=("no.fbc: cannot be read",))
    assert fleet("compile", "--emit", "bytecode", "model.py:forward", "-o", "m.fbc").code == 0
    data = (dense / "m.fbc").read_bytes()
    (dense / "cut.fbc").write_bytes(data[: len(data) // 2])
    refused("run", "cut.fbc", "--input", "x.npz", words=("cut.fbc",))
    (dense / "flip.fbc").write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    refused("run", "flip.fbc", "--input", "x.npz", words=("flip.fbc",))
