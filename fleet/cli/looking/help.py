"""`fleet help`: the pages of the documentation, which a wheel contains too."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

import click

import fleet
from fleet.errors import ExitCode, FleetError

_EPILOG = "\b\nExamples:\n  fleet help\n  fleet help onnx\n  fleet help numpy"


def pages() -> dict[str, Path]:
    """Return topic -> file, from docs/ of the checkout and its folders, or from the wheel."""
    package = Path(fleet.__file__).parent
    folder = next((f for f in (package / "_docs", package.parent / "docs") if f.is_dir()), None)
    return {} if folder is None else {p.stem: p for p in sorted(folder.rglob("*.md"))}


@click.command(name="help", epilog=_EPILOG)
@click.argument("topic", required=False)
def command(topic: str | None) -> int:
    """Print the page on TOPIC (docs/TOPIC.md works too), or the list of topics; `fleet COMMAND --help` is about a command."""
    found = pages()
    if topic is None:
        for name, path in found.items():
            title = next((line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("# ")), "")
            click.echo(f"{name:<24} {title.removeprefix('# ')}")
        return ExitCode.AGREED
    name = topic.rpartition("/")[2].removesuffix(".md")
    if name not in found:
        near = get_close_matches(name, found, 3) or list(found)
        raise FleetError("no page of this name", where=topic, hint=f"pages are {', '.join(near)}; `fleet help` lists them all")
    click.echo(found[name].read_text(encoding="utf-8"), nl=False)
    return ExitCode.AGREED
