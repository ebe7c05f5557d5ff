"""The folder in which a simulation is being built, `<key>.part` in the cache: an interrupted build goes on where it was.

`kept_build` is the frame of every build: from the cache what is there whole, else built in such a folder, sealed and moved there.

Whoever holds the lock of the key owns the folder. What a killed process left of it is used only where it is whole: a compiler's
output appears by a rename (`whole.sh`), and everything else that make wrote is made again.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from fleet.core.notice import notice
from fleet.core.processes import start
from fleet.core.scratch import Scratch
from fleet.core.sealed import BrokenSealError, check_folder, remove_unused, seal_folder
from fleet.engines.rtl_sim.cache import cache_folder, locked
from fleet.errors import SetupError

EXECUTABLE = "Vtop"
"""The file that a build makes."""

_WRAPPER = "whole.sh"
_STATE = "verilated.json"
_DAYS = 14
_SCRIPT = """\
# Runs a compiler so that its output is there whole or not at all.
out= last= c=
for word; do
  shift
  [ "$word" = -c ] && c=1
  [ "$last" = -o ] && { out=$word; word=$word.part; }
  set -- "$@" "$word"
  last=$word
done
if [ -z "$out" ]; then
  [ -n "$c" ] || exec "$@"
  out=${last##*/} out=${out%.*}.o
  set -- "$@" -o "$out.part"
fi
"$@" && exec mv -f "$out.part" "$out"
"""
OBJCACHE = f"/bin/sh ../{_WRAPPER}"
"""The command that Verilator's makefiles put in front of the compiler."""


def kept_build(
    key: str, files: Iterable[tuple[str, bytes]], make: Callable[[Path], Mapping[str, object]], waiting: Callable[[], None]
) -> Path:  # fmt: skip
    """The executable of a key, taken from the cache or built now.

    Args:
        files: the input files, as `open_part` takes them.
        make: builds in the folder it gets, leaves `obj/Vtop`, returns what info.json says.
        waiting: called while another process builds the same.

    Raises SetupError for the disk, and what `make` raises; an interrupted build goes on next time, a failed one leaves nothing.
    """
    folder = cache_folder()
    with contextlib.suppress(BrokenSealError):
        return _checked(folder / key, key)
    with locked(folder / f"{key}.lock", waiting):
        done = _stored(folder / key, key)
        if done is not None:
            return done
        remove_old(folder)
        remove_unused(folder / "objects")
        part = folder / f"{key}.part"
        try:
            open_part(folder, key, files)
            info = make(part)
            (part / "info.json").write_text(json.dumps(info, indent=2), encoding="utf-8")
            begin(part)
            seal_folder(part, key)
            os.replace(part, folder / key)
        except KeyboardInterrupt:  # whoever wants it next goes on with it
            raise
        except OSError as error:
            shutil.rmtree(part, ignore_errors=True)
            raise SetupError(
                f"cannot build the simulation ({error})", where=str(folder), hint="free room or set FLEET_CACHE"
            ) from error
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise
    return folder / key / EXECUTABLE


def _checked(folder: Path, key: str) -> Path:
    check_folder(folder, key).sha256(EXECUTABLE)
    return folder / EXECUTABLE


def _stored(folder: Path, key: str) -> Path | None:
    """The executable in the cache, None where it is not there; what is not as it was built is removed, and a notice says so."""
    if not folder.is_dir():
        return None
    try:
        return _checked(folder, key)
    except BrokenSealError as error:
        notice(f"{folder}: the stored simulation is not what was built: {error}; building it again")
        with Scratch("stale", folder.parent) as aside:
            os.replace(folder, aside / key)  # at once: nobody finds half of it
        return None


def run_step(command: Sequence[str], folder: Path, environment: Mapping[str, str], tell: Callable[[str], None]) -> str | None:
    """Run a command of a build, its output appended to build.log. tell: gets the log twice a second.

    Returns None, or what the command printed if it failed.
    """
    log = folder / "build.log"
    with log.open("a") as f:
        f.write("$ " + " ".join(command) + "\n")
        f.flush()
        begun = f.tell()
        # A compiler that is killed leaves its temporary files.
        with (
            Scratch("build") as temporary,
            start(
                command, cwd=folder, env={**environment, "TMPDIR": str(temporary)}, stdout=f, stderr=subprocess.STDOUT
            ) as process,
        ):
            while True:
                try:
                    code = process.wait(timeout=0.5)
                    break
                except subprocess.TimeoutExpired:
                    tell(log.read_text(errors="replace"))
    if code == 0:
        return None
    with log.open(errors="replace") as f:
        f.seek(begun)
        return f.read()


def open_part(folder: Path, key: str, files: Iterable[tuple[str, bytes]]) -> Path:
    """The folder of a key with its input files; `folder`: the cache. A file that is there with its content is not touched.

    What is left from before the machine was started anew is not gone on with: of a crash nobody knows what reached the disk.
    """
    part = folder / f"{key}.part"
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        if json.loads((part / _STATE).read_text(encoding="utf-8"))["boot"] != _boot():
            shutil.rmtree(part, ignore_errors=True)
    for name, content in (*files, ("key", key.encode()), (_WRAPPER, _SCRIPT.encode())):
        path = part / name
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    return part


def goes_on(part: Path, command: Sequence[str]) -> bool:
    """Whether this command of Verilator has finished here before; then `obj` holds its output and whole objects, and nothing else.

    Otherwise `obj` is removed.
    """
    try:
        state = json.loads((part / _STATE).read_text(encoding="utf-8"))
        generated: list[str] = state["files"] if state["command"] == list(command) else []
    except (OSError, ValueError, KeyError, TypeError):
        generated = []
    if generated and all((part / "obj" / name).is_file() for name in generated):
        for path in (part / "obj").iterdir():
            if path.name not in generated and path.suffix not in (".o", ".gch"):
                path.unlink()
        return True
    begin(part)
    return False


def begin(part: Path) -> None:
    """Forget what was built."""
    (part / _STATE).unlink(missing_ok=True)
    shutil.rmtree(part / "obj", ignore_errors=True)


def mark_verilated(part: Path, command: Sequence[str]) -> None:
    """Verilator has finished: from here on a later process may go on."""
    files = sorted(p.name for p in (part / "obj").iterdir())
    waiting = part / f"{_STATE}.new"
    waiting.write_text(json.dumps({"boot": _boot(), "command": list(command), "files": files}), encoding="utf-8")
    waiting.replace(part / _STATE)


def remove_old(folder: Path) -> None:
    """Remove parts of builds that nobody went on with for two weeks, and whatever killed processes of older versions left."""
    for path in folder.iterdir():
        key = path.name.removesuffix(".part") if path.name.endswith(".part") else path.name[1:].rpartition("-")[0]
        if not key or not path.is_dir() or not (path.name.startswith(".") or path.name.endswith(".part")):
            continue
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > _DAYS * 86400:
                with (folder / f"{key}.lock").open("w") as lock:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(path, ignore_errors=True)


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""
