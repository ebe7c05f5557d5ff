"""Profiles of simulations: how often each way of the C++ was taken in a training run, which g++ then lays its code out by.

A profile belongs to the key of the fast build that it was taken of, and lies in `profiles/<key>/<hash of its content>` of the
cache. A fast build takes the profile that it finds there; the hash is part of its own key.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

from fleet.core.scratch import Scratch
from fleet.engines.rtl_sim.cache import cache_folder
from fleet.engines.rtl_sim.modes.recipe import BuildRecipe
from fleet.errors import SetupError

# Names of counts are relative to the folder of the build, which is another one for each key. $(CURDIR) is `obj` in it.
_BASE = "-fprofile-prefix-path=$(abspath $(CURDIR)/..)"
_MISSING = re.compile(r"‘?'?([^\s‘']*\.gcda)’?'? profile count data file not found")


def find_profile(key: str) -> Path | None:
    """Return the folder of counts of a fast build, None if none was made."""
    with contextlib.suppress(OSError):
        found = [path for path in (cache_folder() / "profiles" / key).iterdir() if re.fullmatch("[0-9a-f]{32}", path.name)]
        return max(found, key=lambda path: path.stat().st_mtime, default=None)
    return None


def counting(recipe: BuildRecipe, folder: Path) -> BuildRecipe:
    """The recipe, of a simulation that counts and leaves its counts in `folder` when it ends. Raises SetupError, as `profiled`."""
    _check(recipe)
    flags = f"-fprofile-generate={folder} -fprofile-update=single {_BASE}"
    return replace(recipe, make=(*_more(recipe, flags), f"USER_LDFLAGS=-fprofile-generate={folder}"))


def profiled(recipe: BuildRecipe, folder: Path) -> BuildRecipe:
    """The recipe, by the counts in `folder`. What the training did not reach is compiled as without them.

    Raises SetupError if the compiler is not g++.
    """
    _check(recipe)
    flags = f"-fprofile-use={folder} -fprofile-partial-training -Wmissing-profile {_BASE}"
    return replace(recipe, make=_more(recipe, flags), counts=folder)


def _check(recipe: BuildRecipe) -> None:
    if "clang" in recipe.compiler:
        raise SetupError("profiles are g++'s, and the compiler is clang", where="FLEET_CXX", hint="unset it, or leave out --pgo")


def _more(recipe: BuildRecipe, flags: str) -> tuple[str, ...]:
    return tuple(f"{v} {flags}" if v.startswith("OPT_") else v for v in recipe.make)


def not_taken(log: str, counts: Path) -> list[str]:
    """Names of the counts that the compiler did not find, by the log of a build: g++ goes on without them.

    counts: the folder in which they should be. A source that the training's link left out of an archive has no counts: nothing
    of it runs, and it is no error.
    """
    kept = {_source(path.name) for path in counts.glob("*.gcda")}
    return [name for name in _MISSING.findall(log) if not kept or _source(name) in kept]


def _source(name: str) -> str:
    """The last part of a count's name, whose folders g++ joins with "#"."""
    return Path(name).name.rpartition("#")[2]


@contextlib.contextmanager
def training(key: str) -> Generator[Path]:
    """A folder for counts of the fast build of `key`; they are its profile when the block ends, in place of an older one.

    Raises SetupError if nothing was counted.
    """
    home = cache_folder() / "profiles" / key
    home.mkdir(parents=True, exist_ok=True)
    with Scratch("counts", home) as folder:
        yield folder
        counts = sorted(folder.glob("*.gcda"))
        if not counts:
            raise SetupError("the simulation left no counts", where=str(folder), hint="run again")
        digest = hashlib.sha256()
        for path in counts:
            digest.update(path.name.encode() + path.read_bytes())
        kept = home / digest.hexdigest()[:32]
        older = [path for path in home.iterdir() if path not in (folder, kept)]
        if not kept.exists():
            made = Path(f"{kept}.part")
            shutil.rmtree(made, ignore_errors=True)
            made.mkdir()
            for path in counts:
                shutil.copy(path, made / path.name)
            os.replace(made, kept)
        for path in older:
            shutil.rmtree(path, ignore_errors=True)
