"""Content that is kept between runs under a seal: the compiled kernels and the quantised weights."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fleet.core.sealed import read_sealed, remove_unused, write_sealed

BODY = bytes(range(200))


def test_it_comes_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_sealed(tmp_path / "x", "key", BODY)
    assert read_sealed(tmp_path / "x", "key", "the thing") == BODY
    assert read_sealed(tmp_path / "gone", "key", "the thing") is None
    assert [p.name for p in tmp_path.iterdir()] == ["x"]
    assert capsys.readouterr().err == ""


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "shorter": lambda b: b[:-1],
    "longer": lambda b: b + b"\0",
    "another byte": lambda b: b[:-1] + b"\xff",
    "half a seal": lambda b: b[:31],
    "empty": lambda b: b"",
    "moved": lambda b: b[:40] + b[41:] + b"x",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_said_and_not_used(tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: str) -> None:
    write_sealed(tmp_path / "x", "key", BODY)
    (tmp_path / "x").write_bytes(DAMAGES[damage]((tmp_path / "x").read_bytes()))
    assert read_sealed(tmp_path / "x", "key", "the thing") is None
    (line,) = capsys.readouterr().err.splitlines()
    assert line == f"fleet: {tmp_path / 'x'}: the thing is not what was stored there; making it again"


def test_a_file_under_anothers_name_is_not_used(tmp_path: Path) -> None:
    write_sealed(tmp_path / "x", "key", BODY)
    assert read_sealed(tmp_path / "x", "other key", "the thing") is None


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    write_sealed(tmp_path / "file" / "x", "key", BODY)
    write_sealed(tmp_path / "gone" / "x", "key", BODY)
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_what_nothing_used_for_a_month_is_removed(tmp_path: Path) -> None:
    for name, days in (("used", 29), ("unused", 31)):
        write_sealed(tmp_path / name, "key", BODY)
        os.utime(tmp_path / name, (time.time() - days * 86400,) * 2)
    (tmp_path / "link").symlink_to(tmp_path / "removed by another process")
    remove_unused(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link", "used"]
    remove_unused(tmp_path / "gone")


def test_quantised_weights_that_were_swapped_are_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two files of one shape, whole, each under the other's name."""
    from fleet.targets import quantised
    from fleet.transforms.quantise import QuantiseOptions

    monkeypatch.setenv("FLEET_CACHE", str(tmp_path))
    monkeypatch.setattr(quantised, "_KEPT", type(quantised._KEPT)())
    weights = [np.random.default_rng(i).normal(size=(256, 128)).astype(np.float32) for i in (1, 2)]
    quantise = quantised.quantiser(QuantiseOptions(), "w")
    before = [quantise(w, 32, 7)[0].copy() for w in weights]
    one, two = sorted((tmp_path / "quantised").iterdir())
    first, second = one.read_bytes(), two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)
    quantised._KEPT.clear()
    for w, codes in zip(weights, before, strict=True):
        assert (quantise(w, 32, 7)[0] == codes).all()
    assert capsys.readouterr().err.count("the quantised weight is not what was stored there; making it again\n") == 2
