"""The page that an inspection fills, and the request that it answers."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from fleet.core.codec import Json
from fleet.errors import FleetError

if TYPE_CHECKING:
    from fleet.compiler.inspection import ProgramFacts
    from fleet.cosim.models.loaded import LoadedModel


@dataclass(frozen=True)
class InspectRequest:
    """The request of a command line. spec: a file, path.py:function, or the name of a set, a device or a language model."""

    spec: str
    weights: Path | None = None
    input_path: Path | None = None
    seed: int = 0
    batch: int | None = None
    device: str | None = None

    def words(self, *behind: str) -> str:
        """Return the arguments, quoted for a shell, with which a command gets the same model and data."""
        return shlex.join(self.arguments(*behind))

    def arguments(self, *behind: str) -> tuple[str, ...]:
        """Return the arguments with which a command gets the same model and data."""
        data = [("--weights", self.weights), ("--input", self.input_path)]
        given = [word for option, path in data if path for word in (option, str(path))]
        if self.batch is not None:
            given += ["--batch", str(self.batch)]
        return (self.spec, *given, *behind)


@dataclass(frozen=True)
class InspectedFile:
    """An existing file or folder of the request. function: text after the colon, or ""."""

    path: Path
    asked: InspectRequest
    function: str = ""

    @property
    def quoted(self) -> str:
        """The path, quoted for a shell."""
        return shlex.quote(str(self.path))


@dataclass(frozen=True)
class LanguageModel:
    """weights: their number, without a tied head; device: the smallest whose HBM holds them, or None."""

    weights: int
    device: str | None


@dataclass
class Page:
    """The result of an inspection.

    Attributes:
        spec: the name of the file in the next commands.
        kind, title: of the file.
        rows: label -> lines.
        commands: suggested next commands, the best first.
        facts: the content of the rows as JSON values.
        problem: why fleet does not read the file, or None.
        loaded, program: of a model that compiles, or None.
        language: of a language model, or None.
        verdict: of a stored result, or None.
        installed: name of the installed set or device that this is, or None.
    """

    spec: str
    kind: str
    title: str
    rows: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    commands: list[str] = field(default_factory=list[str])
    facts: dict[str, Json] = field(default_factory=dict[str, Json])
    problem: FleetError | None = None
    loaded: LoadedModel | None = None
    program: ProgramFacts | None = None
    language: LanguageModel | None = None
    verdict: str | None = None
    installed: str | None = None

    def text(self) -> str:
        """Title and rows for a terminal, without the commands."""
        lines = [f"{self.spec}: {self.title}"]
        for label, texts in self.rows.items():
            lines += [f"  {label if i == 0 else '':<12} {text}" for i, text in enumerate(texts)]
        return "\n".join(_plain(line) for line in lines)

    def to_json(self) -> dict[str, Json]:
        """Title, facts, problem and commands as one JSON object."""
        problem = None if self.problem is None else str(self.problem)
        return {"file": self.spec, "kind": self.kind, "title": self.title, **self.facts, "problem": problem, "next": self.commands}


def _plain(line: str) -> str:
    """Replace control characters: names come from files, and a terminal would interpret them."""
    return "".join(c if c.isprintable() else "\ufffd" for c in line)
