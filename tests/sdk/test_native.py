"""Compiled functions: what is chosen, what is kept on disk, what is refused; and the digest, compiled and not."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fleet.errors import SetupError
from fleet.isa.digest import digest, digest_blocks, mix
from fleet.sdk import native

SOURCE = Path(__file__)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FLEET_CACHE", str(tmp_path))
    return tmp_path / "native"


class Build:
    """A function that adds `number`, and how often it was built."""

    def __init__(self, number: int = 1) -> None:
        self.number, self.built = number, 0

    def __call__(self, target: native.Target) -> Any:
        from llvmlite import ir

        from fleet.sdk.native_ir import I64, NativeEmitter

        self.built += 1
        module = ir.Module("test")
        e = NativeEmitter(module, "add", I64, [("x", I64)])
        e.builder.ret(e.builder.add(e["x"], e.number(self.number)))
        return module


def load(build: Build, sources: tuple[Path, ...] = (SOURCE,)) -> int:
    target = native.target()
    assert target is not None
    signatures = {"add": (ctypes.c_int64, [ctypes.c_int64])}
    return native.compile_library("test_add", target, sources, build, signatures)["add"](41)


needs_compiler = pytest.mark.skipif(not native.variants(), reason="nothing can be compiled here")


@needs_compiler
def test_compiled_once(cache: Path) -> None:
    build = Build()
    assert [load(build), load(build)] == [42, 42]
    assert build.built == 1
    assert len(list(cache.iterdir())) == 1


@needs_compiler
def test_a_changed_source_is_compiled_again(cache: Path, tmp_path: Path) -> None:
    source = tmp_path / "source.py"
    source.write_text("1")
    assert load(Build(1), (source,)) == 42
    source.write_text("2")
    assert load(Build(2), (source,)) == 43


@needs_compiler
def test_a_damaged_object_is_compiled_again(cache: Path) -> None:
    load(Build())
    (kept,) = cache.iterdir()
    for damage in (kept.read_bytes()[:-1], kept.read_bytes()[:-1] + b"\xff", b""):
        kept.write_bytes(damage)
        build = Build()
        assert load(build) == 42
        assert build.built == 1


@needs_compiler
@pytest.mark.parametrize("mode", [0o720, 0o702])
def test_what_others_may_write_is_not_run(cache: Path, mode: int) -> None:
    load(Build())
    cache.chmod(mode)
    build = Build(2)
    assert load(build) == 43
    assert build.built == 1


@needs_compiler
def test_without_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FLEET_CACHE", str(tmp_path / "file"))
    assert load(Build()) == 42


def test_numpy_on_demand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(native.VARIABLE, "numpy")
    assert native.target() is None


def test_an_unknown_kind_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(native.VARIABLE, "sse9")
    with pytest.raises(SetupError, match="'sse9' is not a kind of compiled code") as caught:
        native.target()
    assert "numpy" in str(caught.value.hint)


@pytest.mark.parametrize("why", ["machine", "llvmlite"])
def test_other_machines_use_numpy(why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    if why == "machine":
        monkeypatch.setattr("platform.machine", lambda: "riscv64")
    else:
        monkeypatch.setitem(sys.modules, "llvmlite.binding", None)
    monkeypatch.delenv(native.VARIABLE, raising=False)
    caches = (native._processor, native._target)  # pyright: ignore[reportPrivateUsage]
    for cached in caches:
        cached.cache_clear()
    try:
        assert native.target() is None
        assert native.variants() == ()
    finally:
        for cached in caches:
            cached.cache_clear()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from([*native.VARIANTS, "numpy"]),
    st.integers(0, 300),
    st.lists(st.tuples(st.integers(0, (1 << 40) - 5000), st.integers(0, 5000)), max_size=4),
    st.integers(0, 1 << 32),
)
def test_digest(monkeypatch: pytest.MonkeyPatch, variant: str, space: int, sizes: list[tuple[int, int]], seed: int) -> None:
    """The rule written out with Python's integers; compiled and NumPy."""
    if variant != "numpy" and variant not in native.variants():
        return
    monkeypatch.setenv(native.VARIABLE, variant)
    rng = np.random.default_rng(seed)
    blocks = [(offset, rng.integers(0, 256, size, np.uint8)) for offset, size in sizes]
    total = 0
    for offset, data in blocks:
        part = sum(_mix(space, offset + i, int(v)) for i, v in enumerate(data[:40])) % (1 << 64)
        assert digest(space, offset, data[:40]) == part
        total += int(mix(space, offset + np.arange(data.size, dtype=np.uint64), data).sum(dtype=np.uint64))
        assert digest(space, offset, np.repeat(data, 2)[::2]) == digest(space, offset, data), "not contiguous"
    assert digest_blocks(space, blocks) == total % (1 << 64)


def _mix(space: int, offset: int, value: int) -> int:
    mask = (1 << 64) - 1
    x = (space << 48 ^ offset << 8 ^ value) & mask
    x = x * 0x9E3779B97F4A7C15 & mask
    x ^= x >> 32
    x = x * 0xD6E8FEB86659FD93 & mask
    return x ^ x >> 32
