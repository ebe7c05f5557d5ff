"""Renders the templates, and writes all of what was rendered or nothing."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from fleet.core.files import write_atomically
from fleet.errors import FleetError

TEMPLATES = Path(__file__).parents[1] / "templates"


def camel(name: str) -> str:
    """vector_add -> VectorAdd, as `fleet.isa.generate.export_sv` spells names of constants."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def _quoted(text: str) -> str:
    """A string literal of SystemRDL."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _in_crontab(text: str) -> str:
    """A word of the shell in a crontab, where a bare % ends the command."""
    return shlex.quote(text).replace("%", "\\%")


@lru_cache(maxsize=1)
def _environment() -> Environment:
    # Nothing rendered here is HTML, and a name that a template does not get is an error.
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False
    )
    environment.filters["camel"] = camel
    environment.filters["quoted"] = _quoted
    environment.filters["cron"] = _in_crontab
    return environment


def render(template: str, values: Mapping[str, object]) -> str:
    """The text of one template ("instruction/word.rdl.j2")."""
    return _environment().get_template(template).render(values)


def render_folder(folder: str, values: Mapping[str, object]) -> dict[str, str]:
    """Path -> text, of every template below a folder. NAME in a path becomes `name`, BASE becomes `base`; ".j2" goes away."""
    found: dict[str, str] = {}
    for path in sorted((TEMPLATES / folder).rglob("*.j2")):
        inside = path.relative_to(TEMPLATES / folder).as_posix().removesuffix(".j2")
        for placeholder in ("name", "base"):
            if placeholder in values:
                inside = inside.replace(placeholder.upper(), str(values[placeholder]))
        found[inside] = render(path.relative_to(TEMPLATES).as_posix(), values)
    return found


def write_all(folder: Path, texts: Mapping[str, str | bytes]) -> list[Path]:
    """Writes new files below a folder. Raises FleetError, before anything is written, where one of them is there."""
    files = [folder / name for name in texts]
    for file in files:
        if file.exists() or file.is_symlink():
            raise FleetError("is already there", where=str(file), hint="choose another name or folder")
    for file, text in zip(files, texts.values(), strict=True):
        write_atomically(file, text.encode() if isinstance(text, str) else text)
    return files
