"""A simulation from the cache is the one that was built: what was truncated, replaced or patched is built again, and said."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from loopback import loopback

from fleet.engines.rtl_sim import build as building
from fleet.engines.rtl_sim.build import BuildError, Design, build
from fleet.engines.rtl_sim.process import Simulation, run_cocotb_tests
from fleet.errors import SetupError

PROGRAM = b"\x7fELF" + bytes(range(256)) * 40


@pytest.fixture
def compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The designs that were compiled, in a cache of the test's own; the compiler's part is PROGRAM."""
    monkeypatch.setenv("FLEET_CACHE", str(tmp_path / "cache"))
    done: list[str] = []

    def fake(design: Design, folder: Path, *_: object) -> None:
        done.append(design.dut.top)
        (folder / "obj").mkdir(exist_ok=True)
        (folder / "obj" / "Vtop").write_bytes(PROGRAM)
        (folder / "obj" / "Vtop").chmod(0o755)

    monkeypatch.setattr(building, "_compile", fake)
    return done


def truncated(executable: Path) -> None:
    executable.write_bytes(PROGRAM[:100])


def emptied(executable: Path) -> None:
    executable.write_bytes(b"")


def patched_in_place(executable: Path) -> None:
    """One bit, the same size, the times as they were."""
    before = executable.stat()
    with executable.open("r+b") as f:
        f.seek(5000)
        f.write(bytes([PROGRAM[5000] ^ 1]))
    os.utime(executable, ns=(before.st_atime_ns, before.st_mtime_ns))


def replaced(executable: Path) -> None:
    other = executable.with_name("other")
    other.write_bytes(PROGRAM[::-1])
    other.chmod(0o755)
    os.replace(other, executable)


def linked_elsewhere(executable: Path) -> None:
    other = executable.parents[2] / "other"
    other.write_bytes(PROGRAM)
    other.chmod(0o755)
    executable.unlink()
    executable.symlink_to(other)


def not_executable(executable: Path) -> None:
    executable.chmod(0o644)


def without_the_executable(executable: Path) -> None:
    executable.unlink()


def another_source(executable: Path) -> None:
    """What coverage reads beside the executable."""
    source = executable.parent / "src" / "loopback_top.sv"
    source.write_text(source.read_text() + "// more\n")


def without_its_options(executable: Path) -> None:
    (executable.parent / "info.json").unlink()


def without_manifest(executable: Path) -> None:
    (executable.parent / "manifest.json").unlink()


def garbled_manifest(executable: Path) -> None:
    (executable.parent / "manifest.json").write_text('{"format": 1, "files": [3')


def manifest_of_nothing(executable: Path) -> None:
    (executable.parent / "manifest.json").write_text('{"format": 1, "key": "", "files": {}}')


def manifest_of_no_files(executable: Path) -> None:
    (executable.parent / "manifest.json").write_text(f'{{"format": 1, "key": "{executable.parent.name}", "files": {{}}}}')


def manifest_of_another_shape(executable: Path) -> None:
    (executable.parent / "manifest.json").write_text("[1, 2]")


CHANGES: tuple[Callable[[Path], None], ...] = (
    truncated, emptied, patched_in_place, replaced, linked_elsewhere, not_executable, without_the_executable, another_source,
    without_its_options, without_manifest, garbled_manifest, manifest_of_nothing, manifest_of_no_files, manifest_of_another_shape,
)  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_what_was_changed_is_built_again(
    compiled: list[str], capsys: pytest.CaptureFixture[str], change: Callable[[Path], None]
) -> None:
    executable = build(loopback())
    assert build(loopback()) == executable
    assert (len(compiled), capsys.readouterr().err) == (1, "")
    change(executable)
    assert build(loopback()) == executable
    assert len(compiled) == 2
    assert not executable.is_symlink()
    assert executable.read_bytes() == PROGRAM
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"fleet: {executable.parent}: the stored simulation is not what was built: ")
    assert line.endswith("; building it again")
    assert build(loopback()) == executable
    assert (len(compiled), capsys.readouterr().err) == (2, "")


def test_the_manifest_of_another_build_is_not_taken(compiled: list[str], tmp_path: Path) -> None:
    """Somebody copies a whole folder over another one."""
    one, other = build(loopback()), build(loopback(), "plain")
    (one.parent / "manifest.json").write_bytes((other.parent / "manifest.json").read_bytes())
    assert build(loopback()) == one
    assert len(compiled) == 3


def test_what_a_launcher_knows_of_the_executable(compiled: list[str]) -> None:
    executable = build(loopback())
    found = building.built(executable)
    assert found.executable == executable
    assert found.key == executable.parent.name
    assert found.sha256 == hashlib.sha256(PROGRAM).hexdigest()


def test_nothing_is_started_that_was_changed_since(compiled: list[str], tmp_path: Path) -> None:
    executable = build(loopback())
    patched_in_place(executable)
    with pytest.raises(SetupError, match=r"the simulation is not what was built: Vtop has SHA-256 [0-9a-f]{16}, [0-9a-f]{16} was"):
        Simulation(executable, tmp_path / "run")
    with pytest.raises(SetupError, match="the simulation is not what was built"):
        run_cocotb_tests(executable, "no_module", tmp_path / "run")


def test_a_file_is_hashed_once(compiled: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from fleet.core import sealed

    monkeypatch.setattr(sealed, "_SETTLED_NS", 0)
    executable = build(loopback())
    monkeypatch.setattr(sealed.hashlib, "sha256", lambda *_: pytest.fail("hashed again"))
    building.built(executable)


def test_the_log_that_an_error_names_stays(compiled: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when the same key is built later, and when it fails otherwise: two errors name two logs."""
    works = building._compile

    def fails(words: str) -> Path:
        def fake(design: Design, folder: Path, *_: object) -> None:
            command = ["sh", "-c", f"echo 'x.cpp:1: error: {words}'; exit 1"]
            building._step(command, folder, dict(os.environ), design, lambda _: None)

        monkeypatch.setattr(building, "_compile", fake)
        with pytest.raises(BuildError) as caught:
            build(loopback())
        return Path(str(caught.value.hint).removeprefix("the whole log is in "))

    one, two, again = fails("one"), fails("two"), fails("one")
    monkeypatch.setattr(building, "_compile", works)
    build(loopback())
    assert "error: one" in one.read_text()
    assert "error: two" in two.read_text()
    assert "error: one" in again.read_text()
