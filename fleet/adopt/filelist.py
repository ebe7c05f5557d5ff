"""The sources of a design: file lists (.f), files and folders, read as simulators read them.

    rtl/files.f                  // one word a line or many; comments of //, # and /* */
        +incdir+include+../common/include
        +define+WIDTH=32+SIM
        -y ../cells +libext+.v+.sv
        -f ../common/files.f
        ${ROOT}/rtl/core.sv

A relative path is looked for beside the list that names it (`-F` of simulators), then in the current folder (their `-f`): people
mix the two. Words that a simulator knows and this reader does not are kept in `Sources.ignored` with their line.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fleet.errors import DeviceError

LIST_SUFFIXES = (".f", ".flist", ".fl", ".vc", ".lst", ".filelist", ".files")
HDL_SUFFIXES = (".sv", ".v", ".svh", ".vh", ".svp", ".vp", ".inc")
_VHDL = (".vhd", ".vhdl")
_CPP = (".c", ".cc", ".cpp", ".cxx")

_WORD = re.compile(
    r'/\*.*?\*/|//[^\n]*|(?:(?<=\s)|^)#[^\n]*|"(?:[^"\\]|\\.)*"|(?:[^\s"/]|"(?:[^"\\]|\\.)*"|/(?![/*]))+', re.S | re.M
)
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|\((\w+)\)|(\w+))")
_ONE_VALUE = ("-timescale", "--timescale", "-work", "-l", "-o", "-Mdir", "--Mdir", "--prefix", "-override_timescale")
"""Options of simulators that say nothing about the design and take the next word."""


@dataclass(frozen=True)
class Ignored:
    """A word of a list that this reader does not use. where: file:line."""

    word: str
    where: str


@dataclass(frozen=True)
class Sources:
    """The sources of a design; paths are absolute.

    Attributes:
        files: in compile order, each once.
        include_dirs: in the order in which they are searched.
        defines: (name, value); a name without a value has "".
        library_dirs, library_files, library_suffixes: of modules that are looked for by name (`-y`, `-v`, `+libext+`).
        waivers: configuration files of Verilator (.vlt).
        cpp: functions that the design imports.
        lists: the file lists that were read.
        ignored: words that no part of this record holds.
        top: the module that a list names as the top, "" where none does.
        data_dirs: folders with what the design reads when it starts, beside those of its sources.
        vhdl: files of VHDL, in compile order; `fleet.adopt.vhdl` puts Verilog in their place.
    """

    files: tuple[Path, ...]
    include_dirs: tuple[Path, ...] = ()
    defines: tuple[tuple[str, str], ...] = ()
    library_dirs: tuple[Path, ...] = ()
    library_files: tuple[Path, ...] = ()
    library_suffixes: tuple[str, ...] = (".v", ".sv")
    waivers: tuple[Path, ...] = ()
    cpp: tuple[Path, ...] = ()
    lists: tuple[Path, ...] = ()
    ignored: tuple[Ignored, ...] = ()
    top: str = ""
    data_dirs: tuple[Path, ...] = ()
    vhdl: tuple[Path, ...] = ()


def read_sources(
    arguments: Sequence[Path], *, include_dirs: Iterable[Path] = (), defines: Iterable[tuple[str, str]] = ()
) -> Sources:
    """The sources that file lists and files name together, in their order.

    arguments: file lists (`.f` and the like), source files, waiver files.
    Raises DeviceError, with file:line where a list is wrong: a missing file, folder, list or variable, a list that reads itself, a
    language that is not read, no source at all.
    """
    reader = _Reader()
    for folder in include_dirs:
        reader.include(_Place(Path.cwd(), "-I"), str(folder))
    for name, value in defines:
        reader.defines[name] = value
    for path in arguments:
        if path.suffix in LIST_SUFFIXES:
            reader.read_list(path, str(path), ())
        else:
            reader.file(_Place(Path.cwd(), str(path)), str(path))
    if not reader.files and not reader.vhdl:
        raise DeviceError(
            "no source files", where=", ".join(map(str, arguments)) or None, hint="give a file list (.f) or .sv files"
        )
    return reader.finished()


@dataclass(frozen=True)
class _Place:
    """The place of a word. folder: base of its relative paths; where: for messages."""

    folder: Path
    where: str


@dataclass
class _Reader:
    files: dict[Path, None] = field(default_factory=dict[Path, None])
    include_dirs: dict[Path, None] = field(default_factory=dict[Path, None])
    defines: dict[str, str] = field(default_factory=dict[str, str])
    library_dirs: dict[Path, None] = field(default_factory=dict[Path, None])
    library_files: dict[Path, None] = field(default_factory=dict[Path, None])
    suffixes: dict[str, None] = field(default_factory=dict[str, None])
    waivers: dict[Path, None] = field(default_factory=dict[Path, None])
    cpp: dict[Path, None] = field(default_factory=dict[Path, None])
    vhdl: dict[Path, None] = field(default_factory=dict[Path, None])
    lists: dict[Path, None] = field(default_factory=dict[Path, None])
    ignored: list[Ignored] = field(default_factory=list[Ignored])
    top: str = ""

    def finished(self) -> Sources:
        return Sources(
            tuple(self.files), tuple(self.include_dirs), tuple(self.defines.items()), tuple(self.library_dirs),
            tuple(self.library_files), tuple(self.suffixes) or (".v", ".sv"), tuple(self.waivers), tuple(self.cpp),
            tuple(self.lists), tuple(self.ignored), self.top, vhdl=tuple(self.vhdl),
        )  # fmt: skip

    def read_list(self, path: Path, where: str, above: tuple[Path, ...]) -> None:
        """Read one list. above: the lists that include it."""
        path = path.absolute()
        real = path.resolve()
        if real in above:
            raise DeviceError(f"the file list {path.name} reads itself", where=where)
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise DeviceError(f"the file list {path} cannot be read ({error.strerror})", where=where) from error
        self.lists[path] = None
        words = _words(text)
        for line, word in words:
            place = _Place(path.parent, f"{path}:{line}")
            self._word(place, _expanded(word, place), words, (*above, real))

    def _word(self, place: _Place, word: str, words: Iterator[tuple[int, str]], above: tuple[Path, ...]) -> None:
        def following() -> str:
            try:
                return _expanded(next(words)[1], place)
            except StopIteration:
                raise DeviceError(f"{word} needs a word behind it", where=place.where) from None

        if word in ("-f", "-F", "-file", "-c", "--f"):
            name = following()
            nested = _found(place, name, Path.is_file)
            if nested is None:
                raise _missing(place, "file list", name)
            self.read_list(nested, place.where, above)
        elif word.startswith("+incdir+"):
            for name in filter(None, word.split("+")[2:]):
                self.include(place, name)
        elif word in ("-I", "-incdir", "--include-directory", "+incdir"):
            self.include(place, following())
        elif word.startswith("-I"):
            self.include(place, word[2:])
        elif word.startswith("+define+"):
            for part in filter(None, _parts(word.removeprefix("+define+"))):
                self._define(part)
        elif word in ("-D", "-define", "--define-macro"):
            self._define(following())
        elif word.startswith("-D"):
            self._define(word[2:])
        elif word.startswith("+libext+"):
            self.suffixes |= dict.fromkeys(filter(None, word.split("+")[2:]))
        elif word == "-y":
            name = following()
            folder = _found(place, name, Path.is_dir)
            if folder is None:
                raise _missing(place, "library folder", name)
            self.library_dirs[folder] = None
        elif word == "-v":
            name = following()
            file = _found(place, name, Path.is_file)
            if file is None:
                raise _missing(place, "library file", name)
            self.library_files[file] = None
        elif word in ("-top", "--top", "--top-module", "-top-module"):
            self.top = following()
        elif word in _ONE_VALUE:
            self.ignored.append(Ignored(f"{word} {following()}", place.where))
        elif word.startswith(("-", "+")) or word.endswith(LIST_SUFFIXES):
            self.ignored.append(Ignored(word, place.where))
        else:
            self.file(place, word)

    def include(self, place: _Place, name: str) -> None:
        """An include folder. Lists name folders that a checkout has not, so a missing one is said and no error."""
        folder = _found(place, name, Path.is_dir)
        if folder is None:
            self.ignored.append(Ignored(f"+incdir+{name} (no such folder)", place.where))
        else:
            self.include_dirs[folder] = None

    def file(self, place: _Place, name: str) -> None:
        """A file to compile."""
        path = _found(place, name, Path.exists)
        if path is None:
            raise _missing(place, "file", name)
        if path.is_dir():
            raise DeviceError(f"{name} is a folder", where=place.where, hint="give its file list, or its files")
        suffix = path.suffix.lower()
        if suffix in _VHDL:
            self.vhdl[path] = None
        elif suffix == ".vlt":
            self.waivers[path] = None
        elif suffix in _CPP:
            self.cpp[path] = None
        elif suffix in HDL_SUFFIXES:
            self.files[path] = None
        else:
            raise DeviceError(
                f"{name}: files ending in '{suffix}' are not read", where=place.where, hint=f"known are {', '.join(HDL_SUFFIXES)}"
            )

    def _define(self, text: str) -> None:
        name, _, value = text.partition("=")
        self.defines[name] = value.strip('"') if value.startswith('"') and value.count('"') == 2 else value


def _words(text: str) -> Iterator[tuple[int, str]]:
    """(line, word) of a list, without comments and line continuations."""
    for found in _WORD.finditer(text):
        word = found[0]
        if not word.startswith(("//", "/*", "#")) and word != "\\":
            yield text.count("\n", 0, found.start()) + 1, word


def _parts(text: str) -> list[str]:
    """Split at plus signs outside quotes."""
    return re.findall(r'(?:[^+"]|"(?:[^"\\]|\\.)*")+', text)


def _expanded(word: str, place: _Place) -> str:
    """A word with the values of environment variables in it."""
    if len(word) > 1 and word.startswith('"') and word.endswith('"'):
        word = word[1:-1]

    def value(found: re.Match[str]) -> str:
        name = found[1] or found[2] or found[3]
        if name not in os.environ:
            raise DeviceError(f"the environment variable {name} is not set", where=place.where, hint=f"export {name}=FOLDER")
        return os.environ[name]

    return _VARIABLE.sub(value, word)


def _missing(place: _Place, kind: str, name: str) -> DeviceError:
    looked = "" if Path(name).is_absolute() else f"; looked in {' and '.join(dict.fromkeys((str(place.folder), str(Path.cwd()))))}"
    return DeviceError(f"the {kind} {name} is missing{looked}", where=place.where)


def _found(place: _Place, name: str, fits: Callable[[Path], bool]) -> Path | None:
    """The path of a name beside its list, else in the current folder."""
    for folder in (place.folder, Path.cwd()):
        path = Path(os.path.normpath(folder / name))
        if fits(path):
            return path
    return None
