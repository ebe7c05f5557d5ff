"""Lists every command as Markdown, from click: the website's page of the command line. `python -m fleet.cli.listing` prints it."""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterator

import click

from fleet.cli.main import GROUPS, fleet

_WIDE = 10_000  # columns: do not wrap, the page's renderer does that
_SPECIAL = re.compile(r"([\\*_\[\]<>|])")


def page() -> str:
    """Return the page: a section per group of `fleet --help`, a subsection per command and per subcommand.

    Each has usage, help, options and examples.
    """
    top = click.Context(fleet, info_name="fleet", terminal_width=_WIDE, max_content_width=_WIDE)
    lines: list[str] = []
    for heading, commands in GROUPS.items():
        lines += [f"## {heading}", ""]
        for name in commands:
            command = fleet.get_command(top, name)
            assert command is not None
            lines += _section(command, name, top, 3)
    return "\n".join(lines)


def _section(command: click.Command, name: str, above: click.Context, level: int) -> Iterator[str]:
    context = click.Context(command, above, name, terminal_width=_WIDE, max_content_width=_WIDE)
    yield from (f"{'#' * level} `{context.command_path}`", "")
    if not isinstance(command, click.Group):
        yield from ("```text", command.get_usage(context).removeprefix("Usage: "), "```", "")
    yield from _paragraphs(command.help or "")
    yield from _options(command, context)
    yield from _paragraphs(command.epilog or "")
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            found = command.get_command(context, below)
            if found is not None and not found.hidden:
                yield from _section(found, below, context, level + 1)


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    options = (p for p in command.get_params(context) if isinstance(p, click.Option) and "--help" not in p.opts)
    records = filter(None, (p.get_help_record(context) for p in options))
    rows = [f"| `{_pipes(option)}` | {_plain(' '.join(said.split()))} |" for option, said in records]
    if rows:
        yield from ("| option | |", "|---|---|", *rows, "")


def _paragraphs(text: str) -> Iterator[str]:
    """Convert click's text to Markdown. Text after a line "\\b" keeps its line breaks, because it is examples or a table."""
    for part in re.split(r"\n\s*\n", textwrap.dedent(text).strip()):
        kept = part.startswith("\b")
        lines = textwrap.dedent(part.removeprefix("\b").strip("\n")).splitlines()
        if not lines:
            continue
        if not kept:
            yield from (_plain(" ".join(lines)), "")
            continue
        if not lines[0].startswith(" ") and all(line.startswith(" ") for line in lines[1:]):
            yield from (_plain(lines.pop(0)), "")
        language = "sh" if any(line.lstrip().startswith("fleet") for line in lines) else "text"
        yield from (f"```{language}", *textwrap.dedent("\n".join(lines)).splitlines(), "```", "")


def _plain(text: str) -> str:
    """Escape text for Markdown; text between backticks stays code."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(_pipes(p) if i % 2 else _SPECIAL.sub(r"\\\1", p) for i, p in enumerate(parts))


def _pipes(text: str) -> str:
    return text.replace("|", "\\|")


def main() -> int:
    """Print the page; return the exit code."""
    print(page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
